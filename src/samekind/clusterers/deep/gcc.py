"""GCC: graph contrastive clustering."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from numpy.typing import NDArray
from torch import Tensor, nn

from samekind.clusterers.deep.learner import Learner
from samekind.clusterers.deep.many_views import ManyViewsLearner
from samekind.clusterers.deep.staged import Stage, StagedClusterer
from samekind.errors import InputError
from samekind.objectives.gcc import GraphContrast
from samekind.objectives.links import LinkMasks
from samekind.objectives.ntxent import NTXent
from samekind.objectives.pica import PartitionConfidence
from samekind.training.augment import Family
from samekind.training.item_graph import GraphTrainer, ItemGraph
from samekind.training.loop import Plan, SchedulePoint, Trainer, TwoViews
from samekind.training.neighbours import said_of_all
from samekind.training.network import Network, Output
from samekind.training.plain_heads import LinearShares

REFRESH, TIMES = 5, 20
"""Epochs between two looks for neighbours as published, and looks at least in all."""


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
        self, out: Output, items: Tensor, links: LinkMasks, moment: SchedulePoint
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


class GCCLearner(ManyViewsLearner):
    """First contrast alone, then the graph, which is looked up again and again."""

    published_family: ClassVar[Family] = Family(32, scale=(0.2, 1.0))
    neighbours: int = 5
    drawn: int = 3
    warm_up: float = 0.051

    def _trainer_of(self, network: Network, data: Tensor, views: TwoViews) -> Trainer:
        plan = self._plan()
        trainer = GraphTrainer(network, self.objective, data, views, plan, compute=self.compute)
        return self._alone(trainer)

    def _network(self, k: int) -> Network:
        network = super()._network(k)
        network.cluster = LinearShares(network.width, k)
        return network

    def _plan(self) -> Plan:
        plan = super()._plan()
        assert self._data is not None
        if self._data.ndim == 2:
            return plan
        return replace(plan, optimiser="sgd", weight_decay=1e-4)

    def _moments(self, first: int, last: int, per_epoch: int) -> Callable[[int], SchedulePoint]:
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
        warm = 0.0 if self.setting.start is not None and trainer.data.ndim == 4 else self.warm_up
        every = min(REFRESH, self.steps / batches.steps / TIMES)
        trainer.graph = None

        def look(trainer: Trainer) -> None:
            assert isinstance(trainer, GraphTrainer)
            self._fill(trainer, graph)
            graph.rebuild()
            trainer.graph = graph

        return [
            Stage(loss, share=warm, views=self._perturbed()),
            Stage(loss, share=1 - warm, views=self._perturbed(), prepare=look, every=every),
        ]

    def _fill(self, trainer: Trainer, graph: ItemGraph) -> None:
        """Vectors of plain items where training has seen none of their views yet."""
        unseen = graph.unseen
        if len(unseen):
            network = trainer.network
            z = said_of_all(trainer, lambda rows: network.instance(network.backbone(rows)))
            graph.remember(z[unseen], unseen)


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
    the denominator; momentum is Nesterov's. The last state is used: the program keeps the epoch
    that agrees best with the labels.

    Parameters
    ----------
    n_clusters, steps, batch_size, learning_rate, start, backbone, stem, channels, size, family,
    image_shape, warm_start, device, compile, watch, random_state, verbose : as in
        :class:`~samekind.clusterers.deep.staged.StagedClusterer`; the published family of views if
        None.
    neighbours, drawn : of each item in the graph, and in a step.
    warm_up : share of the steps before the graph is used.

    Attributes
    ----------
    labels_ : (n,) group of each item. membership_ : (n, k). space_ : (n, d) learnt features.

    References
    ----------
    Zhong et al., Graph Contrastive Clustering, ICCV 2021, arXiv 2104.01429.
    """

    learner = GCCLearner
    published: ClassVar[dict[str, Any]] = {"batch_size": 256, "learning_rate": 0.4}

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        steps: int | None = None,
        neighbours: int = 5,
        drawn: int = 3,
        warm_up: float = 0.051,
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
        self.neighbours = neighbours
        self.drawn = drawn
        self.warm_up = warm_up
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
        if not (1 <= self.drawn <= self.neighbours and 0 <= self.warm_up < 1):
            raise InputError(
                "GCC draws from 1 to all neighbours, and warms up for a share from 0 to below 1; "
                f"drawn={self.drawn}, neighbours={self.neighbours} and warm_up={self.warm_up} came."
            )
        learner = super()._new_learner(data, seed)
        assert isinstance(learner, GCCLearner)
        learner.own_family, learner.warm_up = self.family is None, self.warm_up
        learner.neighbours, learner.drawn = self.neighbours, self.drawn
        return learner
