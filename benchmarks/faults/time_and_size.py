"""Large ledgers, a week of use, and many clients at once."""

from __future__ import annotations

import gc
import math
import multiprocessing
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from itertools import pairwise
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import numpy as np
from numpy.typing import NDArray

from benchmarks.faults.outcome import Outcome
from benchmarks.gaussians import gaussian_kinds, write_kinds
from benchmarks.ledger.speed import simulated_answers, write_ledger
from benchmarks.measuring import percentiles
from benchmarks.people.checking import compare, summary
from benchmarks.people.crowd import Person, Server
from samekind.ledger.sql import SqlStore
from samekind.questions import Answer
from samekind.session import Session
from samekind.simulation.people import Truth
from samekind.sources import RowCollection, Rows

MAX_OPEN_SECONDS = 60.0
MAX_ACT_SECONDS = 5.0
"""Generous, because other work may be running: this finds hangs. The times are in the figures."""
N_WEEK_ITEMS, N_WRITTEN_ITEMS = 1000, 500
"""Answers written at once are about the latter only, so that a person always has questions left."""
SITTING_EVERY = 20
"""One reopening in this many is a sitting: a process of its own in which a person acts."""
ACTS = {
    "told": ("number", "choice"),
    "undone": ("number", ""),
    "named": ("group", "name"),
    "refitted": ("snapshot", ""),
}
"""What a person does, by kind of event: its number, and its words."""
Act = tuple[str, int, str]
N_CLIENTS = 20
MAX_P95_SECONDS = 5.0
"""What the next question may take 95 times in 100, on a machine that has other work as well."""
MIN_MINUTES, MAX_GROWTH = 6, 1.15
"""From so many minutes on, the second half of them may need this share of the first half's memory.
In less time the memory is still that of a server that was just started."""


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
    """Open the ledger again and again, with 500 new events each; some openings are whole sittings.

    A sitting is a process of its own in which a person answers, undoes, names a group and refits.
    """
    outcome, opened, week, n_written = Outcome(), [], Week(seed), 0
    every = simulated_answers(week.kinds[:N_WRITTEN_ITEMS], 250 * rounds, 0.01, seed)
    with tempfile.TemporaryDirectory() as folder:
        ledger = f"{folder}/a.samekind"
        for k in range(rounds):
            if k % SITTING_EVERY == SITTING_EVERY // 2:
                wrong = week.sitting(ledger)
                outcome.lost += wrong
                outcome.note(not wrong, f"reopening {k}, a sitting: {wrong} answers differ")
                continue
            if k % 10 == 0 or k == rounds - 1:
                gc.collect()  # the sessions of earlier rounds, which a new process would not have
            begun = time.process_time()
            with SqlStore(ledger) as store:
                session = week.open(store)
                opened.append(time.process_time() - begun)
                wrong = week.differing(store, session)
                outcome.lost += wrong
                outcome.note(not wrong, f"reopening {k}: {wrong} answers or acts differ")
                week.take(acted(session, week.kinds, 1, undo=True))
                week.write(store, session, every[n_written : 250 * (k + 1)])
                n_written = 250 * (k + 1)
        with SqlStore(ledger) as store:
            kinds = Counter(event.kind for event in store.read("main"))
            outcome.lost += week.differing(store, week.open(store))
    if kinds.total() < 2 * n_written or kinds["undone"] < rounds:
        outcome.problems.append(f"That was no week of use: {dict(kinds)}.")
    outcome.figures = {
        "events": kinds.total(),
        "of them": dict(kinds.most_common()),
        "sittings in processes of their own": week.n_sittings,
        "opening, processor seconds": {"first": round(opened[0], 2), "last": round(opened[-1], 2)},
    }
    return outcome


class Week:
    """What should be in the ledger: every act that was confirmed, once, and what follows."""

    def __init__(self, seed: int) -> None:
        self.seed, self.n_sittings = seed, 0
        self.X, self.kinds = gaussian_kinds(N_WEEK_ITEMS, 16, 10, seed)
        self.acts: Counter[Act] = Counter()
        self.answers: dict[int, str] = {}
        self.names: dict[int, str] | None = None
        """The names of the groups at the end of the last sitting; None: compared already."""

    def open(self, store: SqlStore) -> Session:
        """Open the session in this process."""
        return Session(_collection(self.X), self.X, store=store, seed=self.seed)

    def take(self, acts: list[Act]) -> None:
        """Note confirmed acts."""
        self.acts.update(acts)
        for kind, number, choice in acts:
            if kind == "told":
                self.answers[number] = choice
            elif kind == "undone":
                del self.answers[number]

    def write(self, store: SqlStore, session: Session, answers: list[Answer]) -> None:
        """Write answers as another process would have, with the next numbers."""
        first = session._ledger.n_asked + 1
        numbered = [replace(answer, number=first + i) for i, answer in enumerate(answers)]
        write_ledger(store, session, numbered)
        self.take([("told", answer.number, answer.choice) for answer in numbered])

    def differing(self, store: SqlStore, session: Session) -> int:
        """Count answers, and acts after a sitting, that are lost, doubled, invented or changed."""
        held = {answer.number: answer.choice for answer in session.answers}
        wrong = len(held.items() ^ self.answers.items())
        if not self.acts:  # the ledger is new: it holds the first groups
            self.acts = acts_in(store)
        if self.names is not None:
            found = acts_in(store)
            wrong += (found - self.acts).total() + (self.acts - found).total()
            wrong += len(self.names.items() ^ names_of(session).items())
            self.names = None
        return wrong

    def sitting(self, ledger: str) -> int:
        """Let a person act in a new process; returns how many answers it did not find as they were.

        What was done there is compared at the next opening.
        """
        self.n_sittings += 1
        context = multiprocessing.get_context("spawn")
        mine, theirs = context.Pipe(duplex=False)
        process = context.Process(target=sit, args=(ledger, self.seed, self.n_sittings, theirs))
        process.start()
        theirs.close()
        found: dict[int, str] = mine.recv()
        wrong = len(found.items() ^ self.answers.items())
        self.take(mine.recv())
        self.names = mine.recv()
        process.join()
        return wrong


def sit(ledger: str, seed: int, number: int, pipe: Connection) -> None:
    """Open the ledger, answer, undo, name a group and refit; send what was found and done."""
    week = Week(seed)
    with SqlStore(ledger) as store:
        session = week.open(store)
        pipe.send({answer.number: answer.choice for answer in session.answers})
        acts = acted(session, week.kinds, 20)
        group, name = session.clustering.numbers[0], f"named in sitting {number}"
        session.rename(group, name)
        acts.append(("named", group, name))
        acts += acted(session, week.kinds, 1, undo=True)
        acts.append(("refitted", session.refit().snapshot, ""))
        pipe.send(acts)
        pipe.send(names_of(session))


def acted(session: Session, kinds: Any, answers: int, *, undo: bool = False) -> list[Act]:
    """Ask and answer, and undo the last answer; returns what was confirmed."""
    truth, done = Truth(kinds), list[Act]()
    for _ in range(answers):
        asked = session.ask()
        if asked is not None:
            choice = truth.answer(asked.question)
            session.tell(asked.number, choice)
            done.append(("told", asked.number, choice))
    number = session.undo() if undo and done else None
    return done if number is None else [*done, ("undone", number, "")]


def acts_in(store: SqlStore) -> Counter[Act]:
    """The acts in a ledger, and how often each is in there."""
    found: Counter[Act] = Counter()
    for event in store.read("main"):
        if event.kind in ACTS:
            number, words = ACTS[event.kind]
            found[event.kind, event.data[number], event.data.get(words, "")] += 1
    return found


def names_of(session: Session) -> dict[int, str]:
    """The names of the groups that have one."""
    return dict(session.clustering.names)


def many_clients(rounds: int, seed: int) -> Outcome:
    """Twenty clients at one server, one round per minute: memory, lost or doubled answers, p95.

    A grouping has about 7,500 questions worth asking, which twenty people answer within eight
    minutes. So they work at two groupings of the pile (one more for every ten minutes), and each of
    them has to have an answer confirmed in every minute.
    """
    outcome = Outcome()
    names = [f"person {k:02}" for k in range(N_CLIENTS)]
    groupings = ["main", *(f"grouping {k}" for k in range(2, 2 + math.ceil(rounds / 10)))]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        kinds = write_kinds(folder / "pile.npy", 30_000, 16, 10, seed)
        ledger = str(folder / "answers.samekind")
        server = Server(folder / "home", folder / "pile.npy", ledger, names, "--seed", str(seed))
        server.wait()
        people = sorters(server, groupings, kinds, seed)
        memory, given = [], [[0] * N_CLIENTS]
        try:
            for person in people:
                person.start()
            for _ in range(rounds):
                threading.Event().wait(60)
                memory.append(anonymous_megabytes(server.process.pid))
                given.append([len(person.log.confirmed) for person in people])
            for person in people:
                person.stopped.set()
            for person in people:
                person.join()
        finally:
            server.kill()
        confirmed = judge_clients(outcome, ledger, people, groupings)
        outcome.problems += server.faults()[:5]
    minutes = [[b - a for a, b in zip(*pair, strict=True)] for pair in pairwise(given)]
    for k, answers in enumerate(minutes, start=1):
        idle = answers.count(0)
        outcome.note(not idle, f"minute {k}: {idle} of {N_CLIENTS} clients had no answer confirmed")
    times = percentiles([s for person in people for s in person.log.seconds])
    outcome.problems += bounds(memory, times)
    outcome.figures = {
        "answers": confirmed,
        "groupings": len(groupings),
        "answers in each minute": [sum(answers) for answers in minutes],
        "next question, ms": {**times, "p95 may be": 1000 * MAX_P95_SECONDS},
        "memory after each minute, MB": memory,
    }
    return outcome


class Sorter(Person):
    """A person who works at one grouping."""

    grouping = ""

    def _send(self, method: str, path: str, body: Any = None) -> httpx.Response:
        return super()._send(method, f"{path}?session={quote(self.grouping)}", body)


def sorters(
    server: Server, groupings: list[str], kinds: NDArray[np.int8], seed: int
) -> list[Sorter]:
    """Start the groupings, and return the people, each of whom works at one of them.

    The kinds of the first grouping are those of the items, those of the second two of them each.
    """
    people = []
    for k, who in enumerate(server.people):
        place = k % len(groupings)
        person = Sorter(
            who,
            [server],
            partial(kind_of, kinds // (place + 1)),
            think=1.0,
            error=0.02,
            seed=seed * 100 + k,
        )
        person.grouping = groupings[place]
        people.append(person)
    for name in groupings[1:]:
        token = {"Authorization": f"Bearer {server.tokens[server.people[0]]}"}
        where = f"{server.origin}/api/orientations"
        httpx.post(where, json={"name": name}, headers=token, timeout=60).raise_for_status()
    return people


def kind_of(kinds: NDArray[np.int8], id: str) -> int:
    """The kind of an item."""
    return int(kinds[int(id.removeprefix("row-"))])


def judge_clients(outcome: Outcome, ledger: str, people: list[Sorter], groupings: list[str]) -> int:
    """Compare the ledger with what people were told; returns how many answers were confirmed."""
    confirmed = 0
    with SqlStore(ledger) as store:
        for name in groupings:
            logs = {one.name: one.log for one in people if one.grouping == name}
            found = compare(store, name, logs)
            confirmed += found["confirmed"]
            outcome.lost += found["lost"] + found["doubled"] + found["answered_twice_by_one"]
            outcome.problems += [f"{name}: {found[wrong]} {wrong}" for wrong in summary(found)]
    refused = sum((one.log.refused for one in people), Counter[str]())
    outcome.problems += [f"{n} times {why}" for why, n in refused.items() if "status 5" in why]
    outcome.problems += [str(one.problem) for one in people if one.problem][:1]
    return confirmed


def bounds(memory: list[int], times: Mapping[str, float]) -> list[str]:
    """Say which of the bounds on memory and time were not kept."""
    first, second = memory[: len(memory) // 2], memory[len(memory) // 2 :]
    found = []
    if len(memory) >= MIN_MINUTES and max(second) > MAX_GROWTH * max(first):
        found.append(f"Memory grew from at most {max(first)} to {max(second)} MB.")
    if times["p95"] > 1000 * MAX_P95_SECONDS:
        found.append(f"The next question took {times['p95'] / 1000:.1f} s or more one time in 20.")
    return found


def anonymous_megabytes(process: int) -> int:
    """The memory of a process that lies in no file."""
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith("RssAnon"):
            return int(line.split()[1]) // 1024
    return 0
