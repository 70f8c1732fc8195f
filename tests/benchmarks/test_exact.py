"""The exact posterior against the published numbers."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.ncp.exact import DirichletGaussians, all_partitions, loss_floor
from closed_form import VECTORS
from samekind.errors import InputError

EXACT = VECTORS["exact"]


def test_the_exact_posterior_is_the_published_one() -> None:
    model = DirichletGaussians(EXACT["alpha"], EXACT["sigma"], EXACT["lam"])
    found = model.posterior(np.array(EXACT["x"]))
    assert float(found.log_evidence) == pytest.approx(EXACT["log_evidence"], abs=1e-9)
    for row, probability in zip(found.partitions, found.prob, strict=True):
        name = "".join(map(str, row))
        assert probability == pytest.approx(EXACT["all"][name], abs=1e-11)
    for top in EXACT["top"]:
        assert np.exp(found.log_prob_of(np.array(top["labels"]))) == pytest.approx(top["prob"])
    assert found.co_membership()[0, 1] == pytest.approx(EXACT["p_same_0_1"], abs=1e-12)
    mean_K = found.n_groups_distribution() @ np.arange(6)
    assert mean_K == pytest.approx(EXACT["expected_K"], abs=1e-12)
    for prefix in ("0", "00", "01"):
        law = found.conditional(np.array([int(k) for k in prefix]))
        assert law == pytest.approx(EXACT[f"conditional_after_{prefix}"], abs=1e-9)


def test_many_data_sets_at_once_are_the_same_as_one_by_one() -> None:
    model, rng = DirichletGaussians(), np.random.default_rng(0)
    x, labels = model.draw(5, 6, rng)
    together = model.posterior(x)
    for b in range(5):
        alone = model.posterior(x[b])
        assert np.allclose(alone.log_prob, together.log_prob[b])
        assert alone.log_prob_of(labels[b]) == pytest.approx(together.log_prob_of(labels)[b])
        assert np.allclose(alone.co_membership(), together.co_membership()[b])


@pytest.mark.parametrize("row", VECTORS["loss_floor"], ids=lambda r: str(r["N"]))
def test_the_loss_floor_is_the_published_one_within_chance(row: dict) -> None:
    mean, error = loss_floor(row["N"], min(row["draws"], 1000), seed=row["N"])
    assert abs(mean - row["mean_nll"]) < 3.5 * np.hypot(error, row["standard_error"])


def test_too_many_points_are_refused_with_a_sentence() -> None:
    with pytest.raises(InputError, match="1 to 8 points"):
        DirichletGaussians().posterior(np.zeros((9, 2)))
    with pytest.raises(InputError, match="Expected 1 to 10 items"):
        all_partitions(11)
