"""CC: contrastive clustering, which PCL and OCC become without answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from samekind.clusterers.deep.epochs import EpochClusterer
from samekind.training.losses import CCLoss


@dataclass(eq=False, repr=False, kw_only=True)
class CC(EpochClusterer):
    """CC: contrast of items and of groups, no answers in training; the result still honours them.

    Published for pictures of 224 x 224, ResNet-34 from scratch, batches of 256, Adam at 3e-4.

    Parameters: see :class:`~samekind.clusterers.deep.epochs.EpochClusterer`.

    References
    ----------
    Li et al., Contrastive Clustering, AAAI 2021, arXiv 2009.09687.
    """

    published: ClassVar[dict[str, Any]] = {
        "batch_size": 256,
        "learning_rate": 3e-4,
        "backbone": "resnet34",
        "stem": "7x7",
        "size": 224,
        "family": "cc",
    }

    def published_objective(self) -> CCLoss:
        """The sum of the two contrasts and the balance."""
        return CCLoss()
