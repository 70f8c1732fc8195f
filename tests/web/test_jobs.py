"""Jobs through HTTP: listed, cancelled, and unknown ones refused."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient

from samekind.web.app import create_app
from samekind.workspace.jobs import JobContext
from samekind.workspace.workspace import Workspace
from samekind.workspace.workspaces import Workspaces
from waiting import PATIENCE

ORIGIN = "http://127.0.0.1:8765"


class Held:
    """Work that waits in the middle until it is let go, and hears a stop there."""

    def __init__(self) -> None:
        self.begun, self.go_on = threading.Event(), threading.Event()

    def __call__(self, context: JobContext) -> dict[str, Any]:
        context.tell(0.25, "A quarter is done.")
        self.begun.set()
        while not self.go_on.wait(0.01):
            context.check()
        return {"words": "All is done.", "found": 7}


@pytest.fixture
def workspaces(workspace: Workspace) -> Iterator[Workspaces]:
    workspaces = Workspaces(paths=True)
    workspaces.add(workspace, first=True)
    yield workspaces
    workspaces.close()


@pytest.fixture
def client(workspace: Workspace, workspaces: Workspaces) -> TestClient:
    return TestClient(create_app(workspaces, port=8765), base_url=ORIGIN)


def test_jobs_are_listed_and_cancelled_through_the_server(
    client: TestClient, workspaces: Workspaces
) -> None:
    work = Held()
    job = workspaces.jobs.submit("open", "Open photos", work, pile="photos-1")
    assert work.begun.wait(PATIENCE)
    [shown] = client.get("/api/jobs").json()["jobs"]
    assert shown["state"] == "running" and shown["share"] == 0.25
    assert client.post(f"/api/jobs/{job.id}/cancel", json={}).status_code == 200
    workspaces.jobs.wait(job.id)
    shown = client.get(f"/api/jobs/{job.id}").json()
    assert shown["state"] == "cancelled" and shown["can_go_on"]


@pytest.mark.parametrize("id", ["0" * 16, "nonsense", "..%2f..%2fetc", "0" * 15])
def test_an_unknown_job_is_refused_with_a_reason(client: TestClient, id: str) -> None:
    for reply in (
        client.get(f"/api/jobs/{id}"),
        client.post(f"/api/jobs/{id}/cancel", json={}),
        client.post(f"/api/jobs/{id}/again", json={}),
    ):
        assert reply.status_code in (404, 422), reply.text
        assert reply.json()["error"]["message"]
