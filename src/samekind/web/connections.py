"""Limits for slow clients: none may keep a connection for ever, and all together not every one.

uvicorn closes connections that are idle between two requests, and no others. Each connection takes
a file descriptor, so a few hundred clients that send half a request, without any token, would keep
everybody out. Here the server waits for its clients only for so long, and only for so many at a
time. Connections on which the application is at work, such as streams of events, are not limited.
"""

from __future__ import annotations

import asyncio
from enum import Enum

from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_SECONDS = 20.0
"""Time for the head of a request to arrive, from the connection or the reply before it."""
STALL_SECONDS = 30.0
"""Time without any progress while a body arrives, or while a reply is sent."""
MAX_WAITING = 256
"""Connections of each :class:`Wait` at most; fewer where the process may open few files."""


class Wait(Enum):
    """What the server waits for a client to do."""

    HEAD = "send a request"
    BODY = "send the rest of the body"
    REPLY = "read the reply"


def max_waiting() -> int:
    """Return how many connections of each `Wait` are kept.

    They take at most three eighths of the file descriptors. New connections take an eighth for a
    moment, and the rest is for event streams, ledgers and other files.
    """
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return MAX_WAITING
    descriptors, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if descriptors == resource.RLIM_INFINITY:
        return MAX_WAITING
    return max(1, min(MAX_WAITING, descriptors // 8))


def max_accepted() -> int:
    """Return how many connections are accepted before the event loop looks at older ones.

    It takes four turns of the loop until one that was closed gives its descriptor back.
    """
    return max(1, max_waiting() // 8)


class LimitedProtocol(H11Protocol):
    """A connection that is closed when its client is too slow, or one of too many slow ones.

    The head of a request must be complete in time. Bodies and replies may take as long as they
    need while bytes move. Above the limit of their number the oldest connections are closed first,
    so that a new client always gets in.
    """

    waits_for: Wait | None = None
    _since = 0.0
    _unsent = 0
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for a request."""
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        """Go on with a request; a body that moves gets its whole time again."""
        super().data_received(data)
        if self.waits_for is Wait.BODY:
            self._start_timer()
        self._watch()
        if self.waits_for is None and self.conn.trailing_data[0]:
            # Requests that are sent ahead of replies would keep a connection busy for minutes.
            self.cycle.keep_alive = False

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        self._watch()

    def pause_writing(self) -> None:
        """Wait until the client has read some of the reply."""
        super().pause_writing()
        self._watch()

    def resume_writing(self) -> None:
        """Go on with the reply."""
        super().resume_writing()
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer."""
        super().connection_lost(exc)
        self._wait_for(None)

    def _watch(self) -> None:
        """Find out what the server waits for now."""
        if self.flow.write_paused:
            now: Wait | None = Wait.REPLY
        elif self.cycle is None or self.cycle.response_complete:
            now = Wait.HEAD
        else:
            now = Wait.BODY if self.cycle.more_body else None
        if now is not self.waits_for:
            self._wait_for(now)

    def _wait_for(self, what: Wait | None) -> None:
        self.waits_for = what
        if what is None:
            self._stop_timer()
            return
        self._since = self.loop.time()
        self._start_timer()
        alike = [
            other
            for other in self.connections
            if isinstance(other, LimitedProtocol) and other.waits_for is what
        ]
        if len(alike) > max_waiting():
            min(alike, key=lambda other: other._since)._close()

    def _start_timer(self) -> None:
        self._stop_timer()
        self._unsent = self.transport.get_write_buffer_size()
        seconds = HEAD_SECONDS if self.waits_for is Wait.HEAD else STALL_SECONDS
        self._timer = self.loop.call_later(seconds, self._expire)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _expire(self) -> None:
        if 0 < self.transport.get_write_buffer_size() < self._unsent:
            self._start_timer()  # a reply is still being read, slowly
        else:
            self._close()

    def _close(self) -> None:
        self._wait_for(None)
        self.transport.abort()
