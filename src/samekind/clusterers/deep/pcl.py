"""PCL: personalised clustering by targeted representation learning."""

from __future__ import annotations

from typing import ClassVar

from samekind.clusterers.deep.base import DeepClusterer
from samekind.clusterers.deep.settings import Recipe, Setting
from samekind.training.loop import Objective


class PCL(DeepClusterer):
    """PCL: contrast in which answers attract and repel, with attention between items.

    Minimises Eq. 5 of the paper in the readings of the published program: constrained contrast of
    features and of memberships (:class:`~samekind.objectives.ConstrainedContrast`), contrast of
    the groups at temperature 2, and balance. Published for pictures of 128 x 128, ResNet-34 from
    scratch, batches of 128, Adam at 1e-5; questions by the strategy ``pcl``.

    References
    ----------
    Personalized Clustering via Targeted Representation Learning, AAAI 2025, arXiv 2412.13690.
    """

    recipe: ClassVar[Recipe] = Recipe(
        Setting(
            batch_size=128,
            learning_rate=1e-5,
            backbone="resnet34",
            stem="7x7",
            size=128,
            family="pcl",
            attention=True,
        )
    )

    def published_objective(self) -> Objective:
        """Eq. 5."""
        from samekind.training.losses import PCLLoss

        return PCLLoss()
