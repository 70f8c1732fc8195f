"""PICA: partition confidence maximisation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from samekind.clusterers.deep.base import Learner
from samekind.clusterers.deep.stages import Stage, StagedClusterer, StagedLearner
from samekind.errors import InputError
from samekind.objectives.links import LinkMasks
from samekind.objectives.pica import PartitionConfidence
from samekind.training.augment import Family, Views
from samekind.training.heads import ClusterHead, LinearShares
from samekind.training.loop import SchedulePoint, Trainer, TwoViews
from samekind.training.network import Network, Output
from samekind.training.perturbed import Edges


class PICALoss(nn.Module):
    """Confidence and balance of the groups, or in every second epoch of finer ones.

    Parameters
    ----------
    copies : perturbed copies of each item; rows are the plain items and then the copies.
    finer : a head for more groups than wanted, a part of the network; None: none.
    """

    def __init__(self, copies: int, finer: ClusterHead | None = None) -> None:
        super().__init__()
        self.copies, self.finer = copies, finer
        self.confidence = PartitionConfidence()

    def forward(self, out: Output, links: LinkMasks, point: SchedulePoint) -> dict[str, Tensor]:
        """The parts of the loss of a batch."""
        confidence, balance = self._of(out.p)
        if self.finer is None:
            return {"confidence": confidence, "balance": balance}
        turn = turn_of_groups(point)
        with torch.autocast(out.h.device.type, enabled=False):
            ours, theirs = self._of(self.finer(out.h.float()))
        return {
            "confidence": turn * confidence,
            "balance": turn * balance,
            "finer": (1 - turn) * (ours + theirs),
        }

    def _of(self, p: Tensor) -> tuple[Tensor, Tensor]:
        n = len(p) // (1 + self.copies)
        parts: tuple[Tensor, Tensor] = self.confidence(p[:n].repeat(self.copies, 1), p[n:])
        return parts


def turn_of_groups(point: SchedulePoint) -> Any:
    """1 in epochs in which the groups learn, 0 in which the finer ones do; the last is a 1.

    >>> [turn_of_groups(SchedulePoint(epoch, 4)) for epoch in (0, 0.9, 1, 2, 3, 3.9)]
    [0, 0, 1, 0, 1, 1]
    """
    left = point.epochs - point.epoch - 1e-4
    return torch.ceil(left) % 2 if isinstance(left, Tensor) else math.ceil(left) % 2


class PICALearner(StagedLearner):
    """Trains both heads in turn on plain items and their perturbed copies."""

    single_process: ClassVar[bool] = True
    copies: int = 3
    finer: int = 70
    sobel: bool = False

    def _network(self, k: int) -> Network:
        network = super()._network(k)
        assert self._data is not None
        finer = min(self.finer, self._batch(len(self._data)) // 2)
        network.cluster = LinearShares(network.width, k)
        if finer > k:
            network.finer = LinearShares(network.width, finer)
        return network

    def _trainer_of(self, network: Network, data: Tensor, views: TwoViews) -> Trainer:
        if self.sobel and isinstance(views, Views):
            views = Edges(views)
        return super()._trainer_of(network, data, views)

    def _stages(self, trainer: Trainer) -> Sequence[Stage]:
        finer = getattr(trainer.network, "finer", None)
        views = self._perturbed(copies=self.copies, first_plain=True)
        return [Stage(PICALoss(self.copies, finer), views=views)]


@dataclass(eq=False, repr=False, kw_only=True)
class PICA(StagedClusterer):
    """PICA: groups that stay the same when items are perturbed, and that are of one size.

    One stage. Each step looks at plain items and at `copies` perturbed ones; a second head for
    more and finer groups learns in every second epoch, with half of the steps.

    Published: batches of 256, Adam at 1e-4 without decay, 200 epochs for each head, three copies,
    crops of 20 % and more, jitter .4, a ResNet-34 on Sobel edges.

    Differences: the learning rate rises and falls like a cosine; pictures go in with their colours
    unless `sobel` is set, as in the comparisons of PCL and OCC; plain items are not cropped at
    random; all rows of a step pass the batch norms together. The last state is used: the published
    program keeps the epoch that agrees best with the labels. With two groups the loss is nearly
    flat, so expect little.

    Parameters
    ----------
    copies : perturbed copies of each item per step.
    finer : groups of the second head, at most half of a batch; 0: no second head.
    sobel : let the network see edges in place of colours.

    Other parameters: see :class:`~samekind.clusterers.deep.stages.StagedClusterer`. If `family` is
    None, the published views are used.

    References
    ----------
    Huang et al., Deep Semantic Clustering by Partition Confidence Maximisation, CVPR 2020.
    """

    copies: int = 3
    finer: int = 70
    sobel: bool = False

    published: ClassVar[dict[str, Any]] = {
        "batch_size": 256,
        "learning_rate": 1e-4,
        "family": Family(32, scale=(0.2, 1.0), jitter=(0.4, 0.4, 0.4, 0.4), jitter_p=1.0),
    }

    def _new_learner(self, data: NDArray[Any], seed: int) -> Learner:
        if self.copies < 1 or self.finer < 0:
            raise InputError(
                "PICA expects at least one copy of each item and 0 or more finer groups, "
                f"got copies={self.copies} and finer={self.finer}. Try 3 and 70."
            )
        learner = PICALearner(self._setting(data), data, seed)
        learner.copies, learner.finer, learner.sobel = self.copies, self.finer, self.sobel
        return learner
