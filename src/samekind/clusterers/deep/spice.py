"""SPICE: semantic pseudo-labelling for image clustering."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import one_hot

from samekind.clusterers.deep.base import Learner
from samekind.clusterers.deep.stages import Stage, StagedClusterer, StagedLearner, change_plan
from samekind.neighbours import nearest_by_cosine
from samekind.objectives.links import LinkMasks
from samekind.objectives.spice import prototype_labels, smooth_nll
from samekind.training.bank import READ_ITEMS, in_use, predict_all
from samekind.training.finetune import Changes, row_changes
from samekind.training.fixmatch import FixMatchTuner, FixMatchTuning, fixmatch_changes
from samekind.training.heads import ClusterHead
from samekind.training.loop import Plan, Trainer
from samekind.training.network import Network, Output
from samekind.training.simclr import simclr_plan
from samekind.training.steps import SchedulePoint, autocast, mixed_seed

SELF_SHARE, SEMI_SHARE, SELF_ALONE = 0.2, 0.3, 0.3
"""Of all steps: for the heads, for FixMatch, and for the heads where that is left out."""
HEADS = 10
BLOCK = 5000
"""Items among which prototypes and their examples are found."""
RATE = 5e-3
"""Of the heads, with Adam, as published."""
RECENT = 0.05
"""Weight of a step in the running loss of each head."""
FEWEST = 0.02
"""Share of an even group that is taken as its most reliable items, however few are reliable."""


class Still(nn.Module):
    """A backbone that is not trained; its batch norms keep their averages. `inner` is the backbone.

    >>> still = Still(nn.Sequential(nn.BatchNorm1d(2)), 2).train()
    >>> still.training, still.inner.training
    (True, False)
    """

    def __init__(self, inner: nn.Module, width: int) -> None:
        super().__init__()
        self.inner, self.width = inner.eval().requires_grad_(False), width

    def train(self, mode: bool = True) -> Self:
        """Only this module itself: what is inside stays in use."""
        self.training = mode
        return self

    @torch.no_grad()
    def forward(self, images: Tensor) -> Tensor:
        """Features (B, width)."""
        features: Tensor = self.inner(images)
        return features

    def released(self) -> nn.Module:
        """The backbone, ready to be trained again."""
        return self.inner.requires_grad_(True).train()


class Heads(nn.Module):
    """Several cluster heads side by side: shares (heads, B, k).

    >>> Heads([ClusterHead(8, 3), ClusterHead(8, 3)])(torch.ones(5, 8)).shape
    torch.Size([2, 5, 3])
    """

    def __init__(self, heads: Iterable[ClusterHead]) -> None:
        super().__init__()
        self.all = nn.ModuleList(heads)

    def __len__(self) -> int:
        return len(self.all)

    @property
    def k(self) -> int:
        """Groups that each head tells apart."""
        return self[0].k

    def __getitem__(self, place: int) -> ClusterHead:
        head = self.all[place]
        assert isinstance(head, ClusterHead)
        return head

    def forward(self, x: Tensor) -> Tensor:
        """Shares of features (B, width) by each head."""
        return torch.stack([head(x) for head in self.all])


class ExamplesLoss(nn.Module):
    """Each head learns from its own examples; how well it does is remembered.

    Parameters
    ----------
    heads, n, k : heads, items and groups. Somebody else fills `chosen`, in place.
    """

    chosen: Tensor
    recent: Tensor

    def __init__(self, heads: int, n: int, k: int) -> None:
        super().__init__()
        self.register_buffer("chosen", torch.zeros(heads, n, k, dtype=torch.bool))
        self.register_buffer("recent", torch.zeros(heads))

    def of_items(
        self, out: Output, items: Tensor, links: LinkMasks, point: SchedulePoint
    ) -> dict[str, Tensor]:
        """The one part of the loss of a batch: the mean over the heads."""
        losses = smooth_nll(out.p, self.chosen[:, items])  # (heads,)
        with torch.no_grad():
            self.recent.lerp_(losses.detach().to(self.recent.dtype), RECENT)
        return {"examples": losses.mean()}

    def best(self) -> int:
        """The head whose loss was lowest of late. Labels have no say in it."""
        return int(self.recent.argmin())


@torch.no_grad()
def reliable_items(
    h: Tensor, p: Tensor, *, neighbours: int = 100, agreement: float = 0.9, sure: float = 0.99
) -> tuple[Tensor, Tensor]:
    """Items whose group can be relied on, and these groups: equally many of each group.

    An item is reliable if its membership is above `sure` and at least so many of its neighbours
    (a share) have its group. All groups give as many as the one with the fewest reliable items has,
    but 2 % of an even group at least: where reliable ones are lacking, the next best.

    Parameters
    ----------
    h : (n, width) features. p : (n, k) memberships.
    neighbours : 100 as published; in small sets at most half of an even group.

    >>> h = torch.tensor([[1.0, 0.0], [1.0, 0.1], [0.0, 1.0], [0.1, 1.0]])
    >>> p = torch.tensor([[1.0, 0.0], [0.7, 0.3], [0.0, 1.0], [0.0, 1.0]])
    >>> [part.tolist() for part in reliable_items(h, p)]
    [[0, 2], [0, 1]]
    """
    n, k = p.shape
    top, group = p.max(dim=1)
    table = nearest_by_cosine(h, min(neighbours, max(1, n // (2 * k)), n - 1))
    agree = (group[table] == group[:, None]).float().mean(dim=1)
    good = (agree >= agreement) & (top > sure)
    mine = one_hot(group, k).bool()  # (n, k)
    sizes = mine.sum(dim=0)
    there = sizes > 0
    each = max(int((mine & good[:, None]).sum(dim=0)[there].min()), math.ceil(FEWEST * n / k), 1)
    order = (10 * good + agree + top).argsort(descending=True, stable=True)
    rank = mine[order].long().cumsum(dim=0)  # (n, k)
    kept = (mine[order] & (rank <= each)).any(dim=1)
    rows = order[kept].sort().values
    return rows, group[rows]


class SPICELearner(StagedLearner):
    """Features, then heads on still features, then FixMatch on what can be relied on."""

    head_starts_first: ClassVar[bool] = False
    semi = True
    _loss: ExamplesLoss | None = None
    _features: Tensor | None = None
    _tuned: Network | None = None

    def __getstate__(self) -> dict[str, Any]:
        """As of any learner; what only training needs stays behind."""
        return {**super().__getstate__(), "_loss": None, "_features": None}

    def _plan(self) -> Plan:
        assert self._data is not None
        plan = super()._plan()
        return simclr_plan(plan, batch=self._batch(len(self._data))) if self._pictures else plan

    def _stages(self, trainer: Trainer) -> Sequence[Stage]:
        loss = self._loss = ExamplesLoss(HEADS, len(trainer.data), trainer.network.k)
        views = self._strong_views(trainer)
        share = SELF_SHARE if self.semi else SELF_ALONE
        heads = Stage(loss, share, views, self._find_examples, every=1.0)
        if not self.semi:
            return self._simclr_first([heads])
        # The last one only takes its share: FixMatch has a loop of its own.
        return self._simclr_first([heads, Stage(loss, SEMI_SHARE)])[:-1]

    def _train(self, trainer: Trainer) -> None:
        self._tuned = self._features = None
        super()._train(trainer)
        left = self.steps - trainer.step
        if self.semi and left > 0:
            self._settle(trainer)
            self._tuned = self._learn_from_reliable(trainer, left)

    def _finished(self, trainer: Trainer) -> Network:
        self._settle(trainer)
        return self._tuned or super()._finished(trainer)

    def _split_heads(self, trainer: Trainer) -> None:
        """Hold the features still and put several fresh heads on top."""
        network: Any = trainer.network
        self._features = predict_all(trainer, network.backbone)
        self._start_head_at(trainer, self._features)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(mixed_seed(self.seed, 3))
            others = [ClusterHead(network.width, network.k) for _ in range(HEADS - 1)]
        network.cluster = Heads([network.cluster, *others]).to(trainer.device)
        network.backbone = Still(network.backbone, network.width)
        rate = RATE if self.rate is None else self.rate
        change_plan(trainer, optimiser="adam", learning_rate=rate, weight_decay=0.0)

    def _settle(self, trainer: Trainer) -> None:
        """Keep the best head, and let the features move again."""
        network: Any = trainer.network
        if isinstance(network.cluster, Heads) and self._loss is not None:
            network.cluster = network.cluster[self._loss.best()]
            network.backbone = network.backbone.released()
            trainer.renew()

    @torch.no_grad()
    def _find_examples(self, trainer: Trainer) -> None:
        """Prototypes of each head and the items near them, block by block."""
        if not isinstance(trainer.network.cluster, Heads):
            self._split_heads(trainer)
        loss, features = self._loss, self._features
        assert loss is not None and features is not None
        n, seed = len(features), mixed_seed(self.seed, trainer.step, 4)
        p = self._scores(trainer, seed)
        order = torch.from_numpy(np.random.default_rng(seed).permutation(n)).to(trainer.device)
        for block in torch.tensor_split(order, -(-n // BLOCK)):
            for head in range(HEADS):
                # In place: a recorded step looks there.
                loss.chosen[head, block] = prototype_labels(features[block], p[head, block])

    def _scores(self, trainer: Trainer, seed: int) -> Tensor:
        """Memberships (heads, n, k) of weak views."""
        chance = torch.Generator(trainer.device).manual_seed(seed)
        weak, network = self._changes(trainer).weak, trainer.network
        found = []
        with in_use(network), autocast(trainer.compute):
            for some in torch.split(trainer.data, READ_ITEMS):
                found.append(network.cluster(network.backbone(weak(some, chance))).float())
        return torch.cat(found, dim=1)

    def _changes(self, trainer: Trainer, compiled: str = "") -> Changes:
        """Weak and strong views of FixMatch."""
        if not self._pictures:
            return row_changes(trainer.data)
        family = self.setting.view_family()
        return fixmatch_changes(family, trainer.data, trainer.compute, compiled)

    def _learn_from_reliable(self, trainer: Trainer, steps: int) -> Network:
        """FixMatch for so many steps, with reliable items in place of labelled ones."""
        network, data, n = trainer.network, trainer.data, len(trainer.data)
        h = predict_all(trainer, network.backbone)
        p = predict_all(trainer, lambda rows: network(rows, views=1).p)
        rows, labels = (part.cpu().numpy() for part in reliable_items(h, p))
        batch = trainer.batches.size
        labelled = max(1, batch // 8)  # 64 of 512, as published
        unlabelled = max(1, min(n, batch - labelled))
        tuning = FixMatchTuning(
            labelled=labelled,
            unlabelled=unlabelled,
            epochs=(steps - 0.5) * unlabelled / n,  # it rounds up to whole steps
        )
        return FixMatchTuner(
            network,
            data,
            rows,
            labels,
            self._changes(trainer, self.setting.compile),
            tuning,
            compute=trainer.compute,
            seed=self.seed,
            compiled=self.setting.compile,
            monitor=trainer.monitor,
        ).run()


@dataclass(eq=False, repr=False, kw_only=True)
class SPICE(StagedClusterer):
    """SPICE: items near a prototype teach ten heads; the best one's reliable items teach the rest.

    Half of the steps learn features (SimCLR), 20 % the heads on still features (Self), 30 %
    FixMatch on the reliable items with the whole network (Semi). Without `semi`: 70 and 30 %.
    Published FixMatch has a million steps, many times all others; here features would starve. With
    a `start` features are not learnt and the rest shares all steps. The head with the lowest loss
    of late is used (the published program saves the one with the best accuracy by labels).

    As published: ten heads, prototypes from the surer half of a group's even share, blocks of 5000
    items, a second soft-max in the loss, Adam at .005; reliable is an item above .99 of whose 100
    neighbours 90 % agree, equally many per group; then FixMatch as published, one labelled item to
    seven others (see :class:`~samekind.clusterers.deep.fixmatch.FixMatch`). Deviations: SimCLR in
    place of MoCo; examples are found for all blocks at each epoch, instead of eight rounds over
    each block; shifted weak views are reflected at the edges (black there) and reliable items are
    not among the unlabelled ones; FixMatch goes on with the same network (the program begins a
    fresh one, for which there are not enough steps here), and its rate of .03 first costs some of
    what the features know; a group without reliable items gives its best ones, 2 % of an even
    group. On plain vectors: noisy rows, and the first head begins at k-means.

    Parameters
    ----------
    semi : whether to train the whole network on reliable items in the end.
    learning_rate : of the heads.

    Other parameters: see :class:`~samekind.clusterers.deep.stages.StagedClusterer`.

    References
    ----------
    Niu et al., SPICE: Semantic Pseudo-Labeling for Image Clustering, IEEE TIP 2022,
    arXiv 2103.09382.
    """

    semi: bool = True

    def _new_learner(self, data: NDArray[Any], seed: int) -> Learner:
        learner = SPICELearner(self._setting(data), data, seed)
        learner.semi, learner.rate = self.semi, self.learning_rate
        return learner
