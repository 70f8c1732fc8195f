"""DC-GMM: a mixture behind an autoencoder, tilted by answers."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, ClassVar

import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from samekind.clusterers.deep.dec import AutoencoderClusterer
from samekind.clusterers.deep.dec_learning import AutoencoderLearner, k_means
from samekind.clusterers.deep.learner import Learner
from samekind.errors import InputError
from samekind.training.autoencoder import squared_error
from samekind.training.bank import in_use
from samekind.training.dcgmm import DCGMMLoss, GroupMixture, MixtureAutoencoder
from samekind.training.loop import Plan, Trainer
from samekind.training.network import Network
from samekind.training.steps import autocast

LINKED = 0.25
"""Part of a batch that may be partners of its answered items."""
SETTLING = 0.75
"""Of the steps after pre-training, after which no group is begun again."""
MEASURED = 2048
"""Items at most on which the error of the autoencoder is measured."""


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
        """What the autoencoder misses before the groups are learnt, per number."""
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
    n_clusters, steps, batch_size, learning_rate, hidden, latent, pretraining, refresh, tolerance,
    start, backbone, stem, channels, size, family, image_shape, warm_start, device, compile, watch,
    random_state, verbose : see :class:`~samekind.clusterers.deep.dec.DEC`.
        Here `refresh` counts the steps between two looks for lost groups.
    alpha : how sure the answers are; higher is closer to certain.

    Attributes
    ----------
    labels_ : (n,) group of each item. membership_ : (n, k). space_ : (n, latent) codes.

    References
    ----------
    Manduchi et al., Deep Conditional Gaussian Mixture Model for Constrained Clustering,
    NeurIPS 2021, arXiv 2106.06385. Jiang et al., Variational Deep Embedding, IJCAI 2017,
    arXiv 1611.05148.
    """

    learner: ClassVar[type[AutoencoderLearner]] = DCGMMLearner
    published: ClassVar[dict[str, Any]] = {"batch_size": 256, "learning_rate": 8e-4}

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        steps: int | None = None,
        batch_size: int | None = None,
        learning_rate: float | None = None,
        hidden: tuple[int, ...] | None = None,
        latent: int = 10,
        pretraining: float = 0.5,
        refresh: int | None = None,
        tolerance: float = 0.0,
        alpha: float = 100.0,
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
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.hidden = hidden
        self.latent = latent
        self.pretraining = pretraining
        self.refresh = refresh
        self.tolerance = tolerance
        self.alpha = alpha
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
        if not 0 <= self.alpha < math.inf:
            raise InputError(f"alpha is a number from 0 on; {self.alpha} came. Try 100.")
        learner = super()._new_learner(data, seed)
        assert isinstance(learner, DCGMMLearner)
        learner.alpha = self.alpha
        return learner
