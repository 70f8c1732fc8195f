"""The check of many people finds what it looks for."""

from __future__ import annotations

from benchmarks.people.checking import compare, summary
from benchmarks.people.crowd import AnswerLog
from samekind.ledger.store import MemoryStore
from samekind.protocols import Event


def ledger(*told: tuple[int, str, str, bool]) -> MemoryStore:
    store = MemoryStore()
    for number, by, choice, second in told:
        data = {"number": number, "by": by, "choice": choice}
        store.append("main", Event("told", {**data, "second": True} if second else data))
    return store


def test_what_was_confirmed_and_kept_is_in_order() -> None:
    store = ledger((1, "anna", "1", False), (1, "ben", "2", True), (2, "ben", "1", False))
    logs = {
        "anna": AnswerLog(confirmed=[(1, "1")], shown=[(1, 0.0, 1.0)]),
        "ben": AnswerLog(confirmed=[(1, "2"), (2, "1")], shown=[(1, 1.5, 2.0), (2, 0.0, 1.0)]),
    }
    found = compare(store, "main", logs)
    assert summary(found) == []
    assert (found["confirmed"], found["first_answers"], found["second_opinions"]) == (3, 2, 1)


def test_everything_that_must_not_happen_is_counted() -> None:
    store = ledger(
        (1, "anna", "1", False),
        (1, "ben", "2", False),
        (2, "ben", "1", False),
        (2, "ben", "1", True),
    )
    logs = {
        "anna": AnswerLog(confirmed=[(1, "1"), (1, "1"), (3, "1")], shown=[(1, 0.0, 2.0)]),
        "ben": AnswerLog(confirmed=[(1, "none")], shown=[(1, 1.0, 3.0)]),
    }
    found = compare(store, "main", logs)
    assert (found["lost"], found["doubled"], found["open_for_two"]) == (2, 1, 1)
    assert (found["answered_twice_by_one"], found["own_second_opinions"]) == (1, 1)
    assert len(summary(found)) == 5
