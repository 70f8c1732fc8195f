"""DC-GMM: a mixture behind an autoencoder, tilted by answers."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import one_hot

from samekind.clusterers.deep.base import Learner
from samekind.clusterers.deep.codes import AutoencoderClusterer, AutoencoderLearner, Parts, k_means
from samekind.errors import InputError
from samekind.objectives.dcgmm import Mixture, log_responsibilities, prior_loss, tilted_prior
from samekind.objectives.links import LinkMasks
from samekind.objectives.similarity import full_precision
from samekind.training.autoencoder import Autoencoder, from_all, squared_error
from samekind.training.bank import in_use
from samekind.training.loop import Plan, Trainer
from samekind.training.network import Backbone, Network, Output
from samekind.training.steps import SchedulePoint, autocast

LINKED = 0.25
"""Part of a batch that may be partners of its answered items."""
SETTLING = 0.75
"""Of the steps after pre-training, after which no group is begun again."""
MEASURED = 2048
"""Items at most on which the error of the autoencoder is measured."""
LEAST_SHARE = 0.01
"""Of all items, times one k-th: no group can lose all its weight."""
LEAST_VARIANCE = 1e-3
"""Of a group, relative to that of all codes: no group can shrink to a point."""
ROUNDS = 10
"""Of expectation and maximisation, at the start."""


class Drawn(NamedTuple):
    """Output of the autoencoder in training, for each item of a batch."""

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

    def draw(self, rows: int, chance: torch.Generator, point: SchedulePoint) -> None:
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
        """Return the output for plain items (`views` is 1), or for a batch in training."""
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

    def forward(self, out: Drawn, links: LinkMasks, point: SchedulePoint) -> Parts:
        """The parts of the loss of a batch."""
        return {
            "reconstruction": self.scale * out.error.mean(),
            "prior": prior_loss(out.z, out.log_spread, out.log_gamma, out.mixture),
            "links": tilted_prior(out.log_gamma.exp(), links, self.alpha),
        }


class DCGMMLearner(AutoencoderLearner):
    """Codes and a mixture are learnt together; the answers tilt the mixture."""

    alpha = 100.0

    def _autoencoder(self, backbone: Any, decoder: nn.Module, k: int) -> Network:
        latent = self.coding.latent
        return MixtureAutoencoder(backbone, decoder, GroupMixture(latent, k), latent=latent)

    def _groups(self, k: int) -> nn.Module:
        return GroupMixture(self.coding.latent, k)

    def _plan(self) -> Plan:
        return replace(super()._plan(), schedule="cosine", linked_share=LINKED)

    def _return(self, trainer: Trainer, k: int) -> None:
        super()._return(trainer, k)
        trainer.network.draws = False  # type: ignore[assignment]

    @torch.no_grad()
    def _start_groups(self, trainer: Trainer) -> None:
        """Begin with k-means, then a mixture; codes vary a tenth as much as their groups."""
        network: Any = trainer.network
        (z,) = self._all_items(trainer, "z")
        labels, _, spread = k_means(z, network.k, self.seed)
        network.cluster.begin(z, labels)
        trainer.world.agree(*network.cluster.state_dict().values())
        within = spread**2 / z.shape[1]
        network.spread.bias.fill_(math.log(0.1 * within))
        network.draws = True
        self._see_plain(trainer)

    def _objective(self, trainer: Trainer) -> nn.Module:
        numbers = math.prod(trainer.views.plain(trainer.data[:1]).shape[1:])
        return DCGMMLoss(numbers, variance=self._error(trainer), alpha=self.alpha)

    @torch.no_grad()
    def _error(self, trainer: Trainer) -> float:
        """Mean squared error of the reconstruction before the groups are learnt."""
        network: Any = trainer.network
        apart = -(-len(trainer.data) // MEASURED)
        rows = trainer.views.plain(trainer.data[::apart])
        with in_use(network), autocast(trainer.compute):
            made = network.decoder(network(rows, views=1).z)
        return max(float(squared_error(made, rows).mean()), 1e-4)

    def _aim(self, trainer: Trainer, objective: Any, q: Tensor) -> None:
        first = self._kept_at
        if trainer.step - first < SETTLING * (self.steps - first):
            mixture: Any = trainer.network.cluster
            mixture.revive(q)


@dataclass(eq=False, repr=False, kw_only=True)
class DCGMM(AutoencoderClusterer):
    """DC-GMM: a mixture of normal codes behind an autoencoder, tilted by the answers.

    An autoencoder learns codes as in DEC. A mixture of normal distributions is fitted to them
    (k-means, then ten rounds of expectation and maximisation). Then codes, which are drawn from now
    on, and mixture are trained together (VaDE). An answer adds `alpha` times the chance that both
    items are in one group, or takes it away.

    Published: layers 500, 500, 2000 or a small VGG, codes of 10 numbers, Adam at 8e-4 with decay
    (here a cosine), alpha 10,000, 6,000 pairs. Only pairs that meet in a batch act: a quarter of it
    may be partners of its answered items. It is known to collapse into one group; here shares and
    variances of groups have a lower bound, and in the first three quarters of the steps a group
    that has lost its items is begun again from half of the largest. The variance of the
    reconstruction is what the autoencoder misses after pre-training. All densities stay in
    logarithms.

    Parameters
    ----------
    alpha : how sure the answers are; higher is closer to certain.

    Other parameters: see :class:`~samekind.clusterers.deep.codes.AutoencoderClusterer`. Here
    `refresh` counts the steps between two searches for lost groups.

    References
    ----------
    Manduchi et al., Deep Conditional Gaussian Mixture Model for Constrained Clustering,
    NeurIPS 2021, arXiv 2106.06385. Jiang et al., Variational Deep Embedding, IJCAI 2017,
    arXiv 1611.05148.
    """

    alpha: float = 100.0

    published: ClassVar[dict[str, Any]] = {"batch_size": 256, "learning_rate": 8e-4}

    def _new_learner(self, data: NDArray[Any], seed: int) -> Learner:
        if not 0 <= self.alpha < math.inf:
            raise InputError(f"Expected alpha to be 0 or more, got {self.alpha}. Try 100.")
        learner = DCGMMLearner(self._setting(data), data, seed, self._coding())
        learner.alpha = self.alpha
        return learner
