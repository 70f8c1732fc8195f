"""Items and groups for the tests of exports, and a way to see a whole folder at once."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from samekind.clustering import Clustering
from samekind.items import Collection, Item, Preview

Tree = dict[str, bytes | str | None]


class FileItem(Item):
    kind: ClassVar[str] = "image"

    def __init__(self, id: str, path: Path) -> None:
        self.id, self.path = id, str(path)

    def load(self) -> bytes:
        return Path(self.path).read_bytes()

    def preview(self) -> Preview:
        return Preview("image/png", self.load())


class DrawnItem(Item):
    kind: ClassVar[str] = "image"

    def __init__(self, id: str, mime: str = "image/png") -> None:
        self.id, self.mime = id, mime

    def load(self) -> Any:
        return None

    def preview(self) -> Preview:
        return Preview(self.mime, f"picture of {self.id}".encode("utf-8", "ignore"))


class LongText(DrawnItem):
    kind: ClassVar[str] = "text"

    def load(self) -> str:
        return "long " * 1000


def grouped(labels: list[int], names: dict[int, str] | None = None) -> Clustering:
    return Clustering(np.array(labels), np.zeros((len(labels), 2), np.float32), names=names or {})


def drawn(*ids: str) -> Collection:
    return Collection("demo", [DrawnItem(id) for id in ids])


def tree(folder: Path) -> Tree:
    """Everything below a folder: bytes of files, targets of links, None for folders."""
    found: Tree = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_symlink():
            found[name] = f"-> {os.readlink(path)}"
        else:
            found[name] = None if path.is_dir() else path.read_bytes()
    return found
