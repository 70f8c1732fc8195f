"""People who err near boundaries, who change their mind, and two at one session."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from piles import points
from samekind.errors import InputError, UnknownName
from samekind.questions import (
    AllLike,
    OddOnes,
    Question,
    SameGroups,
    SamePair,
    WhichGroup,
    named,
)
from samekind.session import Session
from samekind.simulation.loop import run
from samekind.simulation.people import (
    OVERLOOKED_SHARE,
    PARAMETERS,
    PERSONS,
    Boundary,
    Drifting,
    Two,
    changed_kinds,
    judged_labels,
    other_labels,
    person_named,
)
from samekind.testing.questions import check_question

N = 300
# Three kinds in a row: 0 runs into 1, and 1 into 2; 0 and 2 never meet.
PLACE = np.linspace(0, 3, N, endpoint=False)
ROW = np.stack([PLACE, np.zeros(N)], axis=1) + np.random.default_rng(0).normal(0, 0.05, (N, 2))
KINDS = PLACE.astype(int)
MIDDLES = {0: 50, 1: 150, 2: 250}


def placings(seed: int = 0) -> Iterator[Question]:
    """Every item once, with the middles of the other kinds and of its own."""
    rng = np.random.default_rng(seed)
    for item in rng.permutation(N).tolist():
        others = tuple((i,) for i in MIDDLES.values() if i != item)
        yield WhichGroup(item, others)


def wrong_share(person: Any, questions: list[Question]) -> float:
    true = person_named("shown", KINDS)
    return float(np.mean([person.answer(q) != true.answer(q) for q in questions]))


@pytest.mark.parametrize("rate", [0.05, 0.1, 0.2])
def test_mistakes_near_boundaries_come_at_the_rate_that_was_asked_for(rate: float) -> None:
    person = Boundary(KINDS, ROW, rate, seed=1)
    assert person.mistaken.mean() == pytest.approx(rate, abs=1e-6)
    questions = [q for seed in range(8) for q in placings(seed) if len(q.items()) == 4]
    sd = np.sqrt(rate * (1 - rate) / len(questions))
    expected = person.mistaken[[q.items()[0] for q in questions]].mean()
    assert wrong_share(person, questions) == pytest.approx(expected, abs=4 * sd)


def test_mistakes_are_made_where_kinds_meet_and_hardly_in_their_middle() -> None:
    mistaken = Boundary(KINDS, ROW, 0.1).mistaken
    near = np.minimum(abs(PLACE - 1), abs(PLACE - 2)) < 0.1
    far = np.minimum(abs(PLACE - 1), abs(PLACE - 2)) > 0.3
    assert mistaken[near].mean() > 8 * mistaken[far].mean()
    assert mistaken.max() <= 0.5
    assert (mistaken > 0).all()


def test_a_mistake_is_the_plausible_one() -> None:
    person = Boundary(KINDS, ROW, 0.4)
    assert set(person.looks_like[KINDS == 0]) == {1}, "nobody takes a 0 for a 2"
    assert set(person.looks_like[:180][KINDS[:180] == 1]) == {0, 2}
    edge = 98  # of kind 0, among items of kind 1
    said = {person.answer(WhichGroup(edge, ((50,), (150,), (250,)))) for _ in range(100)}
    assert said == {"1", "2"}
    assert {person.answer(WhichGroup(edge, ((50,), (250,)))) for _ in range(100)} == {"1", "none"}
    assert {person.answer(SamePair(edge, 250)) for _ in range(100)} == {"different"}
    assert {person.answer(SamePair(edge, 150)) for _ in range(100)} == {"same", "different"}
    assert {person.answer(SameGroups((edge, 1), (50,))) for _ in range(100)} == {
        "same",
        "different",
    }
    odd = {person.answer(OddOnes((50,), (edge, 40, 200))) for _ in range(200)}
    assert odd == {"3", "1,3", "2,3", "1,2,3"}, "no mistake makes 200 look like 50"


def test_who_stands_for_a_group_is_seen_as_it_is() -> None:
    person = Boundary(KINDS, ROW, 0.4)
    assert person.mistaken[98] == 0.5
    calm = Boundary(KINDS, ROW, 0.0)
    assert wrong_share(calm, list(placings())) == 0.0
    easy = int(person.mistaken.argmin())
    chance = person.mistaken[easy]
    said = [person.answer(WhichGroup(easy, ((98,),))) for _ in range(2000)]
    right = "1" if KINDS[easy] == 0 else "none"
    assert np.mean([choice != right for choice in said]) <= chance + 4 * np.sqrt(chance / 2000)


def test_kinds_that_never_meet_are_mistaken_at_the_rate_too() -> None:
    rng = np.random.default_rng(0)
    kinds = np.arange(90) % 3
    far = rng.normal(size=(90, 2)) + 100 * np.eye(3)[kinds][:, :2]
    person = Boundary(kinds, far, 0.1)
    assert person.mistaken.mean() == pytest.approx(0.1, abs=1e-6)
    assert (person.looks_like != kinds).all()


def test_items_of_unknown_kind_are_left_open_and_not_counted() -> None:
    kinds = KINDS.copy()
    kinds[:30] = -1
    person = Boundary(kinds, ROW, 0.1)
    assert person.mistaken[30:].mean() == pytest.approx(0.1, abs=1e-6)
    assert person.answer(SamePair(3, 200)) == "unsure"


def test_a_person_with_a_boundary_needs_vectors_two_kinds_and_a_possible_rate() -> None:
    with pytest.raises(InputError, match="needs vectors"):
        person_named("boundary", KINDS, noise=0.1)
    with pytest.raises(InputError, match="at least two kinds, got one"):
        Boundary(np.zeros(N, dtype=int), ROW)
    with pytest.raises(InputError, match=r"got 0\.6 and 0\.5"):
        person_named("boundary", KINDS, X=ROW, noise=0.6)
    with pytest.raises(InputError, match="300 labels and vectors of shape \\(5, 2\\)"):
        Boundary(KINDS, ROW[:5])
    with pytest.raises(InputError, match="at least 1 neighbour"):
        person_named("boundary", KINDS, X=ROW, neighbours=0)


def test_a_drift_moves_from_the_first_orientation_to_the_last() -> None:
    odd = np.arange(N) % 2
    # Same under the first orientation, different under the second.
    question = SamePair(0, 1)
    runs = []
    for seed in range(200):
        person = Drifting(KINDS, odd, start=10, over=20, seed=seed)
        runs.append([person.answer(question) == "different" for _ in range(40)])
    moved = np.mean(runs, axis=0)
    assert (moved[:11] == 0).all(), "nothing changes before the start"
    assert (moved[30:] == 1).all(), "nothing is left of the first after the change"
    expected = (np.arange(10, 30) - 10) / 20
    assert moved[10:30] == pytest.approx(expected, abs=0.16)
    assert abs(moved[10:30] - expected).mean() < 0.04
    at_once = Drifting(KINDS, odd, start=3, over=0)
    said = [at_once.answer(question) for _ in range(6)]
    assert said == ["same"] * 3 + ["different"] * 3


def test_a_drift_is_scored_against_its_end_and_two_people_against_the_first() -> None:
    odd = np.arange(N) % 2
    drifting = person_named("drifting", KINDS, second=odd, noise=0.1, unsure=0.1)
    assert (judged_labels(drifting) == odd).all() and (other_labels(drifting) == KINDS).all()
    two = person_named("two", KINDS, second=odd, noise=0.1)
    assert (judged_labels(two) == KINDS).all() and (other_labels(two) == odd).all()
    plain = person_named("shown", KINDS, unsure=0.5)
    assert (judged_labels(plain) == KINDS).all() and other_labels(plain) is None


def test_kinds_that_are_merged_are_the_nearest_and_the_largest_is_split_in_two() -> None:
    X = np.array([[0.0], [0.2], [5.0], [5.2], [6.0], [6.1], [6.2]])
    kinds = np.array([0, 0, 1, 1, 2, 2, 2])
    assert changed_kinds(kinds, "merge", X).tolist() == [0, 0, 1, 1, 1, 1, 1]
    assert sorted(np.bincount(changed_kinds(kinds, "split", X)).tolist()) == [1, 2, 2, 2]
    split = changed_kinds(KINDS, "split", ROW)
    assert len(np.unique(split)) == 4
    halves = [PLACE[split == kind] for kind in np.unique(split[KINDS == 0])]
    assert len(halves) == 2
    assert max(halves[0].mean(), halves[1].mean()) > min(h.mean() for h in halves) + 0.4
    with pytest.raises(InputError, match="'merge' or 'split', got 'join'"):
        changed_kinds(kinds, "join", X)
    with pytest.raises(InputError, match="kinds to merge, got 1"):
        changed_kinds(np.zeros(7, dtype=int), "merge", X)
    person = person_named("drifting", kinds, X=X, change="merge", start=0, over=0)
    assert person.answer(SamePair(2, 6)) == "same"


@pytest.mark.parametrize("share", [None, 0.3])
def test_two_people_share_the_questions_and_the_ledger_knows_who_answered(
    share: float | None,
) -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 4))
    first, second = np.arange(60) % 2, np.arange(60) // 30
    session = Session(points(60), X, clusterer="kmeans", strategy="random", refit_every=50)
    person = person_named("two", first, second=second, share=share)
    run(session, person, 40)
    kinds = {"first": first, "second": second}
    for answer in session.answers:
        assert answer.choice == person_named("shown", kinds[answer.by]).answer(answer.question)
    by = [answer.by for answer in session.answers]
    if share is None:
        assert by == ["first", "second"] * 20
    else:
        assert 4 <= by.count("second") <= 20
        assert person_named("two", first, second=second, share=0.0).by == "second", "nobody yet"


def test_two_people_err_each_on_their_own() -> None:
    person = person_named("two", KINDS, second=KINDS, noise=0.3, seed=2)
    assert isinstance(person, Two)
    said = np.array([person.answer(SamePair(0, 1)) == "different" for _ in range(2000)])
    assert 0.25 < said.mean() < 0.35
    assert (said[::2] != said[1::2]).mean() == pytest.approx(2 * 0.3 * 0.7, abs=0.06)


QUESTIONS = [*placings()][:40] + [SamePair(i, i + 100) for i in range(40)]


def test_some_items_to_name_are_overlooked_and_no_wrong_one_is_named() -> None:
    question = AllLike((0,), tuple(range(1, 25)))
    kinds = np.arange(25) % 2
    belonging = {2 * k for k in range(1, 13)}
    for kind, given, share in (
        ("overlooking", {}, OVERLOOKED_SHARE),
        ("shown", {"overlook": 0.3}, 0.3),
        ("shown", {}, 0.0),
    ):
        person = person_named(kind, kinds, seed=3, **given)
        told = [set(named(person.answer(question))) for _ in range(200)]
        assert all(numbers <= belonging for numbers in told)
        missed = 1 - sum(map(len, told)) / (200 * len(belonging))
        assert missed == pytest.approx(share, abs=0.02)
        assert person.answer(SamePair(0, 1)) == "different"
    with pytest.raises(InputError, match="overlook from 0 to 1, got 2"):
        person_named("overlooking", kinds, overlook=2.0)


def test_a_boundary_person_may_mistake_several_items_of_one_grid() -> None:
    rng = np.random.default_rng(0)
    kinds = np.arange(60) % 2
    person = Boundary(kinds, rng.normal(size=(60, 1)), rate=0.4)
    grid = AllLike((0,), tuple(range(1, 25)))
    belonging = {k for k in range(1, 25) if kinds[k] == 0}
    wrong = [len(set(named(person.answer(grid))) ^ belonging) for _ in range(200)]
    assert max(wrong) > 1
    assert np.mean(wrong) == pytest.approx(person.mistaken[1:25].sum(), rel=0.1)


@pytest.mark.parametrize("kind", ["shown", "overlooking", "matched", "boundary", "drifting", "two"])
def test_the_same_seed_gives_the_same_answers(kind: str) -> None:
    given: dict[str, dict[str, Any]] = {
        "matched": {"clusters": np.arange(N) // 50},
        "drifting": {"second": np.arange(N) % 4, "start": 5, "over": 60},
        "two": {"second": np.arange(N) % 4, "share": 0.5},
    }

    def said(seed: int) -> list[str]:
        person = person_named(
            kind, KINDS, seed=seed, X=ROW, noise=0.3, unsure=0.1, **given.get(kind, {})
        )
        return [person.answer(question) for question in QUESTIONS]

    assert said(1) == said(1)
    assert said(1) != said(2)
    for question, choice in zip(QUESTIONS, said(1), strict=True):
        question.check(choice)


def test_people_are_listed_with_what_they_take() -> None:
    assert PERSONS.keys() == PARAMETERS.keys()
    for sentence in PERSONS.values():
        assert sentence.endswith(".")
    with pytest.raises(UnknownName, match="Did you mean 'drifting'"):
        person_named("drift", KINDS)
    with pytest.raises(UnknownName, match=r"parameter of the person 'two': 'star'.* share"):
        person_named("two", KINDS, second=KINDS, star=3)
    with pytest.raises(InputError, match="needs a second orientation"):
        person_named("drifting", KINDS)
    with pytest.raises(InputError, match="not both"):
        person_named("two", KINDS, X=ROW, second=KINDS, change="merge")
    with pytest.raises(InputError, match="got 300 and 4"):
        person_named("two", KINDS, second=[0, 1, 0, 1])
    with pytest.raises(InputError, match="needs the first groups"):
        person_named("matched", KINDS)
    with pytest.raises(InputError, match="got -1 and 5"):
        person_named("drifting", KINDS, second=KINDS, start=-1, over=5)
    with pytest.raises(InputError, match=r"from 0 to 1, got 1\.5"):
        person_named("two", KINDS, second=KINDS, share=1.5)


def test_the_questions_of_these_tests_are_sound() -> None:
    for question in (QUESTIONS[0], QUESTIONS[-1], OddOnes((50,), (98, 40, 200))):
        check_question(question)
