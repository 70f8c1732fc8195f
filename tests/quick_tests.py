"""Choose the tests of `make check` from measured durations.

`make durations` runs every test and writes the seconds of each to ``durations.json``. In
`make check` every file may take `SECONDS_PER_FILE`: its tests are chosen in the order in which they
stand in the file, as long as they fit. A test that has not been measured yet is chosen.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

DURATIONS = Path(__file__).parent / "durations.json"
SECONDS_PER_FILE = 0.45
"""Enough for a real test of almost every file; `make check` has 90 seconds for all of them."""
MIN_RECORDED_SECONDS = 0.02


def choose_slow(seconds: Mapping[str, float], tests: Iterable[str]) -> set[str]:
    """Return the ids of the tests that do not fit into the time of their file."""
    spent: dict[str, float] = {}
    slow = set()
    for test in tests:
        file = file_of(test)
        cost = seconds.get(test, 0.0)
        if spent.get(file, 0.0) + cost > SECONDS_PER_FILE:
            slow.add(test)
        else:
            spent[file] = spent.get(file, 0.0) + cost
    return slow


def file_of(test: str) -> str:
    """Return the file that a test stands in."""
    return test.partition("::")[0]


def longest_by_file(seconds: Mapping[str, float]) -> dict[str, float]:
    """Return the seconds of the longest test of each file."""
    longest: dict[str, float] = {}
    for test, cost in seconds.items():
        longest[file_of(test)] = max(cost, longest.get(file_of(test), 0.0))
    return longest


class DurationRecorder:
    """Add up setup, call and teardown of every test, and write them when the session ends."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.seconds: dict[str, float] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0.0) + report.duration

    def pytest_sessionfinish(self) -> None:
        kept = {t: round(s, 2) for t, s in self.seconds.items() if s >= MIN_RECORDED_SECONDS}
        self.file.write_text(json.dumps(kept, indent=0, sort_keys=True) + "\n", encoding="utf-8")
