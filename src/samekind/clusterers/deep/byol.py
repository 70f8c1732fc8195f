"""BYOL features, grouped by k-means."""

from __future__ import annotations

from typing import ClassVar

from samekind.clusterers.deep.selftaught import SelfTaughtClusterer, SelfTaughtLearner


class BYOLLearner(SelfTaughtLearner):
    """Regression on a slow copy, then k-means."""

    name: ClassVar[str] = "byol"


class BYOL(SelfTaughtClusterer):
    """BYOL: a view predicts what a slow copy says of the other; then k-means on the features.

    All steps learn features; with a `start` there are none, and its features are grouped as they
    are. Settings and deviations are those of
    :class:`~samekind.clusterers.deep.propos.ProPos`
    without
    its noise and its prototypes. See
    :class:`~samekind.clusterers.deep.staged.StagedClusterer` for the
    parameters.

    References
    ----------
    Grill et al., Bootstrap Your Own Latent, NeurIPS 2020, arXiv 2006.07733.
    """

    learner = BYOLLearner
