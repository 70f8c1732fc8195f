"""Files of strangers: bombs that would fill the memory, and files with code in them."""

from __future__ import annotations

import multiprocessing
import pickle
import random
import resource
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.faults import bombs as made
from benchmarks.faults import hostile_files, long_files
from benchmarks.faults.long_files import Long
from benchmarks.faults.outcome import Outcome
from samekind.errors import SamekindError
from samekind.session import Session
from samekind.sources import open_source
from samekind.sources.sets.checksums import check_file

MAX_SECONDS = 60.0
"""Of one file, after which it counts as hanging."""
MAX_GROWTH = 150
"""Megabytes by which the memory may grow because of a file that is refused."""
MAX_PICTURE_GROWTH = 2000
"""The same for a picture with the most pixels that are read, of which several copies are made."""
REFUSED, SKIPPED, READ = "refused with a sentence", "skipped with a reason", "read"


class Reading(NamedTuple):
    """What became of a file: its end, the growth of the memory in MB, seconds, and words."""

    end: str
    growth: float
    seconds: float
    words: str = ""


def bombs(rounds: int, seed: int) -> Outcome:
    """Each bomb in a process of its own: bounded memory and time, a sentence or a skipped item."""
    outcome, tally = Outcome(), Counter[str]()
    largest: dict[str, float] = {"picture": 0.0, "other": 0.0, "seconds": 0.0}
    with tempfile.TemporaryDirectory() as name:
        good = hostile_files.saved(Path(name))
        cases = _cases(good)
        random.Random(seed).shuffle(cases)
        cases.sort(key=lambda case: case[0].startswith(made.MOST))  # the slow ones last
        for k in range(rounds):
            file, make, opener = cases[k % len(cases)]
            folder = Path(name) / str(k)
            folder.mkdir()
            make().write(folder / file)
            found = read_apart(opener, folder / file)
            kind = "picture" if file.startswith(made.MOST) else "other"
            limit = MAX_PICTURE_GROWTH if kind == "picture" else MAX_GROWTH
            kept = found.end in (REFUSED, SKIPPED, READ) and found.growth < limit
            outcome.note(kept, f"{file}: {found.end}, {found.growth:.0f} MB, {found.words}")
            tally[found.end] += 1
            largest[kind] = max(largest[kind], found.growth)
            largest["seconds"] = max(largest["seconds"], found.seconds)
            (folder / file).unlink()
    outcome.figures = {
        **dict(sorted(tally.items())),
        "growth of memory, MB, 79 million pixels": round(largest["picture"]),
        "growth of memory, MB, all others": round(largest["other"]),
        "slowest, s": round(largest["seconds"], 1),
    }
    return outcome


Case = tuple[str, Callable[[], Long], Callable[[Path], str]]
"""Name of a file, what makes it, and what opens it."""


def _cases(good: bytes) -> list[Case]:
    packed = {"set.gz": lambda: made.gzipped(made.HUGE)}
    sessions = {name: partial(make, good) for name, make in made.SESSIONS.items()}
    whole = {
        read_picture: made.PICTURES,
        read_source: made.ARCHIVES,
        read_session: sessions,
        read_packed: packed,
    }
    long = {read_picture: long_files.PICTURES, read_source: long_files.TABLES}
    return [
        *((name, make, opener) for opener, files in long.items() for name, make in files.items()),
        *(
            (name, lambda m=make: Long(m()), opener)
            for opener, files in whole.items()
            for name, make in files.items()
        ),
    ]


def read_picture(path: Path) -> str:
    """Open the folder with a picture, decode it, show it, and read when it was taken."""
    from PIL import Image

    Image.new("RGB", (8, 8)).save(path.with_name("good.png"))
    pile = open_source(path.parent)
    for item in pile:
        item.preview()
        item.facts()
    return READ if path.name in pile.ids() else SKIPPED


def read_source(path: Path) -> str:
    """Open a file with many items, and show the first."""
    open_source(path)[0].preview()
    return READ


def read_session(path: Path) -> str:
    """Open a saved session."""
    Session.load(path)
    return READ


def read_packed(path: Path) -> str:
    """Check a gzip file as one of a set is."""
    check_file(path, "", packed=True)
    return READ


def read_apart(opener: Callable[[Path], str], path: Path) -> Reading:
    """Open a file in another process, which cannot take this one with it."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    here, there = context.Pipe(duplex=False)
    child = context.Process(target=_read, args=(opener, path, there))
    child.start()
    there.close()
    try:
        if here.poll(MAX_SECONDS):
            found: Reading = here.recv()
            return found
        return Reading("did not end", 0.0, MAX_SECONDS)
    except EOFError:
        return Reading("killed", 0.0, 0.0, f"exit status {child.exitcode}")
    finally:
        child.kill()
        child.join()


def _read(opener: Callable[[Path], str], path: Path, there: Connection) -> None:
    begun, before = time.monotonic(), _peak()
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            end, words = opener(path), ""
        except SamekindError as sentence:
            end, words = REFUSED, _fault_of(str(sentence))
        except BaseException as problem:  # whatever it is, it is told
            end, words = "raised", repr(problem)[:300]
    if words and end == REFUSED:
        end = "no sentence"
    if len(warned) > 3:
        end, words = "warned", f"{len(warned)} warnings, as {warned[0].message}"
    there.send(Reading(end, _peak() - before, time.monotonic() - begun, words))


def _fault_of(sentence: str) -> str:
    """Why this is not a sentence for a person, or an empty string."""
    good = "\n" not in sentence and len(sentence) < 700 and "Traceback" not in sentence
    return "" if good else sentence


def _peak() -> float:
    """The most memory that this process has had, in MB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 2**20 if sys.platform == "darwin" else peak / 2**10


def files(rounds: int, seed: int) -> Outcome:
    """Files with code in them, opened as a person does: no mark is left, one sentence at most."""
    outcome, tally = Outcome(), Counter[str]()
    with tempfile.TemporaryDirectory() as name:
        mark = Path(name) / "code was run"
        for k in range(rounds):
            kind = list(hostile_files.KINDS)[k % len(hostile_files.KINDS)]
            folder = Path(name) / str(k)
            folder.mkdir()
            hostile_files.write_module(folder, mark)
            _check_payload(mark, folder)
            sys.path.insert(0, str(folder))  # a stranger may have named what lies beside the file
            try:
                attempts = hostile_files.KINDS[kind](folder, mark)
                problems = [f for f in (_opened(*one, mark, tally) for one in attempts) if f]
            finally:
                sys.path.remove(str(folder))
                sys.modules.pop(hostile_files.MODULE, None)
            outcome.lost += mark.exists()
            mark.unlink(missing_ok=True)
            outcome.note(not problems, f"{kind}: {'; '.join(problems[:3])}")
    outcome.figures = dict(sorted(tally.items()))
    return outcome


def _check_payload(mark: Path, folder: Path) -> None:
    """Make sure that the code would leave the mark."""
    for run in (pickle.loads, lambda _: exec((folder / f"{hostile_files.MODULE}.py").read_text())):
        run(hostile_files.code_of(mark))
        assert mark.exists(), "the payload does not work"
        mark.unlink()


def _opened(path: Path, opener: Callable[[Path], Any], mark: Path, tally: Counter[str]) -> str:
    """Open a file; returns what was not as promised."""
    try:
        opener(path)
        tally[READ] += 1
    except SamekindError as sentence:
        tally[REFUSED] += 1
        if _fault_of(str(sentence)):
            return f"{path.name}: {sentence}"
    except Exception as problem:
        return f"{path.name}: {problem!r}"
    return f"{path.name}: its code was run" if mark.exists() else ""
