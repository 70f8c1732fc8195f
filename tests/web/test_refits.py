"""Refits through HTTP: triggered by answers or requested, and failures that are explained."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastapi.testclient import TestClient

from samekind.workspace.workspace import Workspace


def answer(client: TestClient, times: int) -> dict[str, Any]:
    reply: dict[str, Any] = {}
    for _ in range(times):
        asked = client.get("/api/question").json()["question"]
        told = {"number": asked["number"], "choice": "unsure"}
        reply = client.post("/api/answers", json=told).json()
    return reply


def test_enough_answers_trigger_a_refit(client: TestClient, workspace: Workspace) -> None:
    before = client.get("/api/progress").json()
    assert (before["snapshot"], before["until_refit"]) == (0, 5)
    answer(client, 5)
    assert workspace.refitter.wait("main")
    after = client.get("/api/progress").json()
    assert (after["snapshot"], after["until_refit"], after["trouble"]) == (1, 5, None)


def test_a_refit_can_be_requested(client: TestClient, workspace: Workspace) -> None:
    reply = client.post("/api/refit", json={})
    assert reply.status_code == 202
    assert workspace.refitter.wait("main")
    assert client.get("/api/progress").json()["snapshot"] == 1


def test_a_failed_refit_is_shown_and_answering_goes_on(
    client: TestClient, workspace: Workspace, break_refits: Callable[[str], None]
) -> None:
    workspace.session()
    break_refits("on purpose")
    answer(client, 5)
    assert workspace.refitter.wait("main")
    trouble = client.get("/api/session").json()["progress"]["trouble"]
    assert trouble == (
        "The groups could not be refreshed. No grouping was found. Answer a few more questions."
    )
    break_refits("")
    assert answer(client, 1)["now"]["progress"]["answers"] == 6
    assert workspace.refitter.wait("main")
    assert client.get("/api/progress").json()["trouble"] is None


def test_a_bug_in_a_refit_is_named_without_its_details(
    client: TestClient, workspace: Workspace, break_refits: Callable[[str], None]
) -> None:
    workspace.session()
    break_refits("secret")
    client.post("/api/refit", json={})
    assert workspace.refitter.wait("main")
    trouble = client.get("/api/progress").json()["trouble"]
    assert "RuntimeError" in trouble and "secret" not in trouble


def test_stopping_the_server_ends_the_refits(
    workspace: Workspace, client_for: Callable[[Workspace], TestClient]
) -> None:
    with client_for(workspace) as client:
        client.post("/api/refit", json={})
    assert not workspace.refitter.busy("main")
    workspace.refitter.request(workspace.session())
    assert not workspace.refitter.busy("main")
