"""Acts by hand: they change the groups, stay after a restart, and go with one undo."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from piles import points
from samekind.errors import AnswerError, InputError
from samekind.ledger.store import MemoryStore, open_store
from samekind.questions import YES, Belongs, ByHand, Elsewhere, OneKind, OwnKind, SamePair
from samekind.session import Session, acts
from samekind.session.acts import Act
from samekind.simulation.loop import run
from samekind.simulation.people import Truth
from samekind.testing import check_question

CLOUDS, EACH = 6, 25
PLACE = np.arange(CLOUDS * EACH) % CLOUDS
"""The cloud of each item; the kinds that a person has in mind are pairs of clouds."""
KINDS = PLACE % 3


def vectors() -> NDArray[np.float32]:
    rng = np.random.default_rng(5)
    X = rng.normal(scale=0.3, size=(len(PLACE), 8))
    angle = 2 * np.pi * PLACE / CLOUDS
    X[:, 0] += 4 * np.cos(angle)
    X[:, 1] += 4 * np.sin(angle)
    return X.astype(np.float32)


def opened(method: str = "live", store: Any = None, answers: int = 0, **settings: Any) -> Session:
    session = Session(
        points(len(PLACE)), vectors(), store=store, clusterer=method, seed=0, **settings
    )
    if answers:
        run(session, Truth(KINDS), answers)
        session.refit()
    return session


def group_of(session: Session, cloud: int) -> int:
    """The group that most items of a cloud are in."""
    found, counts = np.unique(session.clustering.labels[cloud == PLACE], return_counts=True)
    return int(found[counts.argmax()])


def share(session: Session, items: NDArray[np.bool_] | Sequence[int], group: int) -> float:
    return float((session.clustering.labels[items] == group).mean())


def performed(session: Session, act: Act) -> int:
    number = acts.perform(session, act)
    session.refit()
    return number


METHODS = pytest.mark.parametrize("method", ["live", "propagation"])


@METHODS
def test_merged_groups_are_one_and_come_apart_with_one_undo(method: str) -> None:
    session = opened(method)
    a, b = group_of(session, 0), group_of(session, 3)
    assert a != b
    before = session.clustering.labels.copy()
    performed(session, acts.merge(session, a, b))
    both = np.isin(before, (a, b))
    assert share(session, both, group_of(session, 0)) > 0.95
    assert len(session.answers) == 1
    session.undo()
    session.refit()
    assert group_of(session, 0) != group_of(session, 3)
    assert session.answers == ()


@METHODS
def test_what_is_split_off_is_a_group_of_its_own_and_the_others_stay(method: str) -> None:
    session = opened(method, answers=25)
    group = group_of(session, 0)
    assert group == group_of(session, 3), "the person has put these two clouds together"
    items = [int(i) for i in np.flatnonzero(PLACE == 3) if not told_of(session, int(i))][:8]
    n = session.clustering.n_groups
    others = [group_of(session, cloud) for cloud in (1, 2)]
    performed(session, acts.split(session, group, items))
    assert session.constraints.conflicts == ()
    own = int(session.clustering.labels[items[0]])
    assert share(session, items, own) == 1.0
    assert own != group_of(session, 0) and session.clustering.n_groups == n + 1
    assert [group_of(session, cloud) for cloud in (1, 2)] == others


@METHODS
def test_moved_items_are_in_the_other_group(method: str) -> None:
    session = opened(method, answers=25)
    items = [int(i) for i in np.flatnonzero(PLACE == 3) if not told_of(session, int(i))][:4]
    target = group_of(session, 1)
    performed(session, acts.move(session, items, target))
    assert share(session, items, target) == 1.0 and group_of(session, 1) == target


def test_items_can_be_moved_between_groups_that_nobody_was_asked_about() -> None:
    session = opened()
    items = np.flatnonzero(PLACE == 0)[:3].tolist()
    performed(session, acts.move(session, items, group_of(session, 1)))
    assert share(session, items, group_of(session, 1)) == 1.0
    assert group_of(session, 0) != group_of(session, 1)


@METHODS
@pytest.mark.parametrize("answers", [0, 25])
def test_what_is_taken_out_is_in_some_other_group(method: str, answers: int) -> None:
    session = opened(method, answers=answers)
    items = [int(i) for i in np.flatnonzero(PLACE == 1) if not told_of(session, int(i))][:2]
    performed(session, acts.out(session, items))
    assert share(session, items, group_of(session, 1)) == 0.0


@METHODS
def test_items_put_together_are_in_one_group(method: str) -> None:
    session = opened(method)
    items = [*np.flatnonzero(PLACE == 0)[:5].tolist(), *np.flatnonzero(PLACE == 4)[:5].tolist()]
    performed(session, acts.together(session, items))
    assert len(set(session.clustering.labels[items].tolist())) == 1


def test_an_act_stays_after_a_restart_and_keeps_its_number(ledger: Path) -> None:
    session = opened(store=open_store(ledger), answers=25)
    items = [int(i) for i in np.flatnonzero(PLACE == 3) if not told_of(session, int(i))][:4]
    number = performed(session, acts.move(session, items, group_of(session, 1)))
    again = opened(store=open_store(ledger))
    assert [a.number for a in again.answers][-1] == number
    assert again.answers[-1] == session.answers[-1]
    assert again.clustering.labels.tolist() == session.clustering.labels.tolist()
    again.undo(number)
    again.refit()
    assert share(again, items, group_of(again, 1)) < 1.0


def test_an_act_is_one_event_so_no_crash_can_leave_half_of_it() -> None:
    store = MemoryStore()
    session = opened(store=store)
    before = len(list(store.read("main")))
    acts.perform(session, acts.together(session, [1, 2, 3]), by="Ada")
    (event,) = list(store.read("main"))[before:]
    assert event.kind == "volunteered"
    assert (event.data["choice"], event.data["by"]) == ("yes", "Ada")
    assert opened(store=store).answers[0].by == "Ada"


def test_an_act_that_is_taken_back_is_not_asked_again() -> None:
    session = opened()
    asked = session.ask()
    number = acts.perform(session, acts.together(session, [1, 2, 3]))
    assert session.undo() == number
    assert session.ask() == asked
    with pytest.raises(AnswerError):
        session.undo(number)


def test_an_act_that_is_sent_twice_counts_once() -> None:
    session = opened()
    numbers = {acts.perform(session, acts.together(session, [1, 2, 3])) for _ in range(3)}
    assert len(numbers) == 1 and len(session.answers) == 1


def test_another_process_may_write_in_between(ledger: Path) -> None:
    one, other = opened(store=open_store(ledger)), opened(store=open_store(ledger))
    asked = other.ask()
    assert asked is not None
    number = acts.perform(one, acts.together(one, [1, 2, 3]))
    assert number == asked.number + 1, "numbers are given in the order of the ledger"
    assert isinstance(one.asked(number).question, OneKind)
    other.tell(asked.number, "unsure")
    one.ask()
    assert [a.number for a in one.answers] == [a.number for a in other.answers]


def test_a_group_is_named_by_what_the_person_placed_there() -> None:
    session = opened(answers=25)
    placed = set(session.constraints.touched.tolist())
    act = acts.out(session, [int(np.flatnonzero(session.clustering.labels == 1)[-1])])
    assert act.question.parts()[0][0] in placed


def test_a_merged_group_without_answers_is_meant_as_a_whole_and_one_with_answers_by_these() -> None:
    session = opened()
    a, b = group_of(session, 0), group_of(session, 1)
    sizes = session.clustering.sizes()
    parts = acts.merge(session, a, b).question.parts()
    assert [len(part) for part in parts] == [sizes[a], sizes[b]]
    session = opened(answers=25)
    placed = set(session.constraints.touched.tolist())
    parts = acts.merge(session, group_of(session, 0), group_of(session, 1)).question.parts()
    assert placed.issuperset(i for part in parts for i in part)


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (lambda s: acts.merge(s, 1, 1), "got 1, 1"),
        (lambda s: acts.merge(s, 1, 99), "no group 99"),
        (lambda s: acts.move(s, [0], 99), "no group 99"),
        (lambda s: acts.split(s, 99, [0]), "no group 99"),
        (lambda s: acts.together(s, [3, 3]), "at least 2 items to put together, got 1"),
        (lambda s: acts.together(s, [3, 10_000]), "from 0 to [0-9]+, got 10000"),
        (lambda s: acts.out(s, []), "1 to 5,000 items"),
        (lambda s: acts.out(s, list(range(6_000))), "1 to 5,000 items"),
        (lambda s: acts.split(s, 1, members(s, 1)), "nothing would be left"),
        (lambda s: acts.out(s, members(s, 1)), "no other items"),
        (lambda s: acts.move(s, members(s, 1), 1), "no other items"),
    ],
)
def test_an_act_that_means_nothing_is_refused_in_words(
    act: Callable[[Session], Act], words: str
) -> None:
    session = opened()
    with pytest.raises(InputError, match=words):
        act(session)
    assert session.answers == ()


@pytest.mark.parametrize(
    "question",
    [
        OneKind(((4, 7), (2,))),
        OneKind(((1, 2, 3, 4, 5, 6, 7, 8),)),
        OwnKind(((4, 7), (2, 3))),
        OwnKind(((4,), (2,), (5, 6)), why="You split one item off Group 1."),
        Belongs(((9,), (4, 7), (2,))),
        Belongs(((9, 8), (4,))),
        Elsewhere(((4,), (7, 8))),
        Elsewhere(((4, 7), (1, 2), (3,), (5,))),
    ],
)
def test_every_kind_said_by_hand_keeps_the_contract_of_a_question(question: ByHand) -> None:
    check_question(question)
    assert question.by_hand and not SamePair(1, 2).by_hand
    assert question.choices()[0] == YES


@pytest.mark.parametrize(
    "make",
    [
        lambda: OneKind(((1,),)),
        lambda: OneKind(((1, 2), (2,))),
        lambda: OneKind(((1, 2), ())),
        lambda: OwnKind(((1, 2),)),
        lambda: Belongs(((1, 2),)),
        lambda: Elsewhere(((1,), (2,), (3,))),
    ],
)
def test_a_question_by_hand_that_shows_nothing_or_something_twice_is_refused(
    make: Callable[[], ByHand],
) -> None:
    with pytest.raises(InputError):
        make()


def test_five_thousand_of_a_hundred_thousand_items_are_put_together_without_comparing_all() -> None:
    n = 100_000
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 8)).astype(np.float32)
    session = Session(points(n), X, clusterer="live", seed=0)
    began = time.process_time()
    acts.perform(session, acts.together(session, rng.permutation(n)[:5_000].tolist()))
    one, other = session.clustering.numbers[:2]
    acts.perform(session, acts.merge(session, one, other))
    assert len(session.answers) == 2
    assert time.process_time() - began < 60, "all pairs of the collection would take hours"


def told_of(session: Session, item: int) -> bool:
    return item in session.constraints.touched


def members(session: Session, group: int) -> list[int]:
    return [int(i) for i in session.clustering.members(group)]


def test_groups_keep_their_numbers_from_the_first_act_on() -> None:
    session = opened()
    before = {cloud: group_of(session, cloud) for cloud in range(CLOUDS)}
    first, second = sorted(set(before.values()))[:2]
    performed(session, acts.merge(session, first, second))
    session.refit()
    for cloud, number in before.items():
        if number not in (first, second):
            assert group_of(session, cloud) == number
