"""Live news for a page, as server-sent events: answers, refits, the map, long work.

A page that misses some loses nothing: each event says how things stand, not what changed. The
stream ends after a while by itself; browsers open it again.
"""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Mapping
from typing import TYPE_CHECKING, Any

from anyio import to_thread
from fastapi import APIRouter
from fastapi.responses import StreamingResponse

from samekind.web.routes.jobs import job_view
from samekind.web.routes.questions import Name
from samekind.web.schemas import core as models
from samekind.workspace.jobs import Job, Jobs
from samekind.workspace.refitter import Event
from samekind.workspace.workspace import Workspace

if TYPE_CHECKING:
    from samekind.session import Session

HEARTBEAT = 15.0
"""Seconds after which a silent stream says that it is still there."""
LIFE = 50.0
"""Seconds after which a stream ends, so that no server waits long for forgotten pages."""
AGAIN = "retry: 1000\n\n"


def routes(workspace: Workspace, jobs: Jobs) -> APIRouter:
    """The route of the events; a stream has no shape that a schema could describe."""
    api = APIRouter(prefix="/api", responses=models.FAILURES, include_in_schema=False)

    def heard(job: Job) -> None:
        workspace.event_bus.publish("job", job_view(job).model_dump(), key=job.id)

    workspace.on_close.append(jobs.listen(heard))

    @api.get("/events")
    def events(session: Name = None) -> StreamingResponse:
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        stream = told(workspace, workspace.session(session))
        return StreamingResponse(stream, media_type="text/event-stream", headers=headers)

    return api


async def told(
    workspace: Workspace, session: Session, *, heartbeat: float = HEARTBEAT, life: float = LIFE
) -> AsyncIterator[str]:
    """How things stand now, and then whatever is new."""
    listener = workspace.event_bus.listen(session.name)
    end = time.monotonic() + life
    try:
        yield AGAIN
        news: list[Event] | None = await to_thread.run_sync(standing, workspace, session)
        while news is not None:
            for kind, data in news:
                yield written(kind, data)
            if not news:
                yield ": still here\n\n"
            if (left := end - time.monotonic()) <= 0:
                return
            news = await listener.next(min(heartbeat, left))
    finally:
        workspace.event_bus.leave(listener)


def standing(workspace: Workspace, session: Session) -> list[Event]:
    """What a page that has just come should know."""
    busy = workspace.refitter.busy(session.name)
    found: list[Event] = [
        ("answers", {"answers": len(session.answers)}),
        ("refit", {"snapshot": session.clustering.snapshot, "refitting": busy}),
    ]
    chart = workspace.maps.known(session.name)
    return found if chart is None else [*found, ("map", chart.event())]


def written(kind: str, data: Mapping[str, Any]) -> str:
    """One event as it goes over the line; JSON has no line breaks of its own."""
    return f"event: {kind}\ndata: {json.dumps(data, separators=(',', ':'))}\n\n"
