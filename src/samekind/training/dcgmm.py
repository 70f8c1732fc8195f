"""An autoencoder that draws its codes, and a mixture that they follow (VaDE, DC-GMM)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import one_hot

from samekind.errors import InputError
from samekind.objectives.dcgmm import Mixture, log_responsibilities, prior_loss, tilted_prior
from samekind.objectives.links import LinkMasks
from samekind.objectives.similarity import full_precision
from samekind.training.autoencoder import Autoencoder, from_all, squared_error
from samekind.training.network import Backbone, Output
from samekind.training.steps import SchedulePoint

Parts = dict[str, Tensor]
LEAST_SHARE = 0.01
"""Of all items, times one k-th: no group can lose all its weight."""
LEAST_VARIANCE = 1e-3
"""Of a group, relative to that of all codes: no group can shrink to a point."""
ROUNDS = 10
"""Of expectation and maximisation, at the start."""


class Drawn(NamedTuple):
    """What the autoencoder says of each item of a batch in training."""

    h: Tensor  # (B, width) features of the backbone
    z: Tensor  # (B, latent) means of the codes
    log_spread: Tensor  # (B, latent) logarithms of their variances
    log_gamma: Tensor  # (B, k) of the codes that were drawn
    error: Tensor  # (B,) mean squared error of what is made again from these
    mixture: Mixture


class GroupMixture(nn.Module):
    """A trained mixture with k groups; from codes (N, width) to the chance of each group.

    Shares and variances have a lower bound, so that no group dies or shrinks to a point.

    >>> GroupMixture(2, 4)(torch.zeros(3, 2)).tolist()[0]
    [0.25, 0.25, 0.25, 0.25]
    """

    log_floor: Tensor

    def __init__(self, width: int, k: int) -> None:
        super().__init__()
        if k < 1:
            raise InputError(f"{k} groups cannot be made. Ask for at least 1.")
        self.k = k
        self.weight = nn.Parameter(torch.zeros(k))
        self.mean = nn.Parameter(torch.zeros(k, width))
        self.log_variance = nn.Parameter(torch.zeros(k, width))
        self.register_buffer("log_floor", torch.tensor(math.log(LEAST_VARIANCE)))

    def mixture(self) -> Mixture:
        """The mixture as it is now."""
        share = torch.softmax(self.weight, dim=0) * (1 - LEAST_SHARE) + LEAST_SHARE / self.k
        return Mixture(share.log(), self.mean, torch.logaddexp(self.log_variance, self.log_floor))

    def forward(self, z: Tensor) -> Tensor:
        """Chances (N, k)."""
        return log_responsibilities(z, self.mixture()).exp()

    @torch.no_grad()
    def begin(self, z: Tensor, labels: Tensor) -> None:
        """Fit to codes (n, width), beginning with groups of them (n,)."""
        overall = z.var(dim=0, correction=0).mean().clamp_min(1e-12)
        self.log_floor.copy_((LEAST_VARIANCE * overall).log())
        gamma = one_hot(labels, self.k).to(z.dtype)
        for _ in range(ROUNDS):
            size = gamma.sum(dim=0).clamp_min(1e-6)  # (k,)
            mean = gamma.T @ z / size[:, None]
            square = gamma.T @ z.square() / size[:, None]
            variance = (square - mean.square()).clamp_min(0) + 0.05 * overall
            self.weight.copy_((size / size.sum()).log())
            self.mean.copy_(mean)
            self.log_variance.copy_(variance.log())
            gamma = self(z)

    @torch.no_grad()
    def revive(self, p: Tensor, *, least: float = 0.05) -> int:
        """Let groups that hold hardly anything take half of the largest; how many did so.

        Parameters
        ----------
        p : (n, k) chances of all items.
        least : of one k-th of the items, below which a group counts as lost.
        """
        size = p.mean(dim=0).cpu()
        lost = torch.nonzero(size < least / self.k)[:, 0].tolist()
        for group in lost:
            largest = int(size.argmax())
            spread = (0.5 * self.log_variance[largest]).exp()
            widest = int(spread.argmax())
            step = torch.zeros_like(spread)
            step[widest] = spread[widest]
            self.log_variance[group] = self.log_variance[largest]
            self.mean[group] = self.mean[largest] + step
            self.mean[largest] -= step
            self.weight[largest] -= math.log(2)
            self.weight[group] = self.weight[largest]
            size[largest] /= 2
            size[group] = size[largest]
        return len(lost)


class MixtureAutoencoder(Autoencoder):
    """An autoencoder whose codes are drawn around their means, as a mixture expects them.

    Parameters
    ----------
    backbone, decoder, latent : as in :class:`~samekind.training.autoencoder.Autoencoder`.
    groups : the mixture.
    """

    def __init__(
        self, backbone: Backbone, decoder: nn.Module, groups: GroupMixture, *, latent: int
    ) -> None:
        super().__init__(backbone, decoder, groups, latent=latent)
        self.spread = nn.Linear(self.width, latent)
        nn.init.zeros_(self.spread.weight)
        nn.init.zeros_(self.spread.bias)
        self.draws = False
        self._noise: Tensor | None = None

    def draw(self, rows: int, chance: torch.Generator, moment: SchedulePoint) -> None:
        """Draw for one step, into the same place each time (see ``loop.Draws``)."""
        if not self.draws:
            return
        wanted = (rows // 2, self.spread.out_features)
        if self._noise is None or self._noise.shape != wanted:
            self._noise = torch.empty(wanted, device=chance.device)
        self._noise.normal_(generator=chance)

    def forward(  # type: ignore[override]
        self,
        images: Tensor,
        reference: Tensor | None = None,
        views: int = 2,
        *,
        peers: int | None = None,
        gather: Callable[[Tensor], Tensor] | None = None,
    ) -> Output | Drawn:
        """What it says of plain items (`views` is 1), or of those of a batch in training."""
        if views == 1:
            return self.of_features(self.backbone(images))
        given, wanted = images.chunk(2)
        h = self.backbone(given)
        z = drawn = self.code(h)
        with torch.autocast(h.device.type, enabled=False):
            log_spread = self.spread(full_precision(h)).clamp(-15.0, 15.0)
        if self.draws and self._noise is not None:
            drawn = z + self._noise * (0.5 * log_spread).exp()
        error = squared_error(self.decoder(drawn), wanted)
        if gather is not None:
            h, z, drawn, log_spread = (from_all(gather, x) for x in (h, z, drawn, log_spread))
            error = from_all(gather, error[:, None])[:, 0]
        mixture = self.cluster.mixture()  # type: ignore[operator]
        return Drawn(h, z, log_spread, log_responsibilities(drawn, mixture), error, mixture)


class DCGMMLoss(nn.Module):
    """VaDE's loss, tilted by answers.

    Parameters
    ----------
    numbers : that an item consists of.
    variance : of the error of each of them.
    alpha : how sure the answers are.
    """

    def __init__(self, numbers: int, *, variance: float, alpha: float) -> None:
        super().__init__()
        self.scale, self.alpha = 0.5 * numbers / variance, alpha

    def forward(self, out: Drawn, links: LinkMasks, moment: SchedulePoint) -> Parts:
        """The parts of the loss of a batch."""
        return {
            "reconstruction": self.scale * out.error.mean(),
            "prior": prior_loss(out.z, out.log_spread, out.log_gamma, out.mixture),
            "links": tilted_prior(out.log_gamma.exp(), links, self.alpha),
        }
