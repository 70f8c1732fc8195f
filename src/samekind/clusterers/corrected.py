"""Groups in which only the answered items are corrected: what answers are worth by themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samekind.clusterers.deep.base import Learner, NetworkClusterer
from samekind.clusterers.deep.idc import FeedbackLearner
from samekind.clusterers.deep.idc_feedback import FeedbackTuning, voted
from samekind.clusterers.deep.settings import Setting
from samekind.clusterers.kmeans.centres import squared_distances
from samekind.clusterers.kmeans.constrained import KMeans
from samekind.constraints import Constraints
from samekind.training.bank import Bank


class KMeansLearner(Learner):
    """Plain k-means in the place of a network; it hears no answers, it only counts their votes."""

    def __init__(self, setting: Setting, data: NDArray[Any], seed: int) -> None:
        super().__init__(setting, data, seed)
        self._centres: NDArray[Any] = np.empty((0, data.shape[1]))
        self._scale = 1.0

    def fit(self, known: Constraints, k: int | None) -> Bank:
        """Groups by likeness alone, and the answers' votes."""
        assert self._data is not None
        model = KMeans(k, random_state=self.seed).fit(self._data)
        self._centres = model.cluster_centers_.astype(np.float64)
        self._scale = max(model.inertia_ / len(self._data), 1e-12)  # mean square to the centre
        bank = self.read(self._data)
        return Bank(bank.h, bank.z, voted(bank.p, known).astype(np.float32))

    def stopped(self, known: Constraints, k: int | None) -> Bank | None:
        """Nothing: there is no network that could be kept."""
        return None

    def read(self, data: NDArray[Any]) -> Bank:
        """Shares by nearness to the centres; the vectors stay as they are."""
        apart = squared_distances(data.astype(np.float64), self._centres) / self._scale
        shares = np.exp(apart.min(axis=1, keepdims=True) - apart)
        shares /= shares.sum(axis=1, keepdims=True)
        return Bank(data, data, shares.astype(np.float32))


@dataclass(eq=False, repr=False, kw_only=True)
class Corrected(NetworkClusterer):
    """Correct only the asked items: groups without answers, put right where an answer says so.

    What any method that learns from answers has to beat (the rows marked with a dagger in IDC's
    Table 2). Vectors are grouped by k-means, pictures by the frozen network of `start`; then each
    answered item goes where the answers say. No other item moves.

    Parameters
    ----------
    n_clusters : groups; None: those of `start`, or a guess.
    first_epochs : of the self-supervised training of pictures without a `start`; None: 40.

    Other parameters and the attributes are those of
    :class:`~samekind.clusterers.deep.base.NetworkClusterer`; most are for pictures.

    >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
    >>> known = Constraints.from_links(4, [(2, 1, True), (2, 3, True)])
    >>> Corrected(2, random_state=0).fit(X, constraints=known).labels_.tolist()
    [0, 1, 1, 1]
    """

    first_epochs: int | None = None

    def _new_learner(self, data: NDArray[Any], seed: int) -> Learner:
        if data.ndim == 2:
            return KMeansLearner(self._setting(data), data, seed)
        return FeedbackLearner(self._setting(data), data, seed, given=True)

    def _count(self, known: Constraints) -> int | None:
        return None if self.n_clusters is None else super()._count(known)

    def _schedule(self) -> dict[str, Any]:
        return {"tuning": FeedbackTuning(epochs=0), "first_epochs": self.first_epochs}
