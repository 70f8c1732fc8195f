"""KeptListing: what a folder held the last time, so that opening it again is quick.

Every file is still looked at (its name, size and modification time), so an added, removed, renamed
or changed file is always noticed. What is kept is the work beyond that: the natural order of the
names, and which files were opened and found intact.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
import zlib
from bisect import bisect
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from samekind.atomic_files import draft_name

FORMAT = 1
MIN_FILES = 1000
"""Listings of smaller folders are not kept: they are quick to make."""
SETTLED_NS = 2_000_000_000
"""A file changed less than this before it was checked may have changed again within one tick of
the file system's clock, so it is checked once more."""


@dataclass(frozen=True, eq=False)
class KeptListing:
    """The files of a folder in natural order, as they were.

    Parameters
    ----------
    ids, stamps : of each file.
    intact : for each file "1" if it was opened and found intact, else "0".
    reader : who checked the files; another one checks again.
    file : where this is kept; None: nowhere.
    """

    ids: Sequence[str] = ()
    stamps: Sequence[str] = ()
    intact: str = ""
    reader: str = ""
    file: Path | None = None

    @classmethod
    def of(cls, folder: Path, cache: Path | None) -> KeptListing:
        """Read what is kept about a folder; a damaged or foreign file is ignored."""
        if cache is None:
            return cls()
        place = os.path.realpath(folder)
        key = hashlib.sha256(os.fsencode(place)).hexdigest()[:16]
        words = re.sub(r"[^A-Za-z0-9]+", "-", Path(place).name).strip("-")[:40] or "folder"
        file = cache / "listings" / f"{words}-{key}.json"
        with suppress(OSError, ValueError, KeyError, TypeError):
            return cls(*_read(file, place), file)
        return cls(file=file)

    def intact_stamps(self) -> dict[str, str]:
        """The stamps of the files that were found intact, by id."""
        rows = zip(self.ids, self.stamps, self.intact, strict=True)
        return {id: stamp for id, stamp, flag in rows if flag == "1"}

    def ordered(self, ids: Iterable[str], key: Callable[[str], Any]) -> list[str]:
        """Sort ids; keys are computed only for new ones if these are few."""
        there = set(ids)
        before = [id for id in self.ids if id in there]
        new = sorted(there.difference(before), key=key) if before else []
        if not before or len(new) > len(before) // 20:
            return sorted(there, key=key)
        merged: list[str] = []
        last = 0
        for id in new:
            here = bisect(before, key(id), lo=last, key=key)
            merged += before[last:here]
            merged.append(id)
            last = here
        return merged + before[last:]

    def update(self, folder: Path, now: KeptListing, *, began_ns: int) -> None:
        """Keep what is known now, if it differs; `began_ns` is when the listing began."""
        if self.file is None or len(now.ids) < MIN_FILES:
            return
        settled = "".join(
            flag if _changed_ns(stamp) < began_ns - SETTLED_NS else "0"
            for flag, stamp in zip(now.intact, now.stamps, strict=True)
        )
        same = (self.reader, self.intact, self.ids, self.stamps)
        if same == (now.reader, settled, now.ids, now.stamps):
            return
        with suppress(OSError):  # it is made again the next time
            _write(self.file, os.path.realpath(folder), now.ids, now.stamps, settled, now.reader)


def _read(file: Path, folder: str) -> tuple[list[str], list[str], str, str]:
    checksum, _, text = file.read_bytes().partition(b"\n")
    if checksum != b"%08x" % zlib.crc32(text):
        raise ValueError("damaged")
    found = json.loads(text)
    if found["format"] != FORMAT or found["folder"] != folder:
        raise ValueError("of another version or folder")
    return found["ids"], found["stamps"], found["intact"], found["reader"]


def _write(
    file: Path, folder: str, ids: Sequence[str], stamps: Sequence[str], intact: str, reader: str
) -> None:
    facts = {"format": FORMAT, "folder": folder, "reader": reader, "intact": intact}
    text = json.dumps({**facts, "ids": ids, "stamps": stamps}, separators=(",", ":")).encode()
    file.parent.mkdir(parents=True, exist_ok=True)
    part = draft_name(file)
    try:
        part.write_bytes(b"%08x\n%s" % (zlib.crc32(text), text))
        os.replace(part, file)
    finally:
        part.unlink(missing_ok=True)


def _changed_ns(stamp: str) -> int:
    return int(stamp.rpartition("-")[2])


class Ticker:
    """Reports how many files were looked at, once that takes more than a second."""

    AFTER, EVERY = 1.0, 256

    def __init__(self, report: Callable[[int, int], None] | None) -> None:
        self._report = report
        self._begun, self._done = time.monotonic(), 0

    def tick(self, total: int = 0) -> None:
        """Count one more file; the total is 0 while it is not known."""
        self._done += 1
        if self._report is not None and self._done % self.EVERY == 0:
            if time.monotonic() - self._begun > self.AFTER:
                self._report(self._done, max(total, self._done) if total else 0)

    def restart(self) -> None:
        """Count from the beginning again, for the next pass over the files."""
        self._done = 0
