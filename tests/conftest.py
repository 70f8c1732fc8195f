"""For all tests: a private place for files, a small pile, and sessions over it."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _pytest.doctest import DoctestModule

from piles import clouds, points
from quick_tests import DURATIONS, DurationRecorder, choose_slow, file_of, longest_by_file
from samekind.items import Collection
from samekind.session import Session


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--record-durations", action="store_true", help="Write tests/durations.json.")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--record-durations") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(DurationRecorder(DURATIONS))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark as slow what `make check` leaves out, by the durations measured last.

    Files with long tests come first, so that no worker is left with one at the end.
    """
    seconds = json.loads(DURATIONS.read_text(encoding="utf-8"))
    slow = choose_slow(seconds, [item.nodeid for item in items])
    for item in items:
        if item.nodeid in slow:
            item.add_marker(pytest.mark.slow)
    longest = longest_by_file(seconds)
    items.sort(key=lambda item: -longest.get(file_of(item.nodeid), 0.0))


@pytest.hookimpl(wrapper=True)
def pytest_collect_file() -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Look for examples in the sources only: it takes a second, and no test has any."""
    found = yield
    return [collector for collector in found if not isinstance(collector, DoctestModule)]


@pytest.fixture(autouse=True)
def private_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reads or writes the user's own sessions; converted networks are shared by all."""
    monkeypatch.setenv("SAMEKIND_HOME", str(tmp_path_factory.getbasetemp() / "home"))
    monkeypatch.setenv("SAMEKIND_ROOTS", str(tmp_path_factory.getbasetemp()))


@pytest.fixture
def short_heads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fit heads to known groups in few steps: else those are most of what a short training does."""
    monkeypatch.setattr("samekind.training.heads.HEAD_STEPS", 20)
    monkeypatch.setattr("samekind.training.frozen.HEAD_STEPS", 5)


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
