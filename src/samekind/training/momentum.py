"""Momentum: a network that learns from a slow copy of itself (BYOL, ProPos)."""

from __future__ import annotations

import math
from collections.abc import Callable
from copy import deepcopy
from typing import NamedTuple

import torch
from torch import Tensor, nn

from samekind.errors import InputError
from samekind.training.network import Backbone
from samekind.training.steps import SchedulePoint

FOLLOWING = "target_"
"""Prefix of the names of the parts that follow."""
PREDICTOR_STD = 0.01
"""Standard deviation of the predictor's first weights, at the published widths."""
PUBLISHED_FAN_INS = (256, 4096)
"""Inputs of the predictor's two linear layers as published."""


class MomentumOutput(NamedTuple):
    """Outputs of both networks, (2B, ...), the first view of all items before the second."""

    h: Tensor  # (2B, width) features of the trained backbone
    v: Tensor  # (2B, out) its projections, before noise
    q: Tensor  # (2B, out) its predictions of the other network's projections
    t: Tensor  # (2B, out) projections of the network that follows; no gradient


class Momentum(nn.Module):
    """Backbone, projector and predictor, and a backbone and a projector that follow them slowly.

    After every step each weight of the followers becomes ``a follower + (1 - a) trained``. Averages
    of their batch norms are their own, from the rows that they see. The published program lets them
    follow before the step, so they lag one step more.

    Parameters
    ----------
    backbone : from images to vectors; has an attribute `width`.
    hidden, out : widths of projector and predictor (4096 and 256 as published).
    average : the weight `a` of the past. Fewer epochs want a shorter memory.
    rising : let `a` rise to 1 over the epochs like a cosine; False: it stays.
    noise : standard deviation of what is added to projections before they are predicted from
        (ProPos: sampling of positives); 0 adds nothing.
    noise_from : share of the epochs that goes by without noise.

    References
    ----------
    Grill et al., Bootstrap Your Own Latent, NeurIPS 2020. Huang et al., Learning Representation for
    Clustering via Prototype Scattering and Positive Sampling, TPAMI 2022.

    >>> from samekind.training.resnet import ResNet
    >>> network = Momentum(ResNet(18, base=8), hidden=32, out=16)
    >>> [tuple(part.shape) for part in network(torch.zeros(4, 3, 32, 32))]
    [(4, 64), (4, 16), (4, 16), (4, 16)]
    """

    backbone: nn.Module
    target_backbone: nn.Module

    def __init__(
        self,
        backbone: Backbone,
        *,
        hidden: int = 4096,
        out: int = 256,
        average: float = 0.996,
        rising: bool = False,
        noise: float = 0.0,
        noise_from: float = 0.0,
    ) -> None:
        super().__init__()
        if not isinstance(backbone, nn.Module):
            raise InputError(
                f"A backbone is a torch module; this is a {type(backbone).__name__}. "
                "Take samekind.training.resnet.ResNet, or a module with an attribute `width`."
            )
        if not 0 <= average <= 1 or noise < 0:
            raise InputError(
                f"Expected an average from 0 to 1 and noise of 0 or more, got {average} and "
                f"{noise}. Common values are 0.99 and 0.001."
            )
        self.backbone, self.width, self.out = backbone, backbone.width, out
        self.projector = projector(self.width, hidden, out)
        self.predictor = projector(out, hidden, out)
        start_predictor(self.predictor)
        self.target_backbone = deepcopy(backbone).requires_grad_(False)
        self.target_projector = deepcopy(self.projector).requires_grad_(False)
        self.average, self.rising = average, rising
        self.noise, self.noise_from = noise, noise_from
        # No buffer: it is neither kept nor, with several processes, made the same for all.
        self._drawn: Tensor | None = None

    def forward(
        self, images: Tensor, *, gather: Callable[[Tensor], Tensor] | None = None
    ) -> MomentumOutput:
        """Return the outputs of both networks for images (2B, 3, S, S).

        Parameters
        ----------
        gather : brings rows of all processes together; the output then has the rows of all.
        """
        h = self.backbone(images)
        v = self.projector(h)
        q = self._predicted(v)
        with torch.no_grad():
            t = self.target_projector(self.target_backbone(images))
        parts = (h, v, q, t)
        return MomentumOutput(*(parts if gather is None else (gather(part) for part in parts)))

    def _predicted(self, v: Tensor) -> Tensor:
        if not self.noise or self._drawn is None or len(self._drawn) != len(v):
            q: Tensor = self.predictor(v)
        else:  # in half precision noise this small would be rounded away
            with torch.autocast(v.device.type, enabled=False):
                hidden = self.predictor[0](v.to(self._drawn.dtype) + self._drawn)
            q = self.predictor[1:](hidden)
        return q

    @torch.no_grad()
    def draw(self, rows: int, chance: torch.Generator, point: SchedulePoint) -> None:
        """Draw the noise of one step, into the same place each time (see ``loop.Draws``)."""
        if not self.noise:
            return
        if self._drawn is None or len(self._drawn) != rows:
            self._drawn = torch.empty(rows, self.out, device=chance.device)
        begun = point.epoch >= self.noise_from * point.epochs
        self._drawn.normal_(generator=chance).mul_(self.noise * begun)

    @torch.no_grad()
    def follow(self, point: SchedulePoint) -> None:
        """Let the followers make one step (see ``loop.Follows``)."""
        pairs = ((self.target_backbone, self.backbone), (self.target_projector, self.projector))
        old = [p.data for follower, _ in pairs for p in follower.parameters()]
        new = [p.data for _, trained in pairs for p in trained.parameters()]
        past = self.past_at(point)
        torch._foreach_mul_(old, past)  # one launch for all weights
        torch._foreach_add_(old, torch._foreach_mul(new, 1 - past))

    def followers(self) -> dict[str, str]:
        """Names of the followers' weights, and of the trained ones that they follow."""
        names = dict(self.named_parameters())
        return {name: name.removeprefix(FOLLOWING) for name in names if name.startswith(FOLLOWING)}

    def past_at(self, point: SchedulePoint) -> float | Tensor:
        """The weight of the past: a number, or one on the device if the point lies there.

        >>> from samekind.training.resnet import ResNet
        >>> network = Momentum(ResNet(18, base=1), hidden=2, out=2, average=0.9, rising=True)
        >>> [round(network.past_at(SchedulePoint(epoch, 10)), 3) for epoch in (0, 5, 10)]
        [0.9, 0.95, 1.0]
        """
        if not self.rising:
            return self.average
        done = math.pi * point.epoch / point.epochs
        height = torch.cos(done) if isinstance(done, Tensor) else math.cos(done)
        return 1 - (1 - self.average) * (1 + height) / 2

    def project(self, images: Tensor) -> Tensor:
        """Projections (B, out) by the followers alone: what ProPos groups."""
        projections: Tensor = self.target_projector(self.target_backbone(images))
        return projections


def projector(width: int, hidden: int, out: int) -> nn.Sequential:
    """Linear, batch norm, ReLU, linear."""
    return nn.Sequential(
        nn.Linear(width, hidden), nn.BatchNorm1d(hidden), nn.ReLU(), nn.Linear(hidden, out)
    )


@torch.no_grad()
def start_predictor(predictor: nn.Sequential) -> None:
    """Draw the weights of both linear layers from N(0, .01), as published; biases become 0.

    In a narrower layer the deviation grows with the root of the missing inputs, so that outputs
    begin at the published size.
    """
    linear = [layer for layer in predictor if isinstance(layer, nn.Linear)]
    for layer, inputs in zip(linear, PUBLISHED_FAN_INS, strict=True):
        nn.init.normal_(layer.weight, std=PREDICTOR_STD * math.sqrt(inputs / layer.in_features))
        nn.init.zeros_(layer.bias)
