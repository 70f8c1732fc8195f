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
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from benchmarks.faults.outcome import Outcome, Skipped, clouds, session_over
from benchmarks.people.postgres import NoPostgres, crash, new_database, running_postgres
from samekind.errors import SamekindError, StoreError
from samekind.ledger.sql import SqlStore
from samekind.ledger.store import open_store
from samekind.simulation.people import Truth

N_ITEMS, N_WRITERS = 200, 3
N_LASTING_ITEMS = 6000
"""Each is asked about once, so that two people have work for all rounds."""
REFIT_SHARE = 0.002
"""Of the answers to PostgreSQL. A refit takes a second, in which a kill interrupts no answer."""
PATIENCE = 120.0
"""Seconds after which a person or the database counts as broken, not slow."""
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


def compare(ledger: Path | str, confirmed: Confirmed, outcome: Outcome) -> int:
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


def lasting_writer(address: str, name: str, seed: int, pipe: Connection) -> None:
    """Answer in one session, also after the database was gone, until told to stop.

    Sends "confirmed" or "in doubt" with each answer, and at the end "known" with all answers.
    """
    X, kinds = clouds(N_LASTING_ITEMS, 0)
    truth, rng, session = Truth(kinds), random.Random(seed), None
    while not pipe.poll():
        try:
            session = session or session_over(X, store=open_store(address), seed=0, refit_every=9)
            asked = session.ask(by=name)
        except StoreError:  # until the database is back
            time.sleep(0.05)
            continue
        if asked is None:
            time.sleep(0.01)
            continue
        told = (asked.number, name, truth.answer(asked.question))
        try:
            session.tell(told[0], told[2], by=name)
        except StoreError:  # the database may have been killed before or after it stored this
            pipe.send(("in doubt", told))
        except SamekindError:
            continue  # the other person was quicker; this was refused, and is not confirmed
        else:
            pipe.send(("confirmed", told))
        if rng.random() < REFIT_SHARE:
            with suppress(StoreError):
                session.refit()
    if session is not None:
        session.catch_up()
        pipe.send(("known", [(one.number, one.by, one.choice) for one in session.answers]))


class LastingPerson:
    """A person who answers in a process of their own, and what they were told."""

    def __init__(self, address: str, name: str, seed: int) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        arguments = (address, name, seed, theirs)
        self.process = context.Process(target=lasting_writer, args=arguments, daemon=True)
        self.process.start()
        theirs.close()
        self.said: dict[str, list[Any]] = {"confirmed": [], "in doubt": [], "known": []}

    def goes_on(self, what: str = "confirmed") -> bool:
        """Read what was sent, and wait for one more of these; returns whether it came."""
        for kind, told in received(self.pipe):
            self.said[kind].append(told)
        before = len(self.said[what])
        while len(self.said[what]) == before:
            if not self.pipe.poll(PATIENCE):
                return False
            try:
                kind, told = self.pipe.recv()
            except EOFError:  # the process has ended
                return False
            self.said[kind].append(told)
        return True

    def stop(self) -> set[tuple[int, str, str]]:
        """Let them finish; returns the answers that their session knows."""
        self.pipe.send("stop")
        self.goes_on("known")
        self.process.join(PATIENCE)
        return {one for known in self.said["known"] for one in known}


def postgres(rounds: int, seed: int) -> Outcome:
    """Two people answer in PostgreSQL; it is killed and started again, and their sessions go on."""
    outcome, rng = Outcome(), random.Random(seed)
    try:
        with running_postgres() as server:
            address = new_database(server)
            SqlStore(address).close()
            people = [LastingPerson(address, f"person {w}", seed + w) for w in range(2)]
            alive = all(person.goes_on() for person in people)
            for k in range(rounds):
                time.sleep(rng.uniform(0, 0.5))
                crash(address)
                alive = alive and all(person.goes_on() for person in people)
                told = [one for person in people for one in person.said["confirmed"]]
                lost = compare(address, {one[:2]: one[2] for one in told}, outcome)
                went_on = "" if alive else ", and a session did not go on"
                words = f"round {k}: {lost} answers lost or doubled{went_on}"
                outcome.note(alive and not lost, words)
                if not alive:
                    break
            if alive:
                _judge_sessions(outcome, address, people)
    except NoPostgres as reason:
        raise Skipped(str(reason)) from None
    return outcome


def _judge_sessions(outcome: Outcome, address: str, people: list[LastingPerson]) -> None:
    """Compare what a new session knows with what both people were told, and their sessions know."""
    known = [person.stop() for person in people]
    with SqlStore(address) as store:
        session = session_over(clouds(N_LASTING_ITEMS, 0)[0], store=store)
        held = {(one.number, one.by, one.choice) for one in session.answers}
    confirmed = {one for person in people for one in person.said["confirmed"]}
    doubtful = {one for person in people for one in person.said["in doubt"]} - confirmed
    outcome.lost += len(confirmed - held) + len(held - confirmed - doubtful)
    if not known[0] <= held or known[-1] != held:  # the second person stops last
        outcome.problems.append("A session knows other answers than the database holds.")
    outcome.figures = {
        "answers": len(confirmed),
        "not confirmed, because the database was killed": len(doubtful),
        "of those stored": len(doubtful & held),
    }
