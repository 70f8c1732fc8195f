"""BrokenItems: items of a source that could not be read, kept beside the vectors."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from samekind.bulk.files import filesystem
from samekind.bulk.manifest import FOLDER
from samekind.bulk.vector_store import key_of


@dataclass(frozen=True)
class BrokenItem:
    """An item that could not be read, with the stamp that it had then, and the reason."""

    id: str
    stamp: str
    reason: str


@dataclass(frozen=True)
class BrokenItems:
    """The record of a store: JSON lines, a new file for each addition."""

    store: str

    @property
    def folder(self) -> str:
        """Where the files are."""
        return f"{self.store}/{FOLDER}/broken"

    def __iter__(self) -> Iterator[BrokenItem]:
        for path in self._paths():
            files, _ = filesystem(self.folder)
            for line in files.cat_file(path).decode().splitlines():
                yield BrokenItem(**json.loads(line))

    def keys(self) -> NDArray[np.uint64]:
        """Return the sorted keys of the items; one that changes has another key and is retried."""
        return np.array(sorted(key_of(item.id, item.stamp) for item in self), dtype=np.uint64)

    def add(self, items: Sequence[BrokenItem]) -> None:
        """Record more items."""
        if not items:
            return
        files, folder = filesystem(self.folder)
        files.makedirs(folder, exist_ok=True)
        lines = "".join(json.dumps(item.__dict__) + "\n" for item in items)
        files.pipe_file(f"{folder}/{len(self._paths()):06d}.jsonl", lines.encode())

    def clear(self) -> None:
        """Forget all, so that they are tried again."""
        files, folder = filesystem(self.folder)
        if files.exists(folder):
            files.rm(folder, recursive=True)

    def _paths(self) -> list[str]:
        files, folder = filesystem(self.folder)
        if not files.exists(folder):
            return []
        return sorted(str(p) for p in files.ls(folder, detail=False) if p.endswith(".jsonl"))
