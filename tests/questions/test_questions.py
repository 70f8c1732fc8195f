"""Questions about groups: what their choices mean, which spellings count, and every door."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rich.console import Console as Screen

from piles import clouds
from samekind.cli.terminal import TerminalPerson, choice_of
from samekind.constraints import Constraints
from samekind.errors import AnswerError, InputError
from samekind.items import Collection
from samekind.ledger.store import MemoryStore
from samekind.protocols import View
from samekind.questions import (
    AllLike,
    Answer,
    OddOnes,
    Question,
    SameGroups,
    SamePair,
    WhichGroup,
    joined,
    named,
    question_from_json,
)
from samekind.session import Session
from samekind.simulation.loop import run
from samekind.simulation.people import Noisy, Replay, Truth
from samekind.sources import open_source

FOUR = OddOnes((0, 1), (5, 2, 9, 7))


def test_a_choice_about_two_groups_speaks_of_their_central_items() -> None:
    question = SameGroups((3, 1), (2, 5))
    assert question.links("same") == ((3, 2, True),)
    assert question.links("different") == ((3, 2, False),)
    assert question.parts() == ((3, 1), (2, 5))


def test_one_answer_says_of_every_item_shown_whether_it_belongs() -> None:
    assert FOUR.links("none") == ((5, 0, True), (2, 0, True), (9, 0, True), (7, 0, True))
    assert FOUR.links("2,4") == ((5, 0, True), (2, 0, False), (9, 0, True), (7, 0, False))
    assert {same for _, _, same in FOUR.links("1,2,3,4")} == {False}
    assert FOUR.links("unsure") == ()


def test_a_number_stands_for_its_item_and_the_group_is_shown_above() -> None:
    assert FOUR.exemplars("3") == (9,)
    assert FOUR.exemplars("2,4") == (2, 7)
    assert FOUR.exemplars("none") == FOUR.exemplars("unsure") == ()
    assert FOUR.parts() == ((0, 1),)
    assert FOUR.choices() == ("none", "1", "2", "3", "4", "unsure")


def test_a_search_names_those_that_belong_and_a_review_those_that_do_not() -> None:
    search = AllLike(FOUR.group, FOUR.shown)
    assert search.links("2,4") == ((5, 0, False), (2, 0, True), (9, 0, False), (7, 0, True))
    for question in (FOUR, search):
        assert question.omitted("2,4") == question.links("2,4")[::2]
        assert question.omitted("none") == question.links("none")
        assert question.omitted("1,2,3,4") == question.omitted("unsure") == ()
    assert Answer(1, FOUR, "2,4").explicit == ((2, 0, False), (7, 0, False))
    assert SamePair(0, 1).omitted("same") == ()


@pytest.mark.parametrize(
    ("choice", "advice"),
    [
        ("4,2", "Name each number once, in ascending order, with commas and no spaces: '2,4'."),
        ("2, 4", "Name each number once, in ascending order, with commas and no spaces: '2,4'."),
        ("2,2", "Name each number once, in ascending order, with commas and no spaces: '2'."),
        ("2,5", "Expected numbers from 1 to 4, got 5."),
        ("0", "Expected numbers from 1 to 4, got 0."),
        ("02", "Expected numbers from 1 to 4, got 02."),
        ("٢", "Expected numbers from 1 to 4, got ٢."),
        ("yes", "join several numbers by commas, as in '1,2'."),
        ("none,1", "join several numbers by commas, as in '1,2'."),
        ("1,unsure", "join several numbers by commas, as in '1,2'."),
        ("1,,2", "join several numbers by commas, as in '1,2'."),
        ("", "join several numbers by commas, as in '1,2'."),
    ],
)
def test_another_spelling_is_refused_with_the_right_one(choice: str, advice: str) -> None:
    for refuse in (FOUR.check, FOUR.links, FOUR.exemplars):
        with pytest.raises(AnswerError) as fault:
            refuse(choice)
        assert str(fault.value).startswith(f"{choice!r} is not an answer to an 'odd-ones' question")
        assert str(fault.value).endswith(advice)


def test_what_is_unknown_of_one_item_makes_the_whole_answer_unsure() -> None:
    assert FOUR.truthful(lambda a, b: None if a == 9 else True) == "unsure"
    assert FOUR.truthful(lambda a, b: a != 9) == "3"
    assert Truth(np.array([0, 0, 1, -1, 0])).answer(OddOnes((0,), (1, 2, 3))) == "unsure"
    assert Truth(np.array([0, 0, 1, -1, 0])).answer(OddOnes((0, 4), (1, 2))) == "2"
    assert Truth(np.array([0, 0, 1, 1])).answer(SameGroups((0, 1), (2, 3))) == "different"


@pytest.mark.parametrize(
    "make",
    [
        lambda: SameGroups((), (1,)),
        lambda: SameGroups((1, 2), (2, 3)),
        lambda: SameGroups((1, 1), (2,)),
        lambda: OddOnes((), (1,)),
        lambda: OddOnes((1,), ()),
        lambda: OddOnes((0,), tuple(range(1, 26))),
        lambda: AllLike((0,), tuple(range(1, 26))),
        lambda: AllLike((0,), (0, 1)),
        lambda: OddOnes((0, 1), (2, 1)),
        lambda: OddOnes((0,), (2, 2)),
    ],
)
def test_a_question_that_cannot_be_shown_is_refused(make: Callable[[], Question]) -> None:
    with pytest.raises(InputError, match=r"at least 1 exemplar|show an item twice"):
        make()


@st.composite
def questions(draw: st.DrawFn) -> tuple[Question, list[int]]:
    """A question about groups, and the kinds of twenty items; exemplars are of one kind."""
    kinds = draw(st.lists(st.integers(0, 2), min_size=20, max_size=20))
    order = draw(st.permutations(range(20)))
    n, m = draw(st.integers(1, 4)), draw(st.integers(1, 12))
    grid = draw(st.sampled_from([OddOnes, AllLike, None]))
    first, rest = tuple(order[:n]), tuple(order[n : n + m])
    for i in first:
        kinds[i] = kinds[first[0]]
    if grid is not None:
        return grid(first, rest), kinds
    for i in rest:
        kinds[i] = kinds[rest[0]]
    return SameGroups(first, rest), kinds


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(questions())
def test_the_links_of_the_truthful_choice_are_true_and_complete(
    drawn: tuple[Question, list[int]],
) -> None:
    question, kinds = drawn
    choice = Truth(np.array(kinds)).answer(question)
    links = question.links(choice)
    assert links and all((kinds[a] == kinds[b]) == same for a, b, same in links)
    known = Constraints.from_answers(20, [Answer(1, question, choice)])
    assert not known.conflicts
    assert question.truthful(known.same) == choice, "an answer implies its own question"
    assert question_from_json(question.to_json(str), int) == question


@given(st.sets(st.integers(1, 12)))
def test_every_set_of_numbers_has_one_spelling(numbers: set[int]) -> None:
    question = OddOnes((20,), tuple(range(12)))
    choice = joined(sorted(numbers, reverse=True))
    question.check(choice)
    assert set(named(choice)) == numbers
    assert {link.a + 1 for link in question.links(choice) if not link.same} == numbers


def test_an_answer_that_contradicts_in_one_item_is_kept_aside_whole() -> None:
    answers = [
        Answer(1, SamePair(5, 2), "same"),
        Answer(2, SamePair(0, 7), "same"),
        Answer(3, FOUR, "1,2,4"),
    ]
    known = Constraints.from_answers(10, answers)
    (conflict,) = known.conflicts
    assert [answer.number for answer in conflict.clash] == [2, 3], "0 and 7 are one kind"
    assert known.same(9, 0) is None
    known = Constraints.from_answers(10, [*answers[:2], Answer(3, FOUR, "2,3")])
    assert not known.conflicts, "5 was not named, but 2 was, which is the same kind"
    assert known.same(5, 0) is False and known.same(9, 7) is False


@dataclass(frozen=True)
class AboutGroups:
    """All kinds of questions in turn."""

    def propose(self, view: View, n: int = 1) -> Sequence[Question]:
        for _ in range(50):
            p = [int(i) for i in view.rng.permutation(len(view.clustering.labels))]
            asked: Question = [
                SameGroups(tuple(p[:3]), tuple(p[3:5])),
                OddOnes(tuple(p[:2]), tuple(p[2:14])),
                WhichGroup(p[0], ((p[1],), (p[2],))),
                AllLike((p[0],), tuple(p[1:25])),
            ][view.spent % 4]
            if asked.truthful(view.constraints.same) == "unsure":
                return [asked]
        return []


def session(store: MemoryStore) -> Session:
    tiles = open_source("tiles")
    pile = Collection("some tiles", [tiles[i] for i in range(60)])
    return Session(pile, clouds(60)[0], store=store, strategy=AboutGroups(), seed=3)


def told(store: MemoryStore) -> list[str]:
    return [event.data["choice"] for event in store.read("main") if event.kind == "told"]


def test_every_door_writes_the_same_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    first, again, typed = MemoryStore(), MemoryStore(), MemoryStore()
    simulated = session(first)
    run(simulated, Truth(clouds(60)[1]), 4)
    assert any("," in choice for choice in told(first)), "several are named at once"
    run(session(again), Replay(simulated.answers), 4)
    assert told(again) == told(first)

    said = [" ".join(reversed(choice.split(","))) for choice in told(first)]
    monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(said) + "\n"))
    at = session(typed)
    with TerminalPerson(Screen(file=io.StringIO(), width=120), at) as person:
        run(at, person, 4)
    assert told(typed) == told(first)


def test_a_session_is_taken_up_again_with_answers_that_name_several() -> None:
    store = MemoryStore()
    before = session(store)
    run(before, Truth(clouds(60)[1]), 6)
    after = session(store)
    assert [a.choice for a in after.answers] == [a.choice for a in before.answers]
    assert after.ask() == before.ask()
    last = next(a for a in reversed(before.answers) if isinstance(a.question, OddOnes))
    after.edit(last.number, "none")
    assert next(a for a in after.answers if a.number == last.number).choice == "none"
    with pytest.raises(AnswerError, match="from 1 to 12, got 13"):
        after.edit(last.number, "13")


def test_each_item_of_a_grid_is_judged_wrong_at_the_same_rate() -> None:
    truth = Truth(np.array([0, 0, 1, 0, 0, 1, 0]))
    question = OddOnes((0,), (1, 2, 3, 4, 5, 6))
    assert truth.answer(question) == "2,5"
    assert Noisy(truth, 1.0).answer(question) == "1,3,4,6"
    person = Noisy(truth, 0.2, seed=1)
    told = [set(named(person.answer(question))) for _ in range(500)]
    wrong = np.array([[(k in numbers) != (k in (2, 5)) for k in range(1, 7)] for numbers in told])
    assert wrong.mean(axis=0) == pytest.approx(0.2, abs=0.06)
    assert Noisy(Truth(np.zeros(7)), 1.0).answer(OddOnes((0,), (1,))) == "1"
    assert Noisy(Truth(np.full(7, -1)), 1.0).answer(question) == "unsure"


def test_a_typed_list_is_understood_wherever_words_are_typed() -> None:
    assert choice_of("4 2", FOUR) == "2,4"
    assert choice_of("", FOUR) == choice_of("0", FOUR) == "none"
    assert choice_of("4 5", FOUR) is None
    assert choice_of("1 2", WhichGroup(0, ((1,), (2,)))) is None
