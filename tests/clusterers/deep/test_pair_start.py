"""Groups to begin from: pairs, neighbours, k-means, and what follows if there are two kinds."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from samekind.clusterers.deep.pair_start import (
    closed_for_two,
    neighbour_means,
    start_from_pairs,
)
from samekind.constraints import Constraints
from samekind.evaluation import score
from samekind.training.frozen import LinearHead, fit_labels, fit_pairs_around


def crossed(n: int = 400, seed: int = 0) -> tuple[torch.Tensor, np.ndarray, np.ndarray]:
    """Four clouds: a loud difference that k-means finds, and a quiet one."""
    rng = np.random.default_rng(seed)
    loud, quiet = rng.integers(0, 2, (2, n))
    x = rng.normal(size=(n, 10))
    x[:, 0] += 8 * loud
    x[:, 1] += 5 * quiet
    return torch.from_numpy(x.astype(np.float32)), loud, quiet


def told(kinds: np.ndarray, count: int, seed: int = 0) -> Constraints:
    rng = np.random.default_rng(seed)
    pairs = [rng.choice(len(kinds), 2, replace=False) for _ in range(count)]
    return Constraints.from_links(len(kinds), [(a, b, kinds[a] == kinds[b]) for a, b in pairs])


@pytest.mark.parametrize("count", [0, 1, 2, 5, 12])
def test_few_answers_that_agree_with_k_means_leave_its_groups(count: int) -> None:
    x, loud, _ = crossed()
    begun = start_from_pairs(x, told(loud, count), 2, seed=0)
    assert begun.from_kmeans
    assert score(loud[begun.rows], begun.p.argmax(dim=1).numpy())["acc"] > 0.97


def test_answers_that_contradict_k_means_find_the_quiet_groups() -> None:
    x, _, quiet = crossed()
    begun = start_from_pairs(x, told(quiet, 60), 2, seed=0)
    assert score(quiet[begun.rows], begun.p.argmax(dim=1).numpy())["acc"] > 0.9
    assert begun.sizes.sum().item() == pytest.approx(1) and set(begun.scores) == {
        "kmeans",
        "pairs-10",
        "pairs-30",
    }


def test_one_group_and_no_answers_work() -> None:
    x, _, _ = crossed(50)
    assert start_from_pairs(x, Constraints(50), 1, seed=0).p.shape == (50, 1)


def test_neighbours_make_a_noisy_difference_clear() -> None:
    x, loud, quiet = crossed()
    calm = neighbour_means(x, count=10)
    kinds = torch.from_numpy(2 * loud + quiet)

    def spread(rows: torch.Tensor) -> float:
        return float(np.mean([rows[kinds == kind].var(dim=0).mean() for kind in range(4)]))

    assert spread(calm) < 0.5 * spread(x)
    assert torch.allclose(neighbour_means(x, count=1), x)


def test_a_fit_around_a_head_stays_there_with_few_pairs_and_follows_many() -> None:
    x, loud, quiet = crossed()
    head = LinearHead(x, 2)
    fit_labels(head, x, torch.from_numpy(loud), decay=1e-2)
    for count, kinds, kept in ((1, quiet, loud), (200, quiet, quiet)):
        links = told(kinds, count).links()
        pairs = torch.from_numpy(np.stack([links.a, links.b], axis=1))
        same = torch.from_numpy(links.same)
        moved = LinearHead(x, 2)
        moved.load_state_dict(head.state_dict())
        fit_pairs_around(moved, x, pairs[same], pairs[~same], decay=3 / count)
        assert score(kept, moved(x).argmax(dim=1).numpy())["acc"] > 0.9


@pytest.mark.parametrize("seed", range(5))
def test_two_kinds_close_to_all_that_follows(seed: int) -> None:
    rng = np.random.default_rng(seed)
    kinds = rng.integers(0, 2, 12)
    known = told(kinds, 9, seed)
    closed = closed_for_two(known)
    linked = np.eye(12, dtype=bool)
    for a, b, *_ in zip(*known.links(), strict=True):
        linked[a, b] = linked[b, a] = True
    for _ in range(12):
        linked |= (linked.astype(int) @ linked.astype(int)) > 0
    for a in range(12):
        for b in range(12):
            if a != b:
                expected = bool(kinds[a] == kinds[b]) if linked[a, b] else None
                assert closed.same(a, b) is expected


def test_three_kinds_taken_for_two_change_nothing() -> None:
    triangle = Constraints.from_links(5, [(0, 1, False), (1, 2, False), (0, 2, False)])
    closed = closed_for_two(triangle)
    assert closed.same(0, 1) is False and closed.same(0, 2) is False and not closed.conflicts
    assert closed_for_two(Constraints(4)).same(0, 1) is None
