"""SCAN: semantic clustering by adopting nearest neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from samekind.clusterers.deep.base import Learner
from samekind.clusterers.deep.stages import Stage, StagedClusterer, StagedLearner, change_plan
from samekind.errors import InputError
from samekind.neighbours import nearest_by_cosine
from samekind.objectives.links import LinkMasks
from samekind.objectives.scan import NeighbourAgreement, SelfLabelling
from samekind.training.bank import predict_all
from samekind.training.loop import Plan, SchedulePoint, Trainer, TwoViews
from samekind.training.network import Network, Output
from samekind.training.simclr import simclr_plan

NEIGHBOURS_SHARE, LABELS_SHARE = 0.25, 0.15
"""Of all steps; the rest learns features. Published for CIFAR-10: 62 %, 25 % and 13 % of 78,000."""
RATE, RATE_BATCH = 1e-4, 128
"""The published rate of Adam, and the batch size that it was published for."""
HEAD_FACTOR = 10.0
"""Learning rate of the fresh head relative to that of the pre-trained features."""


class NeighbourLoss(nn.Module):
    """The second stage: items agree with their neighbours, groups stay of similar size."""

    def __init__(self) -> None:
        super().__init__()
        self.agreement = NeighbourAgreement()

    def forward(self, out: Output, links: LinkMasks, point: SchedulePoint) -> dict[str, Tensor]:
        """Return the parts of the loss of a batch."""
        agreement = self.agreement
        return {
            "neighbours": agreement.disagreement(out.p),
            "entropy": -agreement.weight * agreement.entropy(out.p),
        }


class SelfLabelLoss(nn.Module):
    """The third stage: confident items teach; the entropy of the second stage stays on."""

    def __init__(self) -> None:
        super().__init__()
        self.labelling, self.agreement = SelfLabelling(), NeighbourAgreement()

    def forward(self, out: Output, links: LinkMasks, point: SchedulePoint) -> dict[str, Tensor]:
        """Return the parts of the loss of a batch."""
        n = len(out.p) // 2
        strong = out.p.roll(n, dims=0)  # the entropy is that of the first half
        # Weighted by the share of confident items: alone it would only make memberships equal.
        share = (out.p[:n].detach().amax(dim=1) > self.labelling.sure).float().mean()
        entropy = self.agreement.weight * share * self.agreement.entropy(strong)
        return {"labels": self.labelling(out.p), "entropy": -entropy}


class NeighbourTrainer(Trainer):
    """A :class:`Trainer` that appends one random neighbour of each item to a batch.

    Once `table` is set, views get 2B items, a batch and then its neighbours, and make one view of
    each. Set it before the first step of a stage.
    """

    table: Tensor | None = None
    """(n, k) neighbours of each item; None: batches as usual."""

    def _mine(self, items: Tensor) -> Tensor:
        mine = super()._mine(items)
        if self.table is None:
            return mine
        # Drawn on the device: a recorded step draws again each time.
        column = torch.randint(
            self.table.shape[1], mine.shape, generator=self._chance, device=self.device
        )
        return torch.cat([mine, self.table[mine, column]])


class SCANLearner(StagedLearner):
    """Features, then neighbours, then labels of its own."""

    head_starts_first: ClassVar[bool] = False
    neighbours = 20

    def _plan(self) -> Plan:
        assert self._data is not None
        plan = super()._plan()
        return simclr_plan(plan, batch=self._batch(len(self._data))) if self._pictures else plan

    def _trainer_of(self, network: Network, data: Tensor, views: TwoViews) -> Trainer:
        plan = self._plan()
        return NeighbourTrainer(network, self.objective, data, views, plan, compute=self.compute)

    def _stages(self, trainer: Trainer) -> Sequence[Stage]:
        single, pairs = self._strong_views(trainer), self._strong_views(trainer, mild=True)
        return self._simclr_first(
            [
                Stage(NeighbourLoss(), NEIGHBOURS_SHARE, single, self._find_neighbours),
                Stage(SelfLabelLoss(), LABELS_SHARE, pairs, self._leave_neighbours),
            ]
        )

    def _find_neighbours(self, trainer: Trainer) -> None:
        assert isinstance(trainer, NeighbourTrainer)
        network, n = trainer.network, len(trainer.data)
        h = predict_all(trainer, network.backbone)
        # The vectors that were contrasted; those of a file come without a head for them.
        x = h if self.setting.start is not None else network.instance(h).detach()
        most = max(1, n // (2 * network.k))  # in a small set 20 would reach into other groups
        trainer.table = nearest_by_cosine(x, min(self.neighbours, most, n - 1))
        self._start_head_at(trainer, h)
        rate, factors = self.rate, (("cluster.", HEAD_FACTOR),) if self._pictures else ()
        if rate is None:
            scaled = RATE * max(1.0, trainer.batches.size / RATE_BATCH)
            rate = scaled if self._pictures else self.setting.learning_rate
        change_plan(
            trainer, optimiser="adam", learning_rate=rate, weight_decay=1e-4, factors=factors
        )

    def _leave_neighbours(self, trainer: Trainer) -> None:
        assert isinstance(trainer, NeighbourTrainer)
        trainer.table = None
        trainer.renew()


@dataclass(eq=False, repr=False, kw_only=True)
class SCAN(StagedClusterer):
    """SCAN: learn features, then let items agree with their neighbours, then self-label.

    60 % of the steps learn features (SimCLR), 25 % the groups from neighbours, 15 % from confident
    memberships (above .99); published for CIFAR-10 are 62, 25 and 13 %. With a `start` features are
    not learnt and the other two share all steps, 5 : 3. Neighbours are looked up once, exactly, by
    cosine, among the contrasted vectors (with a `start`: among its features). The whole network is
    trained in all stages.

    As published: twenty neighbours, entropy weight 5, Adam at 1e-4 for batches of 128 (scaled with
    the batch) with decay 1e-4, strong views of four operations and a hole of up to half the side;
    plain views decide which items are confident. Deviations: one batch size for all stages
    (published 512, 128 and 1000); rates fall within each stage; a head of two layers instead of
    one, which learns ten times faster than the features; SimCLR with rate .25 and temperature .2
    (published .4 and .1); neighbours at most half of an even group; the entropy stays on in the
    third stage, times the share of confident items, because otherwise the only group with confident
    items can absorb the others (seen in short trainings). On plain vectors: noisy rows, and a head
    that starts at k-means.

    Parameters
    ----------
    neighbours : of each item. More connect more of a group, and more errors.
    learning_rate : of the second and the third stage.

    Other parameters: see :class:`~samekind.clusterers.deep.stages.StagedClusterer`.

    References
    ----------
    Van Gansbeke et al., SCAN: Learning to Classify Images without Labels, ECCV 2020,
    arXiv 2005.12320.
    """

    neighbours: int = 20

    def _new_learner(self, data: NDArray[Any], seed: int) -> Learner:
        if self.neighbours < 1:
            raise InputError(
                f"Expected at least 1 of the neighbours of an item, got {self.neighbours}. Try 20."
            )
        learner = SCANLearner(self._setting(data), data, seed)
        learner.neighbours, learner.rate = self.neighbours, self.learning_rate
        return learner
