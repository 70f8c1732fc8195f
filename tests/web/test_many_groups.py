"""Routes with many groups: all of them with their names, and a group that is started by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from fastapi.testclient import TestClient

from breeds import breeds, until_all_groups
from samekind.ledger.store import MemoryStore
from samekind.workspace.workspace import Workspace


@pytest.fixture
def workspace() -> Iterator[Workspace]:
    """Animals with so many known breeds that all of them are shown."""
    store = MemoryStore()
    session = breeds(store)
    until_all_groups(session, 9)
    workspace = Workspace(session.collection, lambda name: breeds(store, name), store=store)
    yield workspace
    workspace.close()


def test_a_group_is_started_with_its_name_and_undone_with_it(
    workspace: Workspace, client_for: Callable[[Workspace], TestClient]
) -> None:
    client = client_for(workspace)
    asked = client.get("/api/question").json()["question"]
    assert asked["new_group"]
    labels = {choice["value"]: choice["label"] for choice in asked["choices"]}
    assert labels["none"] == "New group"
    body = {"number": asked["number"], "choice": "none", "name": "Beagle"}
    now = client.post("/api/answers", json=body).json()["now"]["question"]
    assert [choice["name"] for choice in now["choices"]].count("Beagle") == 1
    latest = client.get("/api/answers").json()["answers"][0]
    assert latest["label"] == "New group: Beagle"
    again = client.post("/api/answers", json={**body, "number": now["number"], "name": "beagle"})
    assert again.status_code == 422
    assert again.json()["error"]["message"].startswith("There is a group 'Beagle' already.")
    client.post("/api/undo", json={})
    reopened = client.get("/api/question").json()["question"]
    assert reopened["number"] == asked["number"]
    assert not any(choice["name"] for choice in reopened["choices"])


def test_a_group_in_the_list_is_named_and_answers_say_its_name(
    workspace: Workspace, client_for: Callable[[Workspace], TestClient]
) -> None:
    client = client_for(workspace)
    asked = client.get("/api/question").json()["question"]
    address = f"/api/questions/{asked['number']}/choices/2"
    named = client.put(address, json={"name": "Pug"}).json()["question"]
    assert named["number"] == asked["number"]
    assert [choice["name"] for choice in named["choices"][:3]] == ["", "Pug", ""]
    client.post("/api/answers", json={"number": asked["number"], "choice": "2"})
    assert client.get("/api/answers").json()["answers"][0]["label"] == "Pug"
    nothing = client.put(address.replace("/2", "/none"), json={"name": "Pug"})
    assert "stands for no group" in nothing.json()["error"]["message"]
