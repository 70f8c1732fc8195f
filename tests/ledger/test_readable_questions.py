"""Nothing is stored that cannot be read back: positions and ids of questions are checked first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from piles import Point, clouds
from samekind.errors import CorruptedLedger, InputError, SourceError
from samekind.items import Collection
from samekind.ledger.repair import repair
from samekind.ledger.store import open_store
from samekind.protocols import Event, View
from samekind.questions import OddOnes, OneKind, Question, SamePair, WhichGroup
from samekind.session import Session

N = 60
UNKNOWN: list[Any] = [
    *(SamePair(0, -N), SamePair(0, -3), SamePair(0, N), SamePair(0, -5 * N)),
    *(SamePair(0.9, 1.9), SamePair(0, None)),  # type: ignore[arg-type]
    OddOnes((0, -1), (N - 1, 3, 4)),
    OneKind(((0, 1), (-N,))),
    WhichGroup(0, ((-N,),)),
]


class Proposing:
    """A strategy of somebody else."""

    def __init__(self, proposed: Any) -> None:
        self.proposed = proposed

    def propose(self, view: View, n: int = 1) -> Any:
        return self.proposed


def goes_on(session: Session, strategy: Any = None) -> None:
    """The ledger opens again, and has no more than its beginning."""
    again = Session(session.X, store=session.store, strategy=strategy)
    assert [event.kind for event in again.store.read("main")] == ["opened", "refitted"]


@pytest.mark.parametrize("question", UNKNOWN, ids=lambda q: f"{q.kind} {q.items()}")
def test_questions_about_unknown_items_are_refused_before_they_are_stored(question: Any) -> None:
    session = Session(clouds(N)[0])
    with pytest.raises(InputError, match=r"from 0 to 59, got .* Count from 0"):
        session.volunteer(question, question.choices()[0])
    with pytest.raises(InputError, match=r"from 0 to 59, got .* Count from 0"):
        session.put_first(question)
    goes_on(session)


@pytest.mark.parametrize("question", UNKNOWN, ids=lambda q: f"{q.kind} {q.items()}")
def test_a_strategy_cannot_ask_about_unknown_items(question: Question) -> None:
    strategy = Proposing([question])
    session = Session(clouds(N)[0], strategy=strategy)
    with pytest.raises(InputError, match=r"from 0 to 59, got .* Count from 0"):
        session.ask()
    goes_on(session, strategy)


@pytest.mark.parametrize("proposed", [None, 5, "ab", [None], [(0, 1)]], ids=repr)
def test_a_strategy_that_returns_no_questions_is_told(proposed: Any) -> None:
    session = Session(clouds(N)[0], strategy=Proposing(proposed))
    with pytest.raises(InputError, match="Expected a list of questions from propose of Proposing"):
        session.ask()


def test_what_is_no_question_is_told() -> None:
    with pytest.raises(InputError, match="Expected a question, such as SamePair"):
        Session(clouds(N)[0]).put_first((0, 3))  # type: ignore[arg-type]


def test_positions_of_numpy_are_positions() -> None:
    session = Session(clouds(N)[0])
    session.volunteer(SamePair(np.int64(0), np.int32(5)), "same")
    assert session.constraints.same(0, 5)


def test_items_with_the_same_id_are_refused() -> None:
    items = [Point(f"p{i % 50}") for i in range(N)]
    pile = Collection("pile", items)
    for _ in range(2):
        with pytest.raises(SourceError, match=r"unique ids in 'pile', got 'p0' twice"):
            Session(pile, clouds(N)[0])


def test_a_ledger_that_an_earlier_version_spoilt_is_saved_by_repair(tmp_path: Path) -> None:
    X, file = clouds(N)[0], tmp_path / "m.samekind"
    with open_store(file) as store:
        session = Session(X, store=store)
        session.volunteer(SamePair(0, 1), "same")
        twice = {"kind": "same-pair", "a": "row-0", "b": "row-0", "why": ""}
        data = {"snapshot": 0, "questions": [twice], "stamps": {}}
        store.append("main", Event("volunteered", {**data, "choice": "same", "by": "me"}))
        with pytest.raises(CorruptedLedger, match=r"Nothing was changed.*samekind repair"):
            session.catch_up()
        with pytest.raises(CorruptedLedger, match=r"Nothing was changed.*samekind repair"):
            Session(X, store=store)
    with open_store(repair(file).path) as store:
        again = Session(X, store=store)
        assert again.constraints.same(0, 1)
        again.volunteer(SamePair(1, 2), "different")
        assert Session(X, store=store).constraints.same(0, 2) is False


def copies(*left_out: str) -> Collection:
    """Items of which three have the same content, without some."""
    content = {"a": "same", "b": "same", "c": "same"}
    ids = ["a", "b", "c", *(f"p{i}" for i in range(20))]
    return Collection("pile", [Point(i, content.get(i, i)) for i in ids if i not in left_out])


@pytest.mark.parametrize("earlier", [False, True], ids=["first", "asked before"])
def test_a_copy_of_an_item_that_is_gone_stays_itself(earlier: bool) -> None:
    pile = copies()
    session = Session(pile, clouds(23)[0])
    at = pile.position
    if earlier:
        session.volunteer(SamePair(at("a"), at("p0")), "same")
    session.volunteer(SamePair(at("a"), at("b")), "same")
    session.volunteer(SamePair(at("b"), at("p1")), "different")
    left = copies("a", "c")
    again = Session(left, clouds(21)[0], store=session.store)
    assert "a" in again.positions.gone and not again.positions.renamed
    assert again.constraints.same(left.position("b"), left.position("p1")) is False
    if earlier:
        assert again.constraints.same(left.position("b"), left.position("p0"))


def test_an_item_that_was_renamed_and_asked_about_again_is_still_the_same() -> None:
    first = copies("b", "c")
    session = Session(first, clouds(21)[0])
    session.volunteer(SamePair(first.position("a"), first.position("p0")), "same")
    renamed = copies("a", "c")  # b has what a had
    for name in ("p1", "p2"):
        again = Session(renamed, clouds(21)[0], store=session.store)
        assert again.positions.renamed == {"a": "b"}
        again.volunteer(SamePair(renamed.position("b"), renamed.position(name)), "different")
    assert again.constraints.same(renamed.position("p0"), renamed.position("p1")) is False
