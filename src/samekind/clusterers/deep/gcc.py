"""GCC: graph contrastive clustering."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from samekind.clusterers.deep.base import Learner
from samekind.clusterers.deep.stages import Stage, StagedClusterer, StagedLearner, change_plan
from samekind.compute import quick_kernels
from samekind.errors import InputError
from samekind.neighbours import nearest_by_cosine
from samekind.objectives.gcc import GraphContrast
from samekind.objectives.links import LinkMasks
from samekind.objectives.ntxent import NTXent
from samekind.objectives.pica import PartitionConfidence
from samekind.objectives.similarity import full_precision
from samekind.training.augment import Family
from samekind.training.bank import predict_all
from samekind.training.heads import LinearShares
from samekind.training.loop import Plan, SchedulePoint, Trainer, TwoViews
from samekind.training.network import Network, Output
from samekind.training.steps import autocast

REFRESH, TIMES = 5, 20
"""Epochs between two looks for neighbours as published, and looks at least in all."""
HEAD_SHARE = 0.5
"""Step of the head on the balance as a share of the inverse curvature; above 1.36 it diverges."""


class ItemGraph(nn.Module):
    """The last vectors of each item, and its nearest neighbours by their means.

    Parameters
    ----------
    n, out : items, and width of the vectors.
    k : neighbours of each item, at most n - 1.
    kept : vectors of each item that are averaged.
    batch, drawn : items of a step, and how many of their neighbours come along with each.
    """

    ring: Tensor  # (n, kept, out) unit vectors; zeros where there is none yet
    visits: Tensor  # (n,) how often an item was seen
    table: Tensor  # (n, k) neighbours
    weight: Tensor  # (n,) of an item where it is somebody's neighbour
    chosen: Tensor  # (batch, drawn) neighbours in this step

    def __init__(
        self, n: int, out: int, *, k: int = 5, kept: int = 4, batch: int, drawn: int = 3
    ) -> None:
        super().__init__()
        if not 1 <= drawn <= k < n:
            raise InputError(
                f"{drawn} of {k} neighbours among {n} items cannot be had. Take 1 to k of them, "
                "and fewer than there are items."
            )
        self.k, self.drawn = k, drawn
        self.register_buffer("ring", torch.zeros(n, kept, out))
        self.register_buffer("visits", torch.zeros(n, dtype=torch.long))
        self.register_buffer("table", torch.zeros(n, k, dtype=torch.long))
        self.register_buffer("weight", torch.ones(n))
        self.register_buffer("chosen", torch.zeros(batch, drawn, dtype=torch.long))

    @torch.no_grad()
    def remember(self, z: Tensor, items: Tensor) -> None:
        """Keep vectors z (B, out) of items (B,), all different, in place of their oldest ones."""
        seen = self.visits[items]
        self.ring[items, seen % self.ring.shape[1]] = z.detach().to(self.ring.dtype)
        self.visits.index_copy_(0, items, seen + 1)

    @property
    def unseen(self) -> Tensor:
        """Items (some,) of which nothing is known; asking waits for the device."""
        return torch.nonzero(self.visits == 0)[:, 0]

    @property
    def means(self) -> Tensor:
        """Mean of the last vectors of each item (n, out)."""
        seen = self.visits.clamp(1, self.ring.shape[1])
        return self.ring.sum(dim=1) / seen[:, None]

    @torch.no_grad()
    def rebuild(self) -> None:
        """Look up all neighbours anew; everything stays in its place."""
        self.table.copy_(nearest_by_cosine(self.means, self.k))
        self.weight.copy_((3 / (1 + degrees(self.table))).sqrt())

    @torch.no_grad()
    def choose(self, items: Tensor, chance: torch.Generator) -> Tensor:
        """Draw so many different neighbours of each item (B,), as (drawn, B)."""
        order = torch.rand(len(items), self.k, generator=chance, device=items.device).argsort(dim=1)
        chosen = self.table[items].gather(1, order[:, : self.drawn])
        self.chosen.copy_(chosen)
        return chosen.T


def degrees(table: Tensor) -> Tensor:
    """Neighbours (n,) that items have in either direction, by those of each (n, k).

    >>> degrees(torch.tensor([[1], [0], [1]])).tolist()
    [1, 2, 1]
    """
    n = len(table)
    mine = torch.arange(n, device=table.device)[:, None, None]
    mutual = (table[table] == mine).any(dim=2).sum(dim=1)  # (n, k, k) -> (n,)
    chosen = torch.bincount(table.flatten(), minlength=n)
    return table.shape[1] + chosen - mutual


def stable_rate(features: Tensor, k: int, balance: float) -> float:
    """Largest learning rate of a linear head that keeps k groups in use.

    A step of a linear head on features h moves all logits by the rate times |h|^2. Near equal
    groups the balance, of this weight, has the curvature ``balance / k`` in the logits, so SGD with
    Nesterov's momentum of .9 diverges above 1.36 k / (balance |h|^2). Memberships then become 0 and
    1, all in one group, where the gradient of the balance is 0: the groups stay lost. Half the
    inverse curvature is allowed, because features grow.

    Parameters
    ----------
    features : (n, width) of the items.

    >>> stable_rate(torch.ones(4, 100), k=10, balance=2.0)
    0.025
    """
    size = float(features.square().sum(dim=1).mean())
    return HEAD_SHARE * k / (balance * max(size, 1e-9))


@torch.no_grad()
def features_in_training(trainer: Trainer) -> Tensor:
    """Features (B, width) of a batch of plain items, as training sees them.

    Batch norms use the batch: early on their averages are far from it, and so are the features.
    """
    backbone = deepcopy(trainer.network.backbone).train()
    rows = trainer.views.plain(trainer.data[: trainer.batches.size])
    with quick_kernels(), autocast(trainer.compute):
        return full_precision(backbone(rows))


class GraphTrainer(Trainer):
    """A :class:`Trainer` whose views get each item twice, and then neighbours of all of them.

    They make one view of each row. Set `graph` before the first step of a stage.
    """

    graph: ItemGraph | None = None
    """None: items come without neighbours."""

    def _mine(self, items: Tensor) -> Tensor:
        mine = super()._mine(items)
        if self.graph is None:
            return torch.cat([mine, mine])
        return torch.cat([mine, mine, self.graph.choose(mine, self._chance).flatten()])


class GCCLoss(nn.Module):
    """Twice the contrast along the graph, and the agreement of items with one neighbour each.

    Rows are two views of all items and then, once they come along, views of neighbours.

    Parameters
    ----------
    graph : remembers the second view of every item, and weighs the neighbours.
    """

    def __init__(self, graph: ItemGraph, *, temperature: float = 0.1) -> None:
        super().__init__()
        self.graph = graph
        self.items = NTXent(temperature=temperature)
        self.contrast = GraphContrast(temperature=temperature)
        self.groups = PartitionConfidence()

    def of_items(
        self, out: Output, items: Tensor, links: LinkMasks, point: SchedulePoint
    ) -> dict[str, Tensor]:
        """The parts of the loss of a batch."""
        n, z = len(items), out.z
        self.graph.remember(z[n : 2 * n], items)
        if len(z) == 2 * n:
            return {"instance": 2 * self.items(z)}
        near = z[2 * n :].view(self.graph.drawn, n, -1)
        weights = self.graph.weight[self.graph.chosen].T  # (drawn, n)
        agreement, balance = self.groups(out.p[:n], out.p[2 * n : 3 * n])
        return {
            "graph": 2 * self.contrast(z[:n], z[n : 2 * n], near, weights),
            "agreement": agreement,
            "balance": balance,
        }


class GCCLearner(StagedLearner):
    """First contrast alone, then the graph, which is looked up again and again."""

    single_process: ClassVar[bool] = True
    neighbours: int = 5
    drawn: int = 3
    warm_up: float = 0.051
    head_rate: float | None = None

    def _trainer_of(self, network: Network, data: Tensor, views: TwoViews) -> Trainer:
        plan = self._plan()
        return GraphTrainer(network, self.objective, data, views, plan, compute=self.compute)

    def _network(self, k: int) -> Network:
        network = super()._network(k)
        network.cluster = LinearShares(network.width, k)
        return network

    def _plan(self) -> Plan:
        plan = super()._plan()
        return replace(plan, optimiser="sgd", weight_decay=1e-4) if self._pictures else plan

    def _schedule_points(
        self, first: int, last: int, per_epoch: int
    ) -> Callable[[int], SchedulePoint]:
        span = self.steps / per_epoch  # one schedule over both stages
        return lambda step: SchedulePoint(step / per_epoch, span)

    def _stages(self, trainer: Trainer) -> Sequence[Stage]:
        assert isinstance(trainer, GraphTrainer)
        n, batches = len(trainer.data), trainer.batches
        k = min(self.neighbours, n - 1)
        out = trainer.network.instance.layers[-1].out_features
        assert isinstance(out, int)
        graph = ItemGraph(n, out, k=k, batch=batches.size, drawn=min(self.drawn, k))
        loss = GCCLoss(graph)
        warm = 0.0 if self.setting.start is not None and self._pictures else self.warm_up
        every = min(REFRESH, self.steps / batches.steps / TIMES)
        trainer.graph = None

        def look(trainer: Trainer) -> None:
            assert isinstance(trainer, GraphTrainer)
            if trainer.graph is None and self._pictures:
                self._slow_head(trainer, loss)
            self._fill(trainer, graph)
            graph.rebuild()
            trainer.graph = graph

        return [
            Stage(loss, share=warm, views=self._perturbed()),
            Stage(loss, share=1 - warm, views=self._perturbed(), prepare=look, every=every),
        ]

    def _slow_head(self, trainer: Trainer, loss: GCCLoss) -> None:
        """Give the head, which begins to learn now, a rate that fits the size of its features."""
        network, rate = trainer.network, self.head_rate
        if rate is None:
            h = features_in_training(trainer)
            rate = min(trainer.plan.learning_rate, stable_rate(h, network.k, loss.groups.weight))
        change_plan(trainer, factors=(("cluster.", rate / trainer.plan.learning_rate),))

    def _fill(self, trainer: Trainer, graph: ItemGraph) -> None:
        """Vectors of plain items where training has seen none of their views yet."""
        unseen = graph.unseen
        if len(unseen):
            network = trainer.network
            z = predict_all(trainer, lambda rows: network.instance(network.backbone(rows)))
            graph.remember(z[unseen], unseen)


@dataclass(eq=False, repr=False, kw_only=True)
class GCC(StagedClusterer):
    """GCC: items agree with their nearest neighbours in a graph that is looked up again and again.

    Two stages: 5.1 % of all steps contrast items alone (published: 51 of 1,000 epochs; left out
    with a `start`), the others contrast them along the graph of the five nearest neighbours, by
    the mean of each item's last four vectors, and let each item agree with a neighbour.

    Published: ResNet-18, SGD at 0.4 with momentum .9, decay 1e-4 and a cosine over all epochs,
    batches of 256, 1,000 epochs, neighbours looked up every 5 epochs, crops of 20 % and more.

    Differences: three of the five neighbours are drawn in each step, and the first of them is also
    the one to agree with, where the program takes the item itself, its two nearest and one more
    at random; the item itself is no neighbour; neighbours are looked up twenty times at least,
    which is more often in a short training; the first stage is NT-Xent, without the item itself in
    the denominator; momentum is Nesterov's and begins anew with the second stage; the rate rises
    over the first 5 % of the steps; batch norms and biases are not decayed; all rows of a step pass
    the batch norms together. The head for groups has a rate of its own (`head_rate`): at .4 a fresh
    head on the features of a short training overshoots in its first steps and ends in one group,
    from which no gradient leads back; see :func:`stable_rate`. The last state is used: the program
    keeps the epoch that agrees best with the labels.

    Parameters
    ----------
    neighbours, drawn : of each item in the graph, and in a step.
    warm_up : share of the steps before the graph is used.
    head_rate : learning rate of the head for groups on pictures. None: K / (4 |h|^2) by the mean
        squared length of the features when the head begins, at most `learning_rate`. Published is
        the rate of all other weights, 0.4.

    Other parameters: see :class:`~samekind.clusterers.deep.stages.StagedClusterer`. If `family` is
    None, the published views are used.

    References
    ----------
    Zhong et al., Graph Contrastive Clustering, ICCV 2021, arXiv 2104.01429.
    """

    neighbours: int = 5
    drawn: int = 3
    warm_up: float = 0.051
    head_rate: float | None = None

    published: ClassVar[dict[str, Any]] = {
        "batch_size": 256,
        "learning_rate": 0.4,
        "family": Family(32, scale=(0.2, 1.0)),
    }

    def _new_learner(self, data: NDArray[Any], seed: int) -> Learner:
        if not (1 <= self.drawn <= self.neighbours and 0 <= self.warm_up < 1):
            raise InputError(
                "GCC expects to draw 1 to all neighbours, and a warm-up from 0 to below 1, got "
                f"drawn={self.drawn}, neighbours={self.neighbours}, warm_up={self.warm_up}. "
                "Try 3, 5 and 0.05."
            )
        if self.head_rate is not None and self.head_rate <= 0:
            raise InputError(
                f"GCC expects a rate of its head above 0, got head_rate={self.head_rate}. Omit it, "
                "or try 0.01."
            )
        learner = GCCLearner(self._setting(data), data, seed)
        learner.neighbours, learner.drawn = self.neighbours, self.drawn
        learner.warm_up, learner.head_rate = self.warm_up, self.head_rate
        return learner
