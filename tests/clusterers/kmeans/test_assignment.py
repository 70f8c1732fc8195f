"""Assignment of blocks that must be kept apart, and colouring, against brute force."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.sparse import csr_array

from samekind.clusterers.kmeans.assignment import Assigner
from samekind.clusterers.kmeans.colouring import colour, fewest_clashes

Graph = NDArray[Any]


@st.composite
def graphs(draw: st.DrawFn, most: int = 6) -> Graph:
    """Symmetric weights of links between blocks; zero where nothing keeps two blocks apart."""
    n = draw(st.integers(2, most))
    upper = draw(st.lists(st.sampled_from([0, 0, 1, 1, 2]), min_size=n * n, max_size=n * n))
    half = np.triu(np.reshape(upper, (n, n)).astype(float), 1)
    return np.asarray(half + half.T)


def random_graph(n: int, share: float, rng: np.random.Generator) -> Graph:
    half = np.triu(rng.random((n, n)) < share, 1).astype(float)
    return np.asarray(half + half.T)


def neighbours(graph: Graph) -> tuple[list[NDArray[np.intp]], list[NDArray[Any]]]:
    near = [np.flatnonzero(row) for row in graph]
    return near, [row[nodes] for row, nodes in zip(graph, near, strict=True)]


def clashes(graph: Graph, colours: Any) -> float:
    colours = np.asarray(colours)
    return float(graph[colours[:, None] == colours].sum() / 2)


def worth(graph: Graph, cost: NDArray[Any], assigned: Any) -> tuple[float, float]:
    return clashes(graph, assigned), float(cost[np.arange(len(cost)), list(assigned)].sum())


def best_worth(graph: Graph, cost: NDArray[Any]) -> tuple[float, float]:
    n, k = cost.shape
    return min(worth(graph, cost, assigned) for assigned in product(range(k), repeat=n))


@settings(deadline=None, max_examples=200)
@given(graphs(), st.integers(1, 4))
def test_a_colouring_is_found_exactly_when_there_is_one(graph: Graph, k: int) -> None:
    possible = any(clashes(graph, c) == 0 for c in product(range(k), repeat=len(graph)))
    found = colour(neighbours(graph)[0], k)
    assert (found is not None) == possible
    if found is not None:
        assert clashes(graph, found) == 0
        assert 0 <= found.min() <= found.max() < k


def test_the_search_takes_back_a_choice_that_leads_nowhere() -> None:
    # Forty nodes coloured from three hidden groups: greedy alone does not colour every one of them.
    rng = np.random.default_rng(0)
    for _ in range(20):
        hidden = rng.integers(3, size=40)
        graph = random_graph(40, 0.25, rng) * (hidden[:, None] != hidden)
        found = colour(neighbours(graph)[0], 3)
        assert found is not None and clashes(graph, found) == 0


def test_the_search_gives_up_after_its_steps() -> None:
    octahedron = np.ones((6, 6)) - np.eye(6) - np.eye(6)[:, [1, 0, 3, 2, 5, 4]]
    near, _ = neighbours(octahedron)
    assert colour(near, 3, max_steps=3) is None
    assert colour(near, 3) is not None


@settings(deadline=None, max_examples=100)
@given(graphs(), st.integers(1, 3))
def test_the_fewest_clashes_are_those_of_brute_force(graph: Graph, k: int) -> None:
    near, weight = neighbours(graph)
    start = np.zeros(len(graph), dtype=np.intp)
    found = fewest_clashes(near, weight, start, k)
    fewest = min(clashes(graph, c) for c in product(range(k), repeat=len(graph)))
    assert clashes(graph, found) == fewest


@settings(deadline=None, max_examples=200)
@given(graphs(), st.integers(1, 3), st.integers(0, 999))
def test_an_assignment_breaks_as_few_links_as_brute_force(graph: Graph, k: int, seed: int) -> None:
    cost = np.random.default_rng(seed).random((len(graph), k))
    assigned = Assigner(csr_array(graph), k).assign(cost)
    assert clashes(graph, assigned) == best_worth(graph, cost)[0]


@settings(deadline=None, max_examples=200)
@given(graphs(), st.integers(1, 4), st.integers(0, 999))
def test_an_assignment_is_never_worse_than_the_one_before(graph: Graph, k: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    cost, before = rng.random((len(graph), k)), rng.integers(k, size=len(graph))
    kept = before.copy()
    assigned = Assigner(csr_array(graph), k).assign(cost, before)
    new, old = worth(graph, cost, assigned), worth(graph, cost, before)
    assert new[0] <= old[0]
    assert new[0] < old[0] or new[1] <= old[1] + 1e-9
    np.testing.assert_array_equal(before, kept)


def test_most_assignments_are_the_cheapest_possible() -> None:
    rng = np.random.default_rng(0)
    cheapest, gap = 0, []
    for _ in range(150):
        graph, cost = random_graph(6, 0.5, rng), rng.random((6, 3))
        assigned = Assigner(csr_array(graph), 3).assign(cost)
        found, best = worth(graph, cost, assigned), best_worth(graph, cost)
        cheapest += found[1] <= best[1] + 1e-9
        gap.append(found[1] / best[1] - 1)
    assert cheapest >= 0.85 * 150
    assert np.mean(gap) <= 0.012


def test_mutually_different_blocks_are_assigned_at_the_least_total_cost() -> None:
    rng = np.random.default_rng(1)
    for _ in range(20):
        graph, cost = np.ones((4, 4)) - np.eye(4), rng.random((4, 5))
        assigned = Assigner(csr_array(graph), 5).assign(cost)
        assert worth(graph, cost, assigned) == best_worth(graph, cost)


def test_a_chain_swaps_its_centres_as_a_whole_when_that_is_cheaper() -> None:
    graph = np.diag(np.ones(4), 1) + np.diag(np.ones(4), -1)
    before = np.array([0, 1, 0, 1, 0])
    # Only the first block gains; the others lose a little less than it gains in all.
    cost = np.array([[5.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.0, 1.0]])
    assigner = Assigner(csr_array(graph), 2)
    assert assigner.assign(cost, before).tolist() == [1, 0, 1, 0, 1]
    cost[0] = [3.5, 0.0]
    assert assigner.assign(cost, before).tolist() == before.tolist()
