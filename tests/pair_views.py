"""Views of large sets, for the strategies that ask about pairs."""

from __future__ import annotations

from typing import Any

import numpy as np

from samekind.clustering import Clustering
from samekind.constraints import Constraints
from samekind.protocols import View


def large_view(
    n: int = 900,
    seed: int = 0,
    links: int = 40,
    views: bool = True,
    spent: int = 40,
    budget: int | None = 100,
) -> View:
    """A view of `n` items of four kinds with random memberships, and of their truthful links."""
    rng = np.random.default_rng(seed)
    kinds = np.arange(n) % 4

    def bank() -> Any:
        z = 0.2 * rng.normal(size=(n, 12)) + np.eye(4, 12)[kinds]
        return (z / np.linalg.norm(z, axis=1, keepdims=True)).astype(np.float32)

    before = Clustering.first(kinds, bank())
    membership = rng.dirichlet(np.ones(4) / 2, n)
    two = np.stack([bank(), bank()]) if views else None
    now = before.followed_by(kinds, bank(), membership, two)
    drawn = rng.integers(0, n, (links, 2))
    known = Constraints.from_links(
        n, [(int(a), int(b), bool(kinds[a] == kinds[b])) for a, b in drawn if a != b]
    )
    return View(now, known, np.random.default_rng(1), before, spent, budget, seed=seed)
