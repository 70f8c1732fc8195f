"""Refits in the background, so that the person goes on answering."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from samekind.errors import SamekindError
from samekind.workspace.event_bus import EventBus

if TYPE_CHECKING:
    from samekind.session import Session

log = logging.getLogger("samekind.web")


@dataclass
class _Bench:
    """What goes on for one session."""

    thread: threading.Thread | None = None
    again: bool = False
    trouble: str | None = None


class Refitter:
    """Runs ``session.refit()`` in a thread, one at a time per session.

    A refit that fails is remembered in words and tried again with the next answer; it stops
    nothing else. Threads are daemons, because a refit that is cut off loses nothing: what the
    person told is in the ledger. Open pages are told of every answer and every refit.
    """

    def __init__(self, event_bus: EventBus | None = None) -> None:
        self._bulletin = EventBus() if event_bus is None else event_bus
        self._lock = threading.Lock()
        self._benches: dict[str, _Bench] = {}
        self._closed = False

    def nudge(self, session: Session, *, at_once: bool = False) -> None:
        """Refit if enough answers have come, or `at_once`; to be called after every answer."""
        data = {"answers": len(session.answers)}
        self._bulletin.publish("answers", data, session=session.name)
        if at_once or session.due:
            self.request(session)

    def request(self, session: Session) -> None:
        """Refit now, or right after the refit that is under way."""
        with self._lock:
            if self._closed:
                return
            bench = self._benches.setdefault(session.name, _Bench())
            if bench.thread is not None:
                bench.again = True
                return
            bench.thread = threading.Thread(
                target=self._work, args=(session, bench), name=f"refit-{session.name}", daemon=True
            )
            bench.thread.start()

    def busy(self, name: str) -> bool:
        """Whether a refit of this session is under way."""
        with self._lock:
            bench = self._benches.get(name)
            return bench is not None and bench.thread is not None

    def trouble(self, name: str) -> str | None:
        """Why the last refit of this session failed; None when it did not."""
        with self._lock:
            bench = self._benches.get(name)
            return bench.trouble if bench else None

    def close(self, patience: float = 5.0) -> None:
        """Start no more refits, and wait a moment for those under way."""
        with self._lock:
            self._closed = True
            threads = [bench.thread for bench in self._benches.values() if bench.thread]
        for thread in threads:
            thread.join(patience)

    def wait(self, name: str, patience: float = 60.0) -> bool:
        """Wait until no refit of this session is under way; False when it took too long."""
        with self._lock:
            bench = self._benches.get(name)
            thread = bench.thread if bench else None
        if thread is not None:
            thread.join(patience)
        return not self.busy(name)

    def _work(self, session: Session, bench: _Bench) -> None:
        while True:
            self._publish(session, refitting=True)
            trouble = _attempt(partial(session.refit, check=False))
            # A failed refit leaves the session due; trying at once again would spin.
            due = trouble is None and session.due
            with self._lock:
                bench.trouble = trouble
                if self._closed or not (bench.again or due):
                    bench.thread = None
                    self._publish(session, refitting=False)  # before another one can begin
                    break
                bench.again = False
        if trouble is None and not self._closed:  # the groups are there: this may take its time
            _attempt(session.check)

    def _publish(self, session: Session, *, refitting: bool) -> None:
        data = {"snapshot": session.clustering.snapshot, "refitting": refitting}
        self._bulletin.publish("refit", data, session=session.name)


def _attempt(refit: Callable[[], object]) -> str | None:
    """Run a refit; the reason in words if it fails."""
    try:
        refit()
    except SamekindError as fault:
        log.warning("The groups could not be refreshed: %s", fault)
        return f"The groups could not be refreshed. {fault}"
    except Exception as fault:
        log.exception("The groups could not be refreshed")
        return (
            f"The groups could not be refreshed ({type(fault).__name__}). Your answers are safe; "
            "the terminal where samekind runs shows the details."
        )
    return None
