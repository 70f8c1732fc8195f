"""PICA: partition confidence maximisation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from samekind.clusterers.deep.learner import Learner
from samekind.clusterers.deep.many_views import ManyViewsLearner
from samekind.clusterers.deep.staged import Stage, StagedClusterer
from samekind.errors import InputError
from samekind.objectives.links import LinkMasks
from samekind.objectives.pica import PartitionConfidence
from samekind.training.augment import Family, Views
from samekind.training.heads import ClusterHead
from samekind.training.loop import SchedulePoint, Trainer, TwoViews
from samekind.training.network import Network, Output
from samekind.training.perturbed import Edges
from samekind.training.plain_heads import LinearShares


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

    def forward(self, out: Output, links: LinkMasks, moment: SchedulePoint) -> dict[str, Tensor]:
        """The parts of the loss of a batch."""
        confidence, balance = self._of(out.p)
        if self.finer is None:
            return {"confidence": confidence, "balance": balance}
        turn = turn_of_groups(moment)
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


def turn_of_groups(moment: SchedulePoint) -> Any:
    """1 in epochs in which the groups learn, 0 in which the finer ones do; the last is a 1.

    >>> [turn_of_groups(Moment(epoch, 4)) for epoch in (0, 0.9, 1, 2, 3, 3.9)]
    [0, 0, 1, 0, 1, 1]
    """
    left = moment.epochs - moment.epoch - 1e-4
    return torch.ceil(left) % 2 if isinstance(left, Tensor) else math.ceil(left) % 2


class PICALearner(ManyViewsLearner):
    """Trains both heads in turn on plain items and their perturbed copies."""

    published_family: ClassVar[Family] = Family(
        32, scale=(0.2, 1.0), jitter=(0.4, 0.4, 0.4, 0.4), jitter_p=1.0
    )
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
    n_clusters, steps, batch_size, learning_rate, start, backbone, stem, channels, size, family,
    image_shape, warm_start, device, compile, watch, random_state, verbose : as in
        :class:`~samekind.clusterers.deep.staged.StagedClusterer`; the published family of views if
        None.
    copies : perturbed copies of each item per step.
    finer : groups of the second head, at most half of a batch; 0: no second head.
    sobel : let the network see edges in place of colours.

    Attributes
    ----------
    labels_ : (n,) group of each item. membership_ : (n, k). space_ : (n, d) learnt features.

    References
    ----------
    Huang et al., Deep Semantic Clustering by Partition Confidence Maximisation, CVPR 2020.
    """

    learner = PICALearner
    published: ClassVar[dict[str, Any]] = {"batch_size": 256, "learning_rate": 1e-4}

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        steps: int | None = None,
        copies: int = 3,
        finer: int = 70,
        sobel: bool = False,
        batch_size: int | None = None,
        learning_rate: float | None = None,
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
        self.copies = copies
        self.finer = finer
        self.sobel = sobel
        self.batch_size = batch_size
        self.learning_rate = learning_rate
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
        if self.copies < 1 or self.finer < 0:
            raise InputError(
                "PICA needs at least one copy of each item and no negative number of finer groups; "
                f"copies={self.copies} and finer={self.finer} came."
            )
        learner = super()._new_learner(data, seed)
        assert isinstance(learner, PICALearner)
        learner.own_family = self.family is None
        learner.copies, learner.finer, learner.sobel = self.copies, self.finer, self.sobel
        return learner
