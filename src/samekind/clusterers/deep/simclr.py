"""SimCLR features, grouped by k-means."""

from __future__ import annotations

from typing import ClassVar

from samekind.clusterers.deep.selftaught import SelfTaughtClusterer, SelfTaughtLearner


class SimCLRLearner(SelfTaughtLearner):
    """Contrast of items, then k-means."""

    name: ClassVar[str] = "simclr"


class SimCLR(SelfTaughtClusterer):
    """SimCLR: two views of an item attract, others repel; then k-means on the features.

    All steps learn features; with a `start` there are none, and its features are grouped as they
    are. SGD at .25 for 512 items (more for larger batches), temperature .2; published are 1.0 and
    .5 with LARS for batches of 4096. On plain vectors: Adam, temperature .5. See
    :class:`~samekind.clusterers.deep.staged.StagedClusterer` for the parameters.

    References
    ----------
    Chen et al., A Simple Framework for Contrastive Learning of Visual Representations, ICML 2020,
    arXiv 2002.05709.
    """

    learner = SimCLRLearner
