"""Folders of this machine are browsed, and files dropped into the page: only below the roots."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from samekind.errors import InputError, NotAllowed, SamekindError
from samekind.web.app import create_app
from samekind.web.security import MAX_PIECE_BYTES
from samekind.workspace.browsing import Roots
from samekind.workspace.uploads import MAX_PIECE, Uploads, safe_path, uploads_folder
from samekind.workspace.workspaces import Workspaces

ORIGIN = "http://127.0.0.1:8765"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder with pictures, beside a secret."""
    monkeypatch.setenv("SAMEKIND_HOME", str(tmp_path / "home" / ".samekind"))
    monkeypatch.setenv("SAMEKIND_ROOTS", "")
    root = tmp_path / "home"
    monkeypatch.setenv("HOME", str(root))
    (root / "Pictures" / "cats").mkdir(parents=True)
    for k in range(3):
        Image.new("RGB", (8, 8), (80 * k, 0, 9)).save(root / "Pictures" / f"{k}.png")
    (root / "Pictures" / "table.csv").write_text("a,b\n1,2\n3,4\n")
    (root / ".hidden").mkdir()
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "diary.txt").write_text("one\ntwo\n")
    (root / "way-out").symlink_to(tmp_path / "secret")
    (root / "Pictures" / "within").symlink_to(root / "Pictures" / "cats")
    return root


@pytest.fixture
def client(root: Path) -> Iterator[TestClient]:
    workspaces = Workspaces.at_home()
    app = create_app(workspaces, port=8765)
    yield TestClient(app, base_url=ORIGIN, raise_server_exceptions=False)
    workspaces.close()


def listing(client: TestClient, path: object = "") -> dict:  # type: ignore[type-arg]
    reply = client.post("/api/start/browse", json={"path": str(path)})
    assert reply.status_code == 200, reply.text
    return reply.json()  # type: ignore[no-any-return]


def test_browsing_begins_at_home_and_leads_to_a_folder_of_pictures(
    client: TestClient, root: Path
) -> None:
    home = listing(client)
    assert home["path"] == str(root) and home["parent"] is None
    assert [folder["name"] for folder in home["folders"]] == ["Pictures"]
    inside = listing(client, root / "Pictures")
    assert inside["parent"] == str(root) and inside["pictures"] == 3
    assert [folder["name"] for folder in inside["folders"]] == ["cats", "within"]
    assert [file["name"] for file in inside["files"]] == ["table.csv"]


def test_with_several_roots_browsing_begins_with_the_list_of_them(root: Path) -> None:
    roots = Roots.of([root.parent / "secret", root / "Pictures"])  # the last is within home
    begun = roots.browse()
    assert {folder.path for folder in begun.folders} == {str(root), str(root.parent / "secret")}
    assert begun.parent is None and roots.browse(str(root)).parent == ""


@pytest.mark.parametrize("route", ["browse", "look", "open", "measure"])
@pytest.mark.parametrize(
    "way",
    [
        "/etc",
        "{root}/../secret",
        "{root}/way-out",
        "{root}/Pictures/../../secret",
        "/",
        "s3://b/x.lance",
    ],
)
def test_what_leads_out_of_the_roots_is_refused(
    client: TestClient, root: Path, route: str, way: str
) -> None:
    body = {"path": way.format(root=root)} | ({"encoder": "pixels"} if route == "measure" else {})
    reply = client.post(f"/api/start/{route}", json=body)
    assert (reply.status_code, reply.json()["error"]["type"]) == (403, "not-allowed")
    assert "diary" not in reply.text


PIECES = st.sampled_from(
    [
        "..",
        ".",
        "",
        "~",
        "etc",
        "way-out",
        "Pictures",
        "a\0b",
        "%2e%2e",
        "\\..",
        "x" * 300,
        "é\ud800",
    ]
)


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(PIECES, max_size=7), st.booleans())
def test_no_path_of_any_kind_leads_out(root: Path, parts: list[str], absolute: bool) -> None:
    path = ("/" if absolute else f"{root}/") + "/".join(parts)
    try:
        found = Roots.of().browse(path)
    except SamekindError:
        return
    assert os.path.realpath(found.path).startswith(str(root))
    assert all(os.path.realpath(folder.path).startswith(str(root)) for folder in found.folders)


def test_where_others_can_reach_the_server_nothing_is_browsed_or_uploaded(root: Path) -> None:
    workspaces = Workspaces(paths=False)
    client = TestClient(create_app(workspaces, port=8765), base_url=ORIGIN)
    for route, body in (("start/browse", {}), ("uploads", {"name": "a", "size": 1})):
        reply = client.post(f"/api/{route}", json=body)
        assert (reply.status_code, reply.json()["error"]["type"]) == (403, "paths-not-allowed")
    assert not uploads_folder().exists()


def picture(shade: int) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (30, 20), (shade, 10, 200 - shade)).save(out, "PNG")
    return out.getvalue()


def put(client: TestClient, id: str, name: str, data: bytes, **more: object) -> int:
    headers = {"Content-Type": "application/octet-stream"}
    reply = client.put(
        f"/api/uploads/{id}", params={"name": name, **more}, content=data, headers=headers
    )  # type: ignore[arg-type]
    return reply.status_code


def test_dropped_files_become_a_pile_that_can_be_opened(client: TestClient, root: Path) -> None:
    begun = client.post("/api/uploads", json={"name": "holiday", "size": 1000})
    assert begun.status_code == 201
    id = begun.json()["id"]
    data = picture(9)
    assert put(client, id, "holiday/day 1/a.png", data[:50], last=False) == 200
    assert put(client, id, "holiday/day 1/a.png", data[50:], offset=50) == 200
    assert put(client, id, "holiday/b.png", picture(90)) == 200
    assert put(client, id, "holiday/b.png", picture(190)) == 200  # not over the first one
    assert put(client, id, "holiday/program.exe", b"MZ") == 422
    assert put(client, id, "holiday/half.png", data[:50], last=False) == 200
    done = client.post(f"/api/uploads/{id}/finish", json={}).json()
    folder = Path(done["path"])
    assert folder.parent == uploads_folder() and done["files"] == 3
    there = {str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file()}
    assert there == {"holiday/day 1/a.png", "holiday/b.png", "holiday/b (2).png"}
    assert (folder / "holiday" / "day 1" / "a.png").read_bytes() == data
    assert client.post("/api/start/look", json={"path": str(folder)}).json()["items"] == 3


def test_a_file_below_the_name_of_another_file_is_refused(client: TestClient, root: Path) -> None:
    id = client.post("/api/uploads", json={"name": "x", "size": 10}).json()["id"]
    assert put(client, id, "a.png", picture(9)) == 200
    for name in ("a.png/b.png", "a.png/deep/b.png"):
        assert put(client, id, name, picture(90)) == 422
        with pytest.raises(InputError, match="one of its folders has the name of a file"):
            client.app.state.workspaces.uploads.add(id, name, 0, b"x", last=True)
    assert put(client, id, "b/c.png", picture(9)) == 200
    assert put(client, id, "b.png/c.png", picture(9)) == 200
    assert put(client, id, "b.png", picture(9)) == 200  # beside the folder, with a number


def test_a_second_drop_of_the_same_name_gets_a_folder_of_its_own(root: Path) -> None:
    uploads = Uploads()
    first, second = uploads.begin("cats", 0), uploads.begin("cats", 0)
    assert (first.folder.name, second.folder.name) == ("cats", "cats 2")


def test_a_single_table_is_opened_as_a_table(root: Path) -> None:
    uploads = Uploads()
    upload = uploads.begin("table", 20)
    uploads.add(upload.id, "table.csv", 0, b"a,b\n1,2\n", last=True)
    assert uploads.finish(upload.id).name == "table.csv"


def test_pieces_out_of_order_too_large_or_for_nothing_are_refused(
    client: TestClient, root: Path
) -> None:
    id = client.post("/api/uploads", json={"name": "x", "size": 10}).json()["id"]
    assert put(client, id, "a.png", b"123", offset=5) == 422
    assert put(client, id, "a.png", b"x" * (MAX_PIECE_BYTES + 1)) == 413
    assert put(client, "0" * 16, "a.png", b"123") == 404
    assert client.put(f"/api/uploads/{id}?name=a.png", json={}).status_code == 415
    assert client.post(f"/api/uploads/{id}/finish", json={}).status_code == 422  # nothing arrived
    assert client.post("/api/uploads", json={"name": "x", "size": 10**15}).status_code == 507
    assert MAX_PIECE == MAX_PIECE_BYTES


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=300))
def test_a_name_from_a_browser_never_leads_out_of_its_folder(name: str) -> None:
    try:
        path = safe_path(name)
    except InputError:
        return
    assert not path.is_absolute() and ".." not in path.parts
    assert all(part and not part.startswith(".") and "\0" not in part for part in path.parts)
    assert all(len(part.encode()) <= 120 for part in path.parts)


def test_recent_piles_have_thumbnails(client: TestClient, root: Path) -> None:
    job = client.post(
        "/api/start/open", json={"path": str(root / "Pictures"), "encoder": "pixels"}
    ).json()
    workspaces = client.app.state.workspaces  # type: ignore[attr-defined]
    workspaces.jobs.wait(job["id"])
    recent = client.get("/api/start").json()["recent"][0]
    assert len(recent["thumbnails"]) == 3
    shown = client.get(recent["thumbnails"][0])
    assert shown.headers["content-type"] == "image/jpeg" and shown.content[:2] == b"\xff\xd8"
    assert client.get(f"/api/start/recent/{recent['pile']}/9").status_code == 404
    client.post("/api/start/forget", json={"pile": recent["pile"]})
    assert client.get(recent["thumbnails"][0]).status_code == 404


def test_a_path_that_is_not_allowed_is_named_with_what_to_do(root: Path) -> None:
    with pytest.raises(NotAllowed, match="--allow FOLDER"):
        Roots.of().check("/etc")
