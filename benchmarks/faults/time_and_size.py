"""Large ledgers, a week of use, and many clients at once."""

from __future__ import annotations

import gc
import tempfile
import threading
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchmarks.faults.outcome import Outcome
from benchmarks.gaussians import gaussian_kinds, write_kinds
from benchmarks.ledger.speed import simulated_answers, write_ledger
from benchmarks.measuring import percentiles
from samekind.ledger.sql import SqlStore
from samekind.session import Session
from samekind.simulation.people import Truth
from samekind.sources import RowCollection, Rows

MAX_OPEN_SECONDS = 60.0
MAX_ACT_SECONDS = 5.0
"""Generous, because other work may be running: this finds hangs. The times are in the figures."""


def _collection(X: Any) -> RowCollection:
    return RowCollection("faults", Rows(X), ready=True)


def large_ledgers(rounds: int, seed: int) -> Outcome:
    """10,000 answers, then 100,000: open, ask, tell, undo, refit, and open again."""
    outcome = Outcome()
    X, kinds = gaussian_kinds(20_000, 16, 10, seed)
    for n in (10_000, 100_000)[:rounds]:
        answers = simulated_answers(kinds, n, 0.01, seed)
        with tempfile.TemporaryDirectory() as folder, SqlStore(f"{folder}/a.samekind") as store:
            write_ledger(store, Session(_collection(X), X, store=store, seed=seed), answers)
            took: dict[str, float] = {}
            cpu = time.process_time()
            with Timed(took, "open"):
                session = Session(_collection(X), X, store=store, seed=seed)
            took["open, processor"] = round(time.process_time() - cpu, 2)
            with Timed(took, "ask"):
                asked = session.ask()
            if asked is not None:
                with Timed(took, "tell"):
                    session.tell(asked.number, Truth(kinds).answer(asked.question))
                with Timed(took, "undo"):
                    session.undo()
            with Timed(took, "refit"):
                session.refit()
            cpu = time.process_time()
            with Timed(took, "open with a refit"):
                session = Session(_collection(X), X, store=store, seed=seed)
            took["open with a refit, processor"] = round(time.process_time() - cpu, 2)
            with Timed(took, "undo right after"):
                number = session.undo()
            kept = len(session.answers) + (number is not None)
        quick = took["open with a refit, processor"] < MAX_OPEN_SECONDS
        acts = ("ask", "tell", "undo", "undo right after")
        quick &= max(took[act] for act in acts) < MAX_ACT_SECONDS
        outcome.lost += n - kept
        outcome.note(quick and kept == n, f"{n} answers: {took}, {kept} kept")
        outcome.figures[f"{n:,} answers, seconds"] = took
    return outcome


class Timed:
    """Note how many seconds a block took."""

    def __init__(self, into: dict[str, float], name: str) -> None:
        self.into, self.name = into, name

    def __enter__(self) -> None:
        self.begun = time.perf_counter()

    def __exit__(self, *problem: object) -> None:
        self.into[self.name] = round(time.perf_counter() - self.begun, 3)


def week_of_use(rounds: int, seed: int) -> Outcome:
    """Open the ledger again and again, with 500 new events in between."""
    outcome, opened = Outcome(), []
    X, kinds = gaussian_kinds(5_000, 16, 10, seed)
    every = simulated_answers(kinds, 250 * rounds, 0.01, seed)
    truth, told = Truth(kinds), 0
    with tempfile.TemporaryDirectory() as folder:
        for k in range(rounds):
            if k % 10 == 0 or k == rounds - 1:
                gc.collect()  # the sessions of earlier rounds, which a new process would not have
            begun = time.process_time()
            with SqlStore(f"{folder}/a.samekind") as store:
                session = Session(_collection(X), X, store=store, seed=seed)
                opened.append(time.process_time() - begun)
                kept = len(session.answers)
                outcome.lost += told - kept
                outcome.note(kept == told, f"reopening {k}: {kept} of {told} answers")
                asked = session.ask()
                if asked is not None:
                    session.tell(asked.number, truth.answer(asked.question))
                    session.undo()
                part = every[250 * k : 250 * (k + 1)]
                first = session._ledger.n_asked
                numbered = [
                    type(a)(first + i, a.question, a.choice) for i, a in enumerate(part, start=1)
                ]
                write_ledger(store, session, numbered)
                told += len(numbered)
    outcome.figures = {
        "events": 500 * rounds,
        "opening, processor seconds": {
            "first": round(opened[0], 2),
            "last": round(opened[-1], 2),
        },
    }
    return outcome


def many_clients(rounds: int, seed: int) -> Outcome:
    """Twenty clients at one server, one round per minute: memory, lost or doubled answers, p95."""
    from benchmarks.people.checking import compare, summary
    from benchmarks.people.crowd import Person, Server
    from samekind.ledger.store import open_store

    outcome = Outcome()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        kinds = write_kinds(folder / "pile.npy", 30_000, 16, 10, seed)
        names = [f"person {k:02}" for k in range(20)]
        ledger = str(folder / "answers.samekind")
        server = Server(folder / "home", folder / "pile.npy", ledger, names, "--seed", str(seed))
        server.wait()
        people = [
            Person(
                who,
                [server],
                lambda id: int(kinds[int(id.removeprefix("row-"))]),
                think=1.0,
                error=0.02,
                seed=seed * 100 + k,
            )
            for k, who in enumerate(names)
        ]
        memory, given = [], [0]
        try:
            for person in people:
                person.start()
            for _ in range(rounds):
                threading.Event().wait(60)
                memory.append(anonymous_megabytes(server.process.pid))
                given.append(sum(len(person.log.confirmed) for person in people))
            for person in people:
                person.stopped.set()
            for person in people:
                person.join()
        finally:
            server.kill()
        broken = [str(person.problem) for person in people if person.problem]
        logs = {person.name: person.log for person in people}
        found = compare(open_store(ledger), "main", logs)
        outcome.lost = found["lost"] + found["doubled"] + found["answered_twice_by_one"]
        seconds = [s for log in logs.values() for s in log.seconds]
        for _ in range(rounds):
            outcome.note(not broken and not summary(found), f"{summary(found)} {broken[:1]}")
        outcome.figures = {
            "answers": found["confirmed"],
            "answers in each minute": [b - a for a, b in pairwise(given)],
            "next question, ms": percentiles(seconds),
            "memory after each minute, MB": memory,
        }
    return outcome


def anonymous_megabytes(process: int) -> int:
    """The memory of a process that lies in no file."""
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith("RssAnon"):
            return int(line.split()[1]) // 1024
    return 0
