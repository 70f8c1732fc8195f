"""What labels can make of ready vectors: more labels, a better head, on items held out."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from benchmarks.live import ceiling


def test_a_head_is_scored_on_items_that_it_was_not_told(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    labels = np.arange(2_000) % 10
    split = (np.arange(2_000) >= 1_500).astype(np.uint8)
    q = 3 * np.eye(10, 16)[labels] + rng.normal(size=(2_000, 16))
    q[split == 1] = rng.normal(size=(500, 16))  # nothing can be known about these
    np.savez(tmp_path / "v.npz", q=q, scale=np.ones(16), label=labels, split=split)
    ceiling.main(["--vectors", str(tmp_path / "v.npz"), "--labels", "100", "--json",
                  str(tmp_path / "rows.jsonl")])  # fmt: skip
    rows = [json.loads(line) for line in (tmp_path / "rows.jsonl").read_text().splitlines()]
    assert [(row["grouping"], row["labels"]) for row in rows] == [
        ("class", 100), ("class", 1_500), ("personalised", 100), ("personalised", 1_500),
    ]  # fmt: skip
    assert all(row["score"] < 0.1 for row in rows[:2]), "chance, since held-out items are noise"
