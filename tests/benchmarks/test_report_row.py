"""What a row of a benchmark tells of how it was made."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from places import ROOT

sys.path.insert(0, str(ROOT / "benchmarks"))

import report


def test_a_row_names_the_command_without_the_paths_of_the_machine(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    words = ["--data", str(tmp_path / "pictures"), "--out", "rows.jsonl", "--seeds", "5"]
    monkeypatch.setattr(sys, "argv", [str(tmp_path / "live.py"), *words])
    told = "python benchmarks/live.py --data pictures --out rows.jsonl --seeds 5"
    assert report.surroundings()["command"] == told
