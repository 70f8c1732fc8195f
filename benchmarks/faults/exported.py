"""Exports that are killed in the middle, and names that try to leave the target."""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import tempfile
import time
from pathlib import Path

from benchmarks.faults.outcome import Outcome
from samekind.clustering import Clustering
from samekind.exports import MANIFEST, plan_export, run_export, undo_export
from samekind.items import Collection, Item, Preview

NASTY = (
    "../x", "../../../../etc/x", "/etc/x", "..", ".", "...", "a/../../b", "..\\..\\x", "C:\\x",
    "con", "NUL.txt", "lpt1", "x" * 300, "é" * 200, "a\0b", "a\nb", "\x1b[2J", "😀🎉",
    "\u202egpj.exe", "\u200f", " ", "trailing. ", "~", "-rf", "$(touch x)", "`touch x`",
    "%2e%2e%2f", "\udcff", "\u2067gpj\u2069.exe", "\u200egpj.exe\u202c", "\u202b../x", "\u200fcon",
    "\u061caux.txt",
)  # fmt: skip
TURNING = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Characters that turn the direction of a text, so that a name shows another suffix than it has."""


class Note(Item):
    """An item that is only a name and a few words, or a file."""

    kind = "text"

    def __init__(self, id: str, path: Path | None = None) -> None:
        self.id, self.path = id, path

    @property
    def stamp(self) -> str:
        return self.id

    def load(self) -> str:
        return self.id

    def preview(self) -> Preview:
        return Preview("text/plain", b"words")


def _grouped(n: int, names: dict[int, str]) -> Clustering:
    import numpy as np

    labels = np.arange(n) % max(1, len(names)) + 1
    return Clustering(labels=labels, space=np.zeros((n, 2)), names=names)


def _tree(root: Path) -> dict[str, bytes | None]:
    found: dict[str, bytes | None] = {}
    for folder, folders, files in os.walk(root):
        for name in (*folders, *files):
            path = Path(folder, name)
            found[str(path)] = path.read_bytes() if path.is_file() else None
    return found


def _write(folder: str, n: int) -> None:
    items = [Note(f"note {k}", Path(folder) / "in" / f"{k}.txt") for k in range(n)]
    grouped = _grouped(n, {1: "one", 2: "two", 3: "three"})
    plan = plan_export(Collection("notes", items), grouped, Path(folder) / "out")
    run_export(plan, lambda done, total: time.sleep(0.001))


def killed(rounds: int, seed: int) -> Outcome:
    """SIGKILL at a random moment of an export; undo then removes what it made and nothing else."""
    outcome, rng = Outcome(), random.Random(seed)
    context = multiprocessing.get_context("fork")
    for k in range(rounds):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "in").mkdir()
            for n in range(60):
                (folder / "in" / f"{n}.txt").write_text(f"text {n}")
            before = _tree(folder)
            process = context.Process(target=_write, args=(name, 60))
            process.start()
            time.sleep(rng.uniform(0, 0.25))
            os.kill(process.pid or 0, signal.SIGKILL)
            process.join()
            own = folder / "out" / "mine.txt"
            if own.parent.is_dir() and k % 2:
                own.write_text("added by the person")
                before[str(own)] = own.read_bytes()
            if (folder / "out" / MANIFEST).exists():
                undo_export(folder / "out")
            after = {
                path: content
                for path, content in _tree(folder).items()
                if not path.startswith(str(folder / "out")) or path == str(own)
            }
            lost = sum(after.get(path, b"?") != content for path, content in before.items())
            left = [path for path in _tree(folder / "out") if MANIFEST not in path]
            left = [path for path in left if path != str(own)]
            outcome.lost += lost
            outcome.note(not lost and not left, f"round {k}: {lost} lost, left {left[:3]}")
    return outcome


def names(rounds: int, seed: int) -> Outcome:
    """Ids of items and names of groups that try to leave the target, and links in the way."""
    outcome, rng = Outcome(), random.Random(seed)
    for k in range(rounds):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            outside = folder / "outside"
            outside.mkdir()
            (outside / "keep.txt").write_text("mine")
            target = folder / "target" / "out"
            target.parent.mkdir()
            ids = rng.sample(NASTY, 12)
            groups = {n: rng.choice(NASTY) for n in (1, 2, 3)}
            before = _tree(folder)
            plan = plan_export(
                Collection("notes", [Note(id) for id in ids]), _grouped(12, groups), target
            )
            made = run_export(plan).done
            real = target.resolve()
            escaped = [p for p in made if real not in Path(os.path.realpath(p)).parents]
            disguised = [p for p in made if TURNING & set(str(p.relative_to(target)))]
            if k % 2 and made:  # a folder is replaced by a link to files of the person
                place = made[0].parent
                place.rename(folder / "elsewhere")
                place.symlink_to(outside)
                before[str(folder / "elsewhere")] = None
            undo_export(target)
            lost = sum(_tree(folder).get(p, b"?") != c for p, c in before.items())
            outcome.lost += lost
            wrong = [*escaped, *disguised]
            outcome.note(not wrong and not lost, f"round {k}: {wrong[:2]}, {lost} lost")
    return outcome
