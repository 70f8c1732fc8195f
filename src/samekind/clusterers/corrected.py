"""Groups in which only the answered items are corrected: what answers are worth by themselves."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from samekind.clusterers.deep.idc_answers import voted
from samekind.clusterers.deep.idc_learning import FeedbackLearner
from samekind.clusterers.deep.learner import Learner
from samekind.clusterers.deep.networked import NetworkClusterer
from samekind.clusterers.deep.settings import Setting
from samekind.clusterers.deep.starting import PICTURE_SETTINGS, setting_from
from samekind.clusterers.kmeans.centres import squared_distances
from samekind.clusterers.kmeans.constrained import KMeans
from samekind.constraints import Constraints
from samekind.training.bank import Bank
from samekind.training.feedback_tuning import FeedbackTuning
from samekind.training.losses import ItemContrast


class KMeansLearner(Learner):
    """Plain k-means in the place of a network; it hears no answers, it only counts their votes."""

    def __init__(self, setting: Setting, data: NDArray[Any], seed: int) -> None:
        super().__init__(setting, ItemContrast(), data, seed)
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


class Corrected(NetworkClusterer):
    """Correct only the asked items: groups without answers, put right where an answer says so.

    What any method that learns from answers has to beat (the rows marked with a dagger in IDC's
    Table 2). Vectors are grouped by k-means, pictures by the frozen network of `start`; then each
    answered item goes where the answers say. No other item moves.

    Parameters
    ----------
    n_clusters : groups; None: those of `start`, or a guess.
    start, size, image_shape, first_epochs, device, random_state : as in
        :class:`~samekind.clusterers.deep.idc.IDC`; most are for pictures.

    Attributes
    ----------
    labels_ : (n,) group of each item. membership_ : (n, k). space_ : (n, d) vectors or features.

    >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
    >>> known = Constraints.from_links(4, [(2, 1, True), (2, 3, True)])
    >>> Corrected(2, random_state=0).fit(X, constraints=known).labels_.tolist()
    [0, 1, 1, 1]
    """

    warm_start = True

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        start: str | None = None,
        size: int | None = None,
        image_shape: tuple[int, ...] | None = None,
        first_epochs: int | None = None,
        device: str | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.start = start
        self.size = size
        self.image_shape = image_shape
        self.first_epochs = first_epochs
        self.device = device
        self.random_state = random_state

    def _new_learner(self, data: NDArray[Any], seed: int) -> Learner:
        if data.ndim == 2:
            return KMeansLearner(Setting(device=self.device), data, seed)
        wanted = {name: getattr(self, name, None) for name in PICTURE_SETTINGS}
        return FeedbackLearner(setting_from(self.start, wanted), data, seed, given=True)

    def _count(self, known: Constraints) -> int | None:
        return None if self.n_clusters is None else super()._count(known)

    def _schedule(self) -> dict[str, Any]:
        return {"feedback": FeedbackTuning(epochs=0), "first_epochs": self.first_epochs}
