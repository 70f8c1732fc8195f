"""ProPos: prototype scattering and positive sampling."""

from __future__ import annotations

from typing import ClassVar

from samekind.clusterers.deep.selftaught import SelfTaughtClusterer, SelfTaughtLearner


class ProPosLearner(SelfTaughtLearner):
    """BYOL with noise and prototypes, then k-means on the slow copy's projections."""

    name: ClassVar[str] = "propos"


class ProPos(SelfTaughtClusterer):
    """ProPos: BYOL with noise on what is predicted from, and group means that are pushed apart.

    One stage. In its first 5 % there is alignment alone, as published (50 of 1000 epochs); then
    k-means on the slow copy's projections makes groups anew at each epoch, and the means of these
    groups scatter (weight .1, temperature .5, noise .001). The groups in the end are those of
    k-means, the best of ten starts; labels are never looked at to choose an epoch.

    As published: SGD at .05 x batch / 256, predictor x 10, decay 5e-4. Deviations: the slow copy's
    past weighs .99, and less in trainings below 1000 steps (published .996 for 1000 epochs); both
    views go through the network in one pass; projector and predictor are 64 times as wide as the
    first stage (4096 at the published 64 channels). On plain vectors: Adam, a small network, new
    groups at most twenty times. A `start` gives the backbone and its slow copy; no stage is left
    out, because the projector is fresh. See
    :class:`~samekind.clusterers.deep.staged.StagedClusterer`
    for the parameters.

    References
    ----------
    Huang et al., Learning Representation for Clustering via Prototype Scattering and Positive
    Sampling, TPAMI 2022, arXiv 2111.11821.
    """

    learner = ProPosLearner
