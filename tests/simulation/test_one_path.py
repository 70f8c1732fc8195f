"""One path: the same answers through simulation, terminal and HTTP give equal ledgers."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient

from piles import clouds
from samekind.cli.main import main
from samekind.ledger.store import MemoryStore, open_store
from samekind.questions.wording import KEYS
from samekind.session import Session
from samekind.simulation.loop import run
from samekind.simulation.people import Replay, Truth
from samekind.web.app import create_app
from samekind.workspace.pile import open_pile
from samekind.workspace.workspace import Workspace
from samekind.workspace.workspaces import Workspaces

QUESTIONS = 4  # fewer than make a refit due, which a server does at a time of its own


@pytest.fixture
def table(tmp_path: Path) -> Path:
    np.save(tmp_path / "clouds.npy", clouds()[0])
    return tmp_path / "clouds.npy"


def events(store: Any) -> list[tuple[str, dict[str, Any]]]:
    """The ledger without what the clock says and without the options of a door."""
    clean = []
    for event in store.read("main"):
        clean.append(
            (event.kind, {k: v for k, v in event.data.items() if k not in ("seconds", "settings")})
        )
    return clean


def by_simulation(path: Path) -> tuple[list[Any], list[str]]:
    pile = open_pile(path)
    store = MemoryStore()
    session = Session(pile.collection, pile.X, store=store, seed=0)
    run(session, Truth(clouds()[1]), QUESTIONS)
    return events(store), [a.choice for a in session.answers]


def test_the_terminal_writes_the_same_ledger(
    table: Path, ledger: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    expected, choices = by_simulation(table)
    keys = "".join(f"{KEYS.get(choice, (choice,))[0]}\n" for choice in choices)
    monkeypatch.setattr("sys.stdin", io.StringIO(keys))
    monkeypatch.setattr(
        "sys.argv",
        ["samekind", "ask", str(table), "--questions", str(QUESTIONS), "--ledger", str(ledger)],
    )
    with pytest.raises(SystemExit) as done:
        main()
    assert done.value.code == 0
    written = events(open_store(ledger))
    assert written[: len(expected)] == expected
    assert [kind for kind, _ in written[len(expected) :]] in ([], ["refitted"])


def test_http_writes_the_same_ledger(table: Path) -> None:
    expected, choices = by_simulation(table)
    pile = open_pile(table)
    store = MemoryStore()

    def open_session(name: str) -> Session:
        return Session(pile.collection, pile.X, store=store, name=name, seed=0)

    desk = Workspace(pile.collection, open_session, store=store)
    with TestClient(
        create_app(Workspaces.around(desk), port=80), base_url="http://127.0.0.1"
    ) as client:
        for choice in choices:
            question = client.get("/api/question").json()["question"]
            told = client.post(
                "/api/answers",
                json={"number": question["number"], "choice": choice},
                headers={"Origin": "http://127.0.0.1"},
            )
            assert told.status_code == 200, told.text
    written = events(store)
    assert [e for e in written if e[0] == "told"] == [e for e in expected if e[0] == "told"]
    assert written[: len(expected)] == expected
    assert [kind for kind, _ in written[len(expected) :]] in ([], ["proposed"])


def test_a_recorded_session_replays_to_the_same_ledger(table: Path) -> None:
    pile = open_pile(table)
    first, second = MemoryStore(), MemoryStore()
    recorded = Session(pile.collection, pile.X, store=first, seed=4)
    run(recorded, Truth(clouds()[1]), 14)
    again = Session(pile.collection, pile.X, store=second, seed=4)
    log = run(again, Replay(recorded.answers), 14)
    assert log.n_answers == 14
    assert events(second) == events(first)
