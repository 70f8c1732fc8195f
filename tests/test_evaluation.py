"""Scores against recorded vectors, scikit-learn, slow loops from the definitions, symmetries."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics

from places import VECTORS
from samekind import evaluation
from samekind.errors import InputError
from samekind.evaluation import (
    METRICS,
    Contingency,
    Curve,
    Scores,
    acc,
    ari,
    bcubed,
    fowlkes_mallows,
    nmi,
    pair_f1,
    purity,
    score,
)

VECTORS = json.loads((VECTORS / "metrics.json").read_text())
CASES = [name for name in VECTORS if name not in ("orientation_cross", "which_F")]

# One entry per class: its group in the default and in the personalised orientation.
ORIENTATIONS: dict[str, tuple[str, str, int]] = {
    "CIFAR10_2_test": ("0011111100", "0101110101", 1000),
    "ImageNet10_2_equal_classes": ("0000011111", "0111010001", 1300),
}

partitions = st.integers(1, 25).flatmap(
    lambda n: st.tuples(
        st.lists(st.integers(0, 5), min_size=n, max_size=n),
        st.lists(st.integers(0, 5), min_size=n, max_size=n),
    )
)


def check_vector(truth: Any, labels: Any, expected: dict[str, Any]) -> None:
    precision, recall, f1 = pair_f1(truth, labels)
    assert acc(truth, labels) == pytest.approx(expected["ACC"], abs=1e-9)
    assert nmi(truth, labels) == pytest.approx(expected["NMI"]["arithmetic"], abs=1e-9)
    assert ari(truth, labels) == pytest.approx(expected["ARI"], abs=1e-9)
    assert fowlkes_mallows(truth, labels) == pytest.approx(expected["FMI"], abs=1e-9)
    assert f1 == pytest.approx(expected["pair_F1"], abs=1e-9)
    assert precision == pytest.approx(expected["pair_precision"], abs=1e-9)
    assert recall == pytest.approx(expected["pair_recall"], abs=1e-9)
    assert purity(truth, labels) == pytest.approx(expected["purity"], abs=1e-9)


@pytest.mark.parametrize("case", CASES)
def test_every_score_agrees_with_the_vectors(case: str) -> None:
    check_vector(VECTORS[case]["truth"], VECTORS[case]["pred"], VECTORS[case])


@pytest.mark.parametrize("name", ORIENTATIONS)
def test_a_perfect_default_grouping_scores_as_recorded_against_the_personal_one(name: str) -> None:
    default, personal, each = ORIENTATIONS[name]
    labels = np.repeat([int(c) for c in default], each)
    truth = np.repeat([int(c) for c in personal], each)
    check_vector(truth, labels, VECTORS["orientation_cross"][name])


@pytest.mark.parametrize("row", VECTORS["which_F"], ids=lambda row: row["row"])
def test_the_rebuilt_tables_give_the_recorded_scores(row: dict[str, Any]) -> None:
    table = np.array(row["rebuilt_table"], dtype=int)
    truth = np.repeat([0, 0, 1, 1], table.ravel())
    labels = np.repeat([0, 1, 0, 1], table.ravel())
    found = score(truth, labels)
    assert found["fm"] == pytest.approx(row["rebuilt_FMI"], abs=1e-9)
    assert found["pair_f1"] == pytest.approx(row["rebuilt_pair_F1"], abs=1e-9)
    assert found["nmi"] == pytest.approx(row["rebuilt_NMI"], abs=1e-9)


@given(partitions)
def test_nmi_ari_and_fowlkes_mallows_agree_with_scikit_learn(
    pair: tuple[list[int], list[int]],
) -> None:
    found = score(*pair)
    assert found["nmi"] == pytest.approx(metrics.normalized_mutual_info_score(*pair), abs=1e-9)
    assert found["ari"] == pytest.approx(metrics.adjusted_rand_score(*pair), abs=1e-9)
    assert found["fm"] == pytest.approx(metrics.fowlkes_mallows_score(*pair), abs=1e-9)


@given(partitions)
def test_b_cubed_and_pair_scores_agree_with_slow_loops(pair: tuple[list[int], list[int]]) -> None:
    truth, labels = pair
    n = len(truth)
    precision = recall = 0.0
    both = true = found = 0
    for i in range(n):
        group = [j for j in range(n) if labels[j] == labels[i]]
        kind = [j for j in range(n) if truth[j] == truth[i]]
        shared = len(set(group) & set(kind))
        precision += shared / len(group) / n
        recall += shared / len(kind) / n
        for j in range(i):
            both += truth[i] == truth[j] and labels[i] == labels[j]
            true += truth[i] == truth[j]
            found += labels[i] == labels[j]
    f = 2 * precision * recall / (precision + recall)
    assert bcubed(truth, labels) == pytest.approx((precision, recall, f), abs=1e-9)
    expected = 2 * both / (true + found) if both else 0.0
    assert pair_f1(truth, labels)[2] == pytest.approx(expected, abs=1e-9)


@given(partitions, st.permutations(range(6)), st.randoms(use_true_random=False))
def test_names_order_and_roles_do_not_matter(
    pair: tuple[list[int], list[int]], names: list[int], chance: Any
) -> None:
    truth, labels = pair
    before = score(truth, labels)
    order = list(range(len(truth)))
    chance.shuffle(order)
    renamed = [10 * names[labels[i]] for i in order]
    assert score([truth[i] for i in order], renamed) == pytest.approx(before, abs=1e-9)
    assert score(labels, truth) == pytest.approx(before, abs=1e-9)
    assert all(-1.0 - 1e-9 <= value <= 1.0 + 1e-9 for value in before.values())


@settings(deadline=None)
@given(partitions)
def test_the_sparse_assignment_equals_the_dense_one(pair: tuple[list[int], list[int]]) -> None:
    dense = acc(*pair)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evaluation, "_DENSE_CELLS", 0)
        assert acc(*pair) == pytest.approx(dense, abs=1e-12)


def test_one_cluster_all_singletons_and_a_single_item_have_scores() -> None:
    assert score([0, 0, 1, 1], [3, 3, 3, 3])["ari"] == 0.0
    single = score([4], [9])
    assert single["acc"] == single["nmi"] == single["ari"] == single["bcubed"] == 1.0
    alone = score(range(5), range(5))
    assert alone["acc"] == alone["nmi"] == alone["ari"] == alone["bcubed"] == 1.0
    assert alone["fm"] == alone["pair_f1"] == 0.0
    assert tuple(alone) == METRICS


def test_two_hundred_thousand_singletons_need_no_square_table() -> None:
    n = 200_000
    assert acc(np.arange(n), np.arange(n)[::-1]) == 1.0
    assert acc(np.arange(n) % 10, np.arange(n)) == pytest.approx(10 / n)


def test_items_of_unknown_kind_are_left_out() -> None:
    assert score([0, 0, 1, -1, -1], [2, 2, 5, 5, 2]) == score([0, 0, 1], [2, 2, 5])


def test_kinds_may_be_names() -> None:
    assert acc(np.array(["cat", "cat", "dog"]), [1, 1, 0]) == 1.0


@pytest.mark.parametrize(
    ("truth", "labels"), [([], []), ([-1, -1], [0, 1]), ([0, 1], [0]), ([[0]], [[0]])]
)
def test_nothing_to_score_is_an_input_error(truth: Any, labels: Any) -> None:
    with pytest.raises(InputError):
        score(truth, labels)


def test_the_table_counts_only_cells_that_hold_items() -> None:
    table = Contingency.of([0, 0, 1], [5, 5, 7])
    assert table.count.tolist() == [2, 1] and table.n == 3


def test_scores_keep_all_unasked_and_heldout_items_apart() -> None:
    truth, labels = [0, 0, 1, 1], [0, 0, 0, 1]
    asked = [False, False, True, False]
    found = Scores.of(
        truth, labels, asked=asked, heldout_truth=[0, 1, -1], heldout_labels=[1, 1, 0]
    )
    assert found.everything["acc"] == 0.75
    assert found.unasked is not None and found.unasked["acc"] == 1.0
    assert found.heldout is not None and found.heldout["acc"] == 0.5
    row = found.row()
    assert (row["acc"], row["unasked_acc"], row["heldout_acc"]) == (0.75, 1.0, 0.5)


def test_scores_without_unasked_or_heldout_items_leave_those_keys_out() -> None:
    found = Scores.of([0, 1], [0, 1], asked=[True, True], heldout_truth=[], heldout_labels=[])
    assert found.unasked is None and found.heldout is None
    assert set(found.row()) == set(METRICS)


def test_a_mask_of_the_wrong_length_and_half_given_heldout_items_are_input_errors() -> None:
    with pytest.raises(InputError, match="mask"):
        Scores.of([0, 1], [0, 1], asked=[True])
    with pytest.raises(InputError, match="both"):
        Scores.of([0, 1], [0, 1], heldout_truth=[0])


def test_a_curve_knows_its_area_and_when_a_value_is_reached() -> None:
    curve = Curve([{"questions": q, "ari": ari} for q, ari in ((0, 0.0), (10, 0.8), (40, 1.0))])
    assert curve.area("ari") == pytest.approx((10 * 0.4 + 30 * 0.9) / 40)
    assert curve.questions_to("ari", 0.8) == 10
    assert curve.questions_to("ari", 0.81) == 40
    assert Curve(curve.rows[:2]).questions_to("ari", 0.9) is None
    assert Curve(curve.rows[1:2]).area("ari") == 0.8


def test_a_perfect_curve_has_area_one_whatever_the_steps() -> None:
    assert Curve([{"questions": q, "acc": 1.0} for q in (3, 4, 50)]).area("acc") == pytest.approx(1)


def test_a_curve_refuses_falling_questions_missing_counts_and_unknown_metrics() -> None:
    with pytest.raises(InputError, match="rise"):
        Curve([{"questions": 5, "acc": 1.0}, {"questions": 5, "acc": 1.0}])
    with pytest.raises(InputError, match="questions"):
        Curve([{"acc": 1.0}])
    with pytest.raises(InputError, match="Known: acc"):
        Curve([{"questions": 5, "acc": 1.0}]).area("ari")
