"""DEC and IDEC: an autoencoder whose codes gather around centres."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from torch import nn

from samekind.clusterers.deep.dec_learning import ROW_LAYERS, AutoencoderLearner, Coding
from samekind.clusterers.deep.learner import Learner
from samekind.clusterers.deep.staged import StagedClusterer
from samekind.training.bank import Bank
from samekind.training.dec_losses import DECLoss
from samekind.training.loop import Trainer

Floats = NDArray[np.float32]


class AutoencoderClusterer(StagedClusterer):
    """What the methods with an autoencoder share."""

    hidden: tuple[int, ...] | None
    latent: int
    pretraining: float
    refresh: int | None
    tolerance: float

    def _space(self, bank: Bank) -> Floats:
        """The codes, in which the groups lie."""
        return bank.z

    def _new_learner(self, data: NDArray[Any], seed: int) -> Learner:
        learner = super()._new_learner(data, seed)
        assert isinstance(learner, AutoencoderLearner)
        learner.coding = Coding(
            hidden=ROW_LAYERS if self.hidden is None else tuple(self.hidden),
            latent=self.latent,
            pretraining=self.pretraining,
            refresh=self.refresh,
            tolerance=self.tolerance,
        )
        return learner


class IDECLearner(AutoencoderLearner):
    """Groups are learnt while what is made again stays good."""

    def _objective(self, trainer: Trainer) -> nn.Module:
        return DECLoss(len(trainer.data), trainer.network.k, groups=0.1, reconstruction=1.0)


class DEC(AutoencoderClusterer):
    """DEC: codes of an autoencoder gather around centres; no answers in training.

    First an autoencoder learns to make items again of which a fifth is left out. k-means begins the
    groups (twenty starts). Then codes and centres learn from a sharper version of their own shares,
    which is renewed every 140 steps.

    Published for vectors: layers 500, 500, 2000 and codes of 10 numbers, each layer trained by
    itself at first, SGD at 0.1 and 0.01, batches of 256. Here: two layers of 128 (`hidden`), all
    layers at once, Adam at 1e-3 (3e-3 for plain vectors), and for pictures the house's ResNet with
    transposed convolutions behind it. Codes are brought to one scale before the groups begin, by a
    factor that the decoder undoes, because a short training leaves them at any scale.

    Parameters
    ----------
    n_clusters, steps, batch_size, learning_rate, start, backbone, stem, channels, size, family,
    image_shape, device, compile, watch, random_state, verbose : see
        :class:`~samekind.clusterers.deep.staged.StagedClusterer`; without `steps` 120 for plain
        vectors.
        With a `start` all steps go to the groups, and codes begin as principal directions of its
        features.
    hidden : widths of the layers for plain vectors; None: (128, 128).
    latent : numbers of a code.
    pretraining : its share of the steps. Published are 300,000 of pre-training and then as many as
        it takes; half is ours, for short trainings.
    refresh : steps between two targets; None: 140, or a tenth of the steps where these are fewer.
    tolerance : training ends when a smaller share of the items than this changed groups between
        two targets; 0.001 as published, 0 uses all steps.
    warm_start : fitted again on the same pictures, keep the pre-training and begin the groups anew.

    Attributes
    ----------
    labels_ : (n,) group of each item. membership_ : (n, k). space_ : (n, latent) codes.

    References
    ----------
    Xie et al., Unsupervised Deep Embedding for Clustering Analysis, ICML 2016, arXiv 1511.06335.
    """

    learner: ClassVar[type[AutoencoderLearner]] = AutoencoderLearner
    published: ClassVar[dict[str, Any]] = {"batch_size": 256, "learning_rate": 1e-3}

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


class IDEC(DEC):
    """IDEC: as DEC, and items can still be made again from their codes; no answers in training.

    The loss is that of the autoencoder plus 0.1 times that of DEC, as published. Parameters and
    deviations: see :class:`DEC`.

    References
    ----------
    Guo et al., Improved Deep Embedded Clustering with Local Structure Preservation, IJCAI 2017.
    """

    learner: ClassVar[type[AutoencoderLearner]] = IDECLearner
