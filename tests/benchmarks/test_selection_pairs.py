"""Timing of proposals: every strategy proposes, and rows hold the seconds of both proposals."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.selection import pairs as bench


def test_rows_hold_the_first_and_the_next_proposal_and_the_telling(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    size = ["--items", "500", "--width", "8", "--answers", "60", "--questions", "7"]
    bench.main([*size, "--views", "--strategies", "pcl", "csd", "--json", str(file)])
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    assert [row.get("strategy") for row in rows] == ["pcl", "csd", None]
    for row in rows[:2]:
        assert row["questions"] == 7 and row["answers"] == 60
        assert row["first_seconds"] > 0 and row["next_seconds"] >= 0
    assert rows[2]["tell_ms"]["p50"] >= 0
