"""Sets drawn from a seed: the same again, other seeds other points, and two groupings that cross."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.neighbors import KNeighborsClassifier

from samekind.evaluation import acc
from samekind.sources import open_set
from samekind.sources.sets.drawn import (
    CROSSED,
    Graph,
    Mixture,
    draw_graph,
    draw_mixture,
    node_vectors,
)

DRAWN = (
    "gaussian-mixtures",
    "gaussian-mixtures-close",
    "gaussian-mixtures-unequal",
    "sbm-graphs",
    "sbm-crossed",
    "avatars",
    "leaves",
    "charts",
    "tickets",
    "sensors",
)


@pytest.mark.parametrize("name", DRAWN)
def test_a_seed_draws_the_same_set_again_and_another_seed_another(name: str) -> None:
    first, again, other = (open_set(name, seed=seed) for seed in (4, 4, 5))
    assert first.collection.fingerprint == again.collection.fingerprint
    assert first.collection.fingerprint != other.collection.fingerprint
    for orientation in first.orientations:
        np.testing.assert_array_equal(first.truth(orientation)[0], again.truth(orientation)[0])


@pytest.mark.parametrize(
    ("name", "obvious", "faint"),
    [
        ("gaussian-mixtures", "coarse", "crossed"),
        ("gaussian-mixtures-close", "coarse", "crossed"),
        ("sbm-graphs", "community", "role"),
        ("sbm-crossed", "department", "town"),
    ],
)
def test_k_means_finds_the_obvious_grouping_and_neighbours_know_the_faint_one(
    name: str, obvious: str, faint: str
) -> None:
    known = open_set(name, seed=1)
    X = known.collection.matrix  # type: ignore[attr-defined]
    found = {}
    for orientation in (obvious, faint):
        kinds = known.truth(orientation)[0]
        plain = KMeans(len(set(kinds.tolist())), n_init=3, random_state=0).fit_predict(X)
        near = KNeighborsClassifier(5).fit(X[::2], kinds[::2]).score(X[1::2], kinds[1::2])
        found[orientation] = acc(kinds, plain), near
    assert found[obvious][0] > 0.9
    assert found[faint][0] < 0.7 and found[faint][1] > 0.75


def test_groups_of_the_unequal_mixture_differ_in_size() -> None:
    sizes = np.bincount(open_set("gaussian-mixtures-unequal", seed=0).truth("fine")[0])
    even = np.bincount(open_set("gaussian-mixtures", seed=0).truth("fine")[0])
    assert sizes.max() / sizes.min() > 4 > even.max() / even.min()


def test_fine_groups_are_the_pairs_of_the_two_groupings() -> None:
    known = draw_mixture("demo", Mixture(obvious=2, faint=5, n=40, held_out=7), seed=3)
    assert known.held_out is not None and len(known.held_out) == 7
    columns = known.orientations
    np.testing.assert_array_equal(columns["fine"], columns["coarse"] * 5 + columns["crossed"])


def test_no_group_of_either_grouping_is_empty_even_when_shares_are_tiny() -> None:
    for seed in range(20):
        known = draw_mixture("demo", Mixture(concentration=0.05, n=60, held_out=0), seed=seed)
        assert len(set(known.orientations["coarse"].tolist())) == 4
        assert known.held_out is None


def test_node_vectors_do_not_depend_on_what_the_nodes_are_called() -> None:
    rng = np.random.default_rng(0)
    upper = np.triu(rng.random((40, 40)) < 0.3, 1)
    edges = (upper | upper.T).astype(float)
    order = rng.permutation(40)
    np.testing.assert_allclose(
        np.abs(node_vectors(edges, 3)[order]),
        np.abs(node_vectors(edges[order][:, order], 3)),
        atol=1e-6,
    )


def test_the_last_numbers_of_a_node_are_counted_from_its_edges() -> None:
    edges = np.zeros((5, 5))
    for a, b in [(0, 1), (1, 2), (0, 2), (2, 3), (3, 4)]:  # a triangle with a tail
        edges[a, b] = edges[b, a] = 1.0

    def scaled(values: list[float]) -> np.ndarray:
        return (np.asarray(values) - np.mean(values)) / np.std(values)

    told = node_vectors(edges, 2)
    np.testing.assert_allclose(told[:, 2], scaled(list(np.log1p([2, 2, 3, 2, 1]))))
    np.testing.assert_allclose(told[:, 3], scaled([2.5, 2.5, 2.0, 2.0, 2.0]))
    np.testing.assert_allclose(told[:, 4], scaled([1.0, 1.0, 1 / 3, 0.0, 0.0]))


def test_edges_are_denser_within_groups_of_both_groupings() -> None:
    graph = Graph(CROSSED.communities, CROSSED.second, 0.3, 0.1, CROSSED.factor, n=120)
    known = draw_graph("demo", graph, ("department", "town"), seed=0)
    assert {len(set(kinds.tolist())) for kinds in known.orientations.values()} == {4, 3}
    assert known.collection.matrix.shape == (120, 15)  # type: ignore[attr-defined]


def test_a_graph_without_edges_still_gives_finite_vectors() -> None:
    assert np.isfinite(node_vectors(np.zeros((8, 8)), 3)).all()
