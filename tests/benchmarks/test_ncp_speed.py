"""Times of draws: rows say of which weights, data and number of different groupings they are."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.ncp import speed
from benchmarks.ncp.summaries import digest
from samekind.clusterers.ncp.weights import shipped


def test_draws_of_the_shipped_weights_are_timed_from_raw_vectors_on(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    speed.main([
        "--shipped", "--variants", "pointwise", "--points", "8", "--samples", "30", "--sets", "1",
        "--json", str(file),
    ])  # fmt: skip
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    assert [row["world"] for row in rows] == ["clear", "overlapping"]
    for row in rows:
        assert row["sha256"] == digest(str(shipped("pointwise", 2))) and row["seconds"] > 0
        assert 1 <= row["different"] <= row["samples"] == 30
