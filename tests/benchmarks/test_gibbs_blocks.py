"""Collapsed Gibbs sampling of block models against the exact posterior."""

from __future__ import annotations

from collections import Counter
from math import lgamma, log

import numpy as np
from scipy.special import betaln

from benchmarks.ncp.exact import all_partitions
from benchmarks.ncp.gibbs_blocks import BlockModel, sample


def log_joint(labels: np.ndarray, table: np.ndarray, model: BlockModel) -> float:
    """Log p(grouping, graph), written from the model."""
    n, kinds = len(labels), int(labels.max()) + 1
    total = kinds * log(model.alpha) - sum(log(model.alpha + i) for i in range(n))
    for k in range(kinds):
        total += lgamma((labels == k).sum())
        for m in range(k, kinds):
            pairs = [
                table[i, j] for i in range(n) for j in range(i)
                if {labels[i], labels[j]} == {k, m}
            ]  # fmt: skip
            a, b = model.within if k == m else model.between
            total += betaln(a + sum(pairs), b + len(pairs) - sum(pairs)) - betaln(a, b)
    return float(total)


def test_groupings_are_visited_as_often_as_their_probability_says() -> None:
    rng = np.random.default_rng(0)
    upper = np.triu(rng.random((2, 5, 5)) < 0.5, 1)
    tables, model = (upper | upper.transpose(0, 2, 1)).astype(int), BlockModel()
    run = sample(tables, model, rng, sweeps=3000, chains=4, keep=1500)
    for table, draws, best, score in zip(tables, *run, strict=True):
        rows = [np.asarray(row) for row in all_partitions(5)]
        logs = np.array([log_joint(row, table, model) for row in rows])
        exact = np.exp(logs - np.logaddexp.reduce(logs))
        seen = Counter(tuple(row) for row in first_appearance(draws))
        shares = np.array([seen[tuple(row.tolist())] / len(draws) for row in rows])
        assert np.abs(shares - exact).max() < 0.025
        assert first_appearance(best[None])[0] == tuple(rows[int(logs.argmax())].tolist())
        assert abs(score - logs.max()) < 1e-9


def test_clear_blocks_are_found_from_both_kinds_of_starts() -> None:
    rng = np.random.default_rng(1)
    truth = np.repeat([0, 1, 2], 12)
    chance = np.where(truth[:, None] == truth, 0.8, 0.05)
    upper = np.triu(rng.random((36, 36)) < chance, 1)
    run = sample((upper | upper.T)[None], BlockModel(), rng, sweeps=40, chains=2, keep=4)
    assert run.draws.shape == (1, 8, 36)
    assert first_appearance(run.best)[0] == tuple(truth.tolist())


def first_appearance(rows: np.ndarray) -> list[tuple[int, ...]]:
    found = []
    for row in rows.tolist():
        names: dict[int, int] = {}
        found.append(tuple(names.setdefault(k, len(names)) for k in row))
    return found
