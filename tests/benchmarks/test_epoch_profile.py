"""The benchmark of an epoch: every second is accounted for, in the numbers and in the picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchmarks.throughput import epoch


@pytest.fixture(scope="module")
def measured() -> dict[str, Any]:
    import argparse

    wanted = argparse.Namespace(
        items=300, answers=12, block=2, size=8, channels=4, compile="", device="cpu", label="here"
    )
    return epoch.measured(wanted)


KINDS = ("epoch with questions, s", "epoch after the last question, s")


def test_the_phases_of_an_epoch_add_up_and_each_is_there(measured: dict[str, Any]) -> None:
    for kind in KINDS:
        row = measured[kind]
        parts = [seconds for name, seconds in row.items() if name != "whole"]
        assert sum(parts) == pytest.approx(row["whole"], abs=0.002) and min(parts) >= 0
        assert row["training"] > 0 and row["reading all items"] > 0
    assert "choosing questions" in measured[KINDS[0]]
    assert "choosing questions" not in measured[KINDS[1]], "the questions are spent"


def test_the_picture_shows_all_of_it(measured: dict[str, Any], tmp_path: Path) -> None:
    kernels = {"convolutions": 5.0, epoch.FUSED: 3.0, "optimiser": 1.0, "idle": 1.0}
    result = {**measured, "device time per step, ms": kernels}
    for kind in KINDS:
        shown = epoch.segments(result, kind)
        assert sum(shown.values()) == pytest.approx(result[kind]["whole"], abs=0.002)
        convolutions = shown["training: convolutions"]
        assert convolutions == pytest.approx(result[kind]["training"] / 2)
    epoch.draw([result], str(tmp_path / "epoch.png"))
    assert (tmp_path / "epoch.png").read_bytes()[:4] == b"\x89PNG"
