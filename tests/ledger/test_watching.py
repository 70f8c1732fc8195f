"""A process learns at once that another one has stored an event."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from piles import points
from samekind.ledger.sql import SqlStore
from samekind.protocols import Store
from samekind.session import Session
from samekind.testing.stores import check_watch
from samekind.workspace.workspace import Workspace
from waiting import until


def test_a_file_is_watched(tmp_path: Path) -> None:
    file = tmp_path / "a.samekind"
    with SqlStore(file) as here, SqlStore(file) as there:
        check_watch(here, there, named=False)


def test_a_workspace_takes_in_answers_and_refits_of_another_process(tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(40, 4)).astype(np.float32)
    X[:, 0] += 6 * (np.arange(40) % 2)
    file = tmp_path / "a.samekind"

    def session(store: Store, name: str) -> Session:
        return Session(points(40), X, store=store, name=name, seed=0)

    with SqlStore(file) as here, SqlStore(file) as there:
        workspace = Workspace(points(40), lambda name: session(here, name), store=here)
        mine, other = workspace.session(), session(there, "main")
        workspace.watch()
        for _ in range(5):
            asked = other.ask(by="ben")
            assert asked is not None
            same = asked.question.truthful(lambda a, b: a % 2 == b % 2)
            other.tell(asked.number, same, by="ben")
        until(lambda: len(mine.answers) == 5)
        other.refit()
        until(lambda: mine.clustering.snapshot == other.clustering.snapshot)
        assert not mine.is_stale and workspace.refitter.trouble("main") is None
        np.testing.assert_array_equal(mine.clustering.labels, other.clustering.labels)
        workspace.close()
