"""Older programs on newer files, and the reverse: refused with a sentence, or every answer kept."""

from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from functools import cache
from io import BytesIO
from pathlib import Path
from tarfile import TarFile
from typing import Any
from unittest import mock

from benchmarks.faults import hostile_files
from benchmarks.faults.outcome import Outcome, clouds, session_over
from samekind.errors import SamekindError, StoreError
from samekind.exports import OrientationFile
from samekind.ledger import migrations
from samekind.ledger.sql import SqlStore
from samekind.session import Session
from samekind.simulation.loop import run
from samekind.simulation.people import Truth

ROOT = Path(__file__).parents[2]
RECORDED = ROOT / "tests" / "recorded" / "files"
"""Files that version 0.1 wrote."""
OLDER = "3e4e0db"
"""The last commit of 0.1, whose ledgers have version 1 of the tables."""
CHANGED = "its bytes or answers were changed"
Rows = list[tuple[Any, ...]]
Case = Callable[[Path, random.Random], str]
"""Returns what was not as promised, or an empty string."""
READ_BY_OLDER = """
import sys
from samekind.errors import SamekindError
from samekind.store import open_store
try:
    open_store(sys.argv[1])
except SamekindError as sentence:
    print(sentence)
"""
"""Opens a ledger with the program of 0.1."""


def versions(rounds: int, seed: int) -> Outcome:
    """Every pair of an older and a newer side: no byte and no answer is changed."""
    outcome, rng, tally = Outcome(), random.Random(seed), Counter[str]()
    for k in range(rounds):
        case = CASES[k % len(CASES)]
        with tempfile.TemporaryDirectory() as folder:
            try:
                problem = case(Path(folder), rng)
            except Unavailable as reason:
                tally[f"skipped: {reason}"] += 1
                outcome.note(True)
                continue
        name = case.__name__.strip("_").replace("_", " ")
        tally[name] += 1
        outcome.lost += problem == CHANGED
        outcome.note(not problem, f"{name}: {problem}")
    outcome.figures = dict(sorted(tally.items()))
    return outcome


class Unavailable(RuntimeError):
    """The case cannot be made here; the message says why."""


def rows_of(ledger: Path) -> Rows:
    """The events of a ledger as the file has them, read by nothing of samekind."""
    copy = ledger.with_suffix(".copy")
    shutil.copy(ledger, copy)
    connection = sqlite3.connect(copy)
    order = "SELECT session, seq, kind, data, at FROM events ORDER BY session, seq"
    found = connection.execute(order).fetchall()
    connection.close()
    for file in copy.parent.glob(f"{copy.name}*"):
        file.unlink()
    return found


def refused_unchanged(file: Path, opener: Callable[[Path], Any]) -> str:
    """Open a file that has to be refused; returns what was not as promised."""
    content, files = file.read_bytes(), sorted(file.parent.iterdir())
    try:
        opener(file)
        return "it was opened"
    except SamekindError as sentence:
        if "pip install --upgrade samekind" not in str(sentence):
            return f"it was refused for another reason: {sentence}"
    if file.read_bytes() != content or sorted(file.parent.iterdir()) != files:
        return CHANGED
    return ""


def _ledger(folder: Path, seed: int) -> Path:
    """A ledger of today with answers."""
    X, kinds = clouds(60, seed)
    with SqlStore(folder / "a.samekind") as store:
        run(session_over(X, store=store, seed=0), Truth(kinds), 12)
    return folder / "a.samekind"


def _newer_ledger(folder: Path, rng: random.Random) -> str:
    """A ledger of a later version, with columns and a table that this program does not know."""
    ledger = _ledger(folder, rng.randrange(99))
    newer = len(migrations.MIGRATIONS) + rng.randint(1, 9)
    connection = sqlite3.connect(ledger)
    connection.execute("UPDATE meta SET value = ?", (str(newer),))
    if rng.random() < 0.5:
        connection.execute("ALTER TABLE events ADD COLUMN place TEXT")
        connection.execute("CREATE TABLE people (name TEXT)")
    connection.commit()
    connection.close()
    return refused_unchanged(ledger, SqlStore)


def _newer_orientation_file(folder: Path, rng: random.Random) -> str:
    content = (RECORDED / "colour.orientation").read_bytes()
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + length])
    facts = json.loads(header["__metadata__"]["samekind-orientation"])
    newer = json.dumps({**facts, "version": facts["version"] + rng.randint(1, 9)})
    header["__metadata__"]["samekind-orientation"] = newer
    file = folder / "a.orientation"
    file.write_bytes(hostile_files.with_header(header, content[8 + length :]))
    return refused_unchanged(file, OrientationFile.load)


def _newer_saved_session(folder: Path, rng: random.Random) -> str:
    good = hostile_files.saved(folder)
    facts = hostile_files.facts_of(good)
    facts["version"] += rng.randint(1, 9)
    file = folder / "a.session"
    file.write_bytes(hostile_files.with_facts(good, facts))
    return refused_unchanged(file, Session.load)


def _recorded_ledger(folder: Path, rng: random.Random) -> str:
    """The ledger that 0.1 wrote is upgraded, and has the same events afterwards."""
    ledger = folder / "a.samekind"
    shutil.copy(RECORDED / "answers.samekind", ledger)
    return _upgraded(ledger)


def _older_ledger(folder: Path, rng: random.Random) -> str:
    """A ledger as version 1 wrote it: the events of today without their checksums."""
    today = rows_of(_ledger(folder, rng.randrange(99)))
    ledger = folder / "older.samekind"
    with mock.patch.object(migrations, "MIGRATIONS", migrations.MIGRATIONS[:1]):
        SqlStore(ledger).close()
    connection = sqlite3.connect(ledger)
    connection.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?)", today)
    connection.commit()
    connection.close()
    return _upgraded(ledger) or ("" if rows_of(ledger) == today else CHANGED)


def _upgraded(ledger: Path) -> str:
    """Open an older ledger, twice; returns what was not as promised."""
    before = rows_of(ledger)
    for _ in range(2):
        with SqlStore(ledger) as store:
            found = [
                (name, event.seq, event.kind, event.data, event.at)
                for name in store.sessions()
                for event in store.read(name)
            ]
        wanted = [(*row[:3], json.loads(row[3]), row[4]) for row in before]
        if found != wanted or rows_of(ledger) != before:
            return CHANGED
    return "" if before else "there was no answer"


def _schema_check_of_version_1(folder: Path, rng: random.Random) -> str:
    """The program of today with the migrations of version 1, on a ledger of today."""
    ledger = _ledger(folder, rng.randrange(99))
    with mock.patch.object(migrations, "MIGRATIONS", migrations.MIGRATIONS[:1]):
        return refused_unchanged(ledger, SqlStore)


def _program_of_0_1(folder: Path, rng: random.Random) -> str:
    """The real program of 0.1, taken from the history of the repository, on a ledger of today."""
    ledger = _ledger(folder, rng.randrange(99))
    with tempfile.TemporaryDirectory() as place:
        with TarFile(fileobj=BytesIO(_older_source())) as archive:
            archive.extractall(place, filter="data")

        def opener(path: Path) -> None:
            command = [sys.executable, "-c", READ_BY_OLDER, str(path)]
            environment = {**os.environ, "PYTHONPATH": f"{place}/src"}
            done = subprocess.run(command, env=environment, capture_output=True, text=True)
            if done.stderr:
                raise RuntimeError(done.stderr[-500:])
            if done.stdout:
                raise StoreError(done.stdout)

        try:
            return refused_unchanged(ledger, opener)
        except RuntimeError as problem:
            return f"it did not refuse with a sentence: {problem}"


@cache
def _older_source() -> bytes:
    """The source of 0.1 as a tar archive."""
    command = ["git", "-C", str(ROOT), "archive", "--format=tar", OLDER, "src"]
    try:
        return subprocess.run(command, capture_output=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as problem:
        raise Unavailable(f"the history has no {OLDER}") from problem


CASES: tuple[Case, ...] = (
    _newer_ledger,
    _newer_orientation_file,
    _newer_saved_session,
    _recorded_ledger,
    _older_ledger,
    _schema_check_of_version_1,
    _program_of_0_1,
)
