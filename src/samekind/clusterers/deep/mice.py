"""MiCE: a mixture of contrastive experts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import normalize

from samekind.clusterers.deep.base import Learner
from samekind.clusterers.deep.stages import Stage, StagedClusterer, StagedLearner
from samekind.errors import InputError
from samekind.objectives.links import LinkMasks
from samekind.objectives.mice import ExpertContrast, simplex
from samekind.objectives.similarity import full_precision
from samekind.training.augment import Family
from samekind.training.heads import ClusterHead, LinearUnits
from samekind.training.loop import Plan, SchedulePoint, Trainer, TwoViews
from samekind.training.network import Backbone, Network, Output
from samekind.training.rows import RowBackbone

VIEWS = 3
"""Random views of each item in a step: for the experts, for the followers, for the gate."""


class ExpertOutput(NamedTuple):
    """Output of the network in training, for three views of B items."""

    f: Tensor  # (B, k, out) unit vectors of all experts, first view
    v: Tensor  # (B, k, out) the same of the followers, second view; no gradient
    g: Tensor  # (B, out) unit vectors of the gate, third view


class Gate(ClusterHead):
    """Shares (B, k) by the angle to fixed gates that are as far apart as can be.

    Parameters
    ----------
    units : from features to unit vectors (B, out). temperature : kappa.
    """

    gates: Tensor

    def __init__(self, units: nn.Module, k: int, out: int, *, temperature: float = 1.0) -> None:
        nn.Module.__init__(self)
        self.k, self.units, self.temperature = k, units, temperature
        self.register_buffer("gates", simplex(k, out))

    def forward(self, x: Tensor) -> Tensor:
        """Shares, in float32 or better."""
        z = self.units(x)
        with torch.autocast(x.device.type, enabled=False):
            return torch.softmax(z @ self.gates.T / self.temperature, dim=1)


class ExpertNetwork(Network):
    """Backbone, gate and k experts of one linear layer each; backbone and experts are followed.

    In training it takes three views of each item and gives :class:`ExpertOutput`; in use it gives
    features, unit vectors of the gate, and the posterior of the groups.

    Parameters
    ----------
    backbone : from images to vectors; has an attribute `width`.
    k, out : groups, and width of the vectors that are compared.
    queue : earlier vectors that are kept for comparison; at least as many as a batch has items.
    average : weight of the past in the followers.
    temperature : of experts and gate.

    >>> from samekind.training.resnet import ResNet
    >>> network = ExpertNetwork(ResNet(18, base=8), k=3, out=16, queue=4)
    >>> [tuple(part.shape) for part in network(torch.zeros(6, 3, 32, 32))]
    [(2, 3, 16), (2, 3, 16), (2, 16)]
    """

    queue: Tensor
    place: Tensor
    sums: Tensor

    def __init__(
        self,
        backbone: Backbone,
        *,
        k: int,
        out: int = 128,
        queue: int = 16384,
        average: float = 0.999,
        temperature: float = 1.0,
    ) -> None:
        super().__init__(backbone, k=k, out=out, attention=False)
        if queue < 1 or not 0 <= average <= 1:
            raise InputError(
                f"Expected a queue of at least one item and an average from 0 to 1, got {queue} "
                f"and {average}. Published are 16384 and 0.999."
            )
        self.out, self.average = out, average
        self.instance = LinearUnits(self.width, out)
        self.cluster = Gate(self.instance, k, out, temperature=temperature)
        self.experts = nn.Linear(self.width, k * out)
        self.target_backbone = deepcopy(self.backbone).requires_grad_(False)
        self.target_experts = deepcopy(self.experts).requires_grad_(False)
        self.prototypes = nn.Parameter(normalize(torch.randn(k, out), dim=1))
        self.contrast = ExpertContrast(temperature=temperature)
        self.register_buffer("queue", normalize(torch.randn(queue, k, out), dim=2))
        self.register_buffer("place", torch.zeros((), dtype=torch.long))
        self.register_buffer("sums", torch.zeros(k, out))

    def forward(
        self,
        images: Tensor,
        reference: Tensor | None = None,
        views: int = 2,
        *,
        peers: int | None = None,
        gather: Callable[[Tensor], Tensor] | None = None,
    ) -> Any:
        """An :class:`ExpertOutput` in training, an ``Output`` in use; other arguments are none."""
        if not self.training:
            h = self.backbone(images)
            joint = self.joint(
                ExpertOutput(self._of(self.experts, h), self.follow_up(images), self.instance(h))
            )
            return Output(h, self.instance(h), joint.softmax(dim=1))
        first, second, third = images.chunk(VIEWS)
        h = self.backbone(torch.cat([first, third]))
        f = self._of(self.experts, h[: len(first)])
        return ExpertOutput(f, self.follow_up(second), self.instance(h[len(first) :]))

    @torch.no_grad()
    def follow_up(self, images: Tensor) -> Tensor:
        """Unit vectors (B, k, out) of all experts by the followers."""
        return self._of(self.target_experts, self.target_backbone(images))

    def joint(self, out: ExpertOutput) -> Tensor:
        """Logarithms (B, k) of how well each expert fits, and finds its item."""
        gate = self.cluster
        assert isinstance(gate, Gate)
        # A copy: the queue is changed in place before gradients are computed.
        queue = self.queue.clone() if self.training else self.queue
        return self.contrast.joint(
            *out, gates=gate.gates, prototypes=normalize(self.prototypes, dim=1), queue=queue
        )

    @torch.no_grad()
    def remember(self, v: Tensor, posterior: Tensor) -> None:
        """Put vectors v (B, k, out) of the followers into the queue, in place of the oldest.

        They also count for the prototype of the group that an item belongs to most.
        """
        n, k = posterior.shape
        v = v.to(self.queue.dtype)
        places = (self.place + torch.arange(n, device=v.device)) % len(self.queue)
        self.queue.index_copy_(0, places, v)
        self.place.copy_((self.place + n) % len(self.queue))
        mine = posterior.argmax(dim=1)[:, None] == torch.arange(k, device=v.device)  # (B, k)
        self.sums += (v * mine[..., None]).sum(dim=0)

    @torch.no_grad()
    def centre(self) -> None:
        """Put each prototype where the followers saw the items of its group (Eq. 13)."""
        there = self.sums.norm(dim=1, keepdim=True) > 1e-6  # a group without items stays
        self.prototypes.copy_(torch.where(there, normalize(self.sums, dim=1), self.prototypes))
        self.sums.zero_()

    @torch.no_grad()
    def catch_up(self) -> None:
        """Make the followers what they follow: after weights were read from a file."""
        self.target_backbone.load_state_dict(self.backbone.state_dict())
        self.target_experts.load_state_dict(self.experts.state_dict())

    @torch.no_grad()
    def follow(self, point: SchedulePoint) -> None:
        """Let the followers make one step (see ``loop.Follows``)."""
        pairs = ((self.target_backbone, self.backbone), (self.target_experts, self.experts))
        old = [p.data for follower, _ in pairs for p in follower.parameters()]
        new = [p.data for _, trained in pairs for p in trained.parameters()]
        torch._foreach_mul_(old, self.average)  # one launch for all weights
        torch._foreach_add_(old, torch._foreach_mul(new, 1 - self.average))

    def _of(self, experts: nn.Module, h: Tensor) -> Tensor:
        return normalize(full_precision(experts(h)).view(len(h), self.k, self.out), dim=2)


class MiCELoss(nn.Module):
    """How unlikely the mixture finds each item; then the network remembers the batch."""

    def __init__(self, network: ExpertNetwork) -> None:
        super().__init__()
        self.network = network

    def forward(
        self, out: ExpertOutput, links: LinkMasks, point: SchedulePoint
    ) -> dict[str, Tensor]:
        """The one part of the loss of a batch."""
        loss, posterior = self.network.contrast(self.network.joint(out))
        self.network.remember(out.v, posterior)
        return {"mixture": loss}


class MiCELearner(StagedLearner):
    """Trains gate and experts; prototypes are set anew after every epoch."""

    single_process: ClassVar[bool] = True
    queue: int = 16384
    average: float | None = None

    def _network(self, k: int) -> Network:
        assert self._data is not None
        n, rows, past = len(self._data), not self._pictures, self.average
        return ExpertNetwork(
            RowBackbone(self._data.shape[1]) if rows else self.setting.resnet(),
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
        return replace(plan, optimiser="sgd", weight_decay=1e-4) if self._pictures else plan

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


@dataclass(eq=False, repr=False, kw_only=True)
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
    queue : earlier vectors to compare with, for each group; at most as many as there are items.
    average : weight of the past in the slow copy; None: .999, less in a short training.

    Other parameters: see :class:`~samekind.clusterers.deep.stages.StagedClusterer`. If `family` is
    None, the published views are used.

    References
    ----------
    Tsai et al., MiCE: Mixture of Contrastive Experts for Unsupervised Image Clustering, ICLR 2021,
    arXiv 2105.01899.
    """

    queue: int = 16384
    average: float | None = None

    published: ClassVar[dict[str, Any]] = {
        "batch_size": 256,
        "learning_rate": 1.0,
        "family": Family(32, scale=(0.2, 1.0), jitter=(0.4, 0.4, 0.4, 0.4), jitter_p=1.0),
    }

    def _new_learner(self, data: NDArray[Any], seed: int) -> Learner:
        if self.queue < 1 or not (self.average is None or 0 <= self.average < 1):
            raise InputError(
                "MiCE expects a queue of at least 1 and an average from 0 to below 1, "
                f"got queue={self.queue} and average={self.average}. Try 16384 and 0.999."
            )
        learner = MiCELearner(self._setting(data), data, seed)
        learner.queue, learner.average = self.queue, self.average
        return learner
