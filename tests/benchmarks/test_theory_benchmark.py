"""What benchmarks/theory/loss_gap.py measures: the gap is a gap, and an answer's effect is the real one."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from benchmarks.theory import loss_gap
from benchmarks.theory.gaps import (
    OBJECTIVES,
    STRATEGIES,
    Gap,
    Stage,
    asked,
    everything,
    links_of,
    next_pair,
    relations,
    told,
)
from places import ROOT
from samekind.constraints import Constraints
from samekind.objectives import BatchLinks

EVERY_LOSS = pytest.mark.parametrize("name", sorted(OBJECTIVES))
N = 10


def stage(seed: int = 0) -> Stage:
    rng = np.random.default_rng(seed)
    return Stage(*(rng.standard_normal((2, N, 4)).astype(np.float32) for _ in range(2)))


def gap_of(name: str, seed: int = 0) -> Gap:
    labels = np.random.default_rng(seed + 1).permutation(np.arange(N) % 3)
    z = torch.from_numpy(stage(seed).now.reshape(2 * N, -1).astype(np.float64))
    return Gap(OBJECTIVES[name], z, labels)


def by_hand(labels: np.ndarray) -> BatchLinks:
    """Every pair answered, straight from the labels."""
    pairs = [(a, b) for a in range(N) for b in range(a + 1, N)]
    same = [(a, b) for a, b in pairs if labels[a] == labels[b]]
    return BatchLinks.from_pairs(same, [p for p in pairs if p not in same])


@EVERY_LOSS
def test_the_gap_is_zero_when_everything_is_answered(name: str) -> None:
    gap = gap_of(name)
    assert gap.full == pytest.approx(float(gap.loss(gap.z, by_hand(gap.labels))), abs=1e-12)
    assert gap.of(everything(gap.labels)) == 0
    assert gap.of(Constraints(N)) > 1e-3


@EVERY_LOSS
def test_the_gap_is_zero_once_a_person_was_asked_about_every_pair(name: str) -> None:
    gap = gap_of(name)
    assert asked(gap, stage(), "random", 45, 0, 45)[1][-1] == pytest.approx(0, abs=1e-12)


@EVERY_LOSS
def test_the_effect_of_an_answer_is_the_difference_of_two_full_evaluations(name: str) -> None:
    gap = gap_of(name)
    known = Constraints(N)
    for a, b in ((0, 1), (2, 3), (1, 4), (5, 6), (0, 7)):
        known = told(known, a, b, gap.labels)
    a, b = (side.astype(np.intp) for side in np.triu_indices(N, 1))
    unknown = [k for k in range(len(a)) if known.same(int(a[k]), int(b[k])) is None]
    a, b = a[unknown], b[unknown]
    changes, closings = gap.changes(known, a, b), gap.closings(known, a, b)
    for k in range(len(a)):
        links = [
            *zip(*links_of_answers(known), strict=True),
            (a[k], b[k], gap.labels[a[k]] == gap.labels[b[k]]),
        ]
        after = Constraints.from_links(N, links).links(implied=True)
        pairs = np.stack([after.a, after.b], axis=1)
        batch = BatchLinks.from_pairs(pairs[after.same].tolist(), pairs[~after.same].tolist())
        value = float(gap.loss(gap.z, batch))
        assert changes[k] == pytest.approx(value - gap.at(known), abs=1e-9)
        assert closings[k] == pytest.approx(gap.of(known) - abs(value - gap.full), abs=1e-9)


def links_of_answers(known: Constraints) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    found = known.links()
    return found.a, found.b, found.same


def test_links_of_some_items_are_by_their_place_among_them() -> None:
    known = Constraints.from_links(6, [(1, 3, True), (3, 5, False)])
    links = links_of(known, np.asarray([5, 3, 1]))
    assert links.same.tolist() == [[1, 2]]
    assert links.different.tolist() == [[0, 1], [0, 2]]


@pytest.mark.parametrize("strategy", [*STRATEGIES, "greedy"])
def test_every_strategy_asks_what_is_open_until_nothing_is(strategy: str) -> None:
    gap, known = gap_of("pcl-paper"), Constraints(N)
    for _ in range(45):
        pair = next_pair(gap, stage(), strategy, known, 0, 45)
        if pair is None:
            break
        assert known.same(*pair) is None
        known = told(known, *pair, gap.labels)
    a, b = np.triu_indices(N, 1)
    assert all(known.same(int(i), int(j)) is not None for i, j in zip(a, b, strict=True))


def test_the_greedy_rule_closes_at_least_as_much_as_any_other_first_question() -> None:
    gap, known = gap_of("pcl-paper"), Constraints(N)
    left = {
        strategy: gap.of(told(known, *next_pair(gap, stage(), strategy, known, 0, 45), gap.labels))  # type: ignore[misc]
        for strategy in (*STRATEGIES, "greedy")
    }
    assert left["greedy"] == min(left.values())


def test_relations_are_correlations_and_shares() -> None:
    row = relations(gap_of("occ"), stage(), 4, seed=0, budget=20)
    assert {"closes S_up", "closes S_hp", "closes joint", "closes csd"} <= set(row)
    assert all(-1 <= v <= 1 for k, v in row.items() if not k.startswith("size") and v == v)
    assert row["size of different"] < row["size of same"]  # different-answers count by closure only


def test_the_script_measures_a_small_case_and_keeps_other_entries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, picture = tmp_path / "gap.json", tmp_path / "gap.png"
    out.write_text('{"kept": 1}')
    sizes = {"items": 10, "batches": 1, "answers": 4, "fitted": 1, "refits": 1}
    words = [word for name, size in sizes.items() for word in (f"--{name}", str(size))]
    words += ["--out", str(out), "--figure", str(picture)]
    stages = {"untrained": 0, "partly trained": 1, "trained": 2}
    monkeypatch.setattr(loss_gap, "STAGES", stages)
    monkeypatch.setattr(sys, "argv", ["loss_gap.py", *words])
    monkeypatch.chdir(ROOT)
    loss_gap.main()
    written = json.loads(out.read_text())
    assert set(written) == {"kept", "digits, parity"}
    assert len(written["digits, parity"]["fixed"]) == 9
    assert picture.stat().st_size > 10_000
