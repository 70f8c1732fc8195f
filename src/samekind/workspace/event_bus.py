"""Bulletin: news for the open pages, from whichever thread they come."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from samekind.errors import TooManyListeners

MAX_LISTENERS = 100
"""Pages that may listen at the same time."""
News = tuple[str, Mapping[str, Any]]
"""What happened, and its details as plain JSON."""


class Listener:
    """One page that listens, in the event loop in which it was made.

    Only the latest news of each kind is kept for it: a page that was asleep needs no history.
    """

    def __init__(self, session: str) -> None:
        self.session = session
        self._loop = asyncio.get_running_loop()
        self._bell = asyncio.Event()
        self._lock = threading.Lock()
        self._news: dict[tuple[str, str], Mapping[str, Any]] = {}
        self._over = False

    def tell(self, kind: str, key: str, data: Mapping[str, Any]) -> None:
        """Leave news for it; may be called from any thread."""
        with self._lock:
            self._news.pop((kind, key), None)  # so that it takes its place among the newest
            self._news[kind, key] = data
        self._ring()

    def end(self) -> None:
        """There will be no more news."""
        self._over = True
        self._ring()

    async def next(self, patience: float) -> list[News] | None:
        """What is new, nothing after so many seconds without news, or None at the end."""
        try:
            await asyncio.wait_for(self._bell.wait(), patience)
        except TimeoutError:
            return []
        self._bell.clear()
        with self._lock:
            found = [(kind, data) for (kind, _), data in self._news.items()]
            self._news.clear()
        return None if self._over and not found else found

    def _ring(self) -> None:
        with suppress(RuntimeError):  # the loop has ended, and the page with it
            self._loop.call_soon_threadsafe(self._bell.set)


class EventBus:
    """Hands news on to all pages that listen. Safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._listeners: set[Listener] = set()
        self._closed = False

    def listen(self, session: str) -> Listener:
        """Begin to listen to what concerns a session; to be called in an event loop."""
        listener = Listener(session)
        with self._lock:
            if len(self._listeners) >= MAX_LISTENERS:
                raise TooManyListeners(f"{MAX_LISTENERS} pages listen to this server already.")
            if self._closed:
                listener.end()
            self._listeners.add(listener)
        return listener

    def leave(self, listener: Listener) -> None:
        """Stop listening."""
        with self._lock:
            self._listeners.discard(listener)

    def publish(
        self, kind: str, data: Mapping[str, Any], *, session: str | None = None, key: str = ""
    ) -> None:
        """Tell all who listen to this session, or everybody.

        Parameters
        ----------
        key : of several news of one kind with different keys none replaces another.
        """
        with self._lock:
            listeners = [one for one in self._listeners if session in (None, one.session)]
        for listener in listeners:
            listener.tell(kind, key, data)

    def close(self) -> None:
        """End all listening, now and later: the server stops."""
        with self._lock:
            self._closed = True
            listeners = list(self._listeners)
        for listener in listeners:
            listener.end()
