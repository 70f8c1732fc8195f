"""The attacks that take minutes would notice what is lost, and bounds that are not kept."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmarks.faults.time_and_size import MAX_P95_SECONDS, Week, acted, bounds, names_of
from samekind.ledger.event_log import EventLog
from samekind.ledger.sql import SqlStore

FLAT, QUICK = [300, 400, 450, 460, 455, 465], {"p95": 100.0}


@pytest.mark.parametrize(
    ("memory", "times", "words"),
    [
        (FLAT, QUICK, []),
        ([300, 400, 500], QUICK, []),
        ([300, 400, 450, 500, 550, 600], QUICK, ["Memory grew from at most 450 to 600 MB."]),
        (FLAT, {"p95": 1000 * MAX_P95_SECONDS + 1}, ["The next question took 5.0 s or more"]),
    ],
    ids=["kept", "too short to judge", "memory", "time"],
)
def test_bounds_that_are_not_kept_are_found(
    memory: list[int], times: dict[str, float], words: list[str]
) -> None:
    found = bounds(memory, times)
    assert len(found) == len(words)
    assert all(one.startswith(start) for one, start in zip(found, words, strict=True))


Append = Callable[..., int]
append = EventLog.append


def drop(log: EventLog, kind: str, data: dict[str, Any], **more: Any) -> int:
    """Store an event that says nothing instead."""
    return append(log, "listed", {}, **more)


def double(log: EventLog, kind: str, data: dict[str, Any], **more: Any) -> int:
    append(log, kind, data, **more)
    return append(log, kind, data)


@pytest.mark.parametrize("act", ["told", "named"])
@pytest.mark.parametrize(("storing", "right"), [(append, True), (drop, False), (double, False)])
def test_a_week_finds_acts_that_are_not_in_the_ledger_once(
    act: str, storing: Append, right: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    week = Week(0)
    with SqlStore(tmp_path / "a.samekind") as store:
        session = week.open(store)
        assert week.differing(store, session) == 0
        assert session.ask() is not None, "what is stored for that stays whole"
        monkeypatch.setattr(EventLog, "append", storing)
        if act == "told":
            week.take(acted(session, week.kinds, 1))
        else:
            session.rename(1, "new")
            week.take([("named", 1, "new")])
        week.names = names_of(session)
        assert (week.differing(store, week.open(store)) == 0) == right
