"""Previews: pictures are encoded again, and nothing else is sent as a picture."""

from __future__ import annotations

import os
import struct
import threading
import zlib
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pytest
from fastapi.testclient import TestClient
from PIL import Image, PngImagePlugin

from samekind.items import Collection, Item, Preview
from samekind.sources import open_source
from samekind.sources.files.bursts import collapse
from samekind.workspace.workspace import Workspace

Make = Callable[..., Workspace]


def bomb(side: int) -> bytes:
    """A tiny PNG file that says it has `side` x `side` pixels."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        check = zlib.crc32(kind + data)
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", check)

    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    body = chunk(b"IDAT", zlib.compress(b"\0" * 1000))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + body + chunk(b"IEND", b"")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    for k in range(12):
        notes = PngImagePlugin.PngInfo()
        notes.add_text("Comment", "<script>alert(1)</script>")
        picture = Image.fromarray(rng.integers(255, size=(20, 30, 3), dtype=np.uint8))
        picture.save(tmp_path / f"{k}.png", pnginfo=notes)
    return tmp_path


def test_a_picture_is_encoded_again_without_its_metadata(
    folder: Path, make_workspace: Make, client_for: Callable[[Workspace], TestClient]
) -> None:
    client = client_for(make_workspace(collection=open_source(folder)))
    reply = client.get("/api/items/3.png/preview")
    assert reply.headers["content-type"] == "image/png"
    assert b"script" in (folder / "3.png").read_bytes() and b"script" not in reply.content


@pytest.mark.parametrize("side", [10_000, 60_000, 2**31 - 1])
def test_a_decompression_bomb_is_refused_before_it_is_decoded(
    folder: Path, make_workspace: Make, client_for: Callable[[Workspace], TestClient], side: int
) -> None:
    client = client_for(make_workspace(collection=open_source(folder)))
    (folder / "3.png").write_bytes(bomb(side))
    reply = client.get("/api/items/3.png/preview")
    assert reply.status_code == 404, reply.text
    assert str(folder) not in reply.text


def test_other_bytes_are_not_sent_as_a_picture(
    make_workspace: Make, client_for: Callable[[Workspace], TestClient]
) -> None:
    class Odd(Item):
        kind = "image"

        def __init__(self, id: str, mime: str) -> None:
            self.id, self.mime = id, mime

        def load(self) -> None:
            return None

        def preview(self) -> Preview:
            return Preview(self.mime, b"<svg xmlns='http://www.w3.org/2000/svg'/>")

    mimes = ("image/png", "image/jpeg", "image/webp; x=1", "IMAGE/PNG")
    items = [Odd(str(k), mimes[k % 4]) for k in range(12)]
    client = client_for(make_workspace(collection=Collection("Odd", items)))
    for k in range(4):
        assert client.get(f"/api/items/{k}/preview").status_code == 406


@pytest.mark.parametrize("link", ["the file", "its folder"])
def test_a_picture_replaced_by_a_link_out_of_the_pile_is_not_sent(
    folder: Path,
    tmp_path_factory: pytest.TempPathFactory,
    make_workspace: Make,
    client_for: Callable[[Workspace], TestClient],
    link: str,
) -> None:
    (folder / "sub").mkdir()
    (folder / "3.png").rename(folder / "sub" / "3.png")
    client = client_for(make_workspace(collection=open_source(folder)))
    outside = tmp_path_factory.mktemp("outside")
    (folder / "sub" / "3.png").rename(outside / "3.png")
    if link == "the file":
        (folder / "sub" / "3.png").symlink_to(outside / "3.png")
    else:
        (folder / "sub").rmdir()
        (folder / "sub").symlink_to(outside)
    for address in ("preview", "full"):
        reply = client.get(f"/api/items/sub%2F3.png/{address}")
        assert reply.status_code == 404, reply.headers
        message = reply.json()["error"]["message"]
        assert "leads out of the folder" in message and str(outside) not in message
    assert client.get("/api/items/sub%2F3.png/details").json()["facts"] == []


def test_a_picture_that_is_a_link_within_the_pile_is_sent(
    folder: Path, make_workspace: Make, client_for: Callable[[Workspace], TestClient]
) -> None:
    (folder / "again.png").symlink_to(folder / "3.png")
    client = client_for(make_workspace(collection=open_source(folder)))
    assert client.get("/api/items/again.png/preview").status_code == 200


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
@pytest.mark.parametrize("address", ["preview", "full", "details"])
def test_a_picture_replaced_by_a_pipe_holds_up_nobody(
    folder: Path,
    make_workspace: Make,
    client_for: Callable[[Workspace], TestClient],
    address: str,
) -> None:
    client = client_for(make_workspace(collection=open_source(folder)))
    (folder / "3.png").unlink()
    os.mkfifo(folder / "3.png")
    replies: list[int] = []

    def ask() -> None:
        replies.append(client.get(f"/api/items/3.png/{address}").status_code)

    asking = threading.Thread(target=ask)
    asking.start()
    asking.join(20)
    found = list(replies)
    while asking.is_alive():  # give it the writer that it waits for
        os.close(os.open(folder / "3.png", os.O_RDWR | os.O_NONBLOCK))
        asking.join(0.1)
    assert found == [200 if address == "details" else 404]


def test_a_near_duplicate_is_sent_like_any_other_picture(
    folder: Path, make_workspace: Make, client_for: Callable[[Workspace], TestClient]
) -> None:
    (folder / "3 (1).png").write_bytes((folder / "3.png").read_bytes())
    client = client_for(make_workspace(collection=collapse(open_source(folder))))
    address = next(
        f"/api/items/{quote(item.id)}/members/1"
        for item in collapse(open_source(folder))
        if item.members
    )
    reply = client.get(address)
    assert reply.status_code == 200
    assert reply.headers["content-security-policy"] == "default-src 'none'; sandbox"
    for name in ("3.png", "3 (1).png"):
        (folder / name).unlink()
    assert client.get(address).status_code == 404


@pytest.mark.parametrize("content", [b"no picture", None])
def test_a_picture_that_cannot_be_read_any_more_is_named_without_its_path(
    folder: Path,
    make_workspace: Make,
    client_for: Callable[[Workspace], TestClient],
    content: bytes | None,
) -> None:
    client = client_for(make_workspace(collection=open_source(folder)))
    (folder / "3.png").unlink()
    if content is not None:
        (folder / "3.png").write_bytes(content)
    for address in ("preview", "full"):
        reply = client.get(f"/api/items/3.png/{address}")
        assert reply.status_code == 404
        assert (
            "'3.png'" in reply.text and str(folder) not in reply.text and "<_io" not in reply.text
        )
