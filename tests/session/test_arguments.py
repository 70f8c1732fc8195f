"""What programs give to a session: numbers of numpy are taken, and other things told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from piles import clouds
from samekind.errors import AnswerError, InputError
from samekind.session import Session

X = clouds(60)[0]


def asked() -> Session:
    session = Session(X)
    session.ask()
    return session


def test_numbers_that_samekind_returns_can_be_given_back() -> None:
    session = Session(X, seed=np.int64(3))  # type: ignore[arg-type]
    assert session.ask() is not None
    one: Any = np.int64(1)
    session.rename(session.labels[0], "dogs")  # type: ignore[arg-type]
    session.tell(one, "unsure", seconds=np.float32(2.5))  # type: ignore[arg-type]
    session.edit(one, "1")
    assert session.undo(one) == 1
    session.skip(one)
    again = Session(X, store=session.store)
    assert again.groups == session.groups and "dogs" in again.groups.values()
    assert (again.seed, type(again.seed)) == (3, int)


WRONG: dict[str, Callable[[Session], object]] = {
    "a name, such as 'dogs', got None": lambda s: s.rename(1, None),  # type: ignore[arg-type]
    "a name, such as 'dogs', got 5": lambda s: s.rename(1, 5),  # type: ignore[arg-type]
    "a name, such as 'dogs', got 6": lambda s: s.tell(1, "1", name=6),  # type: ignore[arg-type]
    "the number of a group, .* got 1.5": lambda s: s.rename(1.5, "a"),  # type: ignore[arg-type]
    r"the number of a question, .* got \[1\]": lambda s: s.tell([1], "1"),  # type: ignore[arg-type]
    "the number of a question, .* got '1'": lambda s: s.edit("1", "1"),  # type: ignore[arg-type]
    "the number of a question, .* got 'a'": lambda s: s.undo("a"),  # type: ignore[arg-type]
    "the number of a question, .* got 2.5": lambda s: s.skip(2.5),  # type: ignore[arg-type]
    "the number of a question, .* got {}": lambda s: s.asked({}),  # type: ignore[arg-type]
    r"question.choices\(\), .* got 1": lambda s: s.tell(1, 1),  # type: ignore[arg-type]
    r"who answers, .* got \['me'\]": lambda s: s.tell(1, "1", by=["me"]),  # type: ignore[arg-type]
    "seconds of an answer as a number, got 'x'": lambda s: s.tell(
        1,
        "1",
        seconds="x",  # type: ignore[arg-type]
    ),
    "seconds of an answer as a number, got 1000": lambda s: s.tell(1, "1", seconds=10**400),
    "seconds of an answer to be 0 or more, got nan": lambda s: s.tell(1, "1", seconds=np.nan),
    "a seed from 0 to 4294967295, got -1": lambda s: Session(X, seed=-1),
    "a seed from 0 to 4294967295, got 1099511627776": lambda s: Session(X, seed=2**40),
    "a seed, such as 0, got 'x'": lambda s: Session(X, seed="x"),  # type: ignore[arg-type]
    "a seed, such as 0, got 1.5": lambda s: Session(X, seed=1.5),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("words", WRONG)
def test_what_cannot_be_used_is_told_and_nothing_is_stored(words: str) -> None:
    session = asked()
    before = len(list(session.store.read("main")))
    with pytest.raises((InputError, AnswerError), match=f"Expected .*{words}"):
        WRONG[words](session)
    assert len(list(session.store.read("main"))) == before
