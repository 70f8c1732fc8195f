"""Server-sent events: the current state, every change, heartbeats, and a clean end."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Iterator
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
import uvicorn
from fastapi.testclient import TestClient

from samekind.errors import TooManyListeners
from samekind.web.routes.events import stream
from samekind.web.server import serve
from samekind.workspace import refitter
from samekind.workspace.jobs import Jobs
from samekind.workspace.refitter import EventBus
from samekind.workspace.workspace import Workspace
from samekind.workspace.workspaces import Workspaces
from waiting import PATIENCE


class Reader:
    """Reads events off a stream of lines or chunks."""

    def __init__(self, stream: AsyncIterator[str]) -> None:
        self.stream = stream

    async def next(self) -> tuple[str, dict[str, Any]]:
        """The next event; comments and settings are left out."""
        while True:
            chunk = await asyncio.wait_for(anext(self.stream), PATIENCE)
            if chunk.startswith("event: "):
                kind, data = chunk.removesuffix("\n\n").split("\n")
                return kind.removeprefix("event: "), json.loads(data.removeprefix("data: "))

    async def until(self, kind: str, **wanted: Any) -> dict[str, Any]:
        while True:
            found, data = await self.next()
            if found == kind and wanted.items() <= data.items():
                return data


def test_a_page_gets_the_current_state_and_then_every_change(
    workspace: Workspace, client: TestClient
) -> None:
    async def scene() -> None:
        reader = Reader(stream(workspace, workspace.session(), Jobs()))
        assert await reader.next() == ("answers", {"answers": 0})
        assert await reader.next() == ("refit", {"snapshot": 0, "refitting": False})
        await asyncio.to_thread(client.post, "/api/acts/together", json={"items": [1, 2]})
        assert await reader.until("answers") == {"answers": 1}
        await reader.until("refit", snapshot=1, refitting=False)
        await asyncio.to_thread(client.get, "/api/map")
        assert await reader.until("map") == {"version": 2, "stage": "neighbours"}
        await asyncio.to_thread(client.post, "/api/undo", json={})
        assert await reader.until("answers") == {"answers": 0}

    asyncio.run(scene())


def test_events_reach_their_orientation_and_jobs_reach_everybody(
    workspace: Workspace,
) -> None:
    async def scene() -> None:
        one, other = (workspace.event_bus.listen(name) for name in ("main", "shape"))
        workspace.event_bus.publish("answers", {"answers": 3}, session="main")
        workspace.event_bus.publish("job", {"share": 0.5}, key="a")
        workspace.event_bus.publish("job", {"share": 0.1}, key="b")
        assert await one.next(PATIENCE) == [
            ("answers", {"answers": 3}),
            ("job", {"share": 0.5}),
            ("job", {"share": 0.1}),
        ]
        assert await other.next(PATIENCE) == [("job", {"share": 0.5}), ("job", {"share": 0.1})]

    asyncio.run(scene())


def test_a_slow_page_gets_only_the_latest_event_of_each_kind() -> None:
    async def scene() -> None:
        board = EventBus()
        listener = board.listen("main")
        for count in range(1_000):
            board.publish("answers", {"answers": count}, session="main")
        board.publish("map", {"version": 1})
        board.publish("answers", {"answers": 5}, session="main")
        assert await listener.next(PATIENCE) == [
            ("map", {"version": 1}),
            ("answers", {"answers": 5}),
        ]
        assert await listener.next(0.01) == []

    asyncio.run(scene())


def test_a_silent_stream_sends_heartbeats(workspace: Workspace) -> None:
    async def scene() -> None:
        events = stream(workspace, workspace.session(), Jobs(), heartbeat=0.01, duration=PATIENCE)
        assert (await anext(events)).startswith("retry: ")
        while await anext(events) != ": still here\n\n":
            pass
        await events.aclose()

    asyncio.run(scene())


def test_a_stream_ends_after_its_duration(workspace: Workspace) -> None:
    async def scene() -> list[str]:
        events = stream(workspace, workspace.session(), Jobs(), duration=0.0)
        return [chunk async for chunk in events]

    assert len(asyncio.run(scene())) == 3, "the time to retry, and the current state"


def test_closing_the_workspace_ends_the_stream(workspace: Workspace) -> None:
    async def scene() -> None:
        events = stream(
            workspace, workspace.session(), Jobs(), heartbeat=PATIENCE, duration=PATIENCE
        )
        for _ in range(3):
            await anext(events)
        asyncio.get_running_loop().call_soon(workspace.close)
        assert [chunk async for chunk in events] == []
        later = [chunk async for chunk in stream(workspace, workspace.session(), Jobs())]
        assert len(later) == 3, "the current state, and no more"

    asyncio.run(scene())


def test_too_many_pages_are_refused_until_one_leaves(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(refitter, "MAX_LISTENERS", 2)

    async def scene() -> None:
        board = EventBus()
        first, _ = board.listen("main"), board.listen("main")
        with pytest.raises(TooManyListeners):
            board.listen("main")
        board.leave(first)
        board.listen("main")

    asyncio.run(scene())


def test_too_many_streams_are_refused_before_they_begin(
    client: TestClient, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(refitter, "MAX_LISTENERS", 0)
    reply = client.get("/api/events")
    assert (reply.status_code, reply.json()["error"]["type"]) == (429, "too-many-pages")

    async def too_late() -> list[str]:
        return [chunk async for chunk in stream(workspace, workspace.session(), Jobs())]

    assert len(asyncio.run(too_late())) == 1, "only when to try again"


def test_an_unknown_orientation_has_no_events(client: TestClient) -> None:
    reply = client.get("/api/events?session=nothing")
    assert (reply.status_code, reply.json()["error"]["type"]) == (404, "unknown-orientation")


@pytest.fixture
def served(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> Iterator[SimpleNamespace]:
    """The real server in a thread, without a token."""
    servers: list[Any] = []
    said: list[str] = []
    begun = threading.Event()

    class Kept(uvicorn.Server):
        def __init__(self, config: uvicorn.Config) -> None:
            super().__init__(config)
            servers.append(self)
            begun.set()

    monkeypatch.setattr(uvicorn, "Server", Kept)
    monkeypatch.setattr("samekind.web.server.SHUTDOWN_SECONDS", int(2 * PATIENCE))

    def run() -> None:
        serve(Workspaces.around(workspace), port=0, announce=said.append, token=False)

    thread = threading.Thread(target=run)
    thread.start()
    assert begun.wait(PATIENCE)
    address = said[0].split(" at ")[1].split(" ")[0]
    yield SimpleNamespace(address=address, server=servers[0], thread=thread)
    servers[0].should_exit = True
    thread.join(PATIENCE)


def test_a_stopping_server_ends_open_streams(
    served: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("heartbeat", "duration"):  # only the end of the server ends the stream
        monkeypatch.setitem(stream.__kwdefaults__, name, 2 * PATIENCE)
    address = f"{served.address}api/events"
    with httpx.stream("GET", address, timeout=PATIENCE, trust_env=False) as reply:
        assert reply.headers["content-type"].startswith("text/event-stream")
        assert reply.headers["x-content-type-options"] == "nosniff"
        lines = reply.iter_lines()
        assert next(lines).startswith("retry: ")
        assert next(line for line in lines if line.startswith("event: answers"))
        served.server.should_exit = True
        assert [line for line in lines if line.startswith("event: answers")] == []
    served.thread.join(PATIENCE)
    assert not served.thread.is_alive()
