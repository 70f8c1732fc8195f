"""Plain groups: found without answers, believed as far as the answers bear them out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits

from samekind.clusterers.live import seeds as plain
from samekind.clusterers.live.estimator import Live
from samekind.clusterers.live.orientation import Axes, spread
from samekind.clusterers.live.seeds import (
    FADED,
    WORTH,
    Plain,
    Seeds,
    agreement,
    moved_together,
    plain_groups,
)
from samekind.constraints import Constraints
from samekind.evaluation import ari

Ints = NDArray[np.intp]


def seeds(rows: list[int], labels: list[int]) -> Seeds:
    return Seeds(np.array(rows), np.array(labels), max(labels) + 1)


def test_items_that_move_towards_their_neighbours_are_grouped_better() -> None:
    X, truth = load_digits(return_X_y=True)
    Z = Axes.of(X, np.arange(len(X)), 100)(X)
    together = moved_together(Z, 10)
    moved = [ari(truth, plain_groups(together, 10, seed)) for seed in range(3)]
    where_they_were = [
        ari(truth, KMeans(10, n_init=4, random_state=seed).fit_predict(Z)) for seed in range(3)
    ]
    assert np.mean(moved) > np.mean(where_they_were) + 0.05, (moved, where_they_were)


def test_a_kind_keeps_its_number_and_a_group_without_answers_stays_a_group() -> None:
    groups = np.array([2, 2, 0, 0, 1, 1])
    source = Plain.of(groups, seeds([4, 0], [0, 1]), 1.0).source
    assert source.argmax(axis=1).tolist() == [1, 1, 2, 2, 0, 0]
    assert (source > 0).sum(axis=1).tolist() == [1] * 6


def test_one_answer_does_not_make_one_group_of_two_but_two_do() -> None:
    groups = np.repeat(np.arange(4), 10)
    one = Plain.of(groups, seeds([0, 1, 10, 20, 30], [0, 0, 1, 2, 0]), 0.0)
    assert one.source.shape[1] == 4, "the last group keeps a column of its own"
    assert one.source[30:].argmax(axis=1).tolist() == [3] * 10
    two = Plain.of(groups, seeds([0, 1, 2, 10, 20, 30, 31], [0, 0, 0, 1, 2, 0, 0]), 0.0)
    assert two.source.shape[1] == 3
    assert two.source[30:].argmax(axis=1).tolist() == [0] * 10


def test_each_group_is_worth_a_few_answers_and_fades() -> None:
    groups = np.repeat(np.arange(3), 100)
    few = Plain.of(groups, seeds([0, 100, 200], [0, 1, 2]), 0.0).source.sum(axis=0)
    np.testing.assert_allclose(few, WORTH * (1 - 3 / (FADED * 3)))
    rows = np.arange(0, 300, 10)
    many = Plain.of(groups, Seeds(rows, groups[rows], 3), 0.0).source
    assert many.sum() == 0


def test_a_closed_number_of_kinds_leaves_no_group_without_a_name() -> None:
    groups = np.repeat(np.arange(5), 4)
    told = seeds([0, 4], [0, 1])
    assert Plain.of(groups, told, 0.5).source.shape[1] == 5
    assert Plain.of(groups, told, 0.5, closed=True).source.shape[1] == 2


def test_where_many_groups_are_one_kind_those_without_answers_are_given_up() -> None:
    groups = np.repeat(np.arange(8), 5)
    told = seeds([0, 1, 5, 6, 10, 11, 15, 16, 20, 25], [0, 0, 0, 0, 0, 0, 0, 0, 1, 1])
    assert Plain.of(groups, told, 0.0).source.shape[1] == 2


def test_answers_that_cut_across_the_groups_make_them_worth_little() -> None:
    along, across = np.diag([6.0, 6.0, 6.0]), np.full((3, 3), 2.0)
    assert agreement(along) == 1.0
    assert agreement(across) < 0.2
    assert agreement(np.array([[5.0]])) == 0.0, "one kind says nothing"


def test_few_answers_some_of_them_wrong_do_not_undo_the_plain_groups() -> None:
    rng = np.random.default_rng(0)
    truth = np.arange(600) % 6
    X = (4 * rng.normal(size=(6, 12))[truth] + 1.5 * rng.normal(size=(600, 12))).astype(np.float32)
    told = truth.copy()
    told[[6, 7, 8]] = [3, 4, 5]  # of nine answers three are wrong, and three kinds are missed
    items = [3, 4, 5, 6, 7, 8, 9, 10, 11]
    links = [(3, 4, False), (4, 5, False), (3, 5, False)]
    links += [(int(told[i]), i, True) for i in items[3:]]
    model = Live(random_state=0).fit(X, constraints=Constraints.from_links(600, links))
    before = Live(random_state=0).fit(X)
    assert ari(truth, model.labels_) > ari(truth, before.labels_) - 0.05 > 0.7
    assert model.labels_[6] == model.labels_[3], "each answer is honoured"
    alone = spread(X, Seeds(np.array(items), told[items] - 3, 3), 10).argmax(axis=1)
    assert ari(truth, alone) < 0.6  # without the plain groups nothing would be left of the rest


def test_the_number_of_plain_groups_is_guessed_once_however_many_answers_come() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 8)).astype(np.float32)
    plain._counted.cache_clear()
    for other in (500, 900, 1300):
        known = Constraints.from_links(1500, [(0, other, False), (0, 1, True)])
        Live(n_reference=300, random_state=0).fit(X, constraints=known)
    assert plain._counted.cache_info().misses == 1
