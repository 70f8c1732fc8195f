"""Orientations: the list, and two of them compared."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import pytest
from fastapi.testclient import TestClient

from at_once import at_once
from samekind.clustering import Clustering
from samekind.ledger.store import MemoryStore
from samekind.protocols import Event
from samekind.questions import YES, OneKind
from samekind.session.naming import clean
from samekind.web.schemas.core import Rename
from samekind.workspace.comparison import MAX_SHOWN_GROUPS
from samekind.workspace.workspace import Workspace


def regrouped(workspace: Workspace, name: str, labels: object) -> None:
    """Give an orientation other groups, as if its answers had led there."""
    session = workspace.session(name)
    session.clustering = Clustering.first(labels, session.clustering.space)


@pytest.fixture
def two(workspace: Workspace, client: TestClient) -> TestClient:
    """Two orientations: four groups by colour, and three by the form, unlike those."""
    assert client.post("/api/orientations", json={"name": "by form"}).status_code == 201
    regrouped(workspace, "by form", np.arange(48) % 3)
    return client


def test_two_orientations_are_a_table_of_counts(two: TestClient) -> None:
    found = two.get("/api/compare", params={"a": "main", "b": "by form"}).json()
    assert [group["size"] for group in found["a"]["groups"]] == [12] * 4
    assert [group["size"] for group in found["b"]["groups"]] == [16] * 3
    assert found["cells"] == [[4] * 3] * 4
    assert found["items"] == 48 and abs(found["agreement"]) < 0.1
    assert "two different views" in found["words"]


def test_an_orientation_compared_with_itself_is_a_diagonal(two: TestClient) -> None:
    found = two.get("/api/compare", params={"a": "main", "b": "main"}).json()
    assert found["cells"] == (12 * np.eye(4, dtype=int)).tolist()
    assert found["agreement"] == 1 and "nearly the same" in found["words"]


def test_groups_within_groups_are_called_nested_with_their_exceptions(
    two: TestClient, workspace: Workspace
) -> None:
    finer = np.arange(48) % 12  # every group lies in one of the four colours
    finer[0] = 1
    regrouped(workspace, "by form", finer)
    found = two.get("/api/compare", params={"a": "main", "b": "by form"}).json()
    assert (found["nesting"]["inner"], found["nesting"]["outside"]) == ("b", 1)
    assert found["words"] == (
        "The groups of “by form” lie within groups of “main”, for all but 1 of 48 items."
    )
    regrouped(workspace, "by form", np.arange(48) % 3)
    assert two.get("/api/compare", params={"a": "main", "b": "by form"}).json()["nesting"] is None


def test_columns_are_ordered_like_the_rows_that_they_share_most_with(
    two: TestClient, workspace: Workspace
) -> None:
    labels = 3 - workspace.session("main").clustering.labels  # the same groups in another order
    labels[:3] = 3 - labels[:3]
    regrouped(workspace, "by form", labels)
    cells = np.array(two.get("/api/compare", params={"a": "main", "b": "by form"}).json()["cells"])
    rows = cells.argmax(axis=0).tolist()
    assert rows == sorted(rows) and set(rows) == {0, 1, 2, 3}


def test_a_cell_shows_its_items_in_pages(two: TestClient) -> None:
    where = {"a": "main", "b": "by form", "row": 1, "column": 1}
    cell = two.get("/api/compare/cell", params={**where, "limit": 3}).json()
    assert cell["total"] == 4 and len(cell["items"]) == 3
    rest = two.get("/api/compare/cell", params={**where, "offset": 3}).json()
    assert len(rest["items"]) == 1
    assert rest["items"][0]["preview"].startswith("/api/items/")


def test_many_small_groups_share_one_column(two: TestClient, workspace: Workspace) -> None:
    regrouped(workspace, "by form", np.arange(48) % 40)
    found = two.get("/api/compare", params={"a": "main", "b": "by form"}).json()
    assert len(found["b"]["groups"]) == MAX_SHOWN_GROUPS
    others = found["b"]["groups"][-1]
    assert others["number"] == 0 and others["name"] == "17 others"
    assert np.sum(found["cells"]) == 48
    where = {"a": "main", "b": "by form", "row": 1, "column": 0}
    cell = two.get("/api/compare/cell", params=where).json()
    assert cell["total"] == found["cells"][0][-1]


def test_unknown_orientations_and_groups_are_refused(two: TestClient) -> None:
    reply = two.get("/api/compare", params={"a": "main", "b": "nobody"})
    assert reply.status_code == 404 and "nobody" in reply.json()["error"]["message"]
    for row, column in ((99, 1), (1, 99), (0, 1)):
        where = {"a": "main", "b": "by form", "row": row, "column": column}
        reply = two.get("/api/compare/cell", params=where)
        assert reply.status_code == 404 and reply.json()["error"]["type"] == "unknown-group"
    assert two.get("/api/compare", params={"a": "main"}).status_code == 422


def test_orientations_are_listed_with_their_answers_without_being_opened(
    make_workspace: Callable[..., Workspace], client_for: Callable[[Workspace], TestClient]
) -> None:
    store = MemoryStore()
    client = client_for(make_workspace(store=store))
    client.post("/api/orientations", json={"name": "by form"})
    for _ in range(3):
        asked = client.get("/api/question?session=by form").json()["question"]["number"]
        body = {"number": asked, "choice": "unsure"}
        assert client.post("/api/answers?session=by form", json=body).status_code == 200
    client.post("/api/undo?session=by form", json={})
    workspace = make_workspace(store=store)
    found = client_for(workspace).get("/api/orientations/list").json()["orientations"]
    assert [(one["name"], one["answers"]) for one in found] == [("main", 0), ("by form", 2)]
    assert found[1]["began"] <= found[1]["latest"]
    assert workspace._sessions == {}


def test_of_requests_at_once_one_begins_a_grouping_and_the_last_one_is_never_deleted(
    client: TestClient, workspace: Workspace
) -> None:
    assert client.get("/api/session").status_code == 200
    for k in range(10):
        begin = partial(client.post, "/api/orientations", json={"name": f"Colour {k}"})
        replies = at_once([begin] * 8)
        assert sorted(reply.status_code for reply in replies) == [201, *[409] * 7]
        types = {reply.json().get("error", {}).get("type") for reply in replies}
        assert types == {None, "orientation-exists"}
        change = partial(client.put, json={"deleted": True})
        deletions = [partial(change, f"/api/orientations/{name}") for name in workspace.names()]
        assert sorted(reply.status_code for reply in at_once(deletions)) == [200, 409]
        for route in ("session", "question", "groups"):
            assert client.get(f"/api/{route}").status_code == 200


def label_files(ids: Sequence[str], names: Sequence[str]) -> dict[str, str]:
    """The same labels in three formats, with all but ASCII written as escapes."""
    rows = [{"id": id, "label": name} for id, name in zip(ids, names, strict=True)]
    numbers = range(len(ids))
    coco = {
        "images": [{"id": k, "file_name": ids[k]} for k in numbers],
        "categories": [{"id": k, "name": names[k]} for k in numbers],
        "annotations": [{"image_id": k, "category_id": k} for k in numbers],
    }
    lines = "\n".join(json.dumps(row) for row in rows)
    return {"json": json.dumps(rows), "lines": lines, "coco": json.dumps(coco)}


@pytest.mark.parametrize("format", ["json", "lines", "coco"])
@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ("\ud800 fox", "\N{REPLACEMENT CHARACTER} fox"),
        ("n\x00ul\x1b[31m\u2028", "n ul [31m"),
        ("x" * 200, "x" * 80),
    ],
)
def test_names_in_a_label_file_become_as_those_typed_on_the_page(
    workspace: Workspace, client: TestClient, format: str, given: str, stored: str
) -> None:
    ids = [workspace.collection.id(k) for k in range(3)]
    text = label_files(ids, [given, "hare", "hare"])[format]
    new = {"name": "animals", "kind": "csv", "text": text}
    assert client.post("/api/orientations/from", json=new).status_code == 201
    session = workspace.session("animals")
    assert {session.naming.of_kind(k) for k in range(3)} == {stored, "hare"}
    for address in ("groups", "question", "answers"):
        reply = client.get(f"/api/{address}", params={"session": "animals"})
        assert reply.status_code == 200, reply.text


def test_names_that_would_be_cut_to_the_same_are_refused(
    workspace: Workspace, client: TestClient
) -> None:
    ids = [workspace.collection.id(k) for k in range(3)]
    text = label_files(ids, ["x" * 80 + "a", "x" * 80 + "b", "hare"])["json"]
    reply = client.post("/api/orientations/from", json={"name": "a", "kind": "csv", "text": text})
    assert reply.status_code == 422
    assert "differ in their first 80 characters" in reply.json()["error"]["message"]
    assert workspace.names() == ["main"]


def test_a_grouping_whose_ledger_holds_half_a_character_opens_again(
    make_workspace: Callable[..., Workspace], client_for: Callable[[Workspace], TestClient]
) -> None:
    store = MemoryStore()
    before = make_workspace(store=store)
    question = OneKind(((0,), (4,)), why="You began with the group \ud800.")
    before.session("main").volunteer(question, YES)
    named = {"item": before.collection.id(0), "name": "\ud800 fox"}
    store.append("main", Event("named", named))
    store.append("main", Event("named", {"group": 2, "name": "\ud800"}))
    client = client_for(make_workspace(store=store))
    for address in ("groups", "question", "answers"):
        reply = client.get(f"/api/{address}")
        assert reply.status_code == 200, reply.text
        assert "\N{REPLACEMENT CHARACTER}" in reply.text or address == "question"


def test_whatever_is_named_elsewhere_is_a_name_that_the_page_would_take() -> None:
    for number in range(0x3000):
        name = clean(f"a{chr(number)}b{chr(0xD800 + number % 0x800)}")
        assert Rename(name=name).name == name
    assert Rename(name=clean("x" * 1_000)).name == "x" * 80
