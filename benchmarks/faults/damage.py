"""Bytes of a ledger and of its write-ahead log cut off or changed at random places."""

from __future__ import annotations

import random
import shutil
import tempfile
import warnings
from pathlib import Path

from benchmarks.faults.outcome import Outcome, clouds, session_over
from samekind.errors import CorruptedLedger, StoreError
from samekind.ledger.repair import repair
from samekind.ledger.sql import SqlStore
from samekind.ledger.write_ahead_log import log_of
from samekind.simulation.loop import run
from samekind.simulation.people import Truth

ANSWERS = 20
Facts = set[tuple[int, str, str, float]]
"""Number, kind, data and time of events."""


def bytes_changed(rounds: int, seed: int) -> Outcome:
    """One to 200 bits changed, or the end cut off; in every second round in the log."""
    outcome, rng = Outcome(), random.Random(seed)
    refused = harmless = shorter = saved = whole = 0
    with tempfile.TemporaryDirectory() as name, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        folder = Path(name)
        expected = _write(folder / "good.samekind", folder / "copy.samekind")
        for k in range(rounds):
            ledger = folder / f"{k}.samekind"
            for suffix in ("", "-wal"):
                shutil.copy(f"{folder / 'copy.samekind'}{suffix}", f"{ledger}{suffix}")
            hit = log_of(ledger) if k % 2 else ledger
            broken = spoiled(hit.read_bytes(), rng)
            hit.write_bytes(broken)
            try:
                read = facts(ledger)
            except StoreError as problem:
                refused += 1
                good = str(ledger) in str(problem)
                outcome.note(good, f"round {k}: {problem}")
            else:
                wrong = len(read - expected)
                outcome.lost += wrong
                outcome.note(not wrong, f"round {k}: {wrong} events are not what was stored")
                harmless += read == expected
                shorter += read < expected
            kept = _repaired(folder, ledger, k)
            outcome.lost += len(kept - expected)
            saved, whole = saved + len(kept & expected), whole + len(expected)
            for file in folder.glob(f"{k}.*"):
                file.unlink()
    outcome.figures = {
        "refused": refused,
        "harmless": harmless,
        "end of the log missing": shorter,
        "events saved by repair": f"{100 * saved / max(whole, 1):.1f} %",
    }
    return outcome


def spoiled(content: bytes, rng: random.Random) -> bytes:
    """The bytes with some bits changed, or without their end."""
    if rng.random() < 0.15:
        return content[: rng.randrange(len(content))]
    changed = bytearray(content)
    for _ in range(rng.choice((1, 1, 1, 8, 200))):
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def facts(ledger: Path) -> Facts:
    """All events of a ledger, comparable."""
    with SqlStore(ledger) as store:
        return {
            (event.seq, event.kind, str(event.data), event.at)
            for session in store.sessions()
            for event in store.read(session)
            if event.kind != "lost"
        }


def _write(ledger: Path, copy: Path) -> Facts:
    """A ledger with answers of a session, half of them still in its log; copied while open."""
    X, kinds = clouds(120, 1)
    with SqlStore(ledger) as store:
        run(session_over(X, store=store, seed=0), Truth(kinds), ANSWERS)
    with SqlStore(ledger) as store:
        session = session_over(X, store=store, seed=0)
        run(session, Truth(kinds), ANSWERS)
        shutil.copy(ledger, copy)
        shutil.copy(log_of(ledger), log_of(copy))
    return facts(ledger)


def _repaired(folder: Path, ledger: Path, k: int) -> Facts:
    try:
        return facts(repair(ledger, folder / f"{k}.repaired").path)
    except CorruptedLedger:
        return set()  # no whole event was found
