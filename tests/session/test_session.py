"""Session: asking, telling, taking back, reopening, changed collections."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from piles import Point, clouds, points
from samekind.errors import (
    AnswerError,
    ChangedCollection,
    CorruptedLedger,
    InputError,
    VectorError,
)
from samekind.items import Collection
from samekind.ledger.store import MemoryStore, open_store
from samekind.protocols import Event, View
from samekind.questions import Question, SamePair
from samekind.session import Session
from samekind.simulation.loop import run
from samekind.simulation.people import Truth

PATIENCE = 300.0
"""Seconds to wait for another thread, however busy the machine is."""

Make = Callable[..., Session]


def answer(session: Session, kinds: Any, times: int) -> None:
    run(session, Truth(kinds), times)


def test_the_open_question_stays_the_same_until_it_is_answered(make_session: Make) -> None:
    session = make_session()
    first = session.ask()
    assert first is not None
    assert session.ask() == first
    session.tell(first.number, first.question.choices()[0])
    second = session.ask()
    assert second is not None and second.number == first.number + 1


def test_a_choice_that_is_none_is_refused_and_nothing_is_recorded(make_session: Make) -> None:
    session = make_session()
    asked = session.ask()
    assert asked is not None
    with pytest.raises(AnswerError, match="'yes' is not an answer to a 'which-group' question"):
        session.tell(asked.number, "yes")
    with pytest.raises(AnswerError, match="no question 99"):
        session.tell(99, "same")
    with pytest.raises(AnswerError, match="seconds"):
        session.tell(asked.number, "none", seconds=float("nan"))
    assert session.answers == ()


def test_telling_twice_is_harmless_but_another_choice_needs_an_edit(make_session: Make) -> None:
    session = make_session()
    asked = session.ask()
    assert asked is not None
    session.tell(asked.number, "1")
    session.tell(asked.number, "1")
    with pytest.raises(AnswerError, match="already answered with '1'"):
        session.tell(asked.number, "none")
    session.edit(asked.number, "none")
    assert [a.choice for a in session.answers] == ["none"]


def test_undo_goes_all_the_way_back_and_asks_the_same_questions_again(
    make_session: Make, pile: Any
) -> None:
    session = make_session()
    answer(session, pile[2], 7)
    told = [a.number for a in session.answers]
    assert [session.undo() for _ in range(7)] == told[::-1]
    assert session.undo() is None
    assert session.constraints.touched.tolist() == []
    for number in told[:2]:
        asked = session.ask()
        assert asked is not None and asked.number == number
        session.tell(number, asked.question.truthful(lambda a, b: bool(pile[2][a] == pile[2][b])))


def test_any_answer_can_be_taken_back_or_changed(make_session: Make, pile: Any) -> None:
    session = make_session()
    answer(session, pile[2], 6)
    third = session.answers[2]
    session.undo(third.number)
    assert third.number not in [a.number for a in session.answers]
    with pytest.raises(AnswerError, match="no answer to undo"):
        session.undo(third.number)
    with pytest.raises(AnswerError, match="no answer to change"):
        session.edit(third.number, "none")


def test_a_skipped_question_comes_back_after_a_refit(make_session: Make, pile: Any) -> None:
    session = make_session(refit_every=2)
    asked = session.ask()
    assert asked is not None
    session.skip(asked.number)
    other = session.ask()
    assert other is not None and other.question.items()[0] != asked.question.items()[0]
    answer(session, pile[2], 2)
    with pytest.raises(AnswerError, match="not open"):
        session.skip(session.answers[0].number)
    assert session.ask() == asked


class _Fixed:
    """Proposes all its pairs at once, like a method that chooses its whole budget."""

    def __init__(self, *pairs: tuple[int, int]) -> None:
        self.pairs = pairs

    def propose(self, view: View, n: int = 1) -> list[Question]:
        return [SamePair(a, b) for a, b in self.pairs] if not view.constraints.answers else []


def test_nothing_is_proposed_once_the_budget_is_spent(make_session: Make) -> None:
    class Counted(_Fixed):
        calls = 0

        def propose(self, view: View, n: int = 1) -> list[Question]:
            Counted.calls += 1
            return super().propose(view, n)

    session = make_session(strategy=Counted((0, 4), (4, 9)), budget=2)
    for _ in range(2):
        asked = session.ask()
        assert asked is not None
        session.tell(asked.number, "same")
    before = Counted.calls
    session.refit()
    assert Counted.calls == before > 0
    session.budget = 3
    session.refit()
    assert Counted.calls > before


def test_many_questions_at_once_are_queued_and_implied_ones_dropped(make_session: Make) -> None:
    session = make_session(strategy=_Fixed((0, 4), (4, 8), (0, 8), (0, 1)))
    seen = []
    while (asked := session.ask()) is not None:
        seen.append(asked.question)
        session.tell(asked.number, "same" if asked.question != SamePair(0, 1) else "different")
    assert seen == [SamePair(0, 4), SamePair(4, 8), SamePair(0, 1)]


def test_contradictory_answers_are_shown_and_do_no_harm(make_session: Make) -> None:
    session = make_session(strategy=_Fixed((0, 4), (4, 8), (8, 12)))
    for choice in ("same", "same", "different"):
        asked = session.ask()
        assert asked is not None
        session.tell(asked.number, choice)
    session.store.append(
        session.name,
        Event(
            "proposed",
            {
                "snapshot": 0,
                "questions": [SamePair(0, 12).to_json(session.positions.name)],
                "stamps": {},
            },
        ),
    )
    asked = session.ask()
    assert asked is None  # implied by then: never asked
    session.tell(4, "same")
    (conflict,) = session.constraints.conflicts
    assert [a.number for a in conflict.clash] == [1, 2, 3, 4]
    session.edit(3, "same")
    assert session.constraints.conflicts == ()
    session.refit()


def test_groups_keep_numbers_and_names_across_refits_and_reopening(
    make_session: Make, pile: Any, ledger: Path
) -> None:
    session = make_session(store=open_store(ledger))
    answer(session, pile[2], 10)
    session.refit()
    group = int(session.clustering.labels[0])
    session.rename(group, "  left \n ones ")
    answer(session, pile[2], 5)
    session.refit()
    assert session.clustering.name(int(session.clustering.labels[0])) == "left ones"
    again = make_session(store=open_store(ledger))
    assert np.array_equal(again.clustering.labels, session.clustering.labels)
    assert again.clustering.names == session.clustering.names
    assert again.clustering.snapshot == session.clustering.snapshot
    with pytest.raises(InputError, match="no group 99"):
        session.rename(99, "x")


def test_guesses_before_the_first_answers_use_up_no_group_numbers(
    make_session: Make, pile: Any
) -> None:
    session = make_session()
    assert session.clustering.n_groups > 2
    answer(session, pile[2], 5)
    assert session.clustering.numbers == (1, 2)
    assert session.clustering.snapshot == 1


def test_reopening_asks_the_same_next_question(make_session: Make, pile: Any, ledger: Path) -> None:
    session = make_session(store=open_store(ledger))
    for _ in range(12):
        answer(session, pile[2], 1)
        again = make_session(store=open_store(ledger))
        assert again.answers == session.answers
        if session.due:
            session.refit()
            again = make_session(store=open_store(ledger))
        assert again.ask() == session.ask()
        assert np.array_equal(again.clustering.labels, session.clustering.labels)


def test_the_seed_decides_and_is_kept_in_the_ledger(make_session: Make, pile: Any) -> None:
    def questions(store: MemoryStore, **settings: Any) -> list[Question]:
        session = make_session(store=store, strategy="random", **settings)
        answer(session, pile[2], 5)
        return [a.question for a in session.answers]

    assert questions(MemoryStore(), seed=1) == questions(MemoryStore(), seed=1)
    assert questions(MemoryStore(), seed=1) != questions(MemoryStore(), seed=2)
    store = MemoryStore()
    questions(store, seed=7)
    assert make_session(store=store).seed == 7


def test_orientations_in_one_store_do_not_touch_each_other(make_session: Make, pile: Any) -> None:
    store = MemoryStore()
    one, other = make_session(store=store, name="one"), make_session(store=store, name="other")
    answer(one, pile[2], 6)
    assert len(one.answers) == 6 and other.answers == ()
    assert store.sessions() == ["one", "other"]


def test_two_sessions_on_one_ledger_see_each_others_answers(
    make_session: Make, pile: Any, ledger: Path
) -> None:
    one, other = make_session(store=open_store(ledger)), make_session(store=open_store(ledger))
    for k in range(6):
        answer((one, other)[k % 2], pile[2], 1)
    one.ask(), other.ask()
    assert one.answers == other.answers and len(one.answers) == 6
    assert one.ask() == other.ask()


def test_added_removed_and_renamed_items_keep_the_answers(pile: Any, ledger: Path) -> None:
    collection, X, kinds = pile
    session = Session(collection, X, store=open_store(ledger), refit_every=100)
    answer(session, kinds, 8)
    shown = [i for a in session.answers for i in a.question.items()]
    gone, renamed = shown[0], next(i for i in shown if i != shown[0])
    items = [
        Point("new name", item.stamp) if i == renamed else item
        for i, item in enumerate(collection)
        if i != gone
    ]
    keep = [i for i in range(len(X)) if i != gone]
    extra, _ = clouds(3, seed=5)
    changed = Collection("points", [*items, *points(3, "extra")])
    again = Session(changed, np.vstack([X[keep], extra]), store=open_store(ledger))
    assert len(again.answers) == 8
    assert again.progress()["gone"] == [collection.id(gone)]
    assert again.progress()["renamed"] == {collection.id(renamed): "new name"}
    new_place = {i: k for k, i in enumerate(keep)}
    for a in keep:
        for b in keep:
            if session.constraints.same(a, b) is not None:
                assert again.constraints.same(
                    new_place[a], new_place[b]
                ) == session.constraints.same(a, b)
    again.refit()
    assert again.ask() is not None


def test_another_folder_is_refused_and_the_answers_stay(pile: Any, ledger: Path) -> None:
    collection, X, kinds = pile
    answer(Session(collection, X, store=open_store(ledger)), kinds, 3)
    strangers = Collection("strangers", [Point(f"s{i}", f"other-{i}") for i in range(len(X))])
    with pytest.raises(ChangedCollection, match="Open the folder that the answers belong to"):
        Session(strangers, X, store=open_store(ledger))
    assert len(Session(collection, X, store=open_store(ledger)).answers) == 3


def test_an_event_that_cannot_be_understood_is_told_and_not_dropped(make_session: Make) -> None:
    store = MemoryStore()
    make_session(store=store)
    store.append("main", Event("from-the-future", {}))
    with pytest.raises(CorruptedLedger, match="newer samekind"):
        make_session(store=store)


@pytest.mark.parametrize(
    ("X", "words"),
    [
        (np.full((60, 3), np.nan), "got NaN or infinity for item 0"),
        (np.zeros((59, 3)), "60 items"),
        (np.zeros(60), "one vector for each of 60 items"),
        (np.zeros((60, 0)), "one vector for each of 60 items"),
    ],
)
def test_vectors_that_cannot_be_used_are_told(make_session: Make, X: Any, words: str) -> None:
    with pytest.raises(VectorError, match=words):
        make_session(X=X)


def test_one_item_is_nothing_to_group() -> None:
    with pytest.raises(InputError, match="at least 2 items"):
        Session(points(1), np.zeros((1, 2)))


def test_the_person_goes_on_while_a_refit_runs(make_session: Make, pile: Any) -> None:
    session = make_session(refit_every=3)
    inside, go_on = threading.Event(), threading.Event()
    real = session.clusterer

    class Slow(type(real)):  # type: ignore[misc]
        def fit(self, X: Any, y: Any = None, *, constraints: Any = None) -> Any:
            inside.set()
            assert go_on.wait(PATIENCE)
            return super().fit(X, y, constraints=constraints)

    answer(session, pile[2], 2)
    session.clusterer = Slow()
    worker = threading.Thread(target=session.refit)
    worker.start()
    assert inside.wait(PATIENCE)
    before = session.clustering.snapshot
    for _ in range(2):
        asked = session.ask()
        assert asked is not None
        session.tell(asked.number, "unsure")
    assert session.clustering.snapshot == before
    go_on.set()
    worker.join(PATIENCE)
    assert session.clustering.snapshot == before + 1
    assert session.progress()["until_refit"] == 1, "the answers of meanwhile wait for the next one"


def test_predict_speaks_the_stable_group_numbers(make_session: Make, pile: Any) -> None:
    session = make_session()
    answer(session, pile[2], 12)
    session.refit()
    placed = session.predict(pile[1])
    assert (placed == session.clustering.labels).mean() > 0.95
