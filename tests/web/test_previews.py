"""Previews: pictures are encoded again, and nothing else is sent as a picture."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from fastapi.testclient import TestClient
from PIL import Image, PngImagePlugin

from samekind.items import Collection, Item, Preview
from samekind.sources import open_source
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
