"""Words as items, and an encoder that counts their letters and remembers whom it read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from samekind.errors import SourceError
from samekind.items import Collection, Item, Preview


@dataclass(frozen=True)
class Word(Item):
    id: str
    version: int = 0
    broken: bool = False
    kind = "text"

    @property
    def stamp(self) -> str:
        return f"{self.id}@{self.version}"

    def load(self) -> str:
        if self.broken:
            raise SourceError(f"{self.id} is broken.")
        return f"{self.id}{self.version}"

    def preview(self) -> Preview:
        return Preview("text/plain", self.id.encode())


class Letters:
    """Counts letters and remembers whom it read."""

    name = "letters"
    kinds: tuple[str, ...] = ("text",)
    width: int | None = 8
    fingerprint = "letters/v1"

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.fits = 0

    def read(self, items: Sequence[Item]) -> np.ndarray:
        texts = [item.load() for item in items]
        self.seen.extend(texts)
        return np.array([[hash_of(text, k) for k in range(8)] for text in texts], dtype=np.float32)

    def fit(self, raw: Any) -> Self:
        self.fits += 1
        self.mean = raw.mean(axis=0)
        return self

    def transform(self, raw: Any) -> np.ndarray:
        return np.asarray(raw - self.mean, dtype=np.float32)


def hash_of(text: str, k: int) -> float:
    return float(sum(ord(c) * (i + k + 1) for i, c in enumerate(text)) % 101)


def words(n: int, **changes: Word) -> Collection:
    ids = [f"w{i}" for i in range(n)]
    return Collection("words", [changes.get(id, Word(id)) for id in ids], location="set:words")
