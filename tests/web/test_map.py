"""The map through HTTP: a sketch at once, a better one later, the groups in the points."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient

from samekind.items import Collection
from samekind.workspace.map import MAX_LAYOUT_ITEMS, Maps
from samekind.workspace.workspace import Workspace

N = 48


def points(client: TestClient, version: int) -> tuple[np.ndarray, np.ndarray]:
    reply = client.get("/api/map/points", params={"version": version})
    assert reply.status_code == 200
    assert reply.headers["content-type"] == "application/octet-stream"
    assert len(reply.content) == N * 10
    places = np.frombuffer(reply.content[: N * 8], dtype="<f4").reshape(N, 2)
    return places, np.frombuffer(reply.content[N * 8 :], dtype="<u2")


def test_there_is_a_sketch_at_once_and_a_better_map_soon(
    client: TestClient, workspace: Workspace
) -> None:
    first = client.get("/api/map").json()
    assert (first["version"], first["stage"], first["n"]) == (1, "pca", N)
    assert workspace.maps.wait()
    second = client.get("/api/map").json()
    assert (second["version"], second["stage"], second["snapshot"]) == (2, "neighbours", 0)
    for shown in (first, second):
        places, index = points(client, shown["version"])
        assert np.abs(places).max() <= 1 and np.isfinite(places).all()
        labels = workspace.session().clustering.labels
        numbers = [group["number"] for group in shown["groups"]]
        assert [numbers[i] for i in index] == labels.tolist()
        assert sum(group["size"] for group in shown["groups"]) == N


def test_the_first_point_is_the_first_item_as_little_endian_numbers(
    client: TestClient, workspace: Workspace
) -> None:
    client.get("/api/map")
    chart = workspace.maps.version("main", 1)
    assert chart is not None
    body = client.get("/api/map/points?version=1").content
    assert struct.unpack("<2f", body[:8]) == tuple(chart.places[0].tolist())


def test_after_a_refit_colours_change_at_once_and_positions_follow(
    make_workspace: Callable[..., Workspace], client_for: Callable[[Workspace], TestClient]
) -> None:
    workspace = make_workspace(clusterer="live")
    client = client_for(workspace)
    client.get("/api/map")
    assert workspace.maps.wait()
    before, _ = points(client, client.get("/api/map").json()["version"])
    client.post("/api/refit", json={})
    assert workspace.refitter.wait("main")
    coloured = client.get("/api/map").json()
    assert (coloured["version"], coloured["snapshot"]) == (3, 1)
    assert coloured["stage"] == "neighbours"
    assert np.array_equal(points(client, 3)[0], before)
    assert workspace.maps.wait()
    assert client.get("/api/map").json()["version"] == 4
    moved = np.linalg.norm(points(client, 4)[0] - before, axis=1)
    assert 0 < moved.mean() < 0.5, "it goes on from the one before"


def test_a_refit_with_the_same_vectors_moves_nothing(
    client: TestClient, workspace: Workspace
) -> None:
    client.get("/api/map")
    assert workspace.maps.wait()
    client.post("/api/refit", json={})
    assert workspace.refitter.wait("main")
    assert client.get("/api/map").json()["version"] == 3, "other colours"
    assert workspace.maps.wait()
    assert client.get("/api/map").json()["version"] == 3


def test_a_new_name_is_on_the_map_without_another_version(
    client: TestClient, workspace: Workspace
) -> None:
    version = client.get("/api/map").json()["version"]
    assert workspace.maps.wait()
    client.put("/api/groups/1", json={"name": "Red"})
    shown = client.get("/api/map").json()
    assert shown["version"] == version + 1, "only the better map came meanwhile"
    assert "Red" in [group["name"] for group in shown["groups"]]


def test_an_unknown_version_is_refused(client: TestClient) -> None:
    client.get("/api/map")
    reply = client.get("/api/map/points?version=99")
    assert (reply.status_code, reply.json()["error"]["type"]) == (404, "unknown-map")
    assert client.get("/api/map/points").status_code == 422


def test_items_are_looked_up_by_position(client: TestClient, workspace: Workspace) -> None:
    items = client.get("/api/map/items?positions=3,0").json()["items"]
    assert [item["id"] for item in items] == [
        workspace.collection.id(3),
        workspace.collection.id(0),
    ]
    assert [item["position"] for item in items] == [3, 0]
    assert client.get(items[0]["preview"]).status_code == 200


@pytest.mark.parametrize(
    ("positions", "status"),
    [("", 422), ("a", 422), ("1,", 422), ("-1", 422), ("48", 404), ("9" * 15, 404), ("1 2", 422)],
)
def test_unknown_positions_are_refused(client: TestClient, positions: str, status: int) -> None:
    assert client.get("/api/map/items", params={"positions": positions}).status_code == status


def test_each_orientation_has_a_map_of_its_own(client: TestClient, workspace: Workspace) -> None:
    client.post("/api/orientations", json={"name": "shape"})
    client.get("/api/map")
    assert workspace.maps.wait()
    assert client.get("/api/map?session=shape").json()["version"] == 1
    assert workspace.maps.known("main") is not workspace.maps.known("shape")


def test_a_map_that_fails_leaves_the_sketch(
    client: TestClient, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise RuntimeError("on purpose")

    monkeypatch.setattr("samekind.workspace.layout.by_neighbours", fail)
    client.get("/api/map")
    assert workspace.maps.wait()
    assert client.get("/api/map").json()["stage"] == "pca"


def test_a_very_large_pile_keeps_the_sketch(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert MAX_LAYOUT_ITEMS >= 100_000
    monkeypatch.setattr("samekind.workspace.map.MAX_LAYOUT_ITEMS", 10)
    workspace.maps.current(workspace.session())
    assert workspace.maps.wait() and workspace.maps.current(workspace.session()).stage == "pca"


def test_nothing_is_drawn_after_closing(make_workspace: Callable[..., Workspace]) -> None:
    workspace = make_workspace()
    workspace.close()
    assert isinstance(workspace.maps, Maps)
    assert workspace.maps.current(workspace.session()).stage == "pca"
    assert workspace.maps.wait() and workspace.maps.current(workspace.session()).version == 1


def test_items_are_found_by_words_of_name_folder_and_group(
    client: TestClient, workspace: Workspace
) -> None:
    found = client.get("/api/map/find", params={"text": "PHOTOS/2"}).json()
    assert found["positions"] == list(range(2, 48, 4)) and found["total"] == 12
    assert "not known in words" in found["words"], "it says what it cannot know"
    both = client.get("/api/map/find", params={"text": "07 photos/3"}).json()
    assert both["positions"] == [7]
    group = int(workspace.session().clustering.labels[1])
    workspace.session().rename(group, "Blue things")
    named = client.get("/api/map/find", params={"text": "blue"}).json()["positions"]
    assert named == list(range(1, 48, 4))
    inside = client.get("/api/map/find", params={"text": "photos/0", "group": group}).json()
    assert inside["total"] == 0
    assert client.get("/api/map/find", params={"doubtful": True}).json()["words"] == ""


def test_texts_are_found_by_their_words(
    make_workspace: Callable[..., Workspace],
    client_for: Callable[[Workspace], TestClient],
    odd_previews: Collection,
) -> None:
    client = client_for(make_workspace(collection=odd_previews))
    found = client.get("/api/map/find", params={"text": "grüße"}).json()
    assert found["total"] == 1 and "word by word" in found["words"]
