"""The contract of a store: what every ledger must guarantee."""

from __future__ import annotations

import multiprocessing
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from samekind.errors import InputError, StaleWrite
from samekind.ledger.store import open_store
from samekind.protocols import Event, Store
from samekind.testing.expecting import raises

if TYPE_CHECKING:
    from samekind.ledger.sql import SqlStore

PATIENCE = 300.0
"""Seconds after which something counts as broken, not slow."""


def check_store(make_store: Callable[[], Store]) -> None:
    """Check a store; `make_store` returns a new, empty store at each call."""
    check_numbers_are_gapless_per_session(make_store())
    check_events_come_back_as_they_were(make_store())
    check_what_is_not_plain_json_is_refused(make_store())
    check_names_are_checked(make_store())
    check_threads_do_not_lose_events(make_store())
    check_late_events_are_refused(make_store())


def check_numbers_are_gapless_per_session(store: Store) -> None:
    """Check that each session counts from 1, independently of the others."""
    assert isinstance(store, Store)
    assert store.sessions() == [] and list(store.read("nobody")) == []
    given_out = [store.append(name, Event("told", {"n": n})) for n in range(3) for name in "ba"]
    assert given_out == [1, 1, 2, 2, 3, 3]
    assert store.sessions() == ["a", "b"]
    assert [(e.seq, e.data["n"]) for e in store.read("a")] == [(1, 0), (2, 1), (3, 2)]
    assert [e.seq for e in store.read("a", after=1)] == [2, 3]
    assert [e.seq for e in store.read("a", after=3)] == []
    assert [e.seq for e in store.read("a", after=99)] == []
    reader = store.read("b", after=1)
    assert next(reader).seq == 2
    assert store.append("b", Event("undone", seq=77)) == 4, "the store assigns the number"


def check_events_come_back_as_they_were(store: Store) -> None:
    """Check that Unicode, nesting, large numbers and fractions of seconds are preserved."""
    data = {
        "item": "Größe/猫 🐈.jpg",
        "half a pair": "\udcff",
        "nul": "\0",
        "deep": {"list": [1, -0.5, None, True, 2**60, {"": []}]},
        "quote": 'it\'s "so"; -- \\ %s :x',
    }
    store.append("猫 / main", Event("told", data, at=1700000000.123456))
    (event,) = store.read("猫 / main")
    assert event == Event("told", data, at=1700000000.123456, seq=1)
    changed = {"choices": ["same"]}
    store.append("b", Event("told", changed))
    changed["choices"].append("different")
    assert next(store.read("b")).data == {"choices": ["same"]}, "a store keeps no references"
    big = {"ids": ["x" * 20] * 10_000}
    store.append("b", Event("proposed", big))
    assert next(store.read("b", after=1)).data == big


def check_what_is_not_plain_json_is_refused(store: Store) -> None:
    """Check that a value that would be read back differently is refused."""
    for value in (float("nan"), float("inf"), {1, 2}, b"bytes", object(), {3: "key"}, [{None: 1}]):
        with raises(InputError):
            store.append("main", Event("told", {"value": value}))
    for event in (Event(""), Event("a\0b"), Event("told", at=float("nan"))):
        with raises(InputError):
            store.append("main", event)
    assert store.sessions() == []


def check_names_are_checked(store: Store) -> None:
    """Check that names have 1 to 200 characters, of any script."""
    longest = "é" * 200
    assert store.append(longest, Event("opened")) == 1
    assert store.append(" spaced'; DROP TABLE events; -- ", Event("opened")) == 1
    assert len(list(store.read(longest))) == 1 and len(store.sessions()) == 2
    for name in ("", "x" * 201, "a\0b", "\udcff"):
        with raises(InputError):
            store.append(name, Event("opened"))
        with raises(InputError):
            store.read(name)
    with raises(InputError):
        store.read("main", after=-1)


def check_threads_do_not_lose_events(store: Store) -> None:
    """Check that numbers have no gaps when several threads append to one session."""
    with ThreadPoolExecutor(4) as pool:
        tell = lambda n: store.append("main", Event("told", {"n": n}))  # noqa: E731
        given_out = list(pool.map(tell, range(60)))
    events = list(store.read("main"))
    assert sorted(given_out) == [e.seq for e in events] == list(range(1, 61))
    assert {e.seq: e.data["n"] for e in events} == {s: n for n, s in enumerate(given_out)}


def check_late_events_are_refused(store: Store) -> None:
    """Check that an event can be stored on the condition that no other one came before it."""
    assert store.append("main", Event("told"), after=0) == 1
    for wrong in (0, 2):
        with raises(StaleWrite):
            store.append("main", Event("told"), after=wrong)
    with raises(StaleWrite):
        store.append("other", Event("told"), after=1)
    assert store.append("main", Event("undone"), after=1) == 2
    assert [e.kind for e in store.read("main")] == ["told", "undone"]
    assert store.sessions() == ["main"], "what was refused has left no trace"
    with ThreadPoolExecutor(4) as pool:
        stored = list(pool.map(lambda _: _succeeds(store, after=2), range(8)))
    assert sum(stored) == 1 and len(list(store.read("main"))) == 3


def check_watch(here: SqlStore, there: SqlStore, *, named: bool) -> None:
    """Check that what one store writes wakes the watch of another one, until it is stopped.

    Parameters
    ----------
    named : whether the watch is told which session has grown.
    """
    woken: list[tuple[str, int]] = []
    before = _watches()
    stop = here.watch(lambda session, number: woken.append((session, number)))
    _until(lambda: bool(woken))  # it is ready
    woken.clear()
    assert there.append("main / ä", Event("told")) == 1
    _until(lambda: bool(woken))
    assert woken[0] == (("main / ä", 1) if named else ("", 0))
    stop()
    woken.clear()
    there.append("main / ä", Event("told"))
    _until(lambda: _watches() <= before)  # its thread has ended
    assert not woken


def _watches() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if thread.name == "ledger-watch"}


def _until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "The watch was not woken."
        time.sleep(0.02)


def _succeeds(store: Store, *, after: int) -> bool:
    try:
        store.append("main", Event("told"), after=after)
    except StaleWrite:
        return False
    return True


def check_two_processes(target: str) -> None:
    """Check that two processes can open a ledger at once and append 200 events each."""
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_append_many, args=(target, who, 200)) for who in "ab"]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(300)
    assert [worker.exitcode for worker in workers] == [0, 0]
    events = list(open_store(target).read("main"))
    assert [e.seq for e in events] == list(range(1, 401))
    for who in "ab":
        assert [e.data["n"] for e in events if e.data["who"] == who] == list(range(200))


def _append_many(target: str, who: str, n: int) -> None:
    store = open_store(target)
    for i in range(n):
        store.append("main", Event("told", {"who": who, "n": i}))
