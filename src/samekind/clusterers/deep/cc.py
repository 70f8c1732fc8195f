"""CC: contrastive clustering, which PCL and OCC become without answers."""

from __future__ import annotations

from typing import ClassVar

from samekind.clusterers.deep.base import DeepClusterer
from samekind.clusterers.deep.settings import Recipe, Setting
from samekind.training.loop import Objective


class CC(DeepClusterer):
    """CC: contrast of items and of groups, no answers in training; the result still honours them.

    Published for pictures of 224 x 224, ResNet-34 from scratch, batches of 256, Adam at 3e-4.

    References
    ----------
    Li et al., Contrastive Clustering, AAAI 2021, arXiv 2009.09687.
    """

    recipe: ClassVar[Recipe] = Recipe(
        Setting(
            batch_size=256,
            learning_rate=3e-4,
            backbone="resnet34",
            stem="7x7",
            size=224,
            family="cc",
        )
    )

    def published_objective(self) -> Objective:
        """The sum of the two contrasts and the balance."""
        from samekind.training.losses import CCLoss

        return CCLoss()
