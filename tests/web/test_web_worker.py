"""Refits in the background: one at a time, failures in words, nothing stands still."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from fastapi.testclient import TestClient

from samekind.workspace.refitter import Refitter
from samekind.workspace.workspace import Workspace
from waiting import PATIENCE


class Slow:
    """A session whose refit waits until it is let go."""

    def __init__(self, name: str = "main") -> None:
        self.name, self.due, self.answers, self.checks = name, False, (), 0
        self.clustering = SimpleNamespace(snapshot=0)
        self.go, self.begun = threading.Event(), threading.Event()
        self.refits = self.at_once = self.most_at_once = 0

    def refit(self, *, check: bool) -> None:
        assert not check, "that would keep the next refit waiting"
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        self.begun.set()
        assert self.go.wait(PATIENCE)
        self.refits += 1
        self.at_once -= 1

    def check(self) -> None:
        self.checks += 1


def answer(client: TestClient, times: int) -> dict[str, Any]:
    reply: dict[str, Any] = {}
    for _ in range(times):
        asked = client.get("/api/question").json()["question"]
        told = {"number": asked["number"], "choice": "unsure"}
        reply = client.post("/api/answers", json=told).json()
    return reply


def test_one_session_is_refitted_once_at_a_time() -> None:
    refitter, slow = Refitter(), Slow()
    for _ in range(5):
        refitter.request(slow)  # type: ignore[arg-type]
    assert slow.begun.wait(PATIENCE) and refitter.busy("main")
    slow.go.set()
    assert refitter.wait("main")
    assert (slow.refits, slow.most_at_once) == (2, 1), "one, and one for all that came meanwhile"


def test_the_quality_is_estimated_once_when_no_refit_waits_any_more() -> None:
    refitter, slow = Refitter(), Slow()
    for _ in range(3):
        refitter.request(slow)  # type: ignore[arg-type]
    assert slow.begun.wait(PATIENCE) and slow.checks == 0
    slow.go.set()
    (thread,) = (t for t in threading.enumerate() if t.name == "refit-main")
    assert refitter.wait("main")
    thread.join(PATIENCE)
    assert slow.checks == 1


def test_two_sessions_are_refitted_side_by_side() -> None:
    refitter, first, second = Refitter(), Slow("a"), Slow("b")
    refitter.request(first)  # type: ignore[arg-type]
    refitter.request(second)  # type: ignore[arg-type]
    assert first.begun.wait(PATIENCE) and second.begun.wait(PATIENCE)
    first.go.set()
    second.go.set()
    assert refitter.wait("a") and refitter.wait("b")


def test_nothing_is_begun_after_closing() -> None:
    refitter, slow = Refitter(), Slow()
    refitter.request(slow)  # type: ignore[arg-type]
    refitter.request(slow)  # type: ignore[arg-type]
    slow.go.set()
    refitter.close()
    refitter.request(slow)  # type: ignore[arg-type]
    assert refitter.wait("main")
    assert slow.refits <= 2 and not refitter.busy("main")


def test_a_session_that_is_not_due_is_left_alone() -> None:
    refitter, slow = Refitter(), Slow()
    refitter.nudge(slow)  # type: ignore[arg-type]
    assert not refitter.busy("main")


def test_enough_answers_refresh_the_groups_by_themselves(
    client: TestClient, workspace: Workspace
) -> None:
    before = client.get("/api/progress").json()
    assert (before["snapshot"], before["until_refit"]) == (0, 5)
    answer(client, 5)
    assert workspace.refitter.wait("main")
    after = client.get("/api/progress").json()
    assert (after["snapshot"], after["until_refit"], after["trouble"]) == (1, 5, None)


def test_a_refit_can_be_asked_for(client: TestClient, workspace: Workspace) -> None:
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
