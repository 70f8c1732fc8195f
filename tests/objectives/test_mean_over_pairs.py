"""OCC's contrast with the mean over all pairs of a batch: what answers weigh in it."""

from __future__ import annotations

import pytest
import torch

from benchmarks.theory.answer_weights import shares
from benchmarks.theory.late_answers import opened, trained
from objective_loops import case, links_of, occ_over_pairs
from samekind.errors import InputError
from samekind.objectives import ActiveContrast, BatchLinks


@pytest.mark.parametrize(("n", "k"), [(n, k) for n in range(1, 8) for k in range(1, 4)])
@pytest.mark.parametrize("lam", [50.0, 0.3, 0.0])
def test_it_is_the_sum_over_pairs(n: int, k: int, lam: float) -> None:
    z, p, answers = case(n, k, seed=60 * n + k)
    loss, links = ActiveContrast(mean="pairs"), links_of(answers)
    for x in (z, p):
        wanted = occ_over_pairs(x.tolist(), answers, 0.5, lam)
        assert loss(x, links, lam).item() == pytest.approx(wanted, abs=1e-10, rel=1e-10)


def test_without_answers_both_means_pull_alike() -> None:
    z, _, _ = case(6, 2, seed=1)

    def gradient(loss: ActiveContrast) -> torch.Tensor:
        x = z.clone().requires_grad_()
        loss(x, BatchLinks.none(), 50.0).backward()
        assert x.grad is not None
        return x.grad

    torch.testing.assert_close(gradient(ActiveContrast(mean="pairs")), gradient(ActiveContrast()))


def test_an_unknown_mean_is_refused() -> None:
    with pytest.raises(InputError, match=r"Expected the mean of 'rows' or 'pairs', got 'all'\."):
        ActiveContrast(mean="all")  # type: ignore[arg-type]


def test_answers_turn_settled_groups_with_the_mean_over_pairs_only() -> None:
    data = opened("cifar10-2", 1500, seed=0)
    as_published = trained("occ", 1e-3, 22, 0, data)
    over_pairs = trained("occ, over pairs", 1e-3, 22, 0, data)
    assert as_published["acc"][0] < 0.65, "before the answers, the default groups"
    assert as_published["acc"][-1] < 0.7
    assert over_pairs["acc"][-1] > 0.85


def test_of_the_weight_of_a_batch_twelve_answers_have_most_only_over_pairs() -> None:
    """The table of docs/explanation/theory.md."""
    known = BatchLinks.from_pairs(same=[(2 * k, 2 * k + 1) for k in range(12)]).masks(128)
    wanted = {"pcl": 0.89, "pcl, as printed": 0.185, "occ": 0.186, "occ, over pairs": 0.95}
    assert shares(known) == pytest.approx(wanted, abs=5e-3)
