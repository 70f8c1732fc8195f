"""Refitter and EventBus: refits in the background, and events for whoever is listening."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from samekind.errors import SamekindError, TooManyListeners

if TYPE_CHECKING:
    from samekind.session import Session

log = logging.getLogger("samekind")

NEXT_LEADER = 3
"""How many times more answers than are due make another process refit instead."""
MAX_LISTENERS = 100
"""Pages that may listen at the same time."""
Event = tuple[str, Mapping[str, Any]]
"""The kind of an event, and its details as plain JSON."""


class Listener:
    """One page that listens, in the event loop in which it was made.

    Only the latest event of each kind is kept: a page that was asleep needs no history.
    """

    def __init__(self, session: str) -> None:
        self.session = session
        self._loop = asyncio.get_running_loop()
        self._ready = asyncio.Event()
        self._lock = threading.Lock()
        self._events: dict[tuple[str, str], Mapping[str, Any]] = {}
        self._closed = False

    def put(self, kind: str, key: str, data: Mapping[str, Any]) -> None:
        """Queue an event; may be called from any thread."""
        with self._lock:
            self._events.pop((kind, key), None)  # so that it moves to the end
            self._events[kind, key] = data
        self._wake()

    def close(self) -> None:
        """End the stream after the events that are queued."""
        self._closed = True
        self._wake()

    async def next(self, timeout: float) -> list[Event] | None:
        """Return what is new, nothing after `timeout` seconds without events, None at the end."""
        try:
            await asyncio.wait_for(self._ready.wait(), timeout)
        except TimeoutError:
            return []
        self._ready.clear()
        with self._lock:
            found = [(kind, data) for (kind, _), data in self._events.items()]
            self._events.clear()
        return None if self._closed and not found else found

    def _wake(self) -> None:
        with suppress(RuntimeError):  # the loop has ended, and the page with it
            self._loop.call_soon_threadsafe(self._ready.set)


class EventBus:
    """Passes events on to all listeners. Safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._listeners: set[Listener] = set()
        self._closed = False

    def listen(self, session: str) -> Listener:
        """Start listening to a session; to be called in an event loop."""
        listener = Listener(session)
        with self._lock:
            self._check_room()
            if self._closed:
                listener.close()
            self._listeners.add(listener)
        return listener

    def check_room(self) -> None:
        """Refuse if nobody else can listen at present."""
        with self._lock:
            self._check_room()

    def _check_room(self) -> None:
        if len(self._listeners) >= MAX_LISTENERS:
            raise TooManyListeners(f"{MAX_LISTENERS} pages listen to this server already.")

    def leave(self, listener: Listener) -> None:
        """Stop listening."""
        with self._lock:
            self._listeners.discard(listener)

    def publish(
        self, kind: str, data: Mapping[str, Any], *, session: str | None = None, key: str = ""
    ) -> None:
        """Send an event to everybody who listens to this session, or to all sessions.

        Parameters
        ----------
        key : an event replaces an earlier one of the same kind only if the keys are equal.
        """
        with self._lock:
            listeners = [one for one in self._listeners if session in (None, one.session)]
        for listener in listeners:
            listener.put(kind, key, data)

    def close(self) -> None:
        """End all streams, now and later: the server stops."""
        with self._lock:
            self._closed = True
            listeners = list(self._listeners)
        for listener in listeners:
            listener.close()


@dataclass
class _State:
    """The refit of one session."""

    thread: threading.Thread | None = None
    again: bool = False
    follow: bool = False
    """Whether only the groups of another process are wanted."""
    trouble: str | None = None


class Refitter:
    """Runs ``session.refit()`` in a thread, one at a time per session.

    A refit that fails is remembered with its reason and tried again after the next answer; nothing
    else stops. The threads are daemons, because an interrupted refit loses nothing: the answers
    are in the ledger. Every answer and every refit is published on the event bus.
    """

    def __init__(self, event_bus: EventBus | None = None) -> None:
        self._event_bus = EventBus() if event_bus is None else event_bus
        self._lock = threading.Lock()
        self._states: dict[str, _State] = {}
        self._closed = False
        self._stopped = threading.Event()
        self.rest = 0.0
        """Seconds of rest per second of refitting. With several people a refit is due all the time,
        on every server: without rest their questions would wait."""

    def nudge(self, session: Session, *, at_once: bool = False) -> None:
        """Refit if it is due, or `at_once`; to be called after every answer."""
        data = {"answers": len(session.answers)}
        self._event_bus.publish("answers", data, session=session.name)
        if at_once or (self._leads(session) if self.rest else session.due):
            self.request(session)

    def _leads(self, session: Session) -> bool:
        """Whether this process should refit: exactly one of several gets to each threshold.

        The others follow. If it dies, answers go on until the next threshold is reached.
        """
        due = session.refit_every
        while due < session.changes:
            due *= NEXT_LEADER
        return due == session.changes

    def take_in(self, session: Session, number: int = 0) -> None:
        """Read what other processes have written, up to event `number` at least.

        Their refits are followed. Refits that are due are left to the process with the answer.
        """
        if not session.catch_up(number):
            return
        data = {"answers": len(session.answers)}
        self._event_bus.publish("answers", data, session=session.name)
        if session.is_stale:
            self.request(session, follow=True)

    def request(self, session: Session, *, follow: bool = False) -> None:
        """Refit now, or right after the refit that is running.

        With `follow`, only take over the groups of another process.
        """
        with self._lock:
            if self._closed:
                return
            state = self._states.setdefault(session.name, _State())
            if state.thread is not None:
                state.again, state.follow = True, follow and (state.follow or not state.again)
                return
            state.follow = follow
            state.thread = threading.Thread(
                target=self._work, args=(session, state), name=f"refit-{session.name}", daemon=True
            )
            state.thread.start()

    def busy(self, name: str) -> bool:
        """Whether a refit of this session is running."""
        with self._lock:
            state = self._states.get(name)
            return state is not None and state.thread is not None

    def trouble(self, name: str) -> str | None:
        """Return why the last refit of this session failed; None when it did not."""
        with self._lock:
            state = self._states.get(name)
            return state.trouble if state else None

    def close(self, timeout: float = 5.0) -> None:
        """Start no more refits, and wait a moment for those that are running."""
        self._stopped.set()
        with self._lock:
            self._closed = True
            threads = [state.thread for state in self._states.values() if state.thread]
        for thread in threads:
            thread.join(timeout)

    def wait(self, name: str, timeout: float = 300.0) -> bool:
        """Wait until no refit of this session is running; False after `timeout` seconds."""
        with self._lock:
            state = self._states.get(name)
            thread = state.thread if state else None
        if thread is not None:
            thread.join(timeout)
        return not self.busy(name)

    def _work(self, session: Session, state: _State) -> None:
        follow = state.follow
        while True:
            self._publish(session, refitting=True)
            began = time.monotonic()
            trouble = _attempt(session.follow if follow else session.refit)
            # A failed refit leaves the session due; trying again at once would spin.
            self._stopped.wait(self.rest * (time.monotonic() - began))
            due = trouble is None and session.due and not follow
            with self._lock:
                state.trouble = trouble
                if self._closed or not (state.again or due):
                    state.thread = None
                    self._publish(session, refitting=False)  # before another one can begin
                    break
                state.again, follow = False, state.follow and state.again

    def _publish(self, session: Session, *, refitting: bool) -> None:
        data = {"snapshot": session.clustering.snapshot, "refitting": refitting}
        self._event_bus.publish("refit", data, session=session.name)


def _attempt(refit: Callable[[], object]) -> str | None:
    """Run a refit; return the reason if it fails."""
    try:
        refit()
    except SamekindError as fault:
        log.warning("The groups could not be refreshed: %s", fault)
        return f"The groups could not be refreshed. {fault}"
    except Exception as fault:
        log.exception("The groups could not be refreshed")
        return (
            f"The groups could not be refreshed ({type(fault).__name__}). Your answers are safe; "
            "see the terminal in which samekind runs for details."
        )
    return None
