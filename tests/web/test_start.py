"""Start: a pile is inspected, its encoder chosen and timed, and it is opened as a job."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient
from PIL import Image

from samekind.encoders.pixels import Pixels
from samekind.web.app import create_app
from samekind.workspace import inspection as looking
from samekind.workspace.workspaces import MAX_OPEN, Workspaces

ORIGIN = "http://127.0.0.1:8765"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SAMEKIND_HOME", str(tmp_path / "home"))
    return tmp_path


@pytest.fixture
def photos(home: Path) -> Path:
    folder = home / "my photos"
    folder.mkdir()
    for k in range(12):
        shade = (250 - 10 * k, 5, 9 * k) if k % 2 else (9 * k, 5, 250 - 10 * k)
        Image.new("RGB", (24, 16), shade).save(folder / f"photo-{k:02}.png")
    (folder / "notes.pdf").write_bytes(b"%PDF")
    return folder


Serve = Callable[..., tuple[TestClient, Workspaces]]


@pytest.fixture
def serve(home: Path) -> Iterator[Serve]:
    """Starts servers one after the other, each with what the one before has left on disk."""
    opened: list[Workspaces] = []

    def start(*, paths: bool = True) -> tuple[TestClient, Workspaces]:
        workspaces = Workspaces.at_home(paths=paths)
        opened.append(workspaces)
        app = create_app(workspaces, port=8765)
        return TestClient(app, base_url=ORIGIN, raise_server_exceptions=False), workspaces

    yield start
    for workspaces in opened:
        workspaces.close()


def opened(client: TestClient, workspaces: Workspaces, path: object, **more: Any) -> str:
    """Open a path and wait; the pile's name in addresses."""
    reply = client.post("/api/start/open", json={"path": str(path), **more})
    assert reply.status_code == 202, reply.text
    job = workspaces.jobs.wait(reply.json()["id"])
    assert job.state == "finished", job.words
    return job.pile


def test_without_a_pile_the_server_says_so_and_still_shows_its_page(serve: Serve) -> None:
    client, _ = serve()
    reply = client.get("/api/session")
    assert (reply.status_code, reply.json()["error"]["type"]) == (409, "no-pile")
    assert client.get("/").status_code in (200, 503)  # 503: the page is not built
    about = client.get("/api/start").json()
    assert about["paths"] and about["pile"] is None and about["recent"] == []
    assert [demo["path"] for demo in about["demos"]] == ["tiles"]


def test_a_path_is_inspected_before_it_is_opened(serve: Serve, photos: Path) -> None:
    client, workspaces = serve()
    found = client.post("/api/start/look", json={"path": f' "{photos}" '}).json()
    assert (found["items"], found["kind"], found["name"]) == (12, "image", "my photos")
    assert found["skipped"] == [
        {"id": "notes.pdf", "reason": "is a .pdf file, not a picture that samekind can read"}
    ]
    assert found["encoder"] in [one["name"] for one in found["encoders"]]
    assert found["reason"] and found["answers"] == 0
    assert {"pixels", "simclr"} <= {one["name"] for one in found["encoders"]}
    assert workspaces.jobs.all() == [] and workspaces.recent.all() == []


def test_pasted_paths_are_understood(photos: Path) -> None:
    address = photos.as_uri()
    assert "%20" in address
    assert looking.typed(address) == str(photos)
    assert looking.typed(f"'{photos}'") == str(photos)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda folder: folder / "nowhere", "There is no file or folder"),
        (lambda folder: folder, "is empty"),
        (lambda folder: _with(folder, "a.pdf"), "can be used"),
        (lambda folder: _with(folder, "b.xyz") / "b.xyz", "with the suffix"),
        (
            lambda folder: _with(folder, "one.txt", "only one line") / "one.txt",
            "Expected at least 2 items",
        ),
    ],
)
def test_an_unusable_path_is_refused_with_a_reason(
    serve: Serve, home: Path, make: Callable[[Path], Path], words: str
) -> None:
    folder = home / "tried"
    folder.mkdir()
    client, _ = serve()
    for route in ("look", "open"):
        reply = client.post(f"/api/start/{route}", json={"path": str(make(folder))})
        assert reply.status_code in (404, 422)
        assert words in reply.json()["error"]["message"]


def _with(folder: Path, name: str, text: str = "x") -> Path:
    (folder / name).write_text(text)
    return folder


def test_an_unreadable_folder_is_refused_with_a_reason(
    serve: Serve, photos: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, _ = serve()
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    reply = client.post("/api/start/look", json={"path": str(photos)})
    assert reply.status_code == 404 and "permission denied" in reply.json()["error"]["message"]


def test_time_is_measured_on_a_few_items_and_cached_vectors_need_none(
    serve: Serve, photos: Path
) -> None:
    client, workspaces = serve()
    wish = {"path": str(photos), "encoder": "pixels"}
    first = client.post("/api/start/measure", json=wish).json()
    assert first["tried"] > 0 and first["kept"] == 0
    assert "12 items" in first["words"]
    opened(client, workspaces, photos, encoder="pixels")
    again = client.post("/api/start/measure", json=wish).json()
    assert again["kept"] == 12 and "cache" in again["words"]


def test_the_announced_time_is_that_of_all_items_within_a_tenth(
    serve: Serve, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = home / "many"
    folder.mkdir()
    for k in range(200):
        Image.new("RGB", (4, 4), (k, 0, 0)).save(folder / f"{k:03}.png")
    clock, read = [0.0], Pixels.read

    def slowly(self: Pixels, items: Sequence[Any]) -> Any:
        clock[0] += (2.0 if clock[0] == 0 else 0.0) + 0.5 * len(items)  # the first call loads
        return read(self, items)

    monkeypatch.setattr(Pixels, "read", slowly)
    monkeypatch.setattr(looking, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    client, workspaces = serve()
    told = client.post("/api/start/measure", json={"path": str(folder), "encoder": "pixels"}).json()
    announced = clock[0]
    opened(client, workspaces, folder, encoder="pixels")
    assert told["seconds"] == pytest.approx(clock[0] - announced, rel=0.1)
    assert told["words"].startswith("About 92 s for 200 items")


def test_two_piles_are_open_at_two_addresses(serve: Serve, photos: Path, home: Path) -> None:
    lines = home / "words.txt"
    lines.write_text("\n".join(f"{['red', 'blue', 'green'][k % 3]} thing {k}" for k in range(20)))
    client, workspaces = serve()
    one = opened(client, workspaces, photos, encoder="pixels")
    other = opened(client, workspaces, lines)
    assert client.get(f"/api/session?pile={one}").json()["items"] == 12
    assert client.get(f"/api/session?pile={other}").json()["items"] == 20
    item = client.get(f"/api/question?pile={one}").json()["question"]["items"][0]
    assert client.get(item["preview"]).headers["content-type"].startswith("image/")
    assert client.get("/api/session").status_code == 409
    assert [known["pile"] for known in client.get("/api/start").json()["recent"]] == [other, one]


def test_after_a_restart_the_same_address_leads_back_to_the_pile_and_its_answers(
    serve: Serve, photos: Path
) -> None:
    client, workspaces = serve()
    pile = opened(client, workspaces, photos, encoder="pixels")
    number = client.get(f"/api/question?pile={pile}").json()["question"]["number"]
    told = client.post(f"/api/answers?pile={pile}", json={"number": number, "choice": "unsure"})
    assert told.status_code == 200
    workspaces.close()
    client, workspaces = serve()
    assert client.get(f"/api/session?pile={pile}").json()["error"]["type"] == "no-pile"
    found = client.post("/api/start/look", json={"path": str(photos)}).json()
    assert found["answers"] == 1 and found["encoder"] == "pixels"
    job = client.post("/api/start/again", json={"pile": pile}).json()
    assert workspaces.jobs.wait(job["id"]).state == "finished"
    assert client.get(f"/api/session?pile={pile}").json()["progress"]["answers"] == 1


def test_the_least_recently_used_pile_is_closed(serve: Serve, home: Path) -> None:
    client, workspaces = serve()
    piles = []
    for k in range(MAX_OPEN + 1):
        file = home / f"words-{k}.txt"
        file.write_text("\n".join(f"line {i}" for i in range(6)))
        piles.append(opened(client, workspaces, file))
    assert workspaces.find(piles[0]) is None
    assert all(workspaces.find(pile) is not None for pile in piles[1:])
    assert client.get(f"/api/session?pile={piles[0]}").status_code == 409


def test_a_cancelled_opening_is_resumed_where_it_stopped(
    serve: Serve, photos: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from samekind.encoders.pixels import Pixels

    read: list[str] = []
    whole = Pixels.read

    def slowly(self: Pixels, items: Any) -> Any:
        read.extend(item.id for item in items)
        if len(read) == 12:  # the first batch; the job stops after it
            workspaces.jobs.cancel(workspaces.jobs.all()[0].id)
        return whole(self, items)

    for k in range(12, 40):
        Image.new("RGB", (24, 16), (k, 90, 255 - k)).save(photos / f"photo-{k:02}.png")
    monkeypatch.setattr(Pixels, "read", slowly)
    monkeypatch.setattr("samekind.workspace.pile.encode", _encode_by_twelve)
    client, workspaces = serve()
    job = client.post("/api/start/open", json={"path": str(photos), "encoder": "pixels"}).json()
    assert workspaces.jobs.wait(job["id"]).state == "cancelled"
    assert len(read) == 12
    again = client.post(f"/api/jobs/{job['id']}/again", json={}).json()
    assert workspaces.jobs.wait(again["id"]).state == "finished"
    assert sorted(read) == sorted(set(read)) and len(read) == 40, "nothing was read twice"


def _encode_by_twelve(*arguments: Any, **more: Any) -> Any:
    from samekind.encoders.encoding import encode

    return encode(*arguments, **more, batch=12)


def test_another_encoder_keeps_the_answers(serve: Serve, home: Path) -> None:
    numbers = home / "numbers.npy"
    np.save(numbers, np.random.default_rng(0).normal(size=(30, 4)).astype(np.float32))
    client, workspaces = serve()
    pile = opened(client, workspaces, numbers)
    number = client.get(f"/api/question?pile={pile}").json()["question"]["number"]
    client.post(f"/api/answers?pile={pile}", json={"number": number, "choice": "unsure"})
    assert opened(client, workspaces, numbers, encoder="rows") == pile
    session = client.get(f"/api/session?pile={pile}").json()
    assert session["progress"]["answers"] == 1
    found = workspaces.find(pile)
    assert found is not None and found.pile is not None
    assert found.pile.encoded.encoder.name == "rows"


def test_an_unsuitable_encoder_is_refused_early(serve: Serve, photos: Path) -> None:
    client, workspaces = serve()
    wrong = client.post("/api/start/open", json={"path": str(photos), "encoder": "tfidf"})
    assert wrong.status_code == 422 and "does not read image" in wrong.json()["error"]["message"]
    unknown = client.post("/api/start/open", json={"path": str(photos), "encoder": "pixel"})
    assert "Did you mean 'pixels'?" in unknown.json()["error"]["message"]
    for route in ("open", "measure"):  # a request must not choose modules that are imported
        wish = {"path": str(photos), "encoder": "samekind.encoders.pixels:Pixels"}
        assert client.post(f"/api/start/{route}", json=wish).status_code == 422
    assert workspaces.jobs.all() == []


def test_an_encoder_that_needs_training_is_trained_in_the_job(serve: Serve, photos: Path) -> None:
    client, workspaces = serve()
    pile = opened(client, workspaces, photos, encoder="simclr", minutes=0.02)
    assert client.get(f"/api/session?pile={pile}").json()["items"] == 12
    encoders = client.post("/api/start/look", json={"path": str(photos)}).json()["encoders"]
    assert not next(one for one in encoders if one["name"] == "simclr")["learns"], "it has learnt"


def test_a_server_on_the_network_opens_and_writes_no_paths(serve: Serve, photos: Path) -> None:
    client, workspaces = serve(paths=False)
    about = client.get("/api/start").json()
    assert not about["paths"] and about["recent"] == []
    for route in ("look", "open"):
        reply = client.post(f"/api/start/{route}", json={"path": str(photos)})
        assert (reply.status_code, reply.json()["error"]["type"]) == (403, "paths-not-allowed")
    pile = opened(client, workspaces, "tiles", encoder="pixels")
    plan = {"format": "csv", "target": str(photos / "x.csv")}
    assert client.post(f"/api/finish/plan?pile={pile}", json=plan).status_code == 403
    assert client.get(f"/api/export?format=csv&pile={pile}").status_code == 200


def test_only_items_of_open_piles_can_be_read(serve: Serve, photos: Path, home: Path) -> None:
    Image.new("RGB", (8, 8)).save(home / "outside.png")
    (photos / "link.png").symlink_to(home / "outside.png")
    client, workspaces = serve()
    pile = opened(client, workspaces, photos, encoder="pixels")
    for id in ("../outside.png", "..%2Foutside.png", "link.png", str(home / "outside.png")):
        assert client.get(f"/api/items/{id}/preview?pile={pile}").status_code == 404


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"path": ""},
        {"path": 3},
        {"path": "a\0b"},
        {"path": "a\nb"},
        {"path": "x" * 5000},
        {"path": "tiles", "more": 1},
        {"path": "''"},
        {"path": "tiles", "encoder": ""},
        {"path": "tiles", "minutes": -1},
        {"path": "tiles", "encoder": "os:system"},
        {"path": "file://"},
        {"path": "~nobody-of-this-name/photos"},
        {"path": "/" + "a" * 3000},
    ],
)
def test_bad_input_never_causes_a_server_error(serve: Serve, body: dict[str, Any]) -> None:
    client, _ = serve()
    for route in ("look", "open", "measure", "again", "forget"):
        reply = client.post(f"/api/start/{route}", json=body)
        assert 400 <= reply.status_code < 500 or route == "look", (route, reply.text)
        assert reply.status_code != 500
    assert client.get("/api/session?pile=" + "x" * 3000).status_code == 409
    assert client.get("/api/session?pile=..%2f..%2fetc").status_code == 409
    assert client.post("/api/start/again", json={"pile": "nothing"}).status_code == 404


def test_a_damaged_list_of_recent_piles_counts_as_empty(serve: Serve, photos: Path) -> None:
    client, workspaces = serve()
    assert workspaces.recent.file is not None
    workspaces.recent.file.parent.mkdir(parents=True, exist_ok=True)
    workspaces.recent.file.write_text('{"piles": [{"nonsense": 1}]}')
    assert client.get("/api/start").json()["recent"] == []
    pile = opened(client, workspaces, photos, encoder="pixels")
    assert [one["pile"] for one in client.get("/api/start").json()["recent"]] == [pile]
    assert client.post("/api/start/forget", json={"pile": pile}).json()["recent"] == []


def test_a_photo_says_when_it_was_taken_and_other_items_say_nothing(
    serve: Serve, photos: Path
) -> None:
    exif = Image.Exif()
    exif.get_ifd(0x8769)[0x9003] = "2024:05:01 12:30:45"
    Image.new("RGB", (24, 16)).save(photos / "taken.jpg", exif=exif)
    client, workspaces = serve()
    pile = opened(client, workspaces, photos, encoder="pixels")
    details = client.get(f"/api/items/taken.jpg/details?pile={pile}").json()
    assert details["facts"] == [{"name": "Taken", "value": "2024-05-01 12:30"}]
    assert client.get(f"/api/items/photo-00.png/details?pile={pile}").json()["facts"] == []
    assert client.get(f"/api/items/nothing.png/details?pile={pile}").status_code == 404


def test_new_files_of_a_known_folder_are_announced_until_they_were_seen(
    serve: Serve, photos: Path
) -> None:
    client, workspaces = serve()
    pile = opened(client, workspaces, photos, encoder="pixels")
    number = client.get(f"/api/question?pile={pile}").json()["question"]["number"]
    client.post(f"/api/answers?pile={pile}", json={"number": number, "choice": "none"})
    assert client.get(f"/api/session?pile={pile}").json()["new_items"] == 0
    (photos / "photo-00.png").rename(photos / "renamed.png")
    for k in range(20):
        Image.new("RGB", (24, 16), (9 * k, 90, 30)).save(photos / f"new-{k:02}.png")
    for _ in range(2):  # also after a restart
        workspaces.close()
        client, workspaces = serve()
        pile = opened(client, workspaces, photos, encoder="pixels")
        assert client.get(f"/api/session?pile={pile}").json()["new_items"] == 20
    found = client.get(f"/api/new?pile={pile}").json()
    ids = [item["id"] for group in found["groups"] for item in group["items"]]
    assert found["total"] == 20 and sorted(ids) == [f"new-{k:02}.png" for k in range(20)]
    assert client.post(f"/api/new/seen?pile={pile}", json={}).json()["total"] == 0
    workspaces.close()
    client, workspaces = serve()
    pile = opened(client, workspaces, photos, encoder="pixels")
    assert client.get(f"/api/session?pile={pile}").json()["new_items"] == 0
