"""What all estimators with a network share: reading items, fitting, placing others."""

from __future__ import annotations

from abc import abstractmethod
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from samekind.clusterers.deep.learner import Learner
from samekind.clusterers.deep.pictures import pictures_of
from samekind.clusterers.group_count import checked_constraints, told_count
from samekind.clusterers.live.settling import settled
from samekind.constraints import Constraints
from samekind.errors import InputError, SamekindError, VectorError
from samekind.training.backbone_file import save_backbone
from samekind.training.bank import Bank

Ints = NDArray[np.intp]
Floats = NDArray[np.float32]


class NetworkClusterer(ClusterMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """An estimator around a :class:`Learner`. A method says which learner, and its parameters."""

    n_clusters: int | None
    image_shape: tuple[int, ...] | None
    size: int | None
    warm_start: bool
    random_state: Any

    @abstractmethod
    def _new_learner(self, data: NDArray[Any], seed: int) -> Learner:
        """What learns from these items, from the beginning."""

    @abstractmethod
    def _schedule(self) -> dict[str, Any]:
        """Settings that may change from one fit to the next."""

    def _space(self, bank: Bank) -> Floats:
        """The vectors that strategies look at: features of the backbone."""
        return bank.h

    def fit(self, X: Any, y: Any = None, *, constraints: Constraints | None = None) -> Self:
        """Train on pictures (n, 3, height, width), uint8, or on vectors (n, d). `y` is ignored."""
        data = self._read(X, reset=True)
        known = checked_constraints(constraints, len(data)) or Constraints(len(data))
        learner: Learner | None = getattr(self, "_learner", None)
        goes_on = self.warm_start and constraints is not None and data.ndim == 4
        if learner is None or not goes_on or not learner.same_data(data):
            seed = int(check_random_state(self.random_state).randint(2**31 - 1))
            learner = self._new_learner(data, seed)
        learner.setting = replace(learner.setting, **self._schedule())
        count = self._count(known)
        try:
            bank = learner.fit(known, count)
        except BaseException:  # also Ctrl-C: be what was learnt until then, and tell it
            with suppress(SamekindError):  # such as no memory for this either
                kept = learner.stopped(known, count)
                if kept is not None:
                    self._install(learner, kept, known)
            raise
        return self._install(learner, bank, known)

    def _install(self, learner: Learner, bank: Bank, known: Constraints) -> Self:
        self._learner = learner
        self._settled = settled(bank.p, known)
        self.labels_, self.membership_ = self._settled.labels, self._settled.membership
        self.space_ = self._space(bank)
        self.n_clusters_ = self.membership_.shape[1]
        return self

    def predict(self, X: Any) -> Ints:
        """The groups of other items; the group of one item does not depend on the others."""
        check_is_fitted(self)
        return self._settled.predict(self._learner.read(self._read(X)).p)

    def transform(self, X: Any) -> Floats:
        """The learnt vectors of other items, (n, d)."""
        check_is_fitted(self)
        return self._space(self._learner.read(self._read(X)))

    def save_features(self, path: str | Path) -> None:
        """Write the backbone's weights, for the parameter `start` of this or another method."""
        check_is_fitted(self)
        save_backbone(path, self._learner.setting.features, self._learner.backbone)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "labels_")

    def _read(self, X: Any, *, reset: bool = False) -> NDArray[Any]:
        """Pictures as bytes with channels in front, or vectors as float32."""
        pictures = pictures_of(X, self.image_shape, side=self.size or 128)
        if pictures is None:
            if not reset and getattr(self, "_pictures", False):
                raise VectorError(
                    "The model was trained on pictures, but vectors came. Give uint8 pictures."
                )
            rows = validate_data(self, X, dtype=np.float32, reset=reset, ensure_min_samples=1)
            if reset:
                self._pictures = False
            found: NDArray[Any] = rows
        elif reset:
            self._pictures = True
            self.n_features_in_ = int(np.prod(pictures.shape[1:]))
            found = pictures
        elif not self._pictures:
            raise VectorError("The model was trained on vectors, but pictures came. Give vectors.")
        else:
            found = pictures
        if reset and len(found) < 2:
            raise VectorError(
                f"There is nothing to group in n_samples={len(found)} items. Bring at least two."
            )
        return found

    def _count(self, known: Constraints) -> int | None:
        """The number of groups: as asked for, as told apart, or None for a guess."""
        n = known.n_items
        if self.n_clusters is None:
            return told_count(known)
        if isinstance(self.n_clusters, bool) or not 1 <= self.n_clusters <= n:
            raise InputError(
                f"{self.n_clusters} groups cannot be made of {n} items (n_samples={n}). "
                f"Ask for 1 to {n} groups, or for None."
            )
        return int(self.n_clusters)
