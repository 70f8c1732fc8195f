"""Each step of the published proofs that docs/explanation/theory.md calls exact, or wrong, on numbers.

Section names follow that page. Losses and scores are the library's; what they are compared with is
written out here, from the equations.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from samekind.objectives import ActiveContrast, BatchLinks, ConstrainedContrast
from samekind.objectives.similarity import cosines
from samekind.strategies.pairs.uncertainty import uncertainty
from theory_cases import QUICK, SEEDS, TAUS, and_also, features, links, plane, rows_of

# PCL, Theorem 3.1


@QUICK
@given(seed=SEEDS, n=st.integers(3, 12), tau=TAUS)
def test_the_pair_loss_is_bounded_once_log_n_is_taken_off(seed: int, n: int, tau: float) -> None:
    known, _ = links(n, seed, share=0.8)
    contrast = ConstrainedContrast(profile="paper", temperature=tau)
    loss = contrast.pair_losses(cosines(features(n, seed)) / tau, known.masks(n)) - math.log(n)
    assert loss.min() >= math.log(4 / 3) - 2 / tau - 1e-9
    assert loss.max() <= math.log(2) + 2 / tau + 1e-9


def test_the_pair_loss_itself_grows_with_the_batch_so_its_bound_is_not_a_constant() -> None:
    contrast, nothing = ConstrainedContrast(profile="paper"), BatchLinks.none()
    small, large = (
        contrast.pair_losses(cosines(features(n, 0)), nothing.masks(n)).min() for n in (8, 512)
    )
    assert large > small + 3


def test_the_losses_of_two_items_depend_on_each_other_so_they_are_no_independent_sum() -> None:
    z, contrast = features(8, 0), ActiveContrast()
    moved = z.clone()
    moved[[0, 8]] = features(1, 5)
    before, after = (contrast.rows(x, BatchLinks.none(), 1.0) for x in (z, moved))
    others = [row for row in range(16) if row not in (0, 8)]
    assert (before - after)[others].abs().min() > 1e-6


@pytest.mark.parametrize("n", [8, 16, 32, 64])
def test_exchanging_one_item_moves_the_full_loss_by_at_most_a_constant_over_n(n: int) -> None:
    contrast, rng = ConstrainedContrast(profile="paper"), np.random.default_rng(n)

    def full(z: Tensor, kind: np.ndarray) -> float:
        pairs = list(itertools.combinations(range(n), 2))
        same = [(a, b) for a, b in pairs if kind[a] == kind[b]]
        different = [(a, b) for a, b in pairs if kind[a] != kind[b]]
        return float(contrast.instance(z, BatchLinks.from_pairs(same, different)))

    for seed in range(10):
        z, kind = features(n, seed), rng.permutation(np.arange(n) % 2)
        moved, other = z.clone(), kind.copy()
        moved[[0, n]] = features(1, seed + 100)
        other[0] = rng.integers(0, 2)
        assert n * abs(full(z, kind) - full(moved, other)) < 10


# PCL, Theorem 3.2: one answer, features fixed


@QUICK
@given(seed=SEEDS, n=st.integers(3, 10), tau=TAUS, profile=st.sampled_from(["paper", "reference"]))
def test_a_different_answer_changes_four_rows_by_a_sum_and_a_normaliser(
    seed: int, n: int, tau: float, profile: str
) -> None:
    z, (known, open_pairs) = features(n, seed), links(n, seed)
    contrast = ConstrainedContrast(profile=profile, temperature=tau)  # type: ignore[arg-type]
    e = (cosines(z) / tau).exp()
    twice = known.masks(n).different.repeat(2, 2).double()
    own = torch.eye(2 * n, dtype=torch.float64) if profile == "reference" else 0.0
    D, c = ((1 + twice - own) * e).sum(dim=1), twice.sum(dim=1)
    base = n if profile == "paper" else 2 * n - 1
    share = contrast.pair_weights(known.masks(n), torch.float64).sum(dim=1)
    share = torch.full_like(share, 1 / (2 * n)) if profile == "paper" else share / share.sum()
    expected = sum(
        share[i] * (torch.log1p(e[i, j].sum() / D[i]) - torch.log1p(2 / (base + c[i])))
        for i, j in rows_of(n, *open_pairs[0])
    )
    after = and_also(known, same=False, pair=open_pairs[0])
    change = contrast.instance(z, after) - contrast.instance(z, known)
    assert float(change) == pytest.approx(float(expected), abs=1e-10)


@QUICK
@given(seed=SEEDS, n=st.integers(2, 10), tau=TAUS)
def test_the_first_same_answer_changes_four_rows_by_how_much_less_alike_it_is_than_the_views(
    seed: int, n: int, tau: float
) -> None:
    z, s = features(n, seed), cosines(features(n, seed)) / tau
    contrast = ConstrainedContrast(profile="paper", temperature=tau, weight=4.0)
    alpha = 2 * 4 * n / (1 + 2 * 4 * n)  # N_+ = 1; nearly all weight moves to the answer
    expected = sum(alpha * (s[i, (i + n) % (2 * n)] - s[i, j].mean()) for i, j in rows_of(n, 0, 1))
    change = contrast.instance(z, BatchLinks.from_pairs(same=[(0, 1)])) - contrast.instance(
        z, BatchLinks.none()
    )
    assert float(change) == pytest.approx(float(expected) / (2 * n), abs=1e-10)


def test_wrong_the_weights_do_not_stay_nearly_constant_when_few_pairs_are_answered() -> None:
    n = 128
    contrast = ConstrainedContrast(profile="paper")
    w = contrast.pair_weights(BatchLinks.from_pairs(same=[(0, 1)]).masks(n))
    shares = w[0] / w[0].sum()
    assert shares[n] < 0.001  # its other view had all the weight before
    assert shares[[1, n + 1]].sum() > 0.999


def test_in_the_program_one_same_answer_outweighs_all_views_together_five_times() -> None:
    n = 48
    answered = BatchLinks.from_pairs(same=[(0, 1)]).masks(n)
    w = ConstrainedContrast(profile="reference").pair_weights(answered)
    assert w.sum() - 2 * n == pytest.approx(8 * (1 + 4 * n / 3))
    assert (w.sum() - 2 * n) / (2 * n) > 5


def test_wrong_a_different_answer_can_lower_the_loss() -> None:
    z = features(64, 0, width=16)[:64].repeat(2, 1)
    for profile in ("paper", "reference"):
        contrast = ConstrainedContrast(profile=profile)  # type: ignore[arg-type]
        some = BatchLinks.from_pairs(same=[(2, 3)])
        least = int(cosines(z)[0, 1:64].argmin()) + 1
        assert contrast.instance(z, and_also(some, same=False, pair=(0, least))) < (
            contrast.instance(z, some) - 1e-6
        )


def test_wrong_a_same_answer_can_lower_the_loss() -> None:
    z = plane(0, 5, 90, 180, 40, 45, 130, 220)  # items 0 and 1 are more alike than their views
    contrast = ConstrainedContrast(profile="paper")
    after = contrast.instance(z, BatchLinks.from_pairs(same=[(0, 1)]))
    assert after < contrast.instance(z, BatchLinks.none()) - 1e-3


@pytest.mark.parametrize("profile", ["paper", "reference"])
def test_wrong_the_gap_can_grow_with_an_answer_also_when_answers_are_few(profile: str) -> None:
    """Theorem 3.2 with one function in the class: it is the minimiser after every answer."""
    n = 64
    kind = np.arange(n) % 2
    z = features(n, 0, width=16)
    z[n:] = z[:n] + 0.1 * z[n:]  # two views of an item are alike, kinds have nothing to do with it
    pairs = list(itertools.combinations(range(n), 2))
    same = [(a, b) for a, b in pairs if kind[a] == kind[b]]
    contrast = ConstrainedContrast(profile=profile)  # type: ignore[arg-type]
    full = contrast.instance(z, BatchLinks.from_pairs(same, [p for p in pairs if p not in same]))
    some = BatchLinks.from_pairs(same=[(0, 2)])
    least = 2 * int(cosines(z)[0, 1:n:2].argmin()) + 1
    more = and_also(some, same=False, pair=(0, least))
    before, after = (abs(contrast.instance(z, known) - full) for known in (some, more))
    assert after > before + 1e-6


# PCL, Theorem 3.3


def first_change(z: Tensor, pair: tuple[int, int], *, same: bool) -> float:
    """What the printed loss does when a pair is the first to be answered."""
    contrast, none = ConstrainedContrast(profile="paper"), BatchLinks.none()
    answered = and_also(none, same=same, pair=pair)
    return float(contrast.instance(z, answered) - contrast.instance(z, none))


def test_wrong_a_less_certain_pair_does_not_mean_a_larger_change_after_different() -> None:
    """Similarities below epsilon, where S_up is still in step with the exponential."""
    s, n = cosines(features(40, 3, width=24)), 40
    candidates = [j for j in range(1, n) if s[0, j] < 0.2 and s[0, j + n] < 0.2]
    z = features(40, 3, width=24)
    change = np.asarray([first_change(z, (0, j), same=False) for j in candidates])
    score = uncertainty(np.asarray([float(s[0, j]) for j in candidates]))
    assert (change < 0).all()  # the normaliser outweighs the new term
    best, worst = int(score.argmax()), int(score.argmin())
    assert abs(change[best]) < abs(change[worst])


def test_wrong_a_less_certain_pair_does_not_mean_a_larger_change_after_same() -> None:
    z = plane(0, 100, 150, 180)  # s(0, 1) = -0.17, s(0, 2) = -0.87: both below epsilon
    z = torch.cat([z, z])
    near, far = first_change(z, (0, 1), same=True), first_change(z, (0, 2), same=True)
    score = uncertainty(np.asarray([math.cos(math.radians(100)), math.cos(math.radians(150))]))
    assert score[0] > score[1]
    assert 0 < near < far


@QUICK
@given(seed=SEEDS)
def test_after_same_the_change_falls_with_similarity_when_views_agree(seed: int) -> None:
    half = features(6, seed)[:6]
    z, s = torch.cat([half, half]), cosines(half)
    changes = [(float(s[0, j]), first_change(z, (0, j), same=True)) for j in range(1, 6)]
    changes.sort()
    assert all(a[1] >= b[1] - 1e-12 for a, b in itertools.pairwise(changes))


def test_wrong_the_exponential_of_the_similarity_is_not_in_step_with_s_up_above_epsilon() -> None:
    s = np.asarray([0.3, 0.6, 0.9])
    assert (np.diff(np.exp(s)) > 0).all()
    assert (np.diff(uncertainty(s)) < 0).all()


def test_wrong_the_larger_change_can_leave_the_larger_gap() -> None:
    """The answer about the least alike pair carries the loss beyond the fully answered one."""
    z = torch.cat([plane(0, 20, 100, 5)] * 2)
    contrast = ConstrainedContrast(profile="paper")
    full = contrast.instance(
        z, BatchLinks.from_pairs([(0, 1), (0, 2), (1, 2)], [(0, 3), (1, 3), (2, 3)])
    )
    start = contrast.instance(z, BatchLinks.none())
    small, large = (
        contrast.instance(z, BatchLinks.from_pairs([pair])) for pair in ((0, 1), (0, 2))
    )
    assert abs(large - start) > abs(small - start)
    assert abs(large - full) > abs(small - full)
