"""The contract of a clusterer: a scikit-learn estimator that honours answers."""

from __future__ import annotations

from typing import Any

import numpy as np

from samekind.constraints import Constraints
from samekind.protocols import Clusterer


def check_clusterer(clusterer: Any, *, honours_all: bool = True) -> None:
    """Check shapes, repeatability and, unless the method only weighs answers, every answer."""
    from sklearn.base import clone

    assert isinstance(clone(clusterer).fit(_points(30)), Clusterer)
    for n, links in ((30, 0), (30, 12), (120, 60)):
        X = _points(n)
        known = _true_constraints(n, links)
        model = _seeded(clone(clusterer)).fit(X, constraints=known)
        again = _seeded(clone(clusterer)).fit(X, constraints=known)
        assert model.labels_.shape == (n,) and model.labels_.dtype.kind == "i"
        assert np.array_equal(model.labels_, again.labels_), "same seed, same groups"
        k = len(np.unique(model.labels_))
        if getattr(model, "membership_", None) is not None:
            assert model.membership_.shape == (n, k)
            assert np.allclose(model.membership_.sum(axis=1), 1, atol=1e-4)
        if getattr(model, "space_", None) is not None:
            assert len(model.space_) == n and model.space_.ndim == 2
        placed = model.predict(_points(17, seed=3))
        assert placed.shape == (17,) and set(placed.tolist()) <= set(model.labels_.tolist())
        alone = model.predict(_points(17, seed=3)[:1])
        assert alone[0] == placed[0], "the group of one item must not depend on the others"
        if honours_all:
            _check_honoured(model.labels_, known)


def _check_honoured(labels: Any, known: Constraints) -> None:
    links = known.links(implied=True)
    together = labels[links.a] == labels[links.b]
    assert np.array_equal(together, links.same), "every answer must be honoured"


def _seeded(model: Any) -> Any:
    return model.set_params(random_state=0) if "random_state" in model.get_params() else model


def _points(n: int, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    return (rng.normal(size=(n, 5)) + 6 * np.eye(3, 5)[np.arange(n) % 3]).astype(np.float32)


def _true_constraints(n: int, count: int) -> Constraints:
    """Links of an orientation that cuts across the clouds, so that they have an effect."""
    kinds = np.where(np.arange(n) % 3 == 2, (np.arange(n) // 3) % 2, np.arange(n) % 3)
    rng = np.random.default_rng(1)
    pairs = [rng.choice(n, 2, replace=False) for _ in range(count)]
    return Constraints.from_links(n, [(int(a), int(b), kinds[a] == kinds[b]) for a, b in pairs])
