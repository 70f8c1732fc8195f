"""TCL: twin contrastive learning, with boosting by its own sure labels."""

from __future__ import annotations

from typing import ClassVar

from samekind.clusterers.deep.selftaught import SelfTaughtClusterer, SelfTaughtLearner


class TCLLearner(SelfTaughtLearner):
    """Twin contrast, then boosting; the groups are those of the cluster head."""

    name: ClassVar[str] = "tcl"


class TCL(SelfTaughtClusterer):
    """TCL: contrast of items and of groups between weak and strong views, then boosting.

    5/6 of the steps are the twin contrast, 1/6 the boosting, as published (1000 and 200 epochs).
    In the boosting, items that the network is sure of (membership .99, per group at most the surer
    half of a batch's share) carry a label: equal labels do not repel, and the strong view learns
    the label. The groups are those of the head after the last step.

    Deviations: Adam at 1e-3 that falls over all steps (published 1e-4, constant, for ten times as
    many epochs), heads without batch norms, labels refreshed at each epoch of the boosting instead
    of in each step. On plain vectors: views with little and with much noise, and a head that
    begins at the groups of k-means, because sixty steps are few. A `start` gives the backbone only;
    no stage is left out, because each one trains the head as well. See
    :class:`~samekind.clusterers.deep.staged.StagedClusterer` for the parameters.

    References
    ----------
    Li et al., Twin Contrastive Learning for Online Clustering, IJCV 2022, arXiv 2210.11680.
    """

    learner = TCLLearner
