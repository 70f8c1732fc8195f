"""SIGKILL at random moments, with several processes that write to one ledger."""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import tempfile
import time
from argparse import Namespace
from collections import Counter
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from benchmarks.faults.outcome import Outcome, Skipped, clouds, session_over
from benchmarks.people.postgres import NoPostgres, crash, new_database, running_postgres
from samekind.errors import SamekindError
from samekind.ledger.sql import SqlStore
from samekind.ledger.store import open_store
from samekind.protocols import Event
from samekind.simulation.people import Truth

N_ITEMS, N_WRITERS = 200, 3
Confirmed = dict[tuple[int, str], str]
"""Choices by question and person, as `tell` has confirmed them."""


def writer(ledger: str, name: str, seed: int, pipe: Connection) -> None:
    """Answer as one of several people until killed; report each answer when it is confirmed."""
    X, kinds = clouds(N_ITEMS, 0)
    session = session_over(X, store=open_store(ledger), seed=0, refit_every=9)
    truth, rng = Truth(kinds), random.Random(seed)
    pipe.send(None)
    while True:
        asked = session.ask(by=name)
        if asked is None:
            time.sleep(0.01)
            continue
        choice = truth.answer(asked.question)
        try:
            session.tell(asked.number, choice, by=name)
            pipe.send((asked.number, name, choice))
            if rng.random() < 0.02:
                session.refit()
        except SamekindError:
            continue  # another person was quicker; this was refused, and is not confirmed


def processes(rounds: int, seed: int) -> Outcome:
    """Three processes answer about one pile; all are killed at a random moment, again and again."""
    outcome, rng, confirmed = Outcome(), random.Random(seed), {}
    context = multiprocessing.get_context("fork")
    with tempfile.TemporaryDirectory() as folder:
        ledger, number = Path(folder) / "0.samekind", 0
        for k in range(rounds):
            started = []
            for w in range(N_WRITERS):
                mine, theirs = context.Pipe(duplex=False)
                arguments = (str(ledger), f"person {w}", seed + k * N_WRITERS + w, theirs)
                process = context.Process(target=writer, args=arguments, daemon=True)
                process.start()
                theirs.close()
                started.append((process, mine))
            for _, mine in started:
                mine.recv()  # it has opened the ledger
            time.sleep(rng.uniform(0, 0.2))
            for process, _ in rng.sample(started, len(started)):
                os.kill(process.pid or 0, signal.SIGKILL)
                process.join()
            confirmed |= {
                told[:2]: told[2] for _, mine in started for told in received(mine) if told
            }
            lost = compare(ledger, confirmed, outcome)
            outcome.note(not lost, f"round {k}: {lost} answers")
            if len(confirmed) > 150:  # a new pile before this one is all answered
                number += 1
                outcome.figures["answers"] = outcome.figures.get("answers", 0) + len(confirmed)
                ledger, confirmed = Path(folder) / f"{number}.samekind", {}
        outcome.figures["answers"] = outcome.figures.get("answers", 0) + len(confirmed)
    return outcome


def received(pipe: Connection) -> list[Any]:
    """What was sent before the process was killed."""
    found = []
    while pipe.poll():
        try:
            found.append(pipe.recv())
        except (EOFError, OSError):
            break
    return found


def compare(ledger: Path, confirmed: Confirmed, outcome: Outcome) -> int:
    """Count confirmed answers that are not in the ledger, and questions answered twice."""
    told: dict[tuple[int, str], str] = {}
    times: Counter[int] = Counter()
    with SqlStore(ledger) as store:  # closed before the next processes are forked
        events = [event.data for event in store.read("main") if event.kind == "told"]
    for data in events:
        if not data.get("second"):
            told[data["number"], data["by"]] = data["choice"]
            times[data["number"]] += 1
    lost = sum(told.get(key) != choice for key, choice in confirmed.items())
    doubled = sum(n - 1 for n in times.values())
    outcome.lost += lost + doubled
    return lost + doubled


def servers(rounds: int, seed: int) -> Outcome:
    """People at two servers on one file; one server is killed in the middle."""
    from benchmarks.people.checking import summary
    from benchmarks.people.load import run

    outcome = Outcome()
    for k in range(rounds):
        chosen = Namespace(
            people=6, servers=2, seconds=20.0, think=0.3, items=2000, overlap=0.1, sqlite=True,
            seed=seed + k,
        )  # fmt: skip
        with tempfile.TemporaryDirectory() as folder:
            row = run(chosen, Path(folder), str(Path(folder) / "answers.samekind"))
        outcome.lost += row["lost"] + row["doubled"] + row["answered_twice_by_one"]
        outcome.note(not summary(row) and not row["faults"], f"round {k}: {summary(row)}")
        outcome.figures["answers"] = outcome.figures.get("answers", 0) + row["confirmed"]
    return outcome


def store_events(address: str, name: str, pipe: Connection) -> None:
    """Append events until the database is gone."""
    store = open_store(address)
    number = 0
    while True:
        number += 1
        try:
            store.append("main", Event("told", {"by": name, "n": number}))
        except SamekindError:
            pipe.send(("end", name, number))
            return
        pipe.send(("stored", name, number))


def postgres(rounds: int, seed: int) -> Outcome:
    """Two processes store events in PostgreSQL; the database is killed and started again."""
    outcome, rng = Outcome(), random.Random(seed)
    context = multiprocessing.get_context("spawn")
    try:
        with running_postgres() as server:
            address = new_database(server)
            open_store(address).close()
            for k in range(rounds):
                started = []
                for w in range(2):
                    mine, theirs = context.Pipe(duplex=False)
                    arguments = (address, f"{k}-{w}", theirs)
                    process = context.Process(target=store_events, args=arguments, daemon=True)
                    process.start()
                    theirs.close()
                    started.append((process, mine))
                sent = [mine.recv() for _, mine in started]
                time.sleep(rng.uniform(0, 0.5))
                crash(address)
                for process, mine in started:
                    process.join(120)
                    sent += received(mine)
                stored = {(name, n) for kind, name, n in sent if kind == "stored"}
                held = Counter(
                    (e.data["by"], e.data["n"]) for e in open_store(address).read("main")
                )
                lost = sum(one not in held for one in stored)
                lost += sum(n - 1 for n in held.values())
                outcome.lost += lost
                outcome.note(not lost, f"round {k}: {lost} events lost or doubled")
                outcome.figures["events"] = sum(held.values())
    except NoPostgres as reason:
        raise Skipped(str(reason)) from None
    return outcome
