"""The work of opening a ledger grows linearly with it, and that of one more act does not grow.

Work is counted, not timed: the lines of samekind that are run, which are as many on a busy machine.
The fitting of groups is left out: it depends on the vectors, and on when it converges. What happens
within one line in C is not seen either; `make faults` times 10,000 and 100,000 answers.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar

import samekind
from benchmarks.gaussians import gaussian_kinds
from benchmarks.ledger.speed import simulated_answers, write_ledger
from piles import points
from samekind.ledger.sql import SqlStore
from samekind.questions import Answer
from samekind.session import Session
from samekind.simulation.people import Truth

PACKAGE = str(Path(samekind.__file__).parent)
FITTING = str(Path(PACKAGE, "clusterers"))
N_ITEMS, N_ANSWERS = 1000, 4000
MAX_GROWTH = 2.4
"""How much more twice as many additional answers may cost: 2 if linear, 4 if quadratic."""
MAX_ACT_GROWTH = 1.5
"""How much more one act may cost after four times as many answers: 4 if it reads them all."""
X, KINDS = gaussian_kinds(N_ITEMS, 4, 5, 0)
ANSWERS = simulated_answers(KINDS, N_ANSWERS, 0.02, 0)
T = TypeVar("T")


def opened(store: SqlStore) -> Session:
    return Session(points(N_ITEMS), X, store=store, seed=0)


@contextmanager
def ledger(folder: Path, n: int) -> Iterator[SqlStore]:
    """A ledger with the first `n` answers, opened before; a refit knows half of them."""
    with SqlStore(folder / f"{n}.samekind") as store:
        session = opened(store)
        write_ledger(store, session, ANSWERS[: n // 2])
        session.catch_up()
        session.refit()
        write_ledger(store, session, ANSWERS[n // 2 : n])
        opened(store)  # imports what is only imported once
        yield store


def counted(act: Callable[[], T]) -> tuple[T, int]:
    """What an act returns, and how many lines of samekind it runs."""
    count = 0

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        file = frame.f_code.co_filename
        return line if file.startswith(PACKAGE) and not file.startswith(FITTING) else None

    def line(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal count
        count += event == "line"
        return line

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        return act(), count
    finally:
        sys.settrace(before)


def told(answers: list[Answer] | tuple[Answer, ...]) -> list[tuple[int, str]]:
    return [(answer.number, answer.choice) for answer in answers]


def test_a_large_ledger_opens_with_every_answer_in_work_that_grows_linearly(tmp_path: Path) -> None:
    work = []
    for n in (N_ANSWERS // 4, N_ANSWERS // 2, N_ANSWERS):
        with ledger(tmp_path, n) as store:
            session, lines = counted(lambda store=store: opened(store))  # type: ignore[misc]
        assert told(session.answers) == told(ANSWERS[:n])
        work.append(lines)
    first, second = work[1] - work[0], work[2] - work[1]
    assert 0 < second < MAX_GROWTH * first, work


def work_of_acts(store: SqlStore) -> dict[str, int]:
    """Lines for each of the acts of a person who opens a ledger and goes on."""
    session, truth = opened(store), Truth(KINDS)
    _, undo_first = counted(session.undo)
    asked = session.ask()
    assert asked is not None
    session.tell(asked.number, truth.answer(asked.question))
    asked, ask = counted(session.ask)
    assert asked is not None
    choice = truth.answer(asked.question)
    _, tell = counted(lambda: session.tell(asked.number, choice))
    number, undo = counted(session.undo)
    assert number == asked.number
    opened(store).rename(session.clustering.numbers[0], "by another process")
    new, catch_up = counted(session.catch_up)
    assert new == 1
    return {
        "undo right after opening": undo_first,
        "ask": ask,
        "tell": tell,
        "undo": undo,
        "catch up": catch_up,
    }


def test_an_act_takes_the_same_work_after_few_and_after_many_answers(tmp_path: Path) -> None:
    found = []
    for n in (N_ANSWERS // 4, N_ANSWERS):
        with ledger(tmp_path, n) as store:
            found.append(work_of_acts(store))
    few, many = found
    grown = {act: (few[act], many[act]) for act in few if many[act] > MAX_ACT_GROWTH * few[act]}
    assert not grown
