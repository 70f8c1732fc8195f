"""Recorded runs: the same questions, the same choices, the same labels, bit by bit.

Bit by bit means on a machine that computes like the one of the recording. On another one, some runs
of methods that wander (``live``, ``ncp``) end elsewhere, and most others do not: there most of these
must be the same.
"""

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
SENSITIVE = ("live", "ncp", "planner")
"""Methods and strategies in which one last bit often decides what is asked next."""
PORTABLE = [
    name
    for name, recording in RECORDINGS.items()
    if recording.seed == 0
    and recording.problem.set != "small-talk"  # its vectors are an SVD of almost equal values
    and not {recording.system.method, recording.system.strategy} & set(SENSITIVE)
]
PORTABLE_SHARE = 0.8
"""Of 92 runs 91 were the same with AVX2 in the place of AVX-512, and 86 without either."""


@pytest.fixture(scope="module")
def same_arithmetic() -> bool:
    with one_core():
        here = arithmetic()
    return here == json.loads(FINGERPRINT.read_text(encoding="utf-8"))


@pytest.fixture(name="_bit_by_bit")
def bit_by_bit(same_arithmetic: bool) -> None:
    if not same_arithmetic:
        pytest.skip("This machine's arithmetic or libraries differ from those of the recording.")


def test_every_recorded_run_is_made_again() -> None:
    assert list(ROWS) == list(RECORDINGS)


@pytest.mark.slow
def test_most_runs_are_the_same_with_other_arithmetic(same_arithmetic: bool) -> None:
    if same_arithmetic:
        pytest.skip("This machine computes like that of the recording: every run is compared.")
    with one_core():
        same = {name: make_row(RECORDINGS[name]) == ROWS[name] for name in PORTABLE}
    changed = [name for name in PORTABLE if not same[name]]
    assert len(changed) <= (1 - PORTABLE_SHARE) * len(PORTABLE), changed


@pytest.mark.parametrize(
    "name",
    [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in RECORDINGS],
)
@pytest.mark.usefixtures("_bit_by_bit")
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


@pytest.mark.usefixtures("_bit_by_bit")
def test_simulate_reports_the_recorded_row(reported: dict[str, Any]) -> None:
    wanted = json.loads(COMMANDS.read_text(encoding="utf-8"))["simulate"]
    assert {key: reported["simulate"].get(key) for key in wanted} == wanted


@pytest.mark.usefixtures("_bit_by_bit")
def test_bench_writes_the_recorded_rows(reported: dict[str, Any]) -> None:
    wanted = json.loads(COMMANDS.read_text(encoding="utf-8"))["bench"]
    rows = reported["bench"]
    assert len(rows) == len(wanted) == 1
    assert [{key: rows[0].get(key) for key in wanted[0]}] == wanted
