"""The whole way over HTTP with the default method and strategy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastapi.testclient import TestClient

from demo_tiles import Tiles
from samekind.workspace.workspace import Workspace


def truthful(question: dict[str, Any], kinds: dict[str, str]) -> str:
    """Answer like someone who sorts by colour and sees only what the page shows."""
    shown = [kinds[item["id"]] for item in question["items"]]
    if question["kind"] == "same-pair":
        return "same" if shown[0] == shown[1] else "different"
    for choice in question["choices"]:
        if choice["exemplars"] and kinds[choice["exemplars"][0]["id"]] == shown[0]:
            return str(choice["value"])
    return "none"


def test_someone_who_sorts_by_colour_gets_groups_by_colour(
    tile_workspace: Workspace,
    client_for: Callable[[Workspace], TestClient],
    tiles: Tiles,
) -> None:
    client, kinds = client_for(tile_workspace), tiles.kinds["colour"]
    for _ in range(30):
        now = client.get("/api/question").json()
        if now["question"] is None:
            break
        told = {"number": now["question"]["number"], "choice": truthful(now["question"], kinds)}
        assert client.post("/api/answers", json=told).status_code == 200
        assert tile_workspace.refitter.wait("main")
    client.post("/api/refit", json={})
    assert tile_workspace.refitter.wait("main")
    groups = client.get("/api/groups").json()["groups"]
    assert len(groups) == len(set(kinds.values()))
    right = 0
    for group in groups:
        page = client.get(f"/api/groups/{group['number']}", params={"limit": 200}).json()
        members = [kinds[item["id"]] for item in page["items"]]
        right += max(members.count(kind) for kind in set(members))
    assert right >= 0.95 * len(kinds)
    assert client.get("/api/conflicts").json() == {"conflicts": []}
