"""Groups stay steady while answers come, and a kind opened twice does not split a group."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray

from samekind.clusterers.live import orientation, steadying
from samekind.clusterers.live.estimator import Live
from samekind.clusterers.live.orientation import Reliability
from samekind.clusterers.live.orientation import _repeated as repeated_kinds
from samekind.clusterers.live.seeds import Plain, Seeds
from samekind.clusterers.live.steadying import latest_rows, steadied
from samekind.constraints import Constraints
from samekind.questions import Answer, SamePair

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


def answers_about(truth: Ints, count: int) -> list[Answer]:
    """Items 1, 2, ... compared with the first item of each kind before them."""
    first = {int(truth[0]): 0}
    found: list[Answer] = []
    for item in range(1, count):
        for kind, head in first.items():
            choice = "same" if truth[item] == kind else "different"
            found.append(Answer(len(found), SamePair(head, item), choice))
        first.setdefault(int(truth[item]), item)
    return found


def test_the_latest_items_are_those_of_the_latest_answers_alone() -> None:
    answers = [Answer(k, SamePair(0, k + 1), "same") for k in range(12)]
    known = Constraints.from_answers(40, answers)
    rows = np.arange(40)
    five, ten = latest_rows(known, rows)
    assert five.tolist() == [8, 9, 10, 11, 12]
    assert ten.tolist() == list(range(3, 13))
    assert latest_rows(Constraints.from_answers(40, answers[:4]), rows) == ()


def test_the_latest_items_are_places_among_the_reference_items() -> None:
    answers = [Answer(k, SamePair(0, 2 * k + 2), "same") for k in range(12)]
    known = Constraints.from_answers(40, answers)
    five, _ = latest_rows(known, np.arange(0, 40, 2))
    assert five.tolist() == [8, 9, 10, 11, 12]


def averaged(now: Floats, then: Floats, labels: Ints, new: int, doubted: float = 0.0) -> Floats:
    """Shares of now averaged with those before the `new` latest of the placed items."""
    told = Seeds(np.arange(len(labels)), labels, int(labels.max()) + 1)
    plain = Plain(np.zeros(now.shape), 0.0, np.array([0]), np.zeros(1))
    latest = (np.arange(len(labels) - new, len(labels)),)
    groups = np.zeros(len(now), dtype=np.intp)
    return steadied(now, told, plain, groups, latest, lambda seeds, plain, kept: then, doubted)


def test_what_was_clear_before_outweighs_what_is_hardly_clear_now() -> None:
    labels = np.arange(40) % 2
    now, then = np.tile([0.45, 0.55], (42, 1)), np.tile([0.8, 0.2], (42, 1))
    then[:40] = np.eye(2)[labels]
    now[41] = [0.1, 0.9]
    found = averaged(now, then, labels, 5)
    np.testing.assert_allclose(found.sum(axis=1), 1)
    assert found[40, 0] > 0.55 and found[41].argmax() == 1


def test_what_did_not_expect_the_latest_answers_does_not_count() -> None:
    labels = np.arange(40) % 2
    now, then = np.tile([0.45, 0.55], (42, 1)), np.tile([0.8, 0.2], (42, 1))
    then[:40] = np.eye(2)[1 - labels]
    np.testing.assert_array_equal(averaged(now, then, labels, 5), now)


def test_few_answers_are_followed_at_once() -> None:
    labels = np.arange(10) % 2
    now, then = np.tile([0.45, 0.55], (42, 1)), np.tile([0.8, 0.2], (42, 1))
    then[:10] = np.eye(2)[labels]
    np.testing.assert_array_equal(averaged(now, then, labels, 5), now)


def test_earlier_groups_count_less_where_answers_are_doubted() -> None:
    labels = np.arange(40) % 2
    now, then = np.tile([0.45, 0.55], (42, 1)), np.tile([0.8, 0.2], (42, 1))
    then[:40] = np.eye(2)[labels]
    firm, some, many = (averaged(now, then, labels, 5, doubted)[41] for doubted in (0, 0.025, 0.05))
    assert firm[0] > some[0] > many[0]
    np.testing.assert_array_equal(many, now[41])


def test_a_kind_that_came_up_just_now_still_takes_items() -> None:
    labels = np.append(np.arange(39) % 2, 2)
    now, then = np.tile([0.1, 0.1, 0.8], (42, 1)), np.tile([0.6, 0.4], (42, 1))
    then[:39] = np.eye(2)[labels[:39]]
    found = averaged(now, then, labels, 5)
    assert found[40].argmax() == 2 and found[40, 0] > now[40, 0]
    np.testing.assert_allclose(found.sum(axis=1), 1)


def test_fewer_items_move_from_refit_to_refit(monkeypatch: pytest.MonkeyPatch) -> None:
    def moved(seed: int, left_out: tuple[int, ...]) -> int:
        rng = np.random.default_rng(seed)
        truth = rng.integers(0, 3, 120)
        X = rng.normal(size=(3, 12))[truth] * 0.7 + rng.normal(size=(120, 12))
        answers = answers_about(truth, 45)
        monkeypatch.setattr(steadying, "LEFT_OUT", left_out)
        found = []
        for count in (40, 50, 60, 70):
            known = Constraints.from_answers(120, answers[:count])
            found.append(Live(random_state=0).fit(X, constraints=known).labels_)
        changes = 0
        for before, after in pairwise(found):
            together = np.zeros((9, 9), dtype=int)
            np.add.at(together, (before, after), 1)
            changes += 120 - int(together.max(axis=0).sum())
        return changes

    usual = steadying.LEFT_OUT
    steady = [moved(seed, usual) for seed in range(2)]
    jumpy = [moved(seed, ()) for seed in range(2)]
    assert sum(steady) < sum(jumpy), (steady, jumpy)


def test_a_small_kind_that_looks_like_a_large_one_is_that_one_once_more() -> None:
    told = np.array([0] * 8 + [1] * 8 + [2] * 3 + [3])
    belief = np.full((20, 4), 0.1)
    belief[np.arange(20), told] = 0.7
    belief[16:19] = [0.7, 0.1, 0.1, 0.1]  # kind 2 is kind 0 once more
    belief[19] = [0.4, 0.4, 0.1, 0.1]  # kind 3 is like none
    assert repeated_kinds(belief, told).tolist() == [False, False, True, False]
    even = np.array([0] * 4 + [1] * 4)  # as many items: either may be right
    alike = np.tile([0.9, 0.1], (8, 1))
    assert not repeated_kinds(alike, even).any()


def test_a_kind_opened_twice_counts_less_only_where_many_answers_are_wrong(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(0)
    truth = np.arange(120) % 3
    Z = 3 * np.eye(3, 8)[truth] + rng.normal(size=(120, 8)) * 0.4
    Z /= np.sqrt((Z**2).sum(axis=1).mean())
    told, again = truth.copy(), [0, 3, 6, 9]
    told[again] = 3  # a wrong "none of these" and three answers after it

    def weight() -> NDArray[np.float64]:
        seeds = Seeds(np.arange(120), told, 4)
        return np.asarray(Reliability.of(Z, Z, seeds, np.ones(120, dtype=bool)).weight)

    assert weight()[again].min() == 1
    monkeypatch.setattr(orientation, "MANY_ERRORS", (0.0, 0.001))
    found = weight()
    assert found[again].max() < 0.1 and np.delete(found, again).min() > 0.9
