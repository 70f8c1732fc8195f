"""Bytes of a ledger and of its write-ahead log cut off or changed at random places."""

from __future__ import annotations

import random
import shutil
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from benchmarks.faults.outcome import Outcome, clouds, session_over
from samekind.errors import CorruptedLedger, StoreError
from samekind.ledger.last_events import note_of
from samekind.ledger.repair import repair
from samekind.ledger.sql import SqlStore
from samekind.ledger.write_ahead_log import log_of
from samekind.simulation.loop import run
from samekind.simulation.people import Truth

ANSWERS = 20
Facts = set[tuple[int, str, str, float]]
"""Number, kind, data and time of events."""


FILES: tuple[Callable[[Path], Path], ...] = (Path, log_of, note_of)
"""The files of a ledger: its own, the write-ahead log, and the note of the last events."""


def bytes_changed(rounds: int, seed: int) -> Outcome:
    """One to 200 bits changed, or the end cut off: in the ledger, its log, or its note."""
    outcome, rng = Outcome(), random.Random(seed)
    tally: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as name, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        folder = Path(name)
        expected = _write(folder / "good.samekind", folder / "copy.samekind")
        for k in range(rounds):
            ledger = folder / f"{k}.samekind"
            for file in FILES:
                shutil.copy(file(folder / "copy.samekind"), file(ledger))
            hit = FILES[(0, 1, 0, 1, 2)[k % 5]](ledger)
            hit.write_bytes(spoiled(hit.read_bytes(), rng))
            try:
                wrong = _opened(ledger, expected, tally)
                kept = _repaired(folder, ledger, k)
            except Exception as problem:  # no sentence for a person
                outcome.note(False, f"round {k}, {hit.name}: {problem!r:.200}")
                continue
            outcome.lost += wrong + len(kept - expected)
            outcome.note(not wrong, f"round {k}, {hit.name}: {wrong} events")
            tally["saved"] += len(kept & expected)
            for made in folder.glob(f"{k}.*"):
                made.unlink()
    whole = max(rounds * len(expected), 1)
    outcome.figures = {
        **{name: tally[name] for name in ("harmless", "refused with a sentence")},
        "events lost silently": tally["events lost silently"],
        "events saved by repair": f"{100 * tally['saved'] / whole:.1f} %",
    }
    return outcome


def _opened(ledger: Path, expected: Facts, tally: Counter[str]) -> int:
    """Open a damaged ledger; returns how many events are wrong, or gone without a word."""
    try:
        read = facts(ledger)
    except StoreError as problem:
        tally["refused with a sentence"] += 1
        return int(str(ledger) not in str(problem))
    tally["harmless"] += read == expected
    tally["events lost silently"] += len(expected - read)
    return len(read ^ expected)


def spoiled(content: bytes, rng: random.Random) -> bytes:
    """The bytes with some bits changed, or without their end."""
    if rng.random() < 0.25:
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
        for file in FILES:
            shutil.copy(file(ledger), file(copy))
    return facts(ledger)


def _repaired(folder: Path, ledger: Path, k: int) -> Facts:
    try:
        return facts(repair(ledger, folder / f"{k}.repaired").path)
    except CorruptedLedger:
        return set()  # no whole event was found
