"""Which typical items the live strategy asks about first."""

from __future__ import annotations

import numpy as np

from samekind.clustering import Clustering
from samekind.constraints import Constraints
from samekind.protocols import View
from samekind.strategies.placement.live import Live


def view(space: np.ndarray, links: list[tuple[int, int, bool]]) -> View:
    known = Constraints.from_links(len(space), links)
    clustering = Clustering.first(np.arange(len(space)) % 2, space)
    rng = np.random.default_rng(0)
    return View(clustering, known, rng, spent=len(links))


def clumps() -> np.ndarray:
    """Two answered clumps, a large one that nobody has reached, and one item far from all."""
    rng = np.random.default_rng(0)
    centres = np.repeat([[0.0, 0.0], [6.0, 0.0], [3.0, 8.0]], [40, 40, 60], axis=0)
    return np.concatenate([centres + 0.3 * rng.normal(size=(140, 2)), [[14.0, -14.0]]])


def test_a_large_region_comes_before_a_single_item_that_is_farther_away() -> None:
    first = Live(n_patches=8).propose(view(clumps(), [(0, 40, False)]))[0]
    assert 80 <= first.items()[0] < 140


def test_a_region_that_is_covered_is_left_for_others() -> None:
    near_all = [(0, 40, False), (0, 80, False), (40, 80, False)]
    seen = Live(n_patches=8).propose(view(clumps(), near_all), 3)
    assert 140 in {question.items()[0] for question in seen}, "now the single item is worth it"
    assert not {question.items()[0] for question in seen} & {0, 40, 80}
