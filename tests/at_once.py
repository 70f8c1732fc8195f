"""Things that happen at once: in threads of one process, or in two processes on one ledger."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from typing import TypeVar

from samekind.protocols import Event, Store
from waiting import PATIENCE

T = TypeVar("T")


def at_once(calls: Sequence[Callable[[], T]]) -> list[T]:
    """Make all calls in threads that begin together and take turns as often as possible."""
    found: dict[int, T] = {}
    line = threading.Barrier(len(calls), timeout=PATIENCE)

    def run(k: int) -> None:
        line.wait()
        found[k] = calls[k]()

    threads = [threading.Thread(target=run, args=(k,)) for k in range(len(calls))]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    return [found[k] for k in range(len(calls))]


def just_before(store: Store, kind: str, act: Callable[[], object]) -> None:
    """Let somebody else act just before the next event of a kind would be stored."""
    append, waiting = store.append, [act]

    def slow(session: str, event: Event, *, after: int | None = None) -> int:
        if event.kind == kind and waiting:
            waiting.pop()()
        return append(session, event, after=after)

    store.append = slow  # type: ignore[method-assign]
