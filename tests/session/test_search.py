"""Find more like these: grids that follow each other while there is something to find."""

from __future__ import annotations

import numpy as np
import pytest

from piles import points
from samekind.errors import InputError
from samekind.ledger.store import MemoryStore
from samekind.questions import AllLike, question_from_json
from samekind.session import Session
from samekind.session.search import MIN_FOUND, find_like, is_search, most_like
from samekind.simulation.people import Truth

N_RARE = 30


def pile() -> tuple[np.ndarray, np.ndarray]:
    """600 points, of which the first 30 differ in a direction with little spread."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 8)) * np.array([5.0, 5, 5, 3, 1, 1, 1, 1])
    kinds = np.zeros(600, dtype=np.intp)
    kinds[:N_RARE] = 1
    X[:N_RARE, 4:6] += 4.0
    return X.astype(np.float32), kinds


def session(store: MemoryStore | None = None) -> tuple[Session, np.ndarray]:
    X, kinds = pile()
    return Session(points(len(X)), X, store=store, seed=0), kinds


def test_a_search_finds_a_rare_kind_and_then_ends() -> None:
    mine, kinds = session()
    person = Truth(kinds)
    mine.ask()
    first = find_like(mine, [0, 1])
    assert mine.constraints.same(0, 1) is True
    searched = 0
    while (asked := mine.ask()) is not None and isinstance(asked.question, AllLike):
        assert searched > 0 or asked.number == first.number, "it comes before the open question"
        mine.tell(asked.number, person.answer(asked.question))
        searched += 1
        assert searched < 10
    found = mine.constraints.component(0)
    assert kinds[found].all() and len(found) >= 0.9 * N_RARE
    assert searched >= 2
    last = mine.answers[-1]
    assert len(last.choice.split(",")) < MIN_FOUND * AllLike.max_shown


def test_what_differs_little_among_all_items_counts_most() -> None:
    X, kinds = pile()
    like, nobody = np.arange(3), np.empty(0, dtype=np.intp)
    best = most_like(X, like, nobody, like, 24)
    assert kinds[best].mean() > 0.9
    nearest = np.argsort(((X - X[:3].mean(axis=0)) ** 2).sum(axis=1), kind="stable")
    nearest = nearest[~np.isin(nearest, like)][:24]
    assert kinds[best].sum() > 2 * kinds[nearest].sum()


def test_a_search_is_in_the_ledger_and_goes_on_after_reopening() -> None:
    store = MemoryStore()
    mine, kinds = session(store)
    number = find_like(mine, [4]).number
    again, _ = session(store)
    asked = again.ask()
    assert asked is not None and asked.number == number and isinstance(asked.question, AllLike)
    again.tell(number, Truth(kinds).answer(asked.question))
    further = again.ask()
    assert further is not None and isinstance(further.question, AllLike)
    assert not set(further.question.shown) & set(asked.question.shown)


def test_a_search_is_marked_in_the_ledger_and_recognised_without_the_mark_in_old_ones() -> None:
    mine, _ = session()
    form = find_like(mine, [4]).question.to_json(str)
    assert form["search"] is True and is_search(question_from_json(form, int))
    old = {key: value for key, value in form.items() if key != "search"}
    assert is_search(question_from_json(old, int))
    assert not is_search(question_from_json({**old, "why": "To find more."}, int))
    assert "search" not in AllLike((1,), (2, 3)).to_json(str)


@pytest.mark.parametrize("items", [[], [0, 1, 2, 3, 4, 5], [-1], [600]])
def test_too_many_or_unknown_examples_are_refused(items: list[int]) -> None:
    mine, _ = session()
    with pytest.raises(InputError, match="Expected 1 to 5 items to look for"):
        find_like(mine, items)
