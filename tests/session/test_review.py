"""Answers that are worth another look: found, told in words, and left as they are."""

from __future__ import annotations

import numpy as np

from piles import clouds, points
from samekind.questions import Answer, OddOnes, SamePair, WhichGroup
from samekind.session import Session
from samekind.session.review import describe_doubt, doubtful_answers, latest_answers
from samekind.simulation.loop import run
from samekind.simulation.people import Noisy, Truth


def sorted_with_one_slip(method: str = "live") -> tuple[Session, int]:
    """A session of sixty answers, of which one was given wrongly."""
    X, kinds = clouds(300)
    session = Session(points(300), X, clusterer=method, strategy="placement", seed=1)
    run(session, Truth(kinds), 60)
    slip = next(a for a in session.answers[30:] if a.choice in ("1", "2") and a.links[0].same)
    wrong = next(c for c in ("1", "2") if c != slip.choice)
    session.edit(slip.number, wrong)
    session.refit()
    return session, slip.number


def test_a_slip_is_found_and_told_in_words() -> None:
    session, slip = sorted_with_one_slip()
    found = doubtful_answers(session)
    assert [odd.number for odd in found] == [slip]
    said = describe_doubt(session, found[0])
    assert f"into group {found[0].said}, but" in said and f"group {found[0].likely}." in said
    assert session.clustering.labels[found[0].item] == found[0].said, "it stays where it was put"


def test_an_answer_about_a_grid_is_about_its_tiles_and_not_about_the_group() -> None:
    placed = Answer(1, WhichGroup(0, ((7,),)), "1")
    grid = Answer(2, OddOnes((0, 7), (3, 4)), "none")
    unsure = Answer(3, SamePair(4, 0), "unsure")
    asked = latest_answers([placed, grid, unsure])
    assert asked == {0: (0, placed), 3: (1, grid), 4: (1, grid)}


def test_a_learner_that_trusts_all_answers_finds_nothing_odd() -> None:
    session, _ = sorted_with_one_slip("propagation")
    assert doubtful_answers(session) == []


def test_after_the_answer_is_changed_back_nothing_is_odd() -> None:
    session, slip = sorted_with_one_slip()
    _, kinds = clouds(300)
    session.edit(slip, Truth(np.asarray(kinds)).answer(session.asked(slip).question))
    session.refit()
    assert doubtful_answers(session) == []


def test_a_late_none_of_these_that_stays_alone_is_found() -> None:
    X, kinds = clouds(300)
    session = Session(points(300), X, seed=1)
    run(session, Truth(kinds), 44)
    slip = next(a for a in reversed(session.answers[:40]) if a.choice in ("1", "2"))
    session.edit(slip.number, "none")
    session.refit()
    found = doubtful_answers(session)
    assert [odd.number for odd in found] == [slip.number]
    assert "into a group of its own" in describe_doubt(session, found[0])


def test_most_of_several_slips_are_found_with_few_false_alarms() -> None:
    X, kinds = clouds(400)
    session = Session(points(400), X, seed=3)
    run(session, Noisy(Truth(kinds), 0.15, seed=13), 45)
    session.refit()
    person = Truth(kinds)
    wrong = {a.number for a in session.answers if a.choice != person.answer(a.question)}
    found = {odd.number for odd in doubtful_answers(session)}
    assert len(wrong) >= 5
    assert len(found & wrong) >= 0.6 * len(wrong) and len(found - wrong) <= 1
