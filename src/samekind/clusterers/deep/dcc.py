"""DCC: deep constrained clustering."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from samekind.clusterers.deep.base import Ints, Learner
from samekind.clusterers.deep.codes import AutoencoderClusterer, AutoencoderLearner, DECLoss, Parts
from samekind.constraints import Constraints
from samekind.objectives.dcc import apart_loss, together_loss
from samekind.objectives.dec import StudentShares
from samekind.objectives.links import LinkMasks
from samekind.training.answered import Answered
from samekind.training.autoencoder import Coded
from samekind.training.batches import LinkedBatches
from samekind.training.loop import Trainer
from samekind.training.steps import SchedulePoint


class DCCLoss(DECLoss):
    """DCC: IDEC in one batch, links between items in another; whose turn it is can be changed.

    The turn is a number in memory, so that a recorded step can be used for both.

    Parameters
    ----------
    same, different : weights of the two kinds of links.
    """

    turn: Tensor

    def __init__(self, n: int, k: int, *, groups: float, same: float, different: float) -> None:
        super().__init__(n, k, groups=groups, reconstruction=1.0)
        self.same, self.different = same, different
        self.register_buffer("turn", torch.zeros(()))

    def of_items(self, out: Coded, items: Tensor, links: LinkMasks, point: SchedulePoint) -> Parts:
        """The parts of the loss of a batch: of groups (turn 0) or of links (turn 1)."""
        parts = super().of_items(out, items, links, point)
        return {
            "groups": (1 - self.turn) * parts["groups"],
            "reconstruction": parts["reconstruction"],
            "same": self.turn * self.same * together_loss(out.p, links),
            "different": self.turn * self.different * apart_loss(out.p, links),
        }


@dataclass(frozen=True, eq=False)
class AnsweredBatches(LinkedBatches):
    """Both ends of links drawn at random, each item once; others fill a batch up.

    Parameters
    ----------
    n, batch_size, seed, share, ranks : as in
        :class:`~samekind.training.batches.LinkedBatches`, so that both have batches of one size.
    links : (P, 2) items that an answer links.

    >>> batches = AnsweredBatches(9, 3, links=np.array([[2, 7]]))
    >>> batches.items(0)[:2].tolist(), batches.rounds
    ([2, 7], 1)
    """

    links: Ints = field(default_factory=lambda: np.empty((0, 2), dtype=np.intp))

    @property
    def rounds(self) -> int:
        """Batches in which each link has its turn about once."""
        return -(-2 * len(self.links) // self.size)

    def items(self, step: int, known: Answered | None = None) -> Ints:
        """The items of a step, each once."""
        rng = np.random.default_rng((self.seed, step, 17))
        ends = self.links[rng.permutation(len(self.links))[: self.size]].ravel()
        _, first = np.unique(ends, return_index=True)
        chosen = ends[np.sort(first)][: self.size]
        if len(chosen) < self.size:
            others = rng.permutation(self.n)
            others = others[~np.isin(others, chosen)]
            chosen = np.concatenate([chosen, others[: self.size - len(chosen)]])
        return chosen.astype(np.intp)


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


@dataclass(eq=False, repr=False, kw_only=True)
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
    same_weight, different_weight : of the two kinds of pairs, as published (for Fashion-MNIST 1
        and 1).
    published_bracket : shares as the published program computes them, not as the paper does.

    Other parameters: see :class:`~samekind.clusterers.deep.codes.AutoencoderClusterer`. Here
    targets are renewed once per epoch unless `refresh` is given.

    References
    ----------
    Zhang, Zhan, Basu and Davidson, A framework for deep constrained clustering, Data Mining and
    Knowledge Discovery 35, 2021, arXiv 1901.10061.
    """

    same_weight: float = 0.1
    different_weight: float = 1.0
    published_bracket: bool = False

    published: ClassVar[dict[str, Any]] = {"batch_size": 256, "learning_rate": 1e-3}

    def _new_learner(self, data: NDArray[Any], seed: int) -> Learner:
        learner = DCCLearner(self._setting(data), data, seed, self._coding())
        learner.same, learner.different = self.same_weight, self.different_weight
        learner.published_bracket = self.published_bracket
        return learner
