"""OCC's Theorems 1 and 2, and what answers do to its loss; see docs/explanation/theory.md."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from samekind.objectives import ActiveContrast, BatchLinks
from samekind.objectives.similarity import cosines
from samekind.strategies.pairs.csd import discrepancy
from theory_cases import QUICK, SEEDS, TAUS, and_also, features, links, plane, rows_of

# OCC, the loss


@QUICK
@given(seed=SEEDS, n=st.integers(3, 10), tau=TAUS, lam=st.sampled_from([0.5, 5.0, 50.0]))
def test_a_same_answer_changes_four_rows_of_occ_by_a_ratio_of_numerators(
    seed: int, n: int, tau: float, lam: float
) -> None:
    z, (known, open_pairs) = features(n, seed), links(n, seed)
    e = (cosines(z) / tau).exp()
    C = lam * known.masks(n).same.double()
    numerator = e.diagonal(n).repeat(2) + (C.repeat(2, 2) * e).sum(dim=1)
    c = C.sum(dim=1).repeat(2)
    contrast = ActiveContrast(temperature=tau)
    expected = sum(
        torch.log1p(lam / (n + c[i])) - torch.log1p(lam * e[i, j].sum() / numerator[i])
        for i, j in rows_of(n, *open_pairs[0])
    )
    after = and_also(known, same=True, pair=open_pairs[0])
    change = contrast(z, after, lam) - contrast(z, known, lam)
    assert float(change) == pytest.approx(float(expected) / (2 * n), abs=1e-10)


@QUICK
@given(seed=SEEDS, n=st.integers(28, 40), lam=st.sampled_from([0.5, 5.0, 50.0]))
def test_from_28_items_on_the_first_same_answer_lowers_occ_whatever_the_pair(
    seed: int, n: int, lam: float
) -> None:
    z = features(n, seed, width=2)
    z[[0, n]], z[[1, n + 1]] = plane(0.0), plane(180.0)  # the worst pair there can be
    contrast = ActiveContrast(temperature=0.5)
    answered = BatchLinks.from_pairs(same=[(0, 1)])
    assert contrast(z, answered, lam) < contrast(z, BatchLinks.none(), lam)


def test_in_a_smaller_batch_a_same_answer_can_raise_occ() -> None:
    z = torch.cat([plane(0, 180, 90, 270)] * 2)
    contrast = ActiveContrast(temperature=0.5)
    answered = BatchLinks.from_pairs(same=[(0, 1)])
    assert contrast(z, answered, 50.0) > contrast(z, BatchLinks.none(), 50.0)


def test_different_answers_leave_occ_as_it_is() -> None:
    z, contrast = features(8, 0), ActiveContrast()
    answered = BatchLinks.from_pairs(different=[(0, 1), (2, 3)])
    assert contrast(z, answered, 50.0) == contrast(z, BatchLinks.none(), 50.0)


# OCC, Theorems 1 and 2

PARTS = st.lists(st.tuples(st.floats(1e-3, 2.0), st.floats(0.05, 1.0)), min_size=1, max_size=8).map(
    lambda rows: tuple(np.asarray(column) for column in zip(*rows, strict=True))
)


def outcomes(l: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:  # noqa: E741
    """Every outcome of the draws: the error of the weighted mean, and its probability."""
    Q = np.asarray(list(itertools.product((0, 1), repeat=len(l))))
    error = (l - Q / p * l).mean(axis=1)
    return error, np.where(Q == 1, p, 1 - p).prod(axis=1)


def bernstein(delta: float) -> float:
    """c_delta, for both signs together."""
    L = math.log(2 / delta)
    return L / 3 * (1 + math.sqrt(1 + 18 / L))


@QUICK
@given(parts=PARTS, expected=st.floats(0, 2))
def test_equation_8_is_a_triangle_inequality(
    parts: tuple[np.ndarray, ...], expected: float
) -> None:
    l, p = parts  # noqa: E741
    for asked in itertools.product((0, 1), repeat=len(l)):
        weighted = (np.asarray(asked) / p * l).mean()
        assert expected <= abs(expected - l.mean()) + weighted + abs(l.mean() - weighted) + 1e-12


@QUICK
@given(parts=PARTS)
def test_the_variance_in_equation_10_is_exact_and_below_the_square_of_d(
    parts: tuple[np.ndarray, ...],
) -> None:
    l, p = parts  # noqa: E741
    error, chance = outcomes(l, p)
    M = (l**2 * (1 / p - 1)).sum()
    assert (chance * error).sum() == pytest.approx(0, abs=1e-9)
    assert (chance * (len(l) * error) ** 2).sum() == pytest.approx(M, rel=1e-6, abs=1e-9)
    assert M <= (l**2 / p**2).sum() <= (l / p).sum() ** 2 * (1 + 1e-12)


@QUICK
@given(parts=PARTS, delta=st.sampled_from([0.5, 0.2, 0.05, 0.01]))
def test_theorem_1_holds_with_d_as_defined_and_delta_halved(
    parts: tuple[np.ndarray, ...], delta: float
) -> None:
    l, p = parts  # noqa: E741
    error, chance = outcomes(l, p)
    outside = np.abs(error) > bernstein(delta) * (l / p).sum() / len(l) + 1e-12
    assert chance[outside].sum() <= delta


def test_wrong_with_d_as_in_the_proof_theorem_1_fails() -> None:
    l, p = np.full(8, 0.01), np.full(8, 0.5)  # noqa: E741
    error, chance = outcomes(l, p)
    outside = np.abs(error) > bernstein(0.05) * (l**2 / p**2).sum() / 8
    assert chance[outside].sum() > 0.5


@QUICK
@given(parts=PARTS, delta=st.floats(1e-6, math.exp(-3 / 8)))
def test_the_bound_of_theorem_1_is_never_below_the_mean_loss_that_it_is_to_control(
    parts: tuple[np.ndarray, ...], delta: float
) -> None:
    l, p = parts  # noqa: E741
    L = math.log(1 / delta)  # as printed; with 2 / delta the bound is larger still
    printed = L / 3 * (1 + math.sqrt(1 + 18 / L)) * (l / p).sum() / len(l)
    assert printed >= l.mean() * (1 - 1e-9)


def test_when_all_is_asked_nothing_is_unknown_but_the_bound_stays() -> None:
    l = np.asarray([0.2, 0.9, 1.4])  # noqa: E741
    error, chance = outcomes(l, np.ones(3))
    assert np.abs(error[chance > 0]).max() == 0
    assert bernstein(0.05) * l.mean() > 3 * l.mean()


def test_wrong_a_model_trained_on_what_was_asked_has_errors_with_a_mean() -> None:
    """The proof takes the mean of H as 0; here asked pairs are learnt, so their loss is 0 after."""
    p = 0.3
    outcomes_of_one = [(p, 0.0 - 1 / p * 0.0), (1 - p, 1.0 - 0.0)]  # (chance, H) for Q = 1 and 0
    assert sum(chance * H for chance, H in outcomes_of_one) == pytest.approx(1 - p)


@QUICK
@given(parts=PARTS)
def test_theorem_2_is_exact_for_d_and_for_chances_that_sum_to_one(
    parts: tuple[np.ndarray, ...],
) -> None:
    l, p = parts  # noqa: E741
    best = np.sqrt(l) / np.sqrt(l).sum()
    assert (l / best).sum() == pytest.approx(np.sqrt(l).sum() ** 2)
    assert (l / best).sum() <= (l / (p / p.sum())).sum() * (1 + 1e-9)


@QUICK
@given(parts=PARTS)
def test_the_variance_itself_is_least_when_chances_follow_the_loss_not_its_root(
    parts: tuple[np.ndarray, ...],
) -> None:
    l, _ = parts  # noqa: E741

    def variance(p: np.ndarray) -> float:
        return float((l**2 * (1 / p - 1)).sum())

    by_loss, by_root = l / l.sum(), np.sqrt(l) / np.sqrt(l).sum()
    assert variance(by_loss) <= variance(by_root) + 1e-9


def test_wrong_csd_prefers_the_smaller_loss_among_pairs_that_moved_alike() -> None:
    now = np.asarray([0.2, 0.5, 0.8])
    score, loss = discrepancy(now, now - 0.1), 1 - now
    assert (np.diff(score) > 0).all()
    assert (np.diff(loss) < 0).all()
