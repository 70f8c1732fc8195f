"""Answers are sacred: a process killed at any moment loses nothing that `tell` has confirmed."""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import time
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from piles import clouds, points
from samekind.ledger.store import MemoryStore, open_store
from samekind.questions import Question
from samekind.session import Session
from samekind.simulation.loop import run
from samekind.simulation.people import Truth

N, ROUNDS, SEED = 400, 100, 11


def opened(store: Any) -> tuple[Session, np.ndarray]:
    X, kinds = clouds(N)
    return Session(points(N), X, store=store, seed=SEED, refit_every=7), kinds


class Confirming:
    """Answers truthfully and reports, through a pipe, each answer that was confirmed."""

    def __init__(self, session: Session, kinds: np.ndarray, pipe: Connection) -> None:
        self.session, self.truth, self.pipe = session, Truth(kinds), pipe

    def answer(self, question: Question) -> str:
        # Everything told before this question was asked has returned from `tell`.
        self.pipe.send([(a.number, a.choice) for a in self.session.answers])
        return self.truth.answer(question)


def person(path: Path, pipe: Connection) -> None:
    session, kinds = opened(open_store(path))
    run(session, Confirming(session, kinds, pipe), 40)
    pipe.send([(a.number, a.choice) for a in session.answers])
    while True:  # until it is killed, however late that is
        signal.pause()


def test_killed_at_random_moments_nothing_told_is_lost_and_the_next_question_is_the_same(
    ledger: Path,
) -> None:
    reference, kinds = opened(MemoryStore())
    run(reference, Truth(kinds), 4 * ROUNDS)
    expected = {a.number: a for a in reference.answers}
    rng = random.Random(3)
    context = multiprocessing.get_context("fork")
    killed = answered = 0
    for _ in range(ROUNDS):
        mine, theirs = context.Pipe(duplex=False)
        process = context.Process(target=person, args=(ledger, theirs))
        process.start()
        theirs.close()
        confirmed = mine.recv()  # it has opened the ledger and asks
        time.sleep(rng.uniform(0, 0.05))
        assert process.pid is not None
        os.kill(process.pid, signal.SIGKILL)
        process.join()
        killed += process.exitcode == -signal.SIGKILL
        while mine.poll():
            try:
                confirmed = mine.recv()
            except EOFError:
                break
        session, _ = opened(open_store(ledger))
        kept = [(a.number, a.choice) for a in session.answers]
        assert kept[: len(confirmed)] == confirmed, "a confirmed answer was lost"
        for answer in session.answers:
            assert answer.question == expected[answer.number].question
            assert answer.choice == expected[answer.number].choice
        answered = len(kept)
        if answered < len(expected) - 50:
            if session.due:
                session.refit()
            asked = session.ask()
            assert asked is not None
            upcoming = min(n for n in expected if n not in dict(kept))
            assert (asked.number, asked.question) == (upcoming, expected[upcoming].question)
        else:  # begin again before the reference runs out
            ledger = ledger.with_name(f"{ledger.stem}x.samekind")
    assert killed == ROUNDS
    assert answered > 0
