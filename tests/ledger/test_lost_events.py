"""A store that loses confirmed events while a session is open: said at once, never a hang."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import numpy as np
import pytest

from samekind.errors import CorruptedLedger
from samekind.ledger.store import MemoryStore
from samekind.session import Session

SECONDS = 120


@pytest.fixture(autouse=True)
def no_hang() -> Iterator[None]:
    """End a session that asks its store again and again."""

    def fail(*_: object) -> None:
        raise AssertionError("it did not return")

    before = signal.signal(signal.SIGALRM, fail)
    signal.alarm(SECONDS)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


class Forgetful(MemoryStore):
    """A store that can be put back to an older state, as by a backup."""

    def forget(self, n: int) -> None:
        """Lose the last events of all sessions."""
        for rows in self._rows.values():
            del rows[-n:]


def session_with_answers() -> tuple[Session, Forgetful]:
    X = np.random.default_rng(0).normal(size=(40, 3)).astype(np.float32)
    store = Forgetful()
    session = Session(X, store=store, seed=0)
    for _ in range(4):
        asked = session.ask()
        assert asked is not None
        session.tell(asked.number, "unsure")
    return session, store


@pytest.mark.parametrize("lost", [1, 2, 5])
@pytest.mark.parametrize("by", [None, "ada"])
def test_a_session_that_asks_or_answers_says_so(lost: int, by: str | None) -> None:
    session, store = session_with_answers()
    asked = session.ask(by=by)
    assert asked is not None
    store.forget(lost)
    with pytest.raises(CorruptedLedger, match=r"ends before event \d+, which it had confirmed"):
        session.tell(asked.number, "unsure", by=by)


@pytest.mark.parametrize("lost", [1, 2, 5])
def test_a_new_question_says_so(lost: int) -> None:
    session, store = session_with_answers()
    store.forget(lost)
    with pytest.raises(CorruptedLedger, match="Open it again"):
        for _ in range(50):
            asked = session.ask(by="ada")
            assert asked is not None
            session.tell(asked.number, "unsure", by="ada")


def test_undo_says_so() -> None:
    session, store = session_with_answers()
    store.forget(2)
    with pytest.raises(CorruptedLedger):
        session.undo()
