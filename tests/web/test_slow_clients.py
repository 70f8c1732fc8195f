"""Slow clients: connections that make the server wait are closed in time, the oldest ones first.

The clock of the event loop is moved by hand, so that nothing depends on how busy the machine is.
"""

from __future__ import annotations

import asyncio
import resource
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from typing import Any

import httpx
import pytest
import uvicorn

from samekind.web import connections
from samekind.web.connections import HEAD_SECONDS, STALL_SECONDS, LimitedProtocol, Wait
from samekind.web.routes.events import stream
from samekind.web.server import listen, serve
from samekind.workspace.refitter import MAX_LISTENERS
from samekind.workspace.workspace import Workspace
from samekind.workspace.workspaces import Workspaces
from waiting import PATIENCE, until

HALF_HEAD = "POST /api/answers HTTP/1.1\r\nHost: HOST\r\n"
JSON = "Content-Type: application/json\r\n"
HALF_BODY = f"{HALF_HEAD}{JSON}Content-Length: 900\r\n\r\n{{"
REFUSED_BODY = HALF_BODY.replace("HOST", "evil.example")
REQUEST = "GET /api/health HTTP/1.1\r\nHost: HOST\r\n\r\n"


class Slow:
    """A running server, a clock that can be moved, and connections of clients to it."""

    def __init__(self, server: uvicorn.Server, port: int, open_lines: ExitStack) -> None:
        self.server, self.port, self.open_lines = server, port, open_lines
        until(lambda: server.started)
        self.loop = server.servers[0].get_loop()
        self.real, self.skipped = self.loop.time, 0.0
        self.loop.time = lambda: self.real() + self.skipped  # type: ignore[method-assign]

    def skip(self, seconds: float) -> None:
        """Move the clock of the event loop, and wait until due timers have run."""
        self.skipped += seconds
        for _ in range(3):
            asyncio.run_coroutine_threadsafe(asyncio.sleep(0), self.loop).result(PATIENCE)

    def open(self, text: str = "") -> socket.socket:
        """Connect, send something, and wait until the server has it."""
        line = socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)
        self.open_lines.enter_context(line)
        until(lambda: self.protocol(line) is not None)
        self.send(line, text)
        return line

    def send(self, line: socket.socket, text: str) -> None:
        before = self.received(line)
        data = text.replace("HOST", f"127.0.0.1:{self.port}").encode()
        line.sendall(data)
        until(lambda: self.received(line) >= before + len(data) or not self.is_open(line))
        assert self.is_open(line)

    def protocol(self, line: socket.socket) -> Any:
        """The server's side of a connection; None once it is closed."""
        ours = line.getsockname()
        return next((p for p in [*self.server.server_state.connections] if p.client == ours), None)

    def received(self, line: socket.socket) -> int:
        return getattr(self.protocol(line), "received", 0)

    def is_open(self, line: socket.socket) -> bool:
        return self.protocol(line) is not None

    def status(self) -> int:
        """The status that a new client gets."""
        address = f"http://127.0.0.1:{self.port}/api/session"
        return httpx.get(address, timeout=PATIENCE, trust_env=False).status_code


def closed(line: socket.socket) -> bool:
    """Whether the server ends a connection; whatever it sent before is read."""
    with suppress(ConnectionError):
        while line.recv(65536):
            pass
    return True


@pytest.fixture(autouse=True)
def count_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each connection count what it has received."""
    receive = LimitedProtocol.data_received

    def data_received(self: Any, data: bytes) -> None:
        receive(self, data)
        self.received = getattr(self, "received", 0) + len(data)

    monkeypatch.setattr(LimitedProtocol, "data_received", data_received)


@pytest.fixture
def slow(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> Iterator[Slow]:
    """The server of `samekind serve`, in a thread and without a token."""
    servers: list[uvicorn.Server] = []
    said: list[str] = []

    class Kept(uvicorn.Server):
        def __init__(self, config: uvicorn.Config) -> None:
            super().__init__(config)
            servers.append(self)

    monkeypatch.setattr(uvicorn, "Server", Kept)

    workspaces = Workspaces.around(workspace)
    workspaces.paths = True  # uploads are allowed

    def run() -> None:
        serve(workspaces, port=0, announce=said.append, token=False)

    thread = threading.Thread(target=run)
    thread.start()
    until(lambda: servers)
    port = int(said[0].split(" at http://127.0.0.1:")[1].split("/")[0])
    with ExitStack() as open_lines:
        yield Slow(servers[0], port, open_lines)
    servers[0].should_exit = True
    thread.join(PATIENCE)
    assert not thread.is_alive()


def test_the_whole_head_must_arrive_in_time(slow: Slow) -> None:
    lines = [slow.open(), slow.open("G"), slow.open(HALF_HEAD)]
    slow.skip(HEAD_SECONDS - 5)
    assert all(map(slow.is_open, lines))
    slow.send(lines[2], "X-More: ")  # one that goes on gets no more time
    slow.skip(5)
    assert all(map(closed, lines))
    assert slow.status() == 200


def test_the_next_request_on_a_connection_must_arrive_in_time_too(slow: Slow) -> None:
    line = slow.open(REQUEST)
    assert line.recv(65536).startswith(b"HTTP/1.1 200")
    slow.send(line, HALF_HEAD)  # from here on uvicorn itself no longer looks at the time
    slow.skip(HEAD_SECONDS)
    assert closed(line)


def test_a_body_that_stops_is_given_up(slow: Slow, caplog: pytest.LogCaptureFixture) -> None:
    line = slow.open(HALF_BODY)
    until(lambda: slow.protocol(line).waits_for is Wait.BODY)
    slow.skip(STALL_SECONDS - 5)
    assert slow.is_open(line)
    slow.skip(5)
    assert closed(line)
    assert slow.status() == 200
    assert "Traceback" not in caplog.text


def test_a_body_that_was_refused_gets_no_more_time_however_it_moves(slow: Slow) -> None:
    line = slow.open(REFUSED_BODY)
    assert line.recv(65536).startswith(b"HTTP/1.1 403")
    until(lambda: slow.protocol(line).waits_for is Wait.HEAD)
    slow.send(line, "{")  # from here on uvicorn itself no longer looks at the time
    slow.skip(HEAD_SECONDS - 5)
    slow.send(line, "{")
    slow.skip(5)
    assert closed(line)


def test_a_slow_upload_that_moves_succeeds(slow: Slow) -> None:
    address = f"http://127.0.0.1:{slow.port}/api/uploads"
    begun = httpx.post(address, json={"name": "x", "size": 10}, trust_env=False, timeout=PATIENCE)
    where = f"/api/uploads/{begun.json()['id']}?name=a.png"
    kind = "Content-Type: application/octet-stream\r\n"
    line = slow.open(f"PUT {where} HTTP/1.1\r\nHost: HOST\r\n{kind}Content-Length: 10\r\n\r\n")
    for _ in range(9):
        slow.skip(STALL_SECONDS - 5)
        assert slow.is_open(line)
        slow.send(line, "x")
    line.sendall(b"x")
    assert line.recv(65536).startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize("half", ["", HALF_HEAD, HALF_BODY], ids=["nothing", "head", "body"])
def test_above_the_limit_the_oldest_are_closed_and_a_new_client_gets_in(
    slow: Slow, monkeypatch: pytest.MonkeyPatch, half: str
) -> None:
    monkeypatch.setattr(connections, "MAX_WAITING", 4)
    lines = [slow.open(half) for _ in range(12)]
    assert all(map(closed, lines[:8])), "closed without any time going by"
    assert all(map(slow.is_open, lines[-4:]))
    assert slow.status() == 200
    assert all(map(slow.is_open, lines[-3:]))


def test_uploads_stay_when_half_requests_are_closed(
    slow: Slow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "MAX_WAITING", 4)
    upload = slow.open(HALF_BODY)
    lines = [slow.open(HALF_HEAD) for _ in range(12)]
    assert all(map(closed, lines[:8]))
    assert slow.is_open(upload)


def test_requests_that_are_sent_ahead_of_replies_are_not_answered(slow: Slow) -> None:
    line = slow.open()
    line.sendall(REQUEST.replace("HOST", f"127.0.0.1:{slow.port}").encode() * 50)
    got = b""
    with suppress(ConnectionError):
        while part := line.recv(65536):
            got += part
    assert got.count(b"HTTP/1.1 ") <= 1
    assert slow.status() == 200


def test_an_event_stream_outlives_every_limit(slow: Slow, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "MAX_WAITING", 4)
    monkeypatch.setitem(stream.__kwdefaults__, "duration", 2 * PATIENCE)
    address = f"http://127.0.0.1:{slow.port}/api"
    with httpx.stream("GET", f"{address}/events", timeout=PATIENCE, trust_env=False) as reply:
        lines = reply.iter_lines()
        next(line for line in lines if line.startswith("event: answers"))
        for _ in range(5):
            slow.skip(HEAD_SECONDS + STALL_SECONDS)
        assert all(map(closed, [slow.open(HALF_HEAD) for _ in range(12)][:8]))
        act = {"items": [1, 2]}
        httpx.post(f"{address}/acts/together", json=act, timeout=PATIENCE, trust_env=False)
        next(line for line in lines if line.startswith("event: answers"))
        assert next(lines) == 'data: {"answers":1}'


@pytest.fixture
def large() -> Iterator[Slow]:
    """A server that sends more than the buffers of the operating system hold."""

    async def app(scope: Any, receive: Any, send: Callable[..., Any]) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": bytes(32_000_000), "more_body": True})
        await send({"type": "http.response.body", "body": b"end"})

    listener = listen("127.0.0.1", 0)
    config = uvicorn.Config(app, http=LimitedProtocol, log_level="error", lifespan="off")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    with ExitStack() as open_lines:
        yield Slow(server, listener.getsockname()[1], open_lines)
    server.should_exit = True
    thread.join(PATIENCE)


def test_a_reply_may_be_read_slowly_but_not_left_unread(large: Slow) -> None:
    line = large.open(REQUEST)
    until(lambda: large.protocol(line).waits_for is Wait.REPLY)
    transport = large.protocol(line).transport
    for _ in range(3):
        left, got = transport.get_write_buffer_size(), 0
        while got < 6_000_000:
            got += len(line.recv(65536))
        until(lambda: transport.get_write_buffer_size() < left)  # noqa: B023
        large.skip(STALL_SECONDS)
        assert large.is_open(line)
    large.skip(STALL_SECONDS)
    until(lambda: not large.is_open(line))


def test_replies_that_nobody_reads_are_limited_in_number(
    large: Slow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "MAX_WAITING", 2)
    lines = []
    for _ in range(4):
        lines.append(large.open(REQUEST))
        until(lambda: large.protocol(lines[-1]).waits_for is Wait.REPLY)
    until(lambda: [large.is_open(line) for line in lines] == [False, False, True, True])


@pytest.mark.parametrize("descriptors", [256, 1024, 1_000_000, resource.RLIM_INFINITY])
def test_all_limits_together_leave_descriptors_for_pages_and_files(
    monkeypatch: pytest.MonkeyPatch, descriptors: int
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (descriptors, descriptors))
    most = connections.max_waiting()
    assert 32 <= most <= connections.MAX_WAITING
    listeners, turns, files = 2, 4, 25
    new = listeners * turns * connections.max_accepted()
    assert new <= most, "a new client is not the oldest before it is heard"
    if descriptors > 0:
        assert len(Wait) * most + new + MAX_LISTENERS + files < descriptors
