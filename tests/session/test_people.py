"""Several people on one orientation, from several sessions on one store as from several servers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from piles import clouds, points
from samekind.errors import (
    AlreadyAnswered,
    AnsweredByOther,
    InputError,
    NotYourAnswer,
    Reserved,
)
from samekind.ledger.fold import Asked
from samekind.ledger.store import MemoryStore, open_store
from samekind.protocols import Event, Store
from samekind.questions import UNSURE
from samekind.session import Session
from samekind.session.people import People, subject

N = 160


@pytest.fixture(params=["memory", "sqlite"])
def servers(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[..., list[Session]]:
    """Opens sessions on one ledger, each as in a process of its own."""
    memory = MemoryStore()
    X, _ = clouds(N)
    collection = points(N)

    def make(n: int = 2, **settings: Any) -> list[Session]:
        def store() -> Store:
            return memory if request.param == "memory" else open_store(tmp_path / "a.samekind")

        made = [Session(collection, X, store=store(), seed=0) for _ in range(n)]
        for session in made:
            session.people = People(**settings)
        return made

    return make


def asked_of(session: Session, by: str | None) -> Asked:
    asked = session.ask(by=by)
    assert asked is not None
    return asked


def truthful(asked: Asked) -> str:
    _, kinds = clouds(N)
    return asked.question.truthful(lambda a, b: bool(kinds[a] == kinds[b]))


def test_people_see_only_their_own_open_question(servers: Callable[..., list[Session]]) -> None:
    here, there = servers()
    people = {"anna": here, "ben": there, "cleo": here, "dan": there}
    for _ in range(8):
        seen = {name: asked_of(session, name) for name, session in people.items()}
        assert len({asked.number for asked in seen.values()}) == 4
        assert len({subject(asked.question) for asked in seen.values()}) == 4
        for name, session in people.items():
            assert session.ask(by=name) == seen[name], "a page that is loaded again shows the same"
        # Somebody who moves to the other server finds the same question there.
        assert there.ask(by="anna") == seen["anna"]
        for name, session in people.items():
            session.tell(seen[name].number, truthful(seen[name]), by=name)
    here.catch_up()
    assert here.answers == there.answers and len(here.answers) == 32
    assert here.constraints.conflicts == ()


def test_an_answered_question_refuses_another_answer(servers: Callable[..., list[Session]]) -> None:
    here, there = servers()
    asked = asked_of(here, None)
    assert there.ask() == asked, "people who are not told apart share the open question"
    here.tell(asked.number, "1", by="anna")
    for choice in ("1", "none"):
        with pytest.raises(AnsweredByOther, match="answered by anna in the meantime"):
            there.tell(asked.number, choice, by="ben")
    here.tell(asked.number, "1", by="anna")  # sent again, as after a lost reply
    with pytest.raises(AlreadyAnswered, match="already answered with '1'"):
        there.tell(asked.number, "none", by="anna")
    assert [(a.by, a.choice) for a in there.answers] == [("anna", "1")]
    assert sum(event.kind == "told" for event in here.store.read("main")) == 1


def test_a_reservation_ends_and_the_late_answer_is_refused(
    servers: Callable[..., list[Session]], monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = servers(hold_seconds=60.0)
    now = 1_800_000_000.0
    monkeypatch.setattr("time.time", lambda: now)
    asked = asked_of(here, "anna")
    now += 59
    other = asked_of(there, "ben")
    assert other.number != asked.number
    there.tell(other.number, truthful(other), by="ben")
    now += 2
    assert there.ask(by="ben") == asked, "anna has left; the question is not lost"
    with pytest.raises(Reserved, match="open for ben now"):
        here.tell(asked.number, truthful(asked), by="anna")
    there.tell(asked.number, truthful(asked), by="ben")
    with pytest.raises(AnsweredByOther):
        here.tell(asked.number, truthful(asked), by="anna")
    assert asked_of(here, "anna").number not in (asked.number, other.number)


def test_an_expired_question_that_nobody_took_can_still_be_answered(
    servers: Callable[..., list[Session]], monkeypatch: pytest.MonkeyPatch
) -> None:
    (here,) = servers(1, hold_seconds=60.0)
    now = 1_800_000_000.0
    monkeypatch.setattr("time.time", lambda: now)
    asked = asked_of(here, "anna")
    now += 3600
    here.tell(asked.number, truthful(asked), by="anna")
    assert [a.by for a in here.answers] == ["anna"]


def test_what_another_session_reserved_is_left_alone_by_someone_without_a_name(
    servers: Callable[..., list[Session]],
) -> None:
    here, there = servers()
    hers = asked_of(here, "anna")
    mine = asked_of(there, None)
    assert subject(mine.question) != subject(hers.question)
    assert asked_of(here, "ben").number not in (hers.number, mine.number)


def test_undo_and_changes_are_one_s_own(servers: Callable[..., list[Session]]) -> None:
    here, there = servers()
    hers, his = asked_of(here, "anna"), asked_of(there, "ben")
    here.tell(hers.number, truthful(hers), by="anna")
    there.tell(his.number, truthful(his), by="ben")
    with pytest.raises(NotYourAnswer, match="only ben can change"):
        here.undo(his.number, by="anna")
    with pytest.raises(NotYourAnswer):
        here.edit(his.number, UNSURE, by="anna", own=True)
    here.catch_up()
    assert here.undo(by="anna") == hers.number
    assert asked_of(there, "ben").number != hers.number, "it is open for anna again"
    assert here.ask(by="anna") == hers
    assert here.undo(by="cleo") is None


def test_second_opinions_are_kept_beside_the_first(servers: Callable[..., list[Session]]) -> None:
    here, there = servers(overlap=1.0)
    first = asked_of(here, "anna")
    here.tell(first.number, "1", by="anna")
    again = asked_of(there, "ben")
    assert again == first, "every question is asked of two people"
    assert asked_of(here, "anna").number != first.number, "nobody is asked twice"
    assert asked_of(here, "cleo").number != first.number, "and only one more person"
    there.tell(first.number, "none", by="ben")
    there.tell(first.number, "none", by="ben")
    with pytest.raises(AlreadyAnswered):
        there.tell(first.number, "1", by="ben")
    here.catch_up()
    assert [(a.by, a.choice) for a in here.answers] == [("anna", "1")]
    assert [(a.by, a.choice) for a in here.second_opinions] == [("ben", "none")]
    assert here.constraints.conflicts == () and here.constraints.n_answers == 1
    assert [a.choice for a in there.history("ben", own=True)] == ["none"]
    there.edit(first.number, UNSURE, by="ben", own=True)
    assert [a.choice for a in there.second_opinions] == [UNSURE]
    assert there.undo(by="ben") == first.number and there.second_opinions == ()
    assert there.ask(by="ben") == first
    there.skip(first.number, by="ben")
    assert [a.choice for a in there.second_opinions] == [UNSURE], "skipped: no opinion"


def test_the_share_of_second_opinions_is_the_one_that_is_wanted() -> None:
    people = People(overlap=0.1)
    chosen = [n for n in range(1, 10_001) if people.wants_second(7, n)]
    assert 900 < len(chosen) < 1100
    assert chosen == [n for n in range(1, 10_001) if people.wants_second(7, n)]


@pytest.mark.parametrize("wrong", [{"overlap": 1.1}, {"overlap": -0.1}, {"hold_seconds": 0.5}])
def test_settings_that_make_no_sense_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(InputError, match="Expected"):
        People(**wrong)


def test_a_refit_of_one_server_is_followed_by_the_others(
    servers: Callable[..., list[Session]],
) -> None:
    here, there = servers()
    for name in ("anna", "ben") * 12:
        asked = asked_of(here, name)
        here.tell(asked.number, truthful(asked), by=name)
    here.refit()
    here.rename(int(here.clustering.labels[0]), "First")
    assert there.catch_up() and there.is_stale
    there.follow()
    assert not there.is_stale and there.clustering.snapshot == here.clustering.snapshot
    np.testing.assert_array_equal(there.clustering.labels, here.clustering.labels)
    assert there.clustering.names == here.clustering.names
    assert there.progress()["moved"] == here.progress()["moved"]


def test_of_two_refits_at_once_one_is_recorded(
    servers: Callable[..., list[Session]], monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = servers()
    for name in ("anna", "ben") * 12:
        asked = asked_of(here, name)
        here.tell(asked.number, truthful(asked), by=name)
    there.catch_up()
    warm_up = Session._warm_up
    others = [here]

    def meanwhile(session: Session, clustering: Any) -> None:
        if session is there and others:
            others.pop().refit()
        warm_up(session, clustering)

    monkeypatch.setattr(Session, "_warm_up", meanwhile)
    there.refit()
    refits = [e.data["snapshot"] for e in here.store.read("main") if e.kind == "refitted"]
    assert refits == [0, 1], "the second one has taken over the groups of the first"
    np.testing.assert_array_equal(there.clustering.labels, here.clustering.labels)


def test_one_person_alone_writes_the_same_ledger_as_ever(
    servers: Callable[..., list[Session]],
) -> None:
    (session,) = servers(1)
    for _ in range(6):
        asked = asked_of(session, None)
        session.tell(asked.number, truthful(asked))
    session.undo()
    events = list(session.store.read("main"))
    assert {e.kind for e in events} == {"opened", "refitted", "proposed", "told", "undone"}
    assert all("for" not in event.data and "second" not in event.data for event in events)


def test_a_decision_that_came_too_late_is_made_again() -> None:
    store = MemoryStore()
    X, _ = clouds(N)
    here, there = (Session(points(N), X, store=store, seed=0) for _ in range(2))
    asked = asked_of(here, "anna")
    there.catch_up()
    append, calls = store.append, []

    def slow(session: str, event: Event, *, after: int | None = None) -> int:
        if event.kind == "told" and not calls:  # the other server is a moment quicker
            calls.append(event)
            there.tell(asked.number, "none", by="anna")
        return append(session, event, after=after)

    store.append = slow  # type: ignore[method-assign]
    with pytest.raises(AlreadyAnswered, match="answered with 'none'"):
        here.tell(asked.number, "1", by="anna")
    assert [a.choice for a in here.answers] == ["none"]
