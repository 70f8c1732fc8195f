"""DEC and IDEC: an autoencoder whose codes gather around centres."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from numpy.typing import NDArray
from torch import nn

from samekind.clusterers.deep.base import Learner
from samekind.clusterers.deep.codes import AutoencoderClusterer, AutoencoderLearner, DECLoss
from samekind.training.loop import Trainer

PUBLISHED: dict[str, Any] = {"batch_size": 256, "learning_rate": 1e-3}


class IDECLearner(AutoencoderLearner):
    """Learns groups while codes can still be decoded."""

    def _objective(self, trainer: Trainer) -> nn.Module:
        return DECLoss(len(trainer.data), trainer.network.k, groups=0.1, reconstruction=1.0)


@dataclass(eq=False, repr=False, kw_only=True)
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

    Parameters: see :class:`~samekind.clusterers.deep.codes.AutoencoderClusterer`.

    References
    ----------
    Xie et al., Unsupervised Deep Embedding for Clustering Analysis, ICML 2016, arXiv 1511.06335.
    """

    published: ClassVar[dict[str, Any]] = PUBLISHED

    def _new_learner(self, data: NDArray[Any], seed: int) -> Learner:
        return AutoencoderLearner(self._setting(data), data, seed, self._coding())


@dataclass(eq=False, repr=False, kw_only=True)
class IDEC(AutoencoderClusterer):
    """IDEC: as DEC, and items can still be made again from their codes; no answers in training.

    The loss is that of the autoencoder plus 0.1 times that of DEC, as published. Parameters and
    deviations: see :class:`DEC`.

    References
    ----------
    Guo et al., Improved Deep Embedded Clustering with Local Structure Preservation, IJCAI 2017.
    """

    published: ClassVar[dict[str, Any]] = PUBLISHED

    def _new_learner(self, data: NDArray[Any], seed: int) -> Learner:
        return IDECLearner(self._setting(data), data, seed, self._coding())
