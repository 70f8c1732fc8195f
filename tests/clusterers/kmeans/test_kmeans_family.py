"""KMeans, COPKMeans and PCKMeans: answers honoured, vectors met, scikit-learn's contract kept."""

from __future__ import annotations

import json
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.cluster import KMeans as PlainKMeans
from sklearn.datasets import load_digits, make_blobs
from sklearn.exceptions import ConvergenceWarning

from places import VECTORS
from samekind.clusterers.kmeans.centres import Blocks, sums_by
from samekind.clusterers.kmeans.constrained import KMeans
from samekind.clusterers.kmeans.copkmeans import COPKMeans, cop_kmeans
from samekind.clusterers.kmeans.pckmeans import LinkPenalties, PCKMeans
from samekind.constraints import Constraints, as_links
from samekind.errors import Infeasible, InputError
from samekind.evaluation import ari
from samekind.questions import Link

VECTOR = json.loads((VECTORS / "copkmeans.json").read_text())
FAMILY = [KMeans, COPKMeans, PCKMeans]
Case = tuple[NDArray[Any], list[int], list[tuple[int, int, bool]]]


@st.composite
def hidden_partitions(draw: st.DrawFn, most: int = 14) -> Case:
    """Vectors, a hidden grouping, and links that are true of it; distances know nothing of it."""
    n = draw(st.integers(2, most))
    hidden = draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    pairs = draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=25))
    links = [(a, b, hidden[a] == hidden[b]) for a, b in pairs if a != b]
    X = np.random.default_rng(draw(st.integers(0, 99))).normal(size=(n, 2))
    return X, hidden, links


def broken(labels: Any, links: list[tuple[int, int, bool]]) -> int:
    return sum((labels[a] == labels[b]) != same for a, b, same in links)


def digits_with_links(n_links: int, seed: int = 0) -> tuple[Any, Any, Constraints]:
    X, y = load_digits(return_X_y=True)
    X, y = X[:600], y[:600]
    pairs = np.random.default_rng(seed).integers(len(X), size=(n_links, 2))
    links = [(int(a), int(b), bool(y[a] == y[b])) for a, b in pairs if a != b]
    return X, y, Constraints.from_links(len(X), links)


@settings(deadline=None, max_examples=150)
@given(hidden_partitions())
def test_kmeans_honours_every_answer_when_there_are_enough_groups(case: Case) -> None:
    X, hidden, links = case
    constraints = Constraints.from_links(len(X), links)
    k = len(set(hidden))
    found = KMeans(k, n_init=1, random_state=0).fit(X, constraints=constraints)
    assert broken(found.labels_, links) == found.n_violations_ == 0


@settings(deadline=None, max_examples=80)
@given(hidden_partitions(most=8), st.integers(1, 3))
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_kmeans_breaks_as_few_links_as_brute_force(case: Case, k: int) -> None:
    X, _, links = case
    constraints = Constraints.from_links(len(X), links)
    k = min(k, len(X))
    together = [(a, b) for a, b, same in links if same]
    fewest = min(
        broken(labels, links)
        for labels in product(range(k), repeat=len(X))
        if all(labels[a] == labels[b] for a, b in together)
    )
    found = KMeans(k, n_init=2, random_state=0).fit(X, constraints=constraints)
    assert all(found.labels_[a] == found.labels_[b] for a, b in together)
    assert broken(found.labels_, links) == found.n_violations_ == fewest


@settings(deadline=None, max_examples=60)
@given(hidden_partitions())
def test_cop_kmeans_honours_every_answer_or_says_that_it_cannot(case: Case) -> None:
    X, hidden, links = case
    constraints = Constraints.from_links(len(X), links)
    try:
        found = COPKMeans(len(set(hidden)), n_init=2, random_state=0)
        found.fit(X, constraints=constraints)
    except Infeasible:
        assert not all(same for _, _, same in links)
    else:
        assert broken(found.labels_, links) == 0


@settings(deadline=None, max_examples=60)
@given(hidden_partitions(), st.sampled_from([None, 0.0, 0.3, 5.0, 1e4]), st.integers(1, 4))
def test_no_sweep_of_pck_means_raises_the_objective(case: Case, w: float | None, k: int) -> None:
    X, _, links = case
    # Opposite links between the same items: contradictions count here too.
    links = links + [(a, b, not same) for a, b, same in links[:3]]
    constraints = Constraints.from_links(len(X), links)
    found = PCKMeans(min(k, len(X)), w=w, n_init=1, random_state=1).fit(X, constraints=constraints)
    assert np.diff(found.objectives_).max(initial=0.0) <= 1e-9 * (1 + found.objectives_[0])
    assert found.n_violations_ == broken(found.labels_, links)
    squares = ((X - found.cluster_centers_[found.labels_]) ** 2).sum()
    assert found.inertia_ == pytest.approx(squares, abs=1e-6)
    if w is not None:
        assert found.objective_ == pytest.approx(squares + w * found.n_violations_, rel=1e-9)


@pytest.mark.parametrize("case", ["free", "constrained"])
def test_cop_kmeans_meets_the_vector_on_a_line(case: str) -> None:
    X, expected = np.array(VECTOR["X"]), VECTOR[case]
    links = [(a, b, True) for a, b in expected.get("must", [])]
    links += [(a, b, False) for a, b in expected.get("cannot", [])]
    constraints = Constraints.from_links(len(X), links)
    found = COPKMeans(2, start=VECTOR["start"], tol=0.0).fit(X, constraints=constraints)
    assert found.labels_.tolist() == expected["labels"]
    np.testing.assert_allclose(found.cluster_centers_, expected["centres"], atol=1e-9)


def test_cop_kmeans_refuses_contradictory_links() -> None:
    assert VECTOR["contradictory"] is None
    X = np.array(VECTOR["X"])
    links = as_links([Link(0, 1, True), Link(1, 2, True), Link(0, 2, False)])
    with pytest.raises(Infeasible, match="pckmeans"):
        rng = np.random.default_rng(0)
        cop_kmeans(X, Blocks.from_links(X, links), np.array(VECTOR["start"]), rng, 5, 20, 0.0)


def test_cop_kmeans_gives_up_with_a_sentence_when_groups_are_too_few() -> None:
    X = np.arange(3.0)[:, None]
    apart = Constraints.from_links(3, [(0, 1, False), (1, 2, False), (0, 2, False)])
    with pytest.raises(Infeasible, match="n_clusters"):
        COPKMeans(2, random_state=0).fit(X, constraints=apart)
    assert len(set(COPKMeans(3, random_state=0).fit(X, constraints=apart).labels_)) == 3


def test_kmeans_warns_and_counts_when_groups_are_too_few() -> None:
    X = np.arange(4.0)[:, None]
    apart = Constraints.from_links(4, [(a, b, False) for a in range(4) for b in range(a)])
    with pytest.warns(ConvergenceWarning, match="prove at least 4"):
        found = KMeans(2, random_state=0).fit(X, constraints=apart)
    assert found.n_violations_ == 2


def test_a_hard_colouring_is_found_where_greedy_placing_fails() -> None:
    # Crown: each left item differs from all right items but its twin; all items lie together, so
    # distances pull twins into one group and two groups are possible only as left against right.
    pairs = [(a, 6 + b, False) for a in range(6) for b in range(6) if a != b]
    X = np.tile(np.linspace(0, 1, 6), 2)[:, None]
    found = KMeans(2, random_state=0).fit(X, constraints=Constraints.from_links(12, pairs))
    assert found.n_violations_ == 0
    assert len(set(found.labels_[:6])) == 1


def test_known_different_items_take_the_centres_that_cost_least_together() -> None:
    X = np.concatenate([np.repeat([[0.0], [10.0]], 20, axis=0), [[4.0], [4.5]]])
    apart = Constraints.from_links(42, [(40, 41, False)])
    found = KMeans(2, random_state=0).fit(X, constraints=apart)
    assert found.labels_[40] == found.labels_[0] and found.labels_[41] == found.labels_[20]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_without_answers_kmeans_is_as_good_as_scikit_learn(dtype: Any) -> None:
    X = load_digits().data.astype(dtype)
    ours = KMeans(10, n_init=4, random_state=0).fit(X)
    theirs = PlainKMeans(10, n_init=4, random_state=0).fit(X)
    assert ours.inertia_ == pytest.approx(theirs.inertia_, rel=0.01)
    squares = ((X - ours.cluster_centers_[ours.labels_]).astype(float) ** 2).sum()
    assert ours.inertia_ == pytest.approx(squares, rel=1e-5)
    assert ours.cluster_centers_.dtype == dtype


def test_data_far_from_zero_are_grouped_as_well_in_float32() -> None:
    X, y = make_blobs(300, 5, centers=4, cluster_std=0.5, random_state=0)
    found = KMeans(4, random_state=0).fit((X + 10_000).astype(np.float32))
    assert ari(y, found.labels_) == 1.0


@pytest.mark.parametrize("method", FAMILY)
def test_items_without_answers_are_predicted_where_they_were_put(method: Any) -> None:
    X, _, constraints = digits_with_links(60)
    found = method(10, random_state=0).fit(X, constraints=constraints)
    links = constraints.asked_links()
    free = np.setdiff1d(np.arange(len(X)), np.concatenate([links.a, links.b]))
    np.testing.assert_array_equal(found.predict(X)[free], found.labels_[free])


@pytest.mark.parametrize("method", FAMILY)
def test_the_same_seed_gives_the_same_groups(method: Any) -> None:
    X, _, constraints = digits_with_links(150)
    first = method(10, random_state=7).fit(X, constraints=constraints)
    again = clone(first).fit(X, constraints=constraints)
    np.testing.assert_array_equal(first.labels_, again.labels_)
    np.testing.assert_array_equal(first.cluster_centers_, again.cluster_centers_)


@pytest.mark.parametrize("method", FAMILY)
def test_placing_fifty_items_makes_better_groups_than_none(method: Any) -> None:
    X, y, _ = digits_with_links(0)
    firsts = [int(np.flatnonzero(y == kind)[0]) for kind in range(10)]
    links = [(a, b, False) for a in firsts for b in firsts if a < b]
    links += [(i, firsts[y[i]], True) for i in range(60) if i not in firsts]
    constraints = Constraints.from_links(len(X), links)
    with_answers = method(10, random_state=0).fit(X, constraints=constraints)
    without = method(10, random_state=0).fit(X)
    assert ari(y[60:], with_answers.labels_[60:]) > ari(y[60:], without.labels_[60:])


@pytest.mark.parametrize("method", FAMILY)
def test_the_number_of_groups_is_found_on_clear_blobs(method: Any) -> None:
    X, y = make_blobs(400, 6, centers=5, cluster_std=0.6, random_state=3)
    assert ari(y, method(random_state=0).fit(X).labels_) == 1.0


@pytest.mark.parametrize("method", FAMILY)
def test_no_fewer_groups_are_chosen_than_the_answers_prove(method: Any) -> None:
    X, _ = make_blobs(60, 2, centers=2, cluster_std=0.3, random_state=0)
    apart = Constraints.from_links(60, [(a, b, False) for a in range(6) for b in range(a)])
    found = method(random_state=0).fit(X, constraints=apart)
    assert len(found.cluster_centers_) >= 6


@pytest.mark.parametrize("method", FAMILY)
@pytest.mark.parametrize("n", [1, 2, 3])
def test_one_two_or_three_items_can_be_grouped(method: Any, n: int) -> None:
    found = method(random_state=0).fit(np.arange(float(n))[:, None])
    assert len(found.labels_) == n


@pytest.mark.parametrize("method", FAMILY)
def test_more_groups_than_items_are_refused(method: Any) -> None:
    with pytest.raises(InputError, match="at most 3"):
        method(4).fit(np.arange(3.0)[:, None])


@pytest.mark.parametrize("method", FAMILY)
@pytest.mark.parametrize("wrong", [0, -1, 2.5, True])
def test_a_number_of_groups_that_is_none_is_refused(method: Any, wrong: Any) -> None:
    with pytest.raises(InputError, match="n_clusters"):
        method(wrong).fit(np.arange(3.0)[:, None])


@pytest.mark.parametrize("method", FAMILY)
def test_answers_about_another_collection_are_refused(method: Any) -> None:
    with pytest.raises(InputError, match="5 items"):
        method(2).fit(np.arange(3.0)[:, None], constraints=Constraints.from_links(5, []))


def test_wrong_start_price_and_counts_are_refused() -> None:
    X = np.arange(4.0)[:, None]
    with pytest.raises(InputError, match="start"):
        COPKMeans(2, start=[[0.0]]).fit(X)
    with pytest.raises(InputError, match="price"):
        PCKMeans(2, w=-1.0).fit(X)
    with pytest.raises(InputError, match="n_init"):
        KMeans(2, n_init=0).fit(X)


def test_identical_items_and_tied_items_leave_fewer_groups_than_asked_for() -> None:
    same = Constraints.from_links(4, [(0, 1, True), (1, 2, True), (2, 3, True)])
    found = KMeans(3, random_state=0).fit(np.arange(4.0)[:, None], constraints=same)
    assert found.labels_.tolist() == [0, 0, 0, 0] and len(found.cluster_centers_) == 1
    assert set(KMeans(2, random_state=0).fit(np.ones((5, 2))).labels_) <= {0, 1}


def test_every_group_gets_an_item_even_from_a_bad_start() -> None:
    X = np.array([[0.0], [1.0], [2.0], [50.0]])
    found = COPKMeans(3, start=[[0.5], [1000.0], [2000.0]]).fit(X)
    assert len(set(found.labels_)) == 3


def test_a_block_weighs_as_much_as_its_items() -> None:
    X = np.array([[0.0], [2.0], [4.0], [10.0]])
    links = Constraints.from_links(4, [(0, 1, True), (1, 2, True)])
    found = KMeans(1, random_state=0).fit(X, constraints=links)
    assert found.cluster_centers_[0, 0] == pytest.approx(4.0)
    assert found.inertia_ == pytest.approx(((X - 4.0) ** 2).sum())


def test_answers_through_items_that_are_gone_still_hold() -> None:
    from samekind.questions import Answer, SamePair

    answers = [Answer(1, SamePair(0, 4), "same"), Answer(2, SamePair(4, 3), "same")]
    answers += [Answer(3, SamePair(1, 5), "same"), Answer(4, SamePair(2, 5), "different")]
    known = Constraints.from_answers(4, answers, n_gone=2)
    found = KMeans(2, random_state=0).fit(np.array([[0.0], [5.0], [5.1], [9.0]]), constraints=known)
    assert found.labels_[0] == found.labels_[3] and found.labels_[1] != found.labels_[2]


def test_pck_means_follows_the_majority_of_contradictory_answers() -> None:
    X = np.array([[0.0], [0.1], [5.0], [5.1], [0.2]])
    often = [(4, 2, True), (4, 2, True), (4, 2, True), (4, 2, False)]
    constraints = Constraints.from_links(5, often)
    assert len(constraints.conflicts) == 1
    found = PCKMeans(2, w=20.0, random_state=0).fit(X, constraints=constraints)
    assert found.labels_[4] == found.labels_[2] and found.n_violations_ == 1
    cheap = PCKMeans(2, w=0.01, random_state=0).fit(X, constraints=constraints)
    assert cheap.labels_[4] == cheap.labels_[0] and cheap.n_violations_ == 3


@settings(deadline=None, max_examples=60)
@given(hidden_partitions(), st.floats(0.0, 5.0))
def test_items_choose_as_in_a_slow_loop_over_the_whole_objective(case: Case, w: float) -> None:
    X, _, links = case
    links = links + [(a, b, not same) for a, b, same in links[:3]]
    centres = np.array([[-1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    labels = np.arange(len(X)) % 3
    slow = labels.copy()
    linked = sorted({i for a, b, _ in links for i in (a, b)})

    def objective(chosen: NDArray[Any]) -> float:
        return float(((X - centres[chosen]) ** 2).sum() + w * broken(chosen, links))

    for i in np.random.default_rng(3).permutation(len(linked)):
        options = [np.where(np.arange(len(X)) == linked[i], k, slow) for k in range(3)]
        best = min(options, key=objective)
        if objective(best) < objective(slow) - 1e-12:
            slow = best
    priced = LinkPenalties(X, as_links(Link(*link) for link in links), w)
    priced.choose(labels, centres, np.random.default_rng(3))
    assert objective(labels) == pytest.approx(objective(slow), abs=1e-9)


def test_sums_by_label_equal_a_loop() -> None:
    rng = np.random.default_rng(0)
    rows, labels = rng.normal(size=(30, 3)), rng.integers(4, size=30)
    expected = [rows[labels == k].sum(axis=0) for k in range(5)]
    np.testing.assert_allclose(sums_by(labels, rows, 5), expected)


def test_a_guessed_number_of_groups_grows_until_every_difference_holds() -> None:
    X = np.random.default_rng(9).normal(size=(9, 3))
    said = [(0, 2, True), (0, 3, False), (0, 5, False), (1, 4, False), (1, 6, False), (4, 6, False)]
    known = Constraints.from_links(9, said)
    labels = KMeans(n_init=2, random_state=0).fit(X, constraints=known).labels_
    assert all((labels[a] == labels[b]) == same for a, b, same in said)
