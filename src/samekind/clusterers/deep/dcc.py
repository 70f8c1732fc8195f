"""DCC: deep constrained clustering."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from torch import nn

from samekind.clusterers.deep.dec import AutoencoderClusterer
from samekind.clusterers.deep.dec_learning import AutoencoderLearner
from samekind.clusterers.deep.learner import Learner
from samekind.constraints import Constraints
from samekind.objectives.dec import StudentShares
from samekind.training.dcc_batches import AnsweredBatches
from samekind.training.dec_losses import DCCLoss
from samekind.training.loop import Trainer


class DCCLearner(AutoencoderLearner):
    """An epoch for the groups, then some batches for the answers."""

    same = 0.1
    different = 1.0
    published_bracket = False

    def _groups(self, k: int) -> nn.Module:
        bracket = self.published_bracket
        return StudentShares(self.coding.latent, k, published_bracket=bracket)

    def _objective(self, trainer: Trainer) -> nn.Module:
        return DCCLoss(
            len(trainer.data),
            trainer.network.k,
            groups=0.1,
            same=self.same,
            different=self.different,
        )

    def _round(
        self, trainer: Trainer, objective: Any, known: Constraints, first: int, last: int
    ) -> None:
        usual, plan = trainer.batches, trainer.plan
        many = self.coding.refresh or usual.steps
        objective.turn.fill_(0.0)
        self._go(trainer, min(last, trainer.step + many), first, last)
        links = known.links()
        if not len(links.a):
            return
        ends = np.stack([links.a, links.b], axis=1)
        answered = AnsweredBatches(
            usual.n, plan.batch_size, plan.seed, 0.0, trainer.world.size, links=ends
        )
        objective.turn.fill_(1.0)
        trainer.batches = answered
        try:
            until = trainer.step + min(answered.rounds, many)
            self._go(trainer, min(last, until), first, last)
        finally:
            trainer.batches = usual


class DCC(AutoencoderClusterer):
    """DCC: IDEC, and after each epoch some batches of answered pairs share groups or do not.

    Codes learn to make items again and, at a weight of 0.1, their groups, from targets renewed once
    per epoch. After each such epoch come steps on answered items only, in which two items of one
    kind learn to fall into one group and those of different kinds not to, with all that follows
    from the answers, while items are still made again. Each answer has its turn about once.

    Published: batches of 256, Adam at 1e-3, at most 500 epochs, 6,000 pairs. There must-links and
    cannot-links have batches of their own; here one batch has both. The published program has a
    misplaced bracket that makes shares twice as sharp (`published_bracket`).

    Parameters
    ----------
    n_clusters, steps, batch_size, learning_rate, hidden, latent, pretraining, refresh, tolerance,
    start, backbone, stem, channels, size, family, image_shape, warm_start, device, compile, watch,
    random_state, verbose : see :class:`~samekind.clusterers.deep.dec.DEC`.
        Here targets are renewed once per epoch unless `refresh` says otherwise.
    same_weight, different_weight : of the two kinds of pairs, as published (for Fashion-MNIST 1
        and 1).
    published_bracket : shares as the published program computes them, not as the paper does.

    Attributes
    ----------
    labels_ : (n,) group of each item. membership_ : (n, k). space_ : (n, latent) codes.

    References
    ----------
    Zhang, Zhan, Basu and Davidson, A framework for deep constrained clustering, Data Mining and
    Knowledge Discovery 35, 2021, arXiv 1901.10061.
    """

    learner: ClassVar[type[AutoencoderLearner]] = DCCLearner
    published: ClassVar[dict[str, Any]] = {"batch_size": 256, "learning_rate": 1e-3}

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        steps: int | None = None,
        batch_size: int | None = None,
        learning_rate: float | None = None,
        hidden: tuple[int, ...] | None = None,
        latent: int = 10,
        pretraining: float = 0.5,
        refresh: int | None = None,
        tolerance: float = 0.0,
        same_weight: float = 0.1,
        different_weight: float = 1.0,
        published_bracket: bool = False,
        start: str | None = None,
        backbone: str | None = None,
        stem: str | None = None,
        channels: int | None = None,
        size: int | None = None,
        family: str | None = None,
        image_shape: tuple[int, ...] | None = None,
        warm_start: bool = True,
        device: str | None = None,
        compile: str = "",
        watch: Any = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.steps = steps
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.hidden = hidden
        self.latent = latent
        self.pretraining = pretraining
        self.refresh = refresh
        self.tolerance = tolerance
        self.same_weight = same_weight
        self.different_weight = different_weight
        self.published_bracket = published_bracket
        self.start = start
        self.backbone = backbone
        self.stem = stem
        self.channels = channels
        self.size = size
        self.family = family
        self.image_shape = image_shape
        self.warm_start = warm_start
        self.device = device
        self.compile = compile
        self.watch = watch
        self.random_state = random_state
        self.verbose = verbose

    def _new_learner(self, data: NDArray[Any], seed: int) -> Learner:
        learner = super()._new_learner(data, seed)
        assert isinstance(learner, DCCLearner)
        learner.same, learner.different = self.same_weight, self.different_weight
        learner.published_bracket = self.published_bracket
        return learner
