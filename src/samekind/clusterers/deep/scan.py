"""SCAN: semantic clustering by adopting nearest neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from numpy.typing import NDArray
from torch import Tensor, nn

from samekind.clusterers.deep.contrasted import ContrastedClusterer, ContrastedLearner
from samekind.clusterers.deep.learner import Learner
from samekind.clusterers.deep.staged import Stage
from samekind.errors import InputError
from samekind.neighbours import nearest_by_cosine
from samekind.objectives.links import LinkMasks
from samekind.objectives.scan import NeighbourAgreement, SelfLabelling
from samekind.training.loop import SchedulePoint, Trainer, TwoViews
from samekind.training.neighbours import NeighbourTrainer, said_of_all
from samekind.training.network import Network, Output

NEIGHBOURS_SHARE, LABELS_SHARE = 0.25, 0.15
"""Of all steps; the rest learns features. Published for CIFAR-10: 62 %, 25 % and 13 % of 78,000."""
RATE, RATE_BATCH = 1e-4, 128
"""The published rate of Adam, and the batch that it was published for."""
HEAD_FACTOR = 10.0
"""The fresh head learns so many times faster than the features, which are there already."""


class _Neighbours(nn.Module):
    """The loss of the second stage, for the trainer."""

    def __init__(self) -> None:
        super().__init__()
        self.agreement = NeighbourAgreement()

    def forward(self, out: Output, links: LinkMasks, moment: SchedulePoint) -> dict[str, Tensor]:
        agreement = self.agreement
        return {
            "neighbours": agreement.disagreement(out.p),
            "entropy": -agreement.weight * agreement.entropy(out.p),
        }


class _OwnLabels(nn.Module):
    """The loss of the third stage, for the trainer; the entropy of the second one stays on."""

    def __init__(self) -> None:
        super().__init__()
        self.labelling, self.agreement = SelfLabelling(), NeighbourAgreement()

    def forward(self, out: Output, links: LinkMasks, moment: SchedulePoint) -> dict[str, Tensor]:
        n = len(out.p) // 2
        strong = out.p.roll(n, dims=0)  # the first half is what the entropy is of
        # As much as there are sure items: alone it would only make all shares equal.
        share = (out.p[:n].detach().amax(dim=1) > self.labelling.sure).float().mean()
        entropy = self.agreement.weight * share * self.agreement.entropy(strong)
        return {"labels": self.labelling(out.p), "entropy": -entropy}


class SCANLearner(ContrastedLearner):
    """Features, then neighbours, then own labels."""

    neighbours = 20

    def _trainer_of(self, network: Network, data: Tensor, views: TwoViews) -> Trainer:
        plan = self._plan()
        return NeighbourTrainer(network, self.objective, data, views, plan, compute=self.compute)

    def _stages(self, trainer: Trainer) -> Sequence[Stage]:
        single, pairs = self._strong_views(trainer), self._strong_views(trainer, mild=True)
        return self._after_features(
            [
                Stage(_Neighbours(), NEIGHBOURS_SHARE, single, self._find_neighbours),
                Stage(_OwnLabels(), LABELS_SHARE, pairs, self._leave_neighbours),
            ]
        )

    def _find_neighbours(self, trainer: Trainer) -> None:
        assert isinstance(trainer, NeighbourTrainer)
        network, n = trainer.network, len(trainer.data)
        h = said_of_all(trainer, network.backbone)
        # The vectors that were contrasted; those of a file come without a head for them.
        x = h if self.setting.start is not None else network.instance(h).detach()
        most = max(1, n // (2 * network.k))  # in a small set 20 would reach into other groups
        trainer.table = nearest_by_cosine(x, min(self.neighbours, most, n - 1))
        self._start_head_at(trainer, h)
        rate = self.rate
        if rate is None:
            rate = RATE * max(1.0, trainer.batches.size / RATE_BATCH)
            rate = self.setting.learning_rate if trainer.data.ndim == 2 else rate
        head = () if trainer.data.ndim == 2 else (("cluster.", HEAD_FACTOR),)
        changes = {"optimiser": "adam", "learning_rate": rate, "weight_decay": 1e-4}
        self._turn(trainer, **changes, factors=head)

    def _leave_neighbours(self, trainer: Trainer) -> None:
        assert isinstance(trainer, NeighbourTrainer)
        trainer.table = None
        trainer.renew()


class SCAN(ContrastedClusterer):
    """SCAN: features first, then an item has the group of its neighbours, then sure items teach.

    60 % of the steps learn features (SimCLR), 25 % the groups from neighbours, 15 % from sure
    memberships (above .99); published for CIFAR-10 are 62, 25 and 13 %. With a `start` features are
    not learnt and the other two share all steps, 5 : 3. Neighbours are looked up once, exactly, by
    cosine, among the contrasted vectors (with a `start`: among its features). The whole network is
    trained in all stages.

    As published: twenty neighbours, entropy weight 5, Adam at 1e-4 for batches of 128 (it grows
    with the batch) with decay 1e-4, strong views of four operations and a hole of up to half the
    side; plain views tell who is sure. Deviations: one batch size for all stages (published 512,
    128 and 1000); rates fall within each stage; a head of two layers instead of one, which learns
    ten times faster than the features; SimCLR with rate .25 and temperature .2 (published .4 and
    .1), as everywhere here; at most half a group's even share of neighbours; the entropy stays on
    in the third stage, times the share of sure items, because otherwise the only group with sure
    items can swallow the others (seen in short trainings). On plain vectors: noisy rows, and a
    head that begins at k-means.

    Parameters
    ----------
    neighbours : of each item. More bring more of a group together, and more errors.
    learning_rate : of the second and the third stage.
    n_clusters, steps, batch_size, start, backbone, stem, channels, size, family, image_shape,
    warm_start, device, compile, watch, random_state, verbose : as in
        :class:`~samekind.clusterers.deep.staged.StagedClusterer`.

    References
    ----------
    Van Gansbeke et al., SCAN: Learning to Classify Images without Labels, ECCV 2020,
    arXiv 2005.12320.
    """

    learner = SCANLearner
    published: ClassVar[dict[str, Any]] = {}

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        steps: int | None = None,
        neighbours: int = 20,
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
        if self.neighbours < 1:
            raise InputError(f"SCAN needs neighbours, at least 1; {self.neighbours} came. Try 20.")
        learner = super()._new_learner(data, seed)
        assert isinstance(learner, SCANLearner)
        learner.neighbours = self.neighbours
        return learner
