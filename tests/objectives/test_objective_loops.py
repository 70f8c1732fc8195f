"""The losses against the papers' sums, written out one term at a time, for many sizes."""

from __future__ import annotations

import math

import pytest
import torch

from objective_loops import (
    case,
    columns,
    imbalance,
    links_of,
    ntxent,
    occ_rows,
    pcl_paper,
    pcl_reference,
)
from samekind.objectives import (
    ActiveContrast,
    ClusterContrast,
    ConstrainedContrast,
    NTXent,
    balance,
)

SIZES = pytest.mark.parametrize(("n", "k"), [(n, k) for n in range(1, 10) for k in range(1, 5)])
CLOSE = {"abs": 1e-10, "rel": 1e-10}


@SIZES
@pytest.mark.parametrize("temperature", [0.5, 1.0])
def test_pcl_as_printed(n: int, k: int, temperature: float) -> None:
    z, p, answers = case(n, k, seed=10 * n + k)
    loss, links = ConstrainedContrast(temperature=temperature, profile="paper"), links_of(answers)
    instance = pcl_paper(z.tolist(), answers, temperature, 4.0)
    assignment = pcl_paper(p.tolist(), answers, temperature, 4.0)
    assert loss.instance(z, links).item() == pytest.approx(instance, **CLOSE)
    assert loss.assignment(p, links).item() == pytest.approx(assignment, **CLOSE)
    assert loss(z, p, links).item() == pytest.approx(instance + assignment, **CLOSE)


@SIZES
@pytest.mark.parametrize(("temperature", "weight"), [(0.5, 4.0), (1.0, 2.5)])
def test_pcl_as_programmed(n: int, k: int, temperature: float, weight: float) -> None:
    z, p, answers = case(n, k, seed=20 * n + k)
    loss, links = ConstrainedContrast(temperature=temperature, weight=weight), links_of(answers)
    instance = pcl_reference(z.tolist(), answers, temperature, weight, memberships=False)
    assignment = pcl_reference(p.tolist(), answers, temperature, weight, memberships=True)
    assert loss.instance(z, links).item() == pytest.approx(instance, **CLOSE)
    assert loss.assignment(p, links).item() == pytest.approx(assignment, **CLOSE)
    assert loss(z, p, links).item() == pytest.approx(instance + assignment, **CLOSE)


@SIZES
@pytest.mark.parametrize("include_self", [True, False])
@pytest.mark.parametrize("lam", [50.0, 0.3, 0.0])
def test_occ(n: int, k: int, include_self: bool, lam: float) -> None:
    z, p, answers = case(n, k, seed=30 * n + k)
    loss, links = ActiveContrast(include_self=include_self), links_of(answers)
    for x in (z, p):
        wanted = occ_rows(x.tolist(), answers, 0.5, lam, include_self=include_self)
        assert (-loss.rows(x, links, lam)).exp().tolist() == pytest.approx(wanted, **CLOSE)
        mean = sum(-math.log(row) for row in wanted) / len(wanted)
        assert loss(x, links, lam).item() == pytest.approx(mean, **CLOSE)


@SIZES
def test_cc_and_the_contrast_of_groups(n: int, k: int) -> None:
    z, p, _ = case(n, k, seed=40 * n + k)
    groups = columns(p.tolist())
    assert NTXent()(z).item() == pytest.approx(ntxent(z.tolist(), 0.5), **CLOSE)
    assert ClusterContrast(temperature=2.0)(p).item() == pytest.approx(ntxent(groups, 2.0), **CLOSE)
    with_self = ntxent(groups, 1.0, include_self=True)
    assert ClusterContrast(profile="paper")(p).item() == pytest.approx(with_self, **CLOSE)
    no_answers = [[0] * k for _ in range(k)]
    rows = occ_rows(groups, no_answers, 1.0, 0.0, include_self=True)
    mean = sum(-math.log(row) for row in rows) / len(rows)
    assert ClusterContrast(profile="occ")(p).item() == pytest.approx(mean, **CLOSE)


@SIZES
def test_the_balance_of_groups(n: int, k: int) -> None:
    _, p, _ = case(n, k, seed=50 * n + k)
    rows = p.tolist()
    assert balance(p, views=1).item() == pytest.approx(imbalance(rows), **CLOSE)
    each = imbalance(rows[:n]) + imbalance(rows[n:])
    assert balance(p).item() == pytest.approx(each, **CLOSE)


def test_different_answers_can_be_used_by_occ_as_pcl_uses_them() -> None:
    z, _, answers = case(7, 2, seed=3)
    answers = [[a if a == -1 else 0 for a in row] for row in answers]
    loss = ActiveContrast(temperature=1.0, include_self=False, use_different=True)
    # Without same-answers OCC's numerator is PCL's, so that only two constants stand between them:
    # OCC's factor N, and PCL's 2N/(2N-1) that lies on the sum where OCC has a plain mean.
    expected = (
        ConstrainedContrast().instance(z, links_of(answers)) + math.log(7) - math.log(14 / 13)
    )
    torch.testing.assert_close(loss(z, links_of(answers), 5.0), expected)
