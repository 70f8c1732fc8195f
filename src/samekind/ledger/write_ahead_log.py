"""The write-ahead log beside a SQLite file: notice that a part of it can no longer be read.

SQLite takes in the log up to the first frame whose checksum is wrong, and silently forgets the
rest. That is right for a change that was being written when the power failed, but not for changes
that had been confirmed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

_HEADER, _FRAME = 32, 24
_MAGIC = 0x377F0682
_MASK = 0xFFFFFFFF
Sums = tuple[int, int]


@dataclass(frozen=True, slots=True)
class LogState:
    """What cannot be read of a log.

    Parameters
    ----------
    lost : changes (at least) that were confirmed, because something was written after them.
    unfinished : whether the last change cannot be read; it may never have been confirmed.
    """

    lost: int = 0
    unfinished: bool = False


def log_of(path: Path) -> Path:
    """The log of a database file."""
    return path.with_name(path.name + "-wal")


def is_log(content: bytes) -> bool:
    """Whether a file begins like a log."""
    return int.from_bytes(content[:4], "big") & ~1 == _MAGIC


def has_changes(log: Path) -> bool:
    """Whether a log may hold any change."""
    try:
        return log.stat().st_size > _HEADER + _FRAME
    except OSError:
        return False


def read_log(log: Path) -> LogState:
    """Look for changes that SQLite would not take in; reads the file and changes nothing."""
    try:
        content = log.read_bytes()
    except OSError:
        return LogState()
    if len(content) <= _HEADER + _FRAME:
        return LogState()
    size, sums = _header(content[:_HEADER])
    if size == 0:  # without its header nothing in it can be read
        return LogState(lost=1)
    frames = _frames(content, size)
    valid = _n_valid(content[:_HEADER], frames, sums)
    return _beyond(frames[valid:], content[16:24])


@dataclass(frozen=True, slots=True)
class Committed:
    """The changes of a log that SQLite would take in.

    Parameters
    ----------
    page_size : bytes of a page. n_pages : pages of the database after the last change.
    pages : their newest content, by number from 1 on.
    """

    page_size: int
    n_pages: int
    pages: dict[int, bytes]


def committed(content: bytes) -> Committed | None:
    """The changes of a log that SQLite would take in; None if there are none."""
    if len(content) <= _HEADER + _FRAME:
        return None
    size, sums = _header(content[:_HEADER])
    frames = _frames(content, size) if size else []
    frames = frames[: _n_valid(content[:_HEADER], frames, sums)]
    n_pages = [int.from_bytes(frame[4:8], "big") for frame in frames]
    end = max((position for position, n in enumerate(n_pages) if n), default=None)
    if end is None:  # the first change was not complete
        return None
    whole = frames[: end + 1]
    pages = {int.from_bytes(frame[:4], "big"): frame[_FRAME:] for frame in whole}
    return Committed(size, n_pages[end], pages)


def _frames(content: bytes, size: int) -> list[bytes]:
    return [
        content[start : start + _FRAME + size]
        for start in range(_HEADER, len(content) - _FRAME - size + 1, _FRAME + size)
    ]


def _header(header: bytes) -> tuple[int, Sums]:
    """The page size and the checksum in the header of a log; a size of 0 if it is damaged."""
    magic = int.from_bytes(header[:4], "big")
    size = int.from_bytes(header[8:12], "big")
    stated = (int.from_bytes(header[24:28], "big"), int.from_bytes(header[28:32], "big"))
    usable = magic & ~1 == _MAGIC and 512 <= size <= 65536 and not size & (size - 1)
    if not usable or _sums(header[:24], _order(header), (0, 0)) != stated:
        return 0, (0, 0)
    return size, stated


def _n_valid(header: bytes, frames: list[bytes], sums: Sums) -> int:
    """How many frames can be read, from the first on."""
    order, salt = _order(header), header[16:24]
    added = _sums_added([frame[:8] + frame[_FRAME:] for frame in frames], order)
    for position, (frame, step) in enumerate(zip(frames, added, strict=True)):
        sums = step(sums)
        stated = (int.from_bytes(frame[16:20], "big"), int.from_bytes(frame[20:24], "big"))
        if frame[8:16] != salt or stated != sums:
            return position
    return len(frames)


def _beyond(frames: list[bytes], salt: bytes) -> LogState:
    """What the frames hold that cannot be read. Those with another salt are of an earlier log."""
    of_this_log = [position for position, frame in enumerate(frames) if frame[8:16] == salt]
    ends = [position for position in of_this_log if any(frames[position][4:8])]
    confirmed = [end for end in ends if end < of_this_log[-1]]
    return LogState(len(confirmed), bool(ends) and not confirmed)


def _order(header: bytes) -> str:
    return "big" if header[3] & 1 else "little"


def _sums(data: bytes, order: str, sums: Sums) -> Sums:
    """The checksum of one part of a log, given that of all before."""
    return _sums_added([data], order)[0](sums)


def _sums_added(parts: list[bytes], order: str) -> list[Callable[[Sums], Sums]]:
    """How each of several parts of equal length changes the running checksum.

    For each pair of 32-bit words (a, b) SQLite adds ``s += a + t; t += b + s``. That is a linear
    step, so a part of n pairs multiplies (s, t) by the n-th power of (1 1; 1 2) and adds a sum.
    """
    if not parts:
        return []
    words = np.frombuffer(b"".join(parts), dtype="<u4" if order == "little" else ">u4")
    pairs = words.astype(np.uint32).reshape(len(parts), -1, 2)
    n = pairs.shape[1]
    powers = _powers(n)
    first, second = pairs[:, :, 0], pairs[:, :, 0] + pairs[:, :, 1]
    later = powers[:n][::-1]
    plus = (first * later[:, 0] + second * later[:, 1], first * later[:, 1] + second * later[:, 2])
    s, t = (each.sum(axis=1, dtype=np.uint32) for each in plus)
    p, q, r = (int(each) for each in powers[n])

    def step(added_s: int, added_t: int) -> Callable[[Sums], Sums]:
        return lambda sums: (
            (p * sums[0] + q * sums[1] + added_s) & _MASK,
            (q * sums[0] + r * sums[1] + added_t) & _MASK,
        )

    return [step(int(a), int(b)) for a, b in zip(s, t, strict=True)]


@cache
def _powers(n: int) -> NDArray[np.uint32]:
    """The powers 0 to n of (1 1; 1 2) as (p, q, r) of (p q; q r), modulo 2 ** 32."""
    powers = np.empty((n + 1, 3), dtype=np.uint32)
    p, q, r = 1, 0, 1
    for k in range(n + 1):
        powers[k] = p, q, r
        p, q, r = (p + q) & _MASK, (q + r) & _MASK, (q + 2 * r) & _MASK
    return powers
