"""SDEC: DEC with answers about pairs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

from numpy.typing import NDArray
from torch import nn

from samekind.clusterers.deep.dec import AutoencoderClusterer
from samekind.clusterers.deep.dec_learning import AutoencoderLearner
from samekind.clusterers.deep.learner import Learner
from samekind.training.dec_losses import SDECLoss
from samekind.training.loop import Plan, Trainer

LINKED = 0.25
"""Part of a batch that may be partners of its answered items."""


class SDECLearner(AutoencoderLearner):
    """Groups and distances between linked items are learnt in the same steps."""

    weight = 0.1
    margin = 4.0

    def _plan(self) -> Plan:
        return replace(super()._plan(), linked_share=LINKED)

    def _objective(self, trainer: Trainer) -> nn.Module:
        return SDECLoss(
            len(trainer.data), trainer.network.k, weight=self.weight, margin=self.margin
        )


class SDEC(AutoencoderClusterer):
    """SDEC: DEC in which answers pull the codes of pairs together or push them apart.

    As DEC, and the squared distance of two codes counts for pairs of one kind and against pairs of
    different kinds, with all that follows from the answers. A quarter of a batch may be partners of
    its answered items, so that pairs meet.

    Published: weight 1e-5, which on the codes here does nothing that could be measured, no margin
    (the loss then has no lower bound), a sum over the pairs by the number of items (here by the
    number of pairs where that is larger). PCL compares with it on ResNet-34.

    Parameters
    ----------
    n_clusters, steps, batch_size, learning_rate, hidden, latent, pretraining, refresh, tolerance,
    start, backbone, stem, channels, size, family, image_shape, warm_start, device, compile, watch,
    random_state, verbose : see :class:`~samekind.clusterers.deep.dec.DEC`.
    weight : of the pairs against the groups.
    margin : squared distance from which different items are far enough apart. The mean squared
        distance of a code and its centre is 1 at the start.

    Attributes
    ----------
    labels_ : (n,) group of each item. membership_ : (n, k). space_ : (n, latent) codes.

    References
    ----------
    Ren et al., Semi-supervised deep embedded clustering, Neurocomputing 325, 2019.
    """

    learner: ClassVar[type[AutoencoderLearner]] = SDECLearner
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
        weight: float = 0.1,
        margin: float = 4.0,
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
        self.weight = weight
        self.margin = margin
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
        assert isinstance(learner, SDECLearner)
        learner.weight, learner.margin = self.weight, self.margin
        return learner
