"""Recorded runs of 0.1: the same questions, the same choices, the same labels, bit by bit."""

from __future__ import annotations

import json
from typing import Any

import pytest
from making import (
    COMMANDS,
    FINGERPRINT,
    arithmetic,
    command_rows,
    make_row,
    one_core,
    private_home,
    read_rows,
    recordings,
)

RECORDINGS = recordings()
ROWS = read_rows()
QUICK = {
    "digits-live-0", "digits-placement-0", "digits-cobras-0", "digits-mpckmeans-0",
    "penguins-pcl-0",
}  # fmt: skip
"""Runs that are made again even where slow tests are left out."""


@pytest.fixture(scope="module", autouse=True)
def _same_arithmetic() -> None:
    with one_core():
        here = arithmetic()
    if here != json.loads(FINGERPRINT.read_text(encoding="utf-8")):
        pytest.skip("This machine's arithmetic or libraries differ from those of the recording.")


def test_every_recorded_run_is_made_again() -> None:
    assert list(ROWS) == list(RECORDINGS)


@pytest.mark.parametrize(
    "name",
    [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in RECORDINGS],
)
def test_same_questions_and_labels(name: str) -> None:
    with one_core():
        row = make_row(RECORDINGS[name])
    wanted = ROWS[name]
    assert row["first"] == wanted["first"]
    assert row["choices"] == wanted["choices"]
    assert row["labels"] == wanted["labels"]
    assert row == wanted


@pytest.fixture(scope="module")
def reported() -> dict[str, Any]:
    with one_core(), private_home():
        return json.loads(json.dumps(command_rows()))


def test_simulate_reports_the_recorded_row(reported: dict[str, Any]) -> None:
    wanted = json.loads(COMMANDS.read_text(encoding="utf-8"))["simulate"]
    assert {key: reported["simulate"].get(key) for key in wanted} == wanted


def test_bench_writes_the_recorded_rows(reported: dict[str, Any]) -> None:
    wanted = json.loads(COMMANDS.read_text(encoding="utf-8"))["bench"]
    rows = reported["bench"]
    assert len(rows) == len(wanted) == 1
    assert [{key: rows[0].get(key) for key in wanted[0]}] == wanted
