"""The cost of the live learner: one process per size, rows kept, a table and a picture."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.live import scale as bench


def test_a_size_is_measured_in_a_process_of_its_own_and_drawn(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows, figure = tmp_path / "rows.jsonl", tmp_path / "scale.png"
    small = ["--width", "8", "--kinds", "3", "--questions", "20", "--json", str(rows)]
    bench.main(["--items", "600", *small])
    (row,) = [json.loads(line) for line in rows.read_text().splitlines()]
    assert (row["items"], row["questions"], row["refits"]) == (600, 20, 2)
    assert row["ari"] > 0.5 and row["peak_over_baseline_mb"] >= 0
    bench.main(["--report", "--json", str(rows), "--figure", str(figure)])
    assert figure.read_bytes().startswith(b"\x89PNG") and "600" in capsys.readouterr().out


def test_what_is_above_its_bar_is_marked(capsys: pytest.CaptureFixture[str]) -> None:
    took = {"p50": 0.5, "p95": 1.5}
    seconds = dict.fromkeys(
        ("refit_seconds", "refit_cpu_seconds", "ask_seconds", "ask_cpu_seconds", "tell_seconds"),
        took,
    )
    row = {"items": 60_000, "first_groups_seconds": 1.0, "peak_over_vectors": 2.0, "ari": 1.0}
    bench.show([{**row, **seconds}])
    text = capsys.readouterr().out
    assert "1.50 s !" in text and "1500.0 ms !" in text and "2.00 !" not in text
