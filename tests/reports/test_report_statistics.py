"""Statistics of a comparison, against brute force, scipy and printed tables."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from samekind.errors import InputError
from samekind.reports.statistics import (
    friedman,
    holm,
    indistinguishable,
    mean_interval,
    mean_ranks,
    median_with_never,
    nemenyi,
    signed_rank,
)


def every_sign(differences: list[float]) -> float:
    """The signed-rank test as it is defined: all 2^n signs are as likely."""
    found = np.array([d for d in differences if d != 0])
    ranks = stats.rankdata(np.abs(found))
    seen = min(ranks[found > 0].sum(), ranks[found < 0].sum())
    sums = [sum(r for r, up in zip(ranks, ups, strict=True) if up) for ups in product((0, 1), repeat=len(found))]  # fmt: skip
    return min(1.0, 2 * float(np.mean([s <= seen + 1e-9 for s in sums])))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(-4, 4), min_size=1, max_size=9).filter(any))
def test_the_exact_test_counts_all_signs_with_ties_and_zeros(differences: list[int]) -> None:
    found = signed_rank(differences)
    assert found.exact
    assert found.p == pytest.approx(every_sign([float(d) for d in differences]), abs=1e-12)
    assert found.n == sum(d != 0 for d in differences)


def test_without_ties_the_exact_test_is_that_of_scipy() -> None:
    differences = np.random.default_rng(0).normal(0.3, 1, 30)
    theirs = stats.wilcoxon(differences, method="exact")
    ours = signed_rank(differences)
    assert ours.p == pytest.approx(theirs.pvalue, rel=1e-9)
    assert ours.statistic == theirs.statistic


def test_many_differences_go_by_the_normal_approximation() -> None:
    differences = np.random.default_rng(1).integers(-3, 6, 120).astype(float)
    theirs = stats.wilcoxon(differences, method="approx", zero_method="wilcox")
    ours = signed_rank(differences)
    assert not ours.exact
    assert ours.p == pytest.approx(theirs.pvalue)


def test_equal_systems_are_not_told_apart() -> None:
    assert signed_rank([0.0, 0.0, 0.0]).p == 1.0
    assert signed_rank([0.1 + 0.2 - 0.3, 0.0]).n == 0  # noise of the arithmetic is a tie


def test_six_wins_of_six_are_the_first_that_can_be_significant() -> None:
    assert signed_rank(np.arange(1, 6)).p == 0.0625
    assert signed_rank(np.arange(1, 7)).p == 0.03125


def test_holm_by_hand() -> None:
    # Sorted .005, .01, .03, .04 times 4, 3, 2, 1: .02, .03, .06, and .04 is lifted to .06.
    assert holm([0.01, 0.04, 0.03, 0.005]).tolist() == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]).tolist() == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_keeps_the_order_and_never_makes_smaller(p: list[float]) -> None:
    corrected = holm(p)
    order = np.argsort(p, kind="stable")
    assert (np.diff(corrected[order]) >= 0).all()
    assert (corrected >= np.array(p)).all() and (corrected <= 1).all()


@pytest.mark.parametrize(
    ("systems", "q"), [(2, 1.960), (3, 2.343), (4, 2.569), (5, 2.728), (7, 2.949), (10, 3.164)]
)
def test_the_critical_difference_has_the_printed_q(systems: int, q: float) -> None:
    # Demšar 2006, Table 5(a).
    expected = q * np.sqrt(systems * (systems + 1) / (6 * 12))
    assert nemenyi(systems, 12) == pytest.approx(expected, abs=1e-3 * expected)


def test_the_example_of_demsar_comes_out() -> None:
    # Table 6 of the paper: C4.5 with and without two parameters on 14 sets. Two values that it
    # prints alike (.975) but ranks apart differ here in the fourth decimal.
    auc = np.array([
        [0.763, 0.768, 0.771, 0.798], [0.599, 0.591, 0.590, 0.569], [0.954, 0.971, 0.968, 0.967],
        [0.628, 0.661, 0.654, 0.657], [0.882, 0.888, 0.886, 0.898], [0.936, 0.931, 0.916, 0.931],
        [0.661, 0.668, 0.609, 0.685], [0.583, 0.583, 0.563, 0.625], [0.775, 0.838, 0.866, 0.875],
        [1.000, 1.000, 1.000, 1.000], [0.940, 0.962, 0.965, 0.962], [0.619, 0.666, 0.614, 0.669],
        [0.972, 0.981, 0.9751, 0.975], [0.957, 0.978, 0.946, 0.970],
    ])  # fmt: skip
    assert mean_ranks(auc).round(3).tolist() == [3.143, 2.0, 2.893, 1.964]
    by_hand = 12 * 14 / (4 * 5) * ((mean_ranks(auc) ** 2).sum() - 4 * 5**2 / 4)
    assert by_hand == pytest.approx(9.28, abs=0.01)  # printed; not corrected for ties
    chi_square, p = friedman(auc)
    assert chi_square >= by_hand
    theirs = stats.friedmanchisquare(*auc.T)
    assert (chi_square, p) == pytest.approx((theirs.statistic, theirs.pvalue))
    assert p < 0.05


def test_a_friedman_test_of_equal_columns_finds_nothing_and_of_two_is_refused() -> None:
    assert friedman(np.ones((5, 3))) == (0.0, 1.0)
    with pytest.raises(InputError, match="at least 2 rows and 3 columns"):
        friedman(np.ones((5, 2)))


def test_bars_join_the_longest_stretches() -> None:
    assert indistinguishable([1.0, 1.5, 2.2, 4.0], 1.3) == [(0, 2)]
    assert indistinguishable([1.0, 2.0, 3.0], 1.0) == [(0, 1), (1, 2)]
    assert indistinguishable([1.0, 3.0, 5.0], 1.0) == []


def test_the_interval_of_one_part_is_that_of_student() -> None:
    values = np.random.default_rng(2).uniform(0.4, 0.6, (5, 3))
    mean, low, high = mean_interval([values])
    theirs = stats.t.interval(0.95, 4, values.mean(axis=0), stats.sem(values, axis=0))
    assert np.allclose(mean, values.mean(axis=0))
    assert np.allclose(low, theirs[0]) and np.allclose(high, theirs[1])


def test_the_interval_over_two_parts_is_that_of_welch() -> None:
    rng = np.random.default_rng(3)
    a, b = rng.normal(0.5, 0.05, 4), rng.normal(0.4, 0.01, 7)
    # Welch's interval of the difference of means is as wide as that of their sum.
    theirs = stats.ttest_ind(a, b, equal_var=False).confidence_interval(0.95)
    _, low, high = mean_interval([a, b])
    assert float(high - low) == pytest.approx((theirs.high - theirs.low) / 2)


def test_parts_count_alike_and_one_seed_adds_nothing_to_the_width() -> None:
    mean, low, high = map(float, mean_interval([[0.2, 0.2, 0.2], [0.8]]))
    assert (mean, low, high) == pytest.approx((0.5, 0.5, 0.5))
    narrow, wide = mean_interval([[0.4, 0.5, 0.6], [0.8]]), mean_interval([[0.4, 0.5, 0.6]])
    assert narrow[0] - narrow[1] == pytest.approx((wide[0] - wide[1]) / 2)
    assert [float(end) for end in mean_interval([[0.5]])] == [0.5, 0.5, 0.5]
    with pytest.raises(InputError, match="at least one value"):
        mean_interval([[]])


def test_no_interval_exceeds_the_best_score() -> None:
    mean, low, high = map(float, mean_interval([[0.9, 1.0, 0.95]]))
    assert low < mean < high == 1.0


def test_the_median_of_runs_that_never_get_there_is_never() -> None:
    assert median_with_never([10, 20, None]) == 20
    assert median_with_never([10, None, None]) is None
    assert median_with_never([10, 20, None, None]) is None
    assert median_with_never([10, 20, 30, None]) == 25
