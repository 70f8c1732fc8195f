"""Objects that are given in place of methods, stores, vectors and pairs: one sentence each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.cluster import KMeans as PlainKMeans

import samekind
from piles import clouds
from samekind import Live, Propagation
from samekind.errors import InputError, VectorError
from samekind.session import Session
from samekind.strategies.pairs.random import Random

X = clouds(60)[0]
ANY: Any = Session
"""A session without types, so that anything can be given to it."""


class Learner(BaseEstimator):
    """A clusterer of somebody else, which takes answers among other things."""

    def fit(self, X: Any, y: Any = None, **given: Any) -> Learner:
        self.labels_ = np.arange(len(X)) % 2
        return self


WRONG: dict[str, Callable[[], object]] = {
    "with 6 numbers, as in 'data', got 9": lambda: Session(X).predict(np.ones((2, 9))),
    "at least 1 item to place, got array": lambda: Session(X).predict(np.ones((0, 6))),
    "whose fit takes constraints, got KMeans": lambda: ANY(X, clusterer=PlainKMeans(3)),
    "Write clusterer=Live": lambda: ANY(X, clusterer=Live),
    "as an object, got the class Live": lambda: ANY(["red cats", "blue cats"], clusterer=Live),
    "a clusterer with a method 'fit', .* got 5": lambda: ANY(X, clusterer=5),
    "Write strategy=Random": lambda: ANY(X, strategy=Random),
    "a strategy with a method 'propose', .* got 5": lambda: ANY(X, strategy=5),
    "an open ledger as store, got 'm.samekind'": lambda: ANY(X, store="m.samekind"),
    "an open ledger as store, got 5": lambda: ANY(X, store=5),
    r"pairs of positions in same, .* got \[\(inf": lambda: samekind.group(
        X,
        same=[(float("inf"), 1)],  # type: ignore[list-item]
    ),
    r"pairs of positions in same, .* got \[\(0.7": lambda: samekind.group(
        X,
        same=[(0.7, 1.2)],  # type: ignore[list-item]
    ),
    r"pairs of positions in different, .* got \['12": lambda: samekind.group(
        X,
        different=["12"],  # type: ignore[list-item]
    ),
}


@pytest.mark.parametrize("words", WRONG)
def test_what_cannot_be_used_is_told(words: str) -> None:
    with pytest.raises(InputError, match=words):
        WRONG[words]()


def test_pairs_of_numpy_and_methods_of_others_are_taken() -> None:
    assert samekind.group(X, same=np.array([[0, 1]])).report.answers == 1
    assert Session(X, clusterer=Learner()).clustering.n_groups == 2


@pytest.mark.parametrize("method", [Live, Propagation])
@pytest.mark.parametrize("size", [1e160, 1e300])
def test_numbers_too_large_to_be_squared_are_told(method: Any, size: float) -> None:
    with pytest.raises(VectorError, match=r"which float32 can hold, got .*Scale the columns"):
        method(2).fit(X.astype(np.float64) * size)
    assert len(method(2, random_state=0).fit(X.astype(np.float64) * 1e36).labels_) == 60


def test_numbers_under_a_mask_are_missing_also_where_vectors_are_given() -> None:
    session = Session(X)
    masked = np.ma.masked_values(np.where(np.arange(X.size).reshape(X.shape) == 4, -999.0, X), -999)
    with pytest.raises(VectorError, match="got NaN or infinity for item 0"):
        session.predict(masked)
    assert (session.predict(np.ma.array(X)) == session.predict(X)).all(), "nothing is masked"
