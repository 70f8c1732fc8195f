"""MiCE: a mixture of contrastive experts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

from numpy.typing import NDArray
from torch import Tensor, nn

from samekind.clusterers.deep.learner import Learner, resnet
from samekind.clusterers.deep.many_views import ManyViewsLearner
from samekind.clusterers.deep.staged import Stage, StagedClusterer
from samekind.errors import InputError
from samekind.objectives.links import LinkMasks
from samekind.training.augment import Family
from samekind.training.loop import Plan, SchedulePoint, Trainer, TwoViews
from samekind.training.mixture_of_experts import VIEWS, ExpertNetwork, ExpertOutput
from samekind.training.network import Network
from samekind.training.rows import RowBackbone


class MiCELoss(nn.Module):
    """How unlikely the mixture finds each item; then the network remembers the batch."""

    def __init__(self, network: ExpertNetwork) -> None:
        super().__init__()
        self.network = network

    def forward(
        self, out: ExpertOutput, links: LinkMasks, moment: SchedulePoint
    ) -> dict[str, Tensor]:
        """The one part of the loss of a batch."""
        loss, posterior = self.network.contrast(self.network.joint(out))
        self.network.remember(out.v, posterior)
        return {"mixture": loss}


class MiCELearner(ManyViewsLearner):
    """Trains gate and experts; prototypes are set anew after every epoch."""

    published_family: ClassVar[Family] = Family(
        32, scale=(0.2, 1.0), jitter=(0.4, 0.4, 0.4, 0.4), jitter_p=1.0
    )
    queue: int = 16384
    average: float | None = None

    def _network(self, k: int) -> Network:
        assert self._data is not None
        n = len(self._data)
        rows = self._data.ndim == 2
        past = self.average
        return ExpertNetwork(
            RowBackbone(self._data.shape[1]) if rows else resnet(self.setting),
            k=k,
            out=max(32 if rows else 128, k - 1),
            queue=max(self._batch(n), min(self.queue, n)),
            average=memory_for(self.steps) if past is None else past,
        )

    def _trainer_of(self, network: Network, data: Tensor, views: TwoViews) -> Trainer:
        assert isinstance(network, ExpertNetwork)
        network.catch_up()  # the backbone may have come from a file
        return super()._trainer_of(network, data, views)

    def _plan(self) -> Plan:
        plan = super()._plan()
        assert self._data is not None
        if self._data.ndim == 2:
            return plan
        return replace(plan, optimiser="sgd", weight_decay=1e-4)

    def _stages(self, trainer: Trainer) -> Sequence[Stage]:
        network: nn.Module = trainer.network
        assert isinstance(network, ExpertNetwork)
        views = self._perturbed(copies=VIEWS)

        def centre(trainer: Trainer) -> None:
            network.centre()

        return [Stage(MiCELoss(network), views=views, prepare=centre, every=1)]


def memory_for(steps: int) -> float:
    """Weight of the past in the followers: .999 as published, less in a short training.

    A weight of .999 looks back over a thousand steps; this one over at most a twentieth of all.

    >>> [memory_for(steps) for steps in (60, 2000, 100000)]
    [0.6666666666666667, 0.99, 0.999]
    """
    return min(0.999, max(0.5, 1 - 20 / max(1, steps)))


class MiCE(StagedClusterer):
    """MiCE: one expert for each group tells items apart, a gate chooses between the experts.

    One stage of all steps. Each step looks at three views of each item: for the experts, for a slow
    copy of them whose vectors fill a queue, and for the gate. The group of an item is the expert of
    the largest posterior, gate and queue together.

    Published: ResNet-34, SGD at 1.0 with momentum .9 and decay 1e-4, batches of 256, 1,000 epochs,
    a queue of 16,384, a slow copy of .999, tau and kappa of 1, crops of 20 % and more, jitter .4.

    Differences: the learning rate rises and falls like a cosine in place of steps at 480, 640 and
    800 of 1,000 epochs; momentum is Nesterov's; the slow copy is quicker in a short training; both
    views of the trained network pass its batch norms together, and there is no shuffling of
    batches over GPUs; gates are computed for any number of groups; prototypes begin at random.

    Parameters
    ----------
    n_clusters, steps, batch_size, learning_rate, start, backbone, stem, channels, size, family,
    image_shape, warm_start, device, compile, watch, random_state, verbose : as in
        :class:`~samekind.clusterers.deep.staged.StagedClusterer`; the published family of views if
        None.
    queue : earlier vectors to compare with, for each group; at most as many as there are items.
    average : weight of the past in the slow copy; None: .999, less in a short training.

    Attributes
    ----------
    labels_ : (n,) group of each item. membership_ : (n, k). space_ : (n, d) learnt features.

    References
    ----------
    Tsai et al., MiCE: Mixture of Contrastive Experts for Unsupervised Image Clustering, ICLR 2021,
    arXiv 2105.01899.
    """

    learner = MiCELearner
    published: ClassVar[dict[str, Any]] = {"batch_size": 256, "learning_rate": 1.0}

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        steps: int | None = None,
        queue: int = 16384,
        average: float | None = None,
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
        self.queue = queue
        self.average = average
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
        if self.queue < 1 or not (self.average is None or 0 <= self.average < 1):
            raise InputError(
                "MiCE needs a queue of at least 1 and a weight of the past from 0 to below 1; "
                f"queue={self.queue} and average={self.average} came."
            )
        learner = super()._new_learner(data, seed)
        assert isinstance(learner, MiCELearner)
        learner.own_family = self.family is None
        learner.queue, learner.average = self.queue, self.average
        return learner
