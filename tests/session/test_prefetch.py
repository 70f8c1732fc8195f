"""The question after the open one is prepared for each choice, and is the one asked anyway."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from samekind.ledger.store import MemoryStore
from samekind.protocols import QueryStrategy, View
from samekind.questions import UNSURE, Question, SamePair
from samekind.registry import find
from samekind.session import Session, state

Make = Callable[..., Session]
PATIENT = 300.0


@pytest.fixture(autouse=True)
def every_strategy_is_cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    """However busy the machine is."""
    monkeypatch.setattr(state, "MAX_SECONDS", PATIENT)


@dataclass
class Counted:
    """A strategy, and how often it was asked."""

    inner: QueryStrategy
    times: int = 0

    def propose(self, view: View, n: int = 1) -> Sequence[Question]:
        self.times += 1
        return self.inner.propose(view, n)


@dataclass
class Person:
    """Mostly truthful, sometimes anything; now and then goes back, puts off, changes, names."""

    kinds: Any
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(3))

    def act(self, sessions: Sequence[Session], number: int) -> None:
        question = sessions[0].asked(number).question
        choice = question.truthful(lambda a, b: bool(self.kinds[a] == self.kinds[b]))
        if (mood := self.rng.random()) < 0.4:
            choice = UNSURE if mood < 0.2 else str(self.rng.choice(question.choices()))
        what, some = self.rng.random(), float(self.rng.random())
        seconds = round(float(self.rng.random()) * 20, 3)
        for session in sessions:
            answers = session.answers
            if what < 0.06 and answers:
                session.undo()
            elif what < 0.12:
                session.skip(number)
            elif what < 0.18 and answers:
                session.edit(answers[int(some * len(answers))].number, UNSURE)
            elif what < 0.22:
                session.rename(session.clustering.numbers[0], f"name {some:.3f}")
            else:
                session.tell(number, choice, by="somebody", seconds=seconds)


@pytest.mark.parametrize("ahead", [1, 3])
@pytest.mark.parametrize("name", ["placement", "live", "planner", "random", "entropy", "pcl"])
def test_the_same_questions_are_asked_whether_or_not_they_were_prefetched(
    make_session: Make, pile: Any, name: str, ahead: int
) -> None:
    stores = MemoryStore(), MemoryStore()
    plain, prefetching = (
        make_session(strategy=name, store=store, ahead=ahead, clusterer="live") for store in stores
    )
    person = Person(pile[2])
    for _ in range(40):
        one, other = plain.ask(), prefetching.ask()
        assert one == other
        if one is None:
            break
        prefetching.prefetch()
        person.act((plain, prefetching), one.number)
        if plain.due and person.rng.random() < 0.5:
            plain.refit()
            prefetching.refit()
    events = [[(e.kind, e.data) for e in store.read("main")] for store in stores]
    assert events[0] == events[1], "word for word: why a question is asked as well"


@pytest.mark.parametrize("name", ["placement", "live", "random"])
def test_after_an_answer_the_strategy_need_not_be_asked(
    make_session: Make, pile: Any, name: str
) -> None:
    strategy = Counted(find("strategy", name)())
    session = make_session(strategy=strategy)
    for turn in range(15):
        before = strategy.times
        asked = session.ask()
        assert asked is not None
        assert strategy.times - before == (turn == 0), "only the first question was not prefetched"
        if session.due:
            session.refit()  # what was prefetched is prefetched again from the new groups
        assert set(session.prefetch()) == set(asked.question.choices())
        session.tell(
            asked.number, asked.question.truthful(lambda a, b: bool(pile[2][a] == pile[2][b]))
        )


def test_nothing_is_stored_before_it_is_asked(make_session: Make) -> None:
    session = make_session()
    asked = session.ask()
    events = list(session.store.read(session.name))
    assert asked is not None and session.prefetch()
    assert list(session.store.read(session.name)) == events
    assert session.answers == () and session.ask() == asked
    assert session.constraints.touched.tolist() == []


def test_before_the_first_question_there_is_nothing_to_prefetch(make_session: Make) -> None:
    assert make_session().prefetch() == ()


class ByTheClock:
    """Asks about other items when the last answer took long."""

    def propose(self, view: View, n: int = 1) -> list[Question]:
        answers = view.constraints.answers
        long = bool(answers) and (answers[-1].seconds or 0) > 5
        return [SamePair(0, 2 * len(answers) + 1 + long)]


def test_a_question_that_depends_on_the_seconds_of_the_answer_is_not_prefetched(
    make_session: Make,
) -> None:
    session = make_session(strategy=ByTheClock())
    asked = session.ask()
    assert asked is not None and session.prefetch() == ()
    session.tell(asked.number, "unsure", seconds=9.0)
    asked = session.ask()
    assert asked is not None and asked.question == SamePair(0, 4)


def test_a_slow_strategy_is_not_asked_in_advance_until_the_next_refit(
    make_session: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(state, "MAX_SECONDS", -1.0)
    strategy = Counted(find("strategy", "placement")())
    session = make_session(strategy=strategy)
    for _ in range(3):
        asked = session.ask()
        assert asked is not None
        before = strategy.times
        session.prefetch()
        assert strategy.times - before == (asked.number == 1)
        session.tell(asked.number, asked.question.choices()[0])


@pytest.mark.parametrize(
    "act",
    [
        lambda session: setattr(session, "budget", 7),  # a strategy may plan by it
        lambda session: session.edit(1, "different"),
        lambda session: session.refit(),
        lambda session: session.rename(1, "a name"),
    ],
    ids=["budget", "edit", "refit", "rename"],
)
def test_what_was_prefetched_is_dropped_when_something_else_happens(
    make_session: Make, act: Callable[[Session], Any]
) -> None:
    strategy = Counted(find("strategy", "random")())
    session = make_session(strategy=strategy)
    for _ in range(2):
        asked = session.ask()
        assert asked is not None
        session.prefetch()
        session.tell(asked.number, "same")
    act(session)
    before = strategy.times
    assert session.ask() is not None and strategy.times == before + 1


def test_answers_come_while_another_thread_looks_ahead(make_session: Make, pile: Any) -> None:
    plain, prefetching = make_session(strategy="live"), make_session(strategy="live")
    stop, troubles = threading.Event(), []

    def look() -> None:
        while not stop.is_set():
            try:
                prefetching.prefetch()
            except Exception as trouble:  # told by the test itself, which must not hang
                troubles.append(trouble)
                return

    threads = [threading.Thread(target=look) for _ in range(2)]
    for thread in threads:
        thread.start()
    person = Person(pile[2])
    try:
        for _ in range(30):
            one, other = plain.ask(), prefetching.ask()
            assert one is not None and one == other
            person.act((plain, prefetching), one.number)
            if plain.due:
                plain.refit()
                prefetching.refit()
    finally:
        stop.set()
        for thread in threads:
            thread.join(PATIENT)
    assert not troubles


def test_nobody_waits_while_the_strategy_prepares_for_new_groups(make_session: Make) -> None:
    preparing, go_on = threading.Event(), threading.Event()
    real = find("strategy", "placement")()

    class Slow:
        def propose(self, view: View, n: int = 1) -> Sequence[Question]:
            if view.clustering.snapshot == 1 and not go_on.is_set():
                preparing.set()
                assert go_on.wait(PATIENT)
            return real.propose(view, n)  # type: ignore[no-any-return]

    session = make_session(strategy=Slow())
    worker = threading.Thread(target=session.refit)
    worker.start()
    assert preparing.wait(PATIENT)
    done = threading.Event()

    def answer() -> None:
        asked = session.ask()
        assert asked is not None and asked.snapshot == 0
        session.tell(asked.number, "unsure")
        done.set()

    threading.Thread(target=answer, daemon=True).start()
    assert done.wait(PATIENT), "ask and tell went on"
    go_on.set()
    worker.join(PATIENT)
    assert session.clustering.snapshot == 1
