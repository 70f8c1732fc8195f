"""Answers are sacred: a process killed at any moment loses nothing that `tell` has confirmed."""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import time
from collections.abc import Mapping
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from piles import clouds, points
from samekind.errors import StoreError
from samekind.ledger.fold import Asked
from samekind.ledger.sql import SqlStore
from samekind.ledger.store import open_store
from samekind.ledger.write_ahead_log import log_of
from samekind.protocols import Event
from samekind.questions import Question
from samekind.questions.answers import Answer
from samekind.session import Session
from samekind.simulation.loop import run
from samekind.simulation.people import Truth

N, ROUNDS, SEED = 160, 100, 11
MAX_ANSWERS, SPARE = 150, 40
"""Answers of the reference, and how many of them a process may give before it is killed."""
X, KINDS = clouds(N)


@dataclass(frozen=True)
class Report:
    """The answers that `tell` has confirmed, and the question that is open, if one is."""

    answers: list[tuple[int, str]]
    question: Question | None = None


class ReportingSession(Session):
    """Sends each answer through a pipe as soon as it is confirmed, and each question."""

    pipe: Connection

    def ask(self, *, by: str | None = None) -> Asked | None:
        asked = super().ask(by=by)
        self.pipe.send(Report(self.confirmed(), None if asked is None else asked.question))
        return asked

    def tell(self, *args: Any, **options: Any) -> None:
        super().tell(*args, **options)
        self.pipe.send(Report(self.confirmed()))

    def confirmed(self) -> list[tuple[int, str]]:
        return [(a.number, a.choice) for a in self.answers]


def person(path: Path, pipe: Connection) -> None:
    store = open_store(path)
    session = ReportingSession(points(N), X, store=store, seed=SEED, refit_every=7)
    session.pipe = pipe
    run(session, Truth(KINDS), SPARE)
    while True:  # until it is killed, however late that is
        signal.pause()


def check(report: Report, confirmed: list[tuple[int, str]], expected: Mapping[int, Answer]) -> None:
    """Nothing confirmed is lost, and all is as if no process had ever been killed."""
    assert report.answers[: len(confirmed)] == confirmed, "a confirmed answer was lost"
    assert report.answers == [(n, expected[n].choice) for n, _ in report.answers]
    if report.question is not None:
        upcoming = min(n for n in expected if n not in dict(report.answers))
        assert report.question == expected[upcoming].question


def received(pipe: Connection) -> list[Report]:
    """What was sent before the process was killed."""
    reports = []
    while pipe.poll():
        try:
            reports.append(pipe.recv())
        except EOFError:
            break
    return reports


def test_killed_at_random_moments_nothing_told_is_lost_and_the_next_question_is_the_same(
    ledger: Path,
) -> None:
    store = open_store(ledger.with_name("reference.samekind"))
    reference = Session(points(N), X, store=store, seed=SEED, refit_every=7)
    run(reference, Truth(KINDS), MAX_ANSWERS)
    expected = {a.number: a for a in reference.answers}
    assert len(expected) == MAX_ANSWERS
    rng = random.Random(3)
    context = multiprocessing.get_context("fork")
    confirmed: list[tuple[int, str]] = []
    killed = continued = 0
    for _ in range(ROUNDS):
        mine, theirs = context.Pipe(duplex=False)
        process = context.Process(target=person, args=(ledger, theirs))
        process.start()
        theirs.close()
        first = mine.recv()  # it has opened the ledger and asks
        time.sleep(rng.uniform(0, 0.05))
        assert process.pid is not None
        os.kill(process.pid, signal.SIGKILL)
        process.join()
        killed += process.exitcode == -signal.SIGKILL
        continued += bool(confirmed)
        for report in (first, *received(mine)):
            check(report, confirmed, expected)
            confirmed = report.answers
        if len(confirmed) > MAX_ANSWERS - SPARE:  # begin again before the reference runs out
            ledger, confirmed = ledger.with_name(f"{ledger.stem}x.samekind"), []
    assert killed == ROUNDS
    assert continued > ROUNDS / 2


def forked(store: SqlStore, pipe: Connection) -> None:
    try:
        store.append("main", Event("named", {"group": 2, "name": "b"}))
        pipe.send("stored")
    except StoreError as problem:
        pipe.send(str(problem))
    store.close()


def test_a_forked_process_is_refused_and_takes_nothing_from_the_first(ledger: Path) -> None:
    with SqlStore(ledger) as store:
        store.append("main", Event("named", {"group": 1, "name": "a"}))
        context = multiprocessing.get_context("fork")
        mine, theirs = context.Pipe(duplex=False)
        process = context.Process(target=forked, args=(store, theirs))
        process.start()
        assert "before this process was forked" in mine.recv()
        process.join()
        assert log_of(ledger).exists(), "its connections still use the log"
        store.append("main", Event("named", {"group": 3, "name": "c"}))
    with SqlStore(ledger) as store:
        assert [event.data["group"] for event in store.read("main")] == [1, 3]
