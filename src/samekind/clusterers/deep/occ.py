"""OCC: oracle-guided contrastive clustering."""

from __future__ import annotations

from typing import ClassVar

from samekind.clusterers.deep.base import DeepClusterer
from samekind.clusterers.deep.settings import Recipe, Setting
from samekind.training.loop import Objective


class OCC(DeepClusterer):
    """OCC: contrast in which items answered "same" join the positives, with a fading weight.

    Minimises Eq. 5 of the paper with the sign of its balance term repaired. Confident guesses
    count as links in the second half of the training. Published for pictures of 224 x 224,
    ResNet-34 from scratch, batches of 256, Adam at 3e-4; questions by the strategy ``csd``.

    References
    ----------
    Oracle-guided Contrastive Clustering, arXiv 2211.00409.
    """

    recipe: ClassVar[Recipe] = Recipe(
        Setting(
            batch_size=256,
            learning_rate=3e-4,
            backbone="resnet34",
            stem="7x7",
            size=224,
            family="cc",
            extension=0.5,
        ),
        space="h",
    )

    def published_objective(self) -> Objective:
        """Eq. 5."""
        from samekind.training.losses import OCCLoss

        return OCCLoss()
