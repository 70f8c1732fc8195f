"""Twenty people on four servers and one PostgreSQL, one of the servers killed in the middle.

No answer may be lost, doubled or replaced, and no question may be open for two people at once.
Measures how long the next question takes. Everything runs on one machine: the people, the servers
and the database share its cores.
"""

from __future__ import annotations

import tempfile
import threading
import time
from argparse import Namespace
from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks.gaussians import write_kinds
from benchmarks.measuring import arguments, emit, percentiles
from benchmarks.people.checking import compare, summary
from benchmarks.people.crowd import Person, Server
from benchmarks.people.postgres import new_database, running_postgres

RESULTS = Path(__file__).with_suffix(".jsonl")
ERRORS = (0.02, 0.02, 0.02, 0.2)
"""Shares of wrong answers, in turn: every fourth person is careless."""


def main() -> None:
    """Run once and print one row."""
    parser = arguments(str(__doc__), RESULTS)
    parser.add_argument("--people", type=int, default=20)
    parser.add_argument("--servers", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--think", type=float, default=2.0, help="mean seconds per question")
    parser.add_argument("--items", type=int, default=6000)
    parser.add_argument("--overlap", type=float, default=0.1)
    parser.add_argument("--sqlite", action="store_true", help="one SQLite file instead")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if chosen.sqlite:
            row = run(chosen, Path(folder), str(Path(folder) / "answers.samekind"))
        else:
            with running_postgres() as server:
                row = run(chosen, Path(folder), new_database(server))
    emit(row, chosen.json)
    if wrong := summary(row):
        raise SystemExit(f"Failed: {', '.join(wrong)}.")


def run(chosen: Namespace, folder: Path, ledger: str) -> dict[str, Any]:
    """Let everybody answer, kill a server half-way, and compare with the ledger."""
    pile = folder / "pile.npy"
    kinds = write_kinds(pile, chosen.items, 16, 10, chosen.seed)
    names = [f"person {k:02}" for k in range(chosen.people)]
    servers = start(chosen, folder, pile, ledger, names)
    people = [
        Person(
            name,
            [*servers[k % len(servers) :], *servers[: k % len(servers)]],
            lambda id: int(kinds[int(id.removeprefix("row-"))]),
            think=chosen.think,
            error=ERRORS[k % len(ERRORS)],
            seed=chosen.seed * 1000 + k,
        )
        for k, name in enumerate(names)
    ]
    try:
        watched = answer(chosen, servers, people)
    finally:
        for server in servers:
            server.kill()
    return result(chosen, ledger, people) | watched


def answer(chosen: Namespace, servers: list[Server], people: list[Person]) -> dict[str, Any]:
    """Let people answer for the given time; returns what was seen from outside."""
    began = time.monotonic()
    for person in people:
        person.start()
    time.sleep(chosen.seconds / 2)
    servers[0].kill()
    killed = sum(len(person.log.confirmed) for person in people)
    time.sleep(max(0.0, began + chosen.seconds - time.monotonic()))
    for person in people:
        person.stopped.set()
    for person in people:
        person.join()
    return {
        "seconds": round(time.monotonic() - began, 1),
        "confirmed_when_killed": killed,
        "faults": [line for server in servers for line in server.faults()][:5],
        **reported(servers[1]),
    }


def start(
    chosen: Namespace, folder: Path, pile: Path, ledger: str, names: list[str]
) -> list[Server]:
    """Start the servers; all but the first at once."""
    more = ("--overlap", str(chosen.overlap), "--seed", str(chosen.seed))
    made = [Server(folder / "home", pile, ledger, names, *more)]
    made[0].wait()  # makes the ledger and the token of this user
    made += [Server(folder / "home", pile, ledger, names, *more) for _ in range(chosen.servers - 1)]
    waiting = [threading.Thread(target=server.wait) for server in made[1:]]
    for one in waiting:
        one.start()
    for one in waiting:
        one.join()
    return made


def result(chosen: Namespace, ledger: str, people: list[Person]) -> dict[str, Any]:
    """Everything that people noticed, beside what the ledger holds."""
    from samekind.ledger.store import open_store

    broken = [person for person in people if person.problem is not None]
    if broken:
        raise RuntimeError(f"{broken[0].name} could not go on.") from broken[0].problem
    logs = {person.name: person.log for person in people}
    refused: Counter[str] = sum((d.refused for d in logs.values()), Counter())
    return {
        "benchmark": "people",
        "people": chosen.people,
        "servers": chosen.servers,
        "ledger": "SQLite" if chosen.sqlite else "PostgreSQL",
        "items": chosen.items,
        "think": chosen.think,
        "overlap": chosen.overlap,
        "seed": chosen.seed,
        **compare(open_store(ledger), "main", logs),
        "refused": dict(refused),
        "moved": sum(d.moves > 0 for d in logs.values()),
        "waited": sum(d.waited for d in logs.values()),
        "next_question_ms": percentiles([s for d in logs.values() for s in d.seconds]),
    }


def reported(server: Server) -> dict[str, Any]:
    """Agreement and learned error rates, as a server shows them at the end."""
    import httpx

    token = next(iter(server.tokens.values()))
    headers = {"Authorization": f"Bearer {token}"}
    with httpx.Client(base_url=server.origin, headers=headers, timeout=120) as http:
        found = http.get("/api/progress/people").json()
        counts = http.get("/api/progress").json()
    rates = {one["name"]: one["error"] for one in found["people"]}
    careless = [rate for k, rate in enumerate(rates.values()) if ERRORS[k % 4] > 0.1]
    careful = [rate for k, rate in enumerate(rates.values()) if ERRORS[k % 4] < 0.1]
    return {
        "alpha": found["alpha"],
        "shared": found["shared"],
        "agreed": found["agreed"],
        "learned_error_careful": _mean(careful),
        "learned_error_careless": _mean(careless),
        "snapshot": counts["snapshot"],
        "groups": counts["groups"],
        "quality": counts["quality"],
    }


def _mean(rates: list[float | None]) -> float | None:
    known = [rate for rate in rates if rate is not None]
    return round(sum(known) / len(known), 4) if known else None


if __name__ == "__main__":
    main()
