"""The whole path over HTTP with the default method and strategy: a person's grouping comes out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient
from samekind.cli.keys import KEYS

from samekind.ledger.store import MemoryStore
from samekind.questions import wording
from samekind.session import Session
from samekind.simulation import people
from samekind.sources import open_labelled
from samekind.workspace.workspace import Workspace


@pytest.fixture(scope="module")
def tiles() -> tuple[Any, Any, dict[str, str]]:
    """The demo tiles, their colours as vectors, and the colour of each by its id."""
    labelled = open_labelled("tiles")
    colours = labelled.orientations["colour"]
    pictures = (item.load().resize((8, 8)) for item in labelled.collection)
    X = np.array([np.asarray(one, dtype=np.float32).mean(axis=(0, 1)) / 255 for one in pictures])
    kinds = {labelled.collection.id(i): str(kind) for i, kind in enumerate(colours)}
    return labelled.collection, X, kinds


@pytest.fixture
def colour_workspace(tiles: tuple[Any, Any, dict[str, str]]) -> Iterator[Workspace]:
    collection, X, _ = tiles
    store = MemoryStore()
    workspace = Workspace(
        collection, lambda name: Session(collection, X, store=store, name=name, seed=0)
    )
    yield workspace
    workspace.close()


def truthful(question: dict[str, Any], kinds: dict[str, str]) -> str:
    """What someone says who sorts by colour and sees only what the page shows."""
    shown = [kinds[item["id"]] for item in question["items"]]
    if question["kind"] == "same-pair":
        return "same" if shown[0] == shown[1] else "different"
    for choice in question["choices"]:
        if choice["exemplars"] and kinds[choice["exemplars"][0]["id"]] == shown[0]:
            return str(choice["value"])
    return "none"


def test_someone_who_sorts_by_colour_gets_groups_by_colour(
    colour_workspace: Workspace,
    client_for: Callable[[Workspace], TestClient],
    tiles: tuple[Any, Any, dict[str, str]],
) -> None:
    client, kinds = client_for(colour_workspace), tiles[2]
    for _ in range(30):
        now = client.get("/api/question").json()
        if now["question"] is None:
            break
        told = {"number": now["question"]["number"], "choice": truthful(now["question"], kinds)}
        assert client.post("/api/answers", json=told).status_code == 200
        assert colour_workspace.refitter.wait("main")
    client.post("/api/refit", json={})
    assert colour_workspace.refitter.wait("main")
    groups = client.get("/api/groups").json()["groups"]
    assert len(groups) == len(set(kinds.values()))
    right = 0
    for group in groups:
        page = client.get(f"/api/groups/{group['number']}", params={"limit": 200}).json()
        members = [kinds[item["id"]] for item in page["items"]]
        right += max(members.count(kind) for kind in set(members))
    assert right >= 0.95 * len(kinds)
    assert client.get("/api/conflicts").json() == {"conflicts": []}


def test_the_page_and_the_terminal_have_the_same_keys() -> None:
    for choice, keys in wording.KEYS.items():
        assert set(keys) <= set(KEYS[choice])
    for act, verb in (("back", people.BACK), ("skip", people.SKIP), ("finish", people.STOP)):
        assert wording.ACTS[act][0] == KEYS[verb]
