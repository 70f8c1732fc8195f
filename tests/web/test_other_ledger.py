"""A page says which ledger it was opened for: another pile may be served at its address now."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from fastapi.testclient import TestClient

from samekind.ledger.store import MemoryStore
from samekind.web.app import create_app
from samekind.web.dependencies import LEDGER
from samekind.web.security import person_tokens
from samekind.workspace.workspace import Workspace
from samekind.workspace.workspaces import Workspaces

ORIGIN = "http://127.0.0.1:8765"
CHANGES: dict[str, tuple[str, dict[str, Any]]] = {
    "answers": ("POST", {"number": 1, "choice": "unsure"}),
    "skip": ("POST", {"number": 1}),
    "undo": ("POST", {}),
    "refit": ("POST", {}),
    "groups/1": ("PUT", {"name": "red"}),
    "orientations": ("POST", {"name": "Colour"}),
    "orientations/main": ("PUT", {"deleted": True}),
    "finish/plan": ("POST", {"format": "csv", "path": "groups.csv"}),
}


def events(workspace: Workspace) -> list[Any]:
    return list(workspace.session()._log.store.read("main"))


@pytest.mark.parametrize("path", CHANGES)
def test_a_page_of_another_pile_changes_nothing(
    path: str,
    make_workspace: Callable[..., Workspace],
    client_for: Callable[[Workspace], TestClient],
) -> None:
    apples, pears = make_workspace(), make_workspace()
    opened_for = client_for(apples).get("/api/session").headers[LEDGER]
    client = client_for(pears)
    client.get("/api/question")
    before = events(pears)
    method, body = CHANGES[path]
    reply = client.request(method, f"/api/{path}", json=body, headers={LEDGER: opened_for})
    assert reply.status_code == 409 and reply.json()["error"]["type"] == "other-ledger"
    assert events(pears) == before and pears.names() == ["main"]
    assert client.get("/api/groups", headers={LEDGER: opened_for}).status_code == 409


def test_a_page_goes_on_when_its_pile_is_served_again(
    make_workspace: Callable[..., Workspace], client_for: Callable[[Workspace], TestClient]
) -> None:
    store = MemoryStore()
    first = client_for(make_workspace(store=store))
    headers = {LEDGER: first.get("/api/question").headers[LEDGER]}
    again = client_for(make_workspace(store=store))
    number = again.get("/api/question", headers=headers).json()["question"]["number"]
    told = {"number": number, "choice": "unsure"}
    assert again.post("/api/answers", json=told, headers=headers).status_code == 200
    again.post("/api/orientations", json={"name": "Colour"}, headers=headers)
    other = again.get("/api/session?session=Colour")
    assert other.headers[LEDGER] != headers[LEDGER], "each grouping has a ledger of its own"
    assert again.get("/api/question?session=Colour", headers=headers).status_code == 409


def test_a_page_of_one_person_does_not_answer_for_the_next(
    make_workspace: Callable[..., Workspace],
) -> None:
    tokens = person_tokens("s" * 32, ["anna", "ben"])
    app = create_app(Workspaces.around(make_workspace()), port=8765, people=tokens)
    page = TestClient(app, base_url=ORIGIN)
    page.get(f"/?token={tokens['anna']}")
    question = page.get("/api/question")
    page.get(f"/?token={tokens['ben']}")  # the same browser: his cookie replaces hers
    told = {"number": question.json()["question"]["number"], "choice": "unsure"}
    reply = page.post("/api/answers", json=told, headers={LEDGER: question.headers[LEDGER]})
    assert reply.status_code == 409 and reply.json()["error"]["type"] == "other-ledger"
