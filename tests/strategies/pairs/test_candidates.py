"""Proposals from large sets: repeatable, askable, from anywhere, and never all with all."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

from pair_views import large_view
from samekind.clustering import Clustering
from samekind.constraints import Constraints
from samekind.errors import InputError
from samekind.protocols import View
from samekind.questions import SamePair
from samekind.registry import find, registered
from samekind.strategies.pairs.candidates import Candidates, scaled
from samekind.strategies.pairs.choice import remaining
from samekind.strategies.pairs.csd import CSD
from samekind.strategies.pairs.entropy import Entropy, OCCEntropy, entropy
from samekind.strategies.pairs.hardness import Hardness
from samekind.strategies.pairs.uncertainty import Uncertainty

PLACING = ("placement", "live", "value", "margin", "item-entropy")
MIXED = ("planner", "posterior")
ONE_BY_ONE = ("cobra", "cobras", "minmax", "npu")
"""Strategies whose next question depends on the answer to this one: they ask one at a time."""
PAIRWISE = sorted(
    name
    for name in registered("strategy")
    if not name.startswith(PLACING + MIXED) and name not in ONE_BY_ONE
)


@pytest.mark.parametrize("name", PAIRWISE)
@pytest.mark.parametrize("views", [True, False], ids=["two-views", "space-only"])
def test_a_large_proposal_is_askable_and_repeatable(name: str, views: bool) -> None:
    strategy = find("strategy", name)()
    view = large_view(views=views)
    once = strategy.propose(view, 100)
    anew = strategy.propose(large_view(views=views), 100)
    assert once == anew, "a proposal depends on nothing but the view"
    assert len(once) == 100
    items = [i for question in once for i in question.items()]
    assert len(set(items)) == len(items), "no item twice"
    assert all(view.constraints.same(*question.items()) is None for question in once)
    assert all(question.why and "\n" not in question.why for question in once)
    first = tuple(SamePair(*reversed(question.items())) for question in once)
    again = strategy.propose(replace(view, rng=np.random.default_rng(1), passed=first), 100)
    pairs = {frozenset(question.items()) for question in once}
    assert not pairs & {frozenset(question.items()) for question in again}


@pytest.mark.parametrize("name", ONE_BY_ONE)
def test_who_asks_one_at_a_time_asks_what_is_open_and_the_same_again(name: str) -> None:
    strategy, view = find("strategy", name)(), large_view()
    once = strategy.propose(view, 100)
    assert once == strategy.propose(large_view(), 100)
    assert len(once) >= 1 and len({question.items() for question in once}) == len(once)
    assert all(view.constraints.same(*question.items()) is None for question in once)
    assert all(question.why and "\n" not in question.why for question in once)


@pytest.mark.parametrize("name", ["minmax", "npu"])
def test_two_or_equal_items_can_be_asked_about_one_at_a_time_too(name: str) -> None:
    for n in (2, 3, 400):
        snapshot = Clustering.first(np.zeros(n), np.zeros((n, 3)))
        view = View(snapshot, Constraints(n), np.random.default_rng(0), previous=snapshot)
        assert len(find("strategy", name)().propose(view, 1)) == 1


@pytest.mark.parametrize("name", ["cobra", "cobras"])
def test_sets_that_cannot_be_cut_have_no_halves_to_ask_about(name: str) -> None:
    snapshot = Clustering.first(np.zeros(400), np.zeros((400, 3)))
    view = View(snapshot, Constraints(400), np.random.default_rng(0), previous=snapshot)
    assert find("strategy", name)().propose(view, 1) == ()


@pytest.mark.parametrize("name", [*PAIRWISE, *MIXED, *ONE_BY_ONE])
def test_the_next_question_does_not_depend_on_when_the_memo_was_made(name: str) -> None:
    strategy, warm = find("strategy", name)(), large_view()
    strategy.propose(replace(warm, constraints=Constraints(900)), 7)
    now = replace(warm, rng=np.random.default_rng(9))
    cold = replace(large_view(), rng=np.random.default_rng(9))
    assert strategy.propose(now, 3) == strategy.propose(cold, 3)


@pytest.mark.parametrize("name", [*PAIRWISE, *MIXED])
def test_a_set_of_two_or_of_equal_items_can_be_asked_about(name: str) -> None:
    for n in (2, 3, 400):
        snapshot = Clustering.first(np.zeros(n), np.zeros((n, 3)))
        view = View(snapshot, Constraints(n), np.random.default_rng(0), previous=snapshot)
        assert len(find("strategy", name)().propose(view, 1)) == 1
    known = Constraints.from_links(2, [(0, 1, True)])
    snapshot = Clustering.first(np.zeros(2), np.zeros((2, 3)))
    view = View(snapshot, known, np.random.default_rng(0), previous=snapshot)
    assert find("strategy", name)().propose(view, 1) == ()


def test_every_pair_of_a_small_set_is_a_candidate_once() -> None:
    view = large_view(n=50)
    a, b, alike = Candidates().pool(view)
    assert len(set(zip(a.tolist(), b.tolist(), strict=True))) == len(a) == 50 * 49 // 2
    one, two = view.clustering.views
    mean = ((one[a] * one[b]).sum(1) + (two[a] * two[b]).sum(1)) / 2
    np.testing.assert_allclose(alike, mean, atol=1e-6)


def test_candidates_of_a_large_set_hold_near_neighbours_and_reach_everywhere() -> None:
    view = large_view()
    pairs = Candidates(random=3000, anchors=900, neighbours=1, all_below=10)
    a, b, _ = pairs.pool(view)
    assert (a < b).all() and len(np.unique(np.concatenate([a, b]))) == 900
    points = pairs.bank(view.clustering)
    alike = points @ points.T - 2 * np.eye(900)
    wanted = {frozenset((i, int(alike[i].argmax()))) for i in range(900)}
    assert wanted <= {frozenset(pair) for pair in zip(a.tolist(), b.tolist(), strict=True)}


def test_plain_vectors_are_centred_and_trained_ones_are_not() -> None:
    rng = np.random.default_rng(0)
    plain = Clustering.first(np.zeros(500), 10 + rng.normal(size=(500, 6)))
    view = View(plain, Constraints(500), rng)
    assert abs(Candidates().pool(view).similarity.mean()) < 0.2
    assert Candidates(centred=False).pool(view).similarity.min() > 0.9
    unit = plain.space / np.linalg.norm(plain.space, axis=1, keepdims=True)
    trained = View(Clustering.first(np.zeros(500), unit), Constraints(500), rng)
    assert Candidates().pool(trained).similarity.min() > 0.9


def test_hard_pairs_of_a_large_set_hold_an_answered_item() -> None:
    view = large_view(links=10)
    touched = set(view.constraints.touched.tolist())
    assert all(set(q.items()) & touched for q in Hardness().propose(view, 5))
    nothing = replace(view, constraints=Constraints(900))
    assert len(Hardness().propose(nothing, 5)) == 5, "before the first answer chance decides"


def test_the_share_of_the_budget_that_is_left_stays_between_none_and_all() -> None:
    view = large_view()
    assert remaining(view) == pytest.approx(0.6)
    assert remaining(replace(view, spent=500)) == 0
    assert remaining(replace(view, budget=None)) == 0.5


def test_csd_without_a_snapshot_before_asks_at_random() -> None:
    view = replace(large_view(), previous=None)
    assert len(CSD().propose(view, 5)) == 5
    assert CSD.uses_previous


def test_csd_compares_spaces_of_different_width() -> None:
    view = large_view(views=False)
    wide = np.pad(view.previous.space, ((0, 0), (0, 5)))
    wider = replace(view, previous=replace(view.previous, space=wide))
    assert CSD().propose(wider, 5) == CSD().propose(large_view(views=False), 5)


def test_entropy_is_largest_where_the_groups_cannot_decide() -> None:
    membership = np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5], [0.6, 0.4]])
    snapshot = Clustering.first([0, 1, 0, 0], np.eye(4), membership)
    view = View(snapshot, Constraints(4), np.random.default_rng(0))
    assert 2 in Entropy().propose(view)[0].items()
    assert set(Entropy(of="items").propose(view)[0].items()) == {2, 3}
    with pytest.raises(InputError, match="pair"):
        Entropy(of="mean")


def test_occs_rival_pairs_the_most_uncertain_item_with_one_of_medium_similarity() -> None:
    angle = np.array([0.0, 0.2, 0.5, 1.0, 1.6, 2.2, 3.0])
    z = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    sure = np.array([0.9, 0.99, 0.55, 0.8, 0.7, 0.95, 0.6])
    snapshot = Clustering.first([0, 1] * 3 + [0], z, np.stack([sure, 1 - sure], axis=1))
    view = View(snapshot, Constraints(7), np.random.default_rng(0))
    alike = z @ z.T
    expected, used = [], set[int]()
    for item in np.argsort(sure)[:3].tolist():  # by falling entropy
        if item in used:
            continue
        others = [j for j in range(7) if j != item]
        median = np.median(alike[item, others])
        free = [j for j in others if j not in used]
        partner = min(free, key=lambda j: abs(alike[item, j] - median))
        expected.append((item, partner))
        used |= {item, partner}
    found = OCCEntropy().propose(view, len(expected))
    assert [question.items() for question in found] == expected
    known = Constraints.from_links(7, [(*expected[0], True)])
    again = OCCEntropy().propose(replace(view, constraints=known), 1)[0].items()
    assert again[0] == expected[0][0] and again != expected[0], "the next best partner"


def test_partners_of_medium_similarity_are_near_the_median_in_a_large_set() -> None:
    view = large_view(views=False)
    z = view.clustering.space
    for question in OCCEntropy().propose(view, 50):
        a, b = question.items()
        rank = (z @ z[a] < z[a] @ z[b]).mean()
        assert 0.4 < rank < 0.6
    chosen = [question.items()[0] for question in OCCEntropy().propose(view, 50)]
    entropies = entropy(view.clustering.membership)
    assert entropies[chosen].min() > np.quantile(entropies, 0.85)


def test_scaling_knows_what_to_do_when_all_are_equal() -> None:
    assert scaled(np.full(3, 7.0)).tolist() == [0.5] * 3
    assert scaled(np.array([0.0, 5.0, 10.0]), np.array([True, False, True])).tolist() == [0, 0.5, 1]


def test_no_strategy_makes_a_matrix_of_all_with_all() -> None:
    n = 6000
    view = large_view(n=n, views=False)
    for strategy in (Uncertainty(), Hardness(), Entropy(), CSD()):
        tracemalloc.start()
        strategy.propose(view, 50)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 4 * n * n, f"{strategy}: {peak / 1e6:.0f} MB"
