"""What a row of a benchmark tells of how it was made."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from benchmarks import measuring


def test_a_row_names_the_command_without_the_paths_of_the_machine(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    words = ["--data", str(tmp_path / "pictures"), "--out", "rows.jsonl", "--seeds", "5"]
    main = ModuleType("__main__")
    main.__spec__ = SimpleNamespace(name="benchmarks.live.scale")  # type: ignore[assignment]
    monkeypatch.setitem(sys.modules, "__main__", main)
    monkeypatch.setattr(sys, "argv", [str(tmp_path / "scale.py"), *words])
    command = "python -m benchmarks.live.scale --data pictures --out rows.jsonl --seeds 5"
    assert measuring.provenance()["command"] == command
