"""Small piles for all tests: points with two orientations, and a private place for files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from samekind.items import Collection, Item, Preview
from samekind.session import Session


class Point(Item):
    """An item that is only a name; its vector is given beside it."""

    kind = "row"

    def __init__(self, id: str, stamp: str | None = None) -> None:
        self.id = id
        self._stamp = stamp

    @property
    def stamp(self) -> str:
        return self._stamp or self.id

    def load(self) -> Any:
        return self.id

    def preview(self) -> Preview:
        return Preview("text/plain", self.id.encode())


def points(n: int, prefix: str = "p") -> Collection:
    return Collection("points", [Point(f"{prefix}{i}", f"stamp-{i}") for i in range(n)])


def clouds(n: int = 60, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Four clouds; the kinds are their columns, so a default clustering does not give them."""
    rng = np.random.default_rng(seed)
    place = np.arange(n) % 4
    X = rng.normal(scale=0.4, size=(n, 6))
    X[:, 0] += 4.0 * (place // 2)
    X[:, 1] += 3.0 * (place % 2)
    return X.astype(np.float32), place % 2


@pytest.fixture(autouse=True)
def private_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reads or writes the user's own sessions; converted networks are shared by all."""
    monkeypatch.setenv("SAMEKIND_HOME", str(tmp_path_factory.getbasetemp() / "home"))


@pytest.fixture
def pile() -> tuple[Collection, np.ndarray, np.ndarray]:
    X, kinds = clouds()
    return points(len(X)), X, kinds


@pytest.fixture
def make_session(pile: tuple[Collection, np.ndarray, np.ndarray]) -> Callable[..., Session]:
    collection, X, _ = pile

    def make(**settings: Any) -> Session:
        return Session(settings.pop("collection", collection), settings.pop("X", X), **settings)

    return make


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    return tmp_path / "answers.samekind"
