"""Events for open pages, as server-sent events: answers, refits, the map and jobs.

A page that misses some loses nothing: each event describes the current state, not a change. The
stream ends by itself after a while, and browsers open it again.
"""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

from anyio import to_thread
from fastapi import APIRouter
from fastapi.responses import StreamingResponse

from samekind.errors import TooManyListeners
from samekind.session import Session
from samekind.web.dependencies import CurrentSession, CurrentWorkspace, OpenWorkspaces
from samekind.web.guests import CurrentGuest
from samekind.web.rendering import job_view
from samekind.web.schemas import core
from samekind.workspace.jobs import Job, Jobs
from samekind.workspace.refitter import Event
from samekind.workspace.workspace import Workspace

router = APIRouter(prefix="/api", responses=core.ERRORS, include_in_schema=False)
HEARTBEAT_SECONDS = 15.0
"""Seconds after which a silent stream sends a comment."""
MAX_STREAM_SECONDS = 50.0
"""Seconds after which a stream ends, so that no server waits long for forgotten pages."""
RETRY = "retry: 1000\n\n"


@router.get("/events")
def get_events(
    workspaces: OpenWorkspaces,
    workspace: CurrentWorkspace,
    session: CurrentSession,
    guest: CurrentGuest,
) -> StreamingResponse:
    """Stream events to an open page."""
    workspace.event_bus.check_room()  # before the response begins, which cannot be taken back
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    events = stream(workspace, session, workspaces.jobs, sees=guest.sees)
    return StreamingResponse(events, media_type="text/event-stream", headers=headers)


async def stream(
    workspace: Workspace,
    session: Session,
    jobs: Jobs,
    *,
    sees: Callable[[Job], bool] = bool,
    heartbeat: float = HEARTBEAT_SECONDS,
    duration: float = MAX_STREAM_SECONDS,
) -> AsyncIterator[str]:
    """Yield the current state, then every change; of jobs, those that the reader `sees`."""
    try:
        listener = workspace.event_bus.listen(session.name)
    except TooManyListeners:  # others were quicker since the response began
        yield RETRY
        return

    def on_job(job: Job) -> None:
        if sees(job):
            listener.put("job", job.id, job_view(job).model_dump())

    stop_listening = jobs.listen(on_job)
    end = time.monotonic() + duration
    try:
        yield RETRY
        events: list[Event] | None = await to_thread.run_sync(current_state, workspace, session)
        while events is not None:
            for kind, data in events:
                yield format_event(kind, data)
            if not events:
                yield ": still here\n\n"
            if (left := end - time.monotonic()) <= 0:
                return
            events = await listener.next(min(heartbeat, left))
    finally:
        stop_listening()
        workspace.event_bus.leave(listener)


def current_state(workspace: Workspace, session: Session) -> list[Event]:
    """List the events that a new page needs."""
    busy = workspace.refitter.busy(session.name)
    events: list[Event] = [
        ("answers", {"answers": len(session.answers)}),
        ("refit", {"snapshot": session.clustering.snapshot, "refitting": busy}),
    ]
    latest = workspace.maps.known(session.name)
    return events if latest is None else [*events, ("map", latest.event())]


def format_event(kind: str, data: Mapping[str, Any]) -> str:
    """Format one event; compact JSON contains no line breaks."""
    return f"event: {kind}\ndata: {json.dumps(data, separators=(',', ':'))}\n\n"
