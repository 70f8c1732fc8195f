"""Ledgers of killed processes in whose place a backup, another ledger or a branch is put."""

from __future__ import annotations

import os
import random
import shutil
import tempfile
from collections import Counter
from pathlib import Path

from benchmarks.faults.outcome import Outcome
from samekind.errors import StoreError
from samekind.ledger.last_events import note_of
from samekind.ledger.sql import SqlStore
from samekind.ledger.write_ahead_log import log_of
from samekind.protocols import Event

Told = list[str]
"""The texts of the events of one file, without what is in a log beside it."""


def put_in_place(rounds: int, seed: int) -> Outcome:
    """A crash leaves a log, and another file takes the place; nothing may be lost or mixed."""
    outcome, rng, tally = Outcome(), random.Random(seed), Counter[str]()
    for k in range(rounds):
        with tempfile.TemporaryDirectory() as name:
            problem = _round(Path(name), rng, tally)
        outcome.lost += bool(problem)
        outcome.note(not problem, f"round {k}: {problem}")
    outcome.figures = dict(sorted(tally.items()))
    return outcome


def _round(folder: Path, rng: random.Random, tally: Counter[str]) -> str:
    """Returns what was not as promised, or an empty string."""
    ledger, told = folder / "a.samekind", list[str]()
    kept: list[tuple[Path, Told]] = []
    for step in range(rng.randint(1, 3)):
        told += _added(ledger, _many(rng), rng)
        kept.append((Path(shutil.copy(ledger, folder / f"{step}.backup")), list(told)))
    if rng.random() < 0.4:  # another branch, or another ledger
        source, begun = rng.choice([*kept, (folder / "none", [])])
        branch = folder / "branch.backup"
        if source.exists():
            shutil.copy(source, branch)
        kept.append((branch, [*begun, *_added(branch, _many(rng), rng)]))
    in_log = _crashed(ledger, _many(rng), rng)
    chosen, held = rng.choice(kept)
    if rng.random() < 0.5:
        shutil.copy(chosen, ledger)
    else:
        os.replace(chosen, ledger)
    if rng.random() < 0.5:
        note_of(ledger).unlink(missing_ok=True)
    before = _contents(ledger)
    try:
        found = _events(ledger)
    except StoreError:
        tally["refused with a sentence"] += 1
        return "" if _contents(ledger) == before else "it was refused, and changed"
    whole = found == [*told, *in_log] and found[: len(held)] == held
    tally["opened with all events"] += whole
    return "" if whole else f"{len(held)} and {len(in_log)} events became {len(found)}"


def _many(rng: random.Random) -> int:
    return rng.choice((1, 3, 12, rng.randint(1, 60), rng.randint(60, 200)))


def _added(ledger: Path, n: int, rng: random.Random) -> Told:
    """Add events and close the ledger; returns their texts."""
    with SqlStore(ledger) as store:
        return _append(store, n, rng)


def _append(store: SqlStore, n: int, rng: random.Random) -> Told:
    texts = [f"{rng.random()} " * rng.choice((1, 8, 300)) for _ in range(n)]
    if rng.random() < 0.5:
        store.extend("main", [Event("named", {"group": 1, "name": text}) for text in texts])
    else:
        for text in texts[:20]:
            store.append("main", Event("named", {"group": 1, "name": text}))
        store.extend("main", [Event("named", {"group": 1, "name": text}) for text in texts[20:]])
    return texts


def _crashed(ledger: Path, n: int, rng: random.Random) -> Told:
    """Add events and leave the log, as a process that is killed does; returns their texts."""
    files = [file(ledger) for file in (log_of, note_of)]
    with SqlStore(ledger) as store:
        texts = _append(store, n, rng)
        left = [file.read_bytes() for file in files]
    for file, content in zip(files, left, strict=True):
        file.write_bytes(content)
    return texts


def _contents(ledger: Path) -> list[bytes]:
    return [file.read_bytes() for file in (ledger, log_of(ledger)) if file.exists()]


def _events(ledger: Path) -> Told:
    with SqlStore(ledger) as store:
        return [event.data["name"] for event in store.read("main")]
