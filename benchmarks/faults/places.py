"""Full disks, a home that cannot be written, and a clock that is set back."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from unittest import mock

import numpy as np

from benchmarks.faults.outcome import Outcome, Skipped, clouds, session_over
from samekind.errors import ExportError, NoSpace, SamekindError, StoreError
from samekind.exports import plan_export, run_export
from samekind.ledger.sql import SqlStore
from samekind.protocols import Event
from samekind.simulation.loop import run
from samekind.simulation.people import Truth

KILOBYTES = 400


@contextmanager
def small_disk(*more: str) -> Iterator[Path]:
    """A file system with room for 400 kB."""
    if os.geteuid() != 0:
        raise Skipped("only root can mount a small disk")
    with tempfile.TemporaryDirectory() as folder:
        wanted = ",".join((f"size={KILOBYTES}k", *more))
        options = ["-t", "tmpfs", "-o", wanted, "none", folder]
        done = subprocess.run(["mount", *options], capture_output=True, text=True)
        if done.returncode:
            raise Skipped(f"no disk can be mounted here: {done.stderr.strip()}")
        try:
            yield Path(folder)
        finally:
            subprocess.run(["umount", "-l", folder], check=True)


def full_disk(rounds: int, seed: int) -> Outcome:
    """The disk is full during one of many acts; then there is room again."""
    outcome = Outcome()
    acts = (_tell, _migrate, _repair, _cache, _export, _polish, _checkpoint)
    for k in range(rounds):
        act = acts[k % len(acts)]
        with small_disk() as disk:
            try:
                problem = act(disk, seed + k)
            except (OSError, AssertionError) as error:
                problem = repr(error)
            outcome.note(not problem, f"{act.__name__.strip('_')}: {problem}")
    return outcome


def _fill(disk: Path, left: int) -> Path:
    """Use up the disk but for some bytes."""
    ballast = disk / "ballast"
    room = os.statvfs(disk)
    ballast.write_bytes(bytes(max(0, room.f_bavail * room.f_frsize - left)))
    return ballast


def _tell(disk: Path, seed: int) -> str:
    X, kinds = clouds(80, seed)
    with SqlStore(disk / "a.samekind") as store:
        session = session_over(X, store=store, seed=0)
        truth = Truth(kinds)
        run(session, truth, 5)
        ballast = _fill(disk, 20_000)
        told = {a.number: a.choice for a in session.answers}
        try:
            for _ in range(200):
                asked = session.ask()
                if asked is None:
                    return "the disk was not filled"
                choice = truth.answer(asked.question)
                session.tell(asked.number, choice)
                told[asked.number] = choice
        except NoSpace:
            pass
        ballast.unlink()
        again = {a.number: a.choice for a in session_over(X, store=store, seed=0).answers}
        if again != told:
            return "answers differ after the disk was full"
        asked = session.ask()
        if asked is not None:
            session.tell(asked.number, truth.answer(asked.question))
        return "" if len(session.answers) == len(told) + (asked is not None) else "no room again"


def _migrate(disk: Path, seed: int) -> str:
    """An older ledger that cannot be upgraded stays as it is."""
    from samekind.ledger import migrations

    ledger = disk / "a.samekind"
    with mock.patch.object(migrations, "MIGRATIONS", migrations.MIGRATIONS[:1]):
        SqlStore(ledger).close()
    rows = sqlite3.connect(ledger)
    values = [("main", n, "told", '{"text":"%s"}' % ("x" * 500), 0.5) for n in range(1, 80)]
    rows.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?)", values)
    rows.commit()
    rows.close()
    ballast = _fill(disk, 30_000)
    try:
        SqlStore(ledger)
        return "it was upgraded without room"
    except NoSpace:
        ballast.unlink()
    with SqlStore(ledger) as store:
        return "" if len(list(store.read("main"))) == 79 else "events are missing"


def _repair(disk: Path, seed: int) -> str:
    from samekind.ledger.repair import repair

    with SqlStore(disk / "a.samekind") as store:
        store.extend("main", (Event("named", {"group": n, "name": "x" * 300}) for n in range(150)))
    ballast = _fill(disk, 30_000)
    try:
        repair(disk / "a.samekind")
        return "it was repaired without room"
    except StoreError:
        left = sorted(file.name for file in disk.iterdir())
    if left != ["a.samekind", "ballast"]:
        return f"left behind: {left}"
    ballast.unlink()
    return "" if repair(disk / "a.samekind").is_complete else "not complete"


def _cache(disk: Path, seed: int) -> str:
    """Encoding goes on without the cache."""
    from samekind.encoders import make_encoder
    from samekind.encoders.encoding import encode
    from samekind.sources import open_source

    with tempfile.TemporaryDirectory() as folder:
        lines = Path(folder) / "texts.txt"
        words = np.random.default_rng(seed).integers(0, 999, size=(300, 6))
        lines.write_text("\n".join(" ".join(f"word{w}" for w in row) for row in words))
        items = open_source(str(lines))
        _fill(disk, 3000)
        X = encode(items, make_encoder("sentences"), cache=disk / "cache").X
    return "" if len(X) == len(items) else "not all items were encoded"


def _export(disk: Path, seed: int) -> str:
    X, _ = clouds(3000, seed)
    session = session_over(X, seed=0)
    _fill(disk, 5000)
    before = sorted(disk.rglob("*"))
    for name in ("groups.csv", "groups.json", "sorted"):
        try:
            run_export(plan_export(session.collection, session.clustering, disk / name))
            return f"{name} was written without room"
        except (ExportError, SamekindError):
            if sorted(disk.rglob("*")) != before:
                left = {str(file) for file in disk.rglob("*")} - {str(file) for file in before}
                return f"{name} left {sorted(left)} behind"
    return ""


def _polish(disk: Path, seed: int) -> str:
    """Polished vectors that cannot be kept leave nothing behind."""
    from samekind.workspace import polished_vectors

    X, _ = clouds(2000, seed)
    items = session_over(X[:4], seed=0).collection
    with mock.patch.dict(os.environ, {"SAMEKIND_HOME": str(disk)}):
        for left in (100_000, 4096 + 120_000):  # not even the vectors, and the vectors only
            ballast = _fill(disk, left)
            vectors = X[:, :3] if left > 100_000 else np.hstack([X] * 4)
            try:
                polished_vectors.keep("0" * 16, items, vectors, {"words": "x" * 200_000})
                return "it was kept without room"
            except StoreError as problem:
                if "Free some space" not in str(problem):
                    return str(problem)
            files = [file.name for file in disk.rglob("*") if file.is_file()]
            if files != ["ballast"]:
                return f"left behind: {files}"
            ballast.unlink()
        polished_vectors.keep("0" * 16, items, X[:4], {"words": "x"})
        return "" if polished_vectors.vectors_of("0" * 16, items) is not None else "not kept"


def _checkpoint(disk: Path, seed: int) -> str:
    """A training that cannot write its state keeps the one before."""
    try:
        import torch
    except ImportError:
        return ""
    from samekind.training.checkpoints import Checkpoint, load_checkpoint, save_checkpoint

    place = disk / "state.safetensors"
    save_checkpoint(place, Checkpoint({"a": torch.ones(2000)}, {"step": 1}))
    ballast = _fill(disk, 4096)
    try:
        save_checkpoint(place, Checkpoint({"a": torch.ones(50_000)}, {"step": 2}))
        return "it was written without room"
    except OSError as problem:
        if not isinstance(problem, StoreError):
            return repr(problem)
    files = sorted(file.name for file in disk.iterdir())
    if files != ["ballast", "state.safetensors"] or load_checkpoint(place).facts["step"] != 1:
        return f"left behind: {files}"
    ballast.unlink()
    return ""


def read_only_home(rounds: int, seed: int) -> Outcome:
    """The home cannot be written: one sentence, or the work goes on without what it would keep."""
    outcome = Outcome()
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as name, small_disk("ro") as home:
            rows = Path(name) / "rows.csv"
            rows.write_text("a,b\n" + "\n".join(f"{k},{k % 3}" for k in range(40)))
            done = subprocess.run(
                [sys.executable, "-m", "samekind", "ask", str(rows)],
                env={**os.environ, "SAMEKIND_HOME": str(home), "HOME": str(home)},
                input="0\n1\nq\n",
                capture_output=True,
                text=True,
            )
            clear = done.returncode in (0, 7) and "Traceback" not in done.stderr
            outcome.note(clear, done.stderr[-300:])
            outcome.figures["said"] = (
                done.stderr.replace(str(home), "HOME").strip().splitlines()[-1][:200]
            )
    return outcome


def _shifted(clock: Callable[[], float], seconds: float) -> float:
    return clock() + seconds


def clock_set_back(rounds: int, seed: int) -> Outcome:
    """The clock jumps by up to ten years, also backwards; the ledger's own order counts."""
    outcome, rng = Outcome(), np.random.default_rng(seed)
    X, kinds = clouds(100, seed)
    for k in range(rounds):
        with tempfile.TemporaryDirectory() as folder, SqlStore(f"{folder}/a.samekind") as store:
            truth, told = Truth(kinds), {}
            session = session_over(X, store=store, seed=0)
            for _ in range(12):
                shift = float(rng.uniform(-3e8, 3e8))
                with mock.patch("time.time", partial(_shifted, time.time, shift)):
                    asked = session.ask(by="me")
                    if asked is None:
                        break
                    told[asked.number] = truth.answer(asked.question)
                    session.tell(asked.number, told[asked.number], by="me")
            session.undo(by="me")
            told.popitem()
            again = session_over(X, store=store, seed=0)
            same = {a.number: a.choice for a in again.answers} == told
            outcome.lost += not same
            outcome.note(same and np.isfinite(again.clustering.space).all(), f"round {k}")
    return outcome
