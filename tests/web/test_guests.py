"""People and phones see jobs of open piles only, and open no piles of the owner through them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient

from samekind.web.app import create_app
from samekind.web.guests import Guest
from samekind.web.routes.events import stream
from samekind.web.security import person_tokens
from samekind.workspace.jobs import Job, Jobs
from samekind.workspace.workspace import Workspace
from samekind.workspace.workspaces import Workspaces

TOKENS = {"owner": "o" * 40, "phone": "p" * 40, **person_tokens("s" * 32, ["ben"])}
GUESTS = {"ben": {"people": {"ben": TOKENS["ben"]}}, "phone": {"phone": TOKENS["phone"]}}


@pytest.fixture
def workspaces(workspace: Workspace) -> Iterator[Workspaces]:
    """One open pile, and jobs about it and about a private one."""
    workspaces = Workspaces(paths=True)
    workspaces.add(workspace, first=True)
    for kind, pile in (
        ("open", "private-1"),
        ("export", workspace.key),
        ("open", workspace.key),
        ("polish", workspace.key),
    ):
        job = workspaces.jobs.submit(
            kind, f"{kind} {pile}", lambda context: None, pile=pile, spec={"path": "/private"}
        )
        workspaces.jobs.wait(job.id)
        job.state = "interrupted"
    yield workspaces
    workspaces.close()


@pytest.mark.parametrize("who", GUESTS)
def test_a_guest_sees_jobs_of_open_piles_only_and_resumes_no_opening(
    who: str, workspaces: Workspaces, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    resumed: list[str] = []
    monkeypatch.setattr(workspaces, "resume", lambda job: resumed.append(job.title) or job)
    settings: dict[str, Any] = {"token": TOKENS["owner"], **GUESTS[who]}
    app = create_app(workspaces, port=8765, **settings)
    client = TestClient(app, base_url="http://127.0.0.1:8765", raise_server_exceptions=False)
    client.headers["authorization"] = f"Bearer {TOKENS[who]}"
    shown = [job["title"] for job in client.get("/api/jobs").json()["jobs"]]
    assert sorted(shown) == [f"open {workspace.key}", f"polish {workspace.key}"]
    for job in workspaces.jobs.all():
        seen = client.get(f"/api/jobs/{job.id}").status_code
        again = client.post(f"/api/jobs/{job.id}/again", json={}).status_code
        stopped = client.post(f"/api/jobs/{job.id}/cancel", json={}).status_code
        expected = {
            "open private-1": (404, 404, 404),
            f"export {workspace.key}": (404, 404, 404),
            f"open {workspace.key}": (200, 403, 403),
            f"polish {workspace.key}": (200, 202, 200),
        }
        assert (seen, again, stopped) == expected[job.title]
    assert resumed == [f"polish {workspace.key}"]


def test_the_owner_sees_and_resumes_all_jobs(
    workspaces: Workspaces, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workspaces, "resume", lambda job: job)
    app = create_app(workspaces, port=8765, token=TOKENS["owner"], phone=TOKENS["phone"])
    client = TestClient(app, base_url="http://127.0.0.1:8765", raise_server_exceptions=False)
    client.headers["authorization"] = f"Bearer {TOKENS['owner']}"
    assert len(client.get("/api/jobs").json()["jobs"]) == 4
    for job in workspaces.jobs.all():
        assert client.post(f"/api/jobs/{job.id}/again", json={}).status_code == 202


@pytest.mark.anyio
@pytest.mark.parametrize("invited", [True, False])
async def test_events_of_jobs_follow_the_same_rule(
    invited: bool, workspaces: Workspaces, workspace: Workspace
) -> None:
    jobs, guest = Jobs(), Guest(workspaces, invited)
    events = stream(workspace, workspace.session(), jobs, sees=guest.sees, heartbeat=0.01)
    received = await anext(events)
    jobs.submit("open", "Open private", lambda context: None, pile="private-1")
    shown = jobs.submit("polish", "Polish", lambda context: None, pile=workspace.key)
    jobs.wait(shown.id)
    async for line in events:
        received += line
        if '"title":"Polish"' in line:
            break
    assert ("Open private" in received) is not invited


def test_a_server_without_paths_has_only_guests(workspace: Workspace) -> None:
    workspaces = Workspaces.around(workspace)
    app = create_app(workspaces, port=8765)
    client = TestClient(app, base_url="http://127.0.0.1:8765")
    workspaces.jobs._jobs["0" * 16] = Job("0" * 16, "open", "Open private", "private-1")
    assert client.get("/api/jobs").json() == {"jobs": []}
