"""Checksums: recognise an event whose bytes were changed since it was stored."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from samekind.protocols import Event

LOST = "lost"
"""The kind of the events that stand in the place of missing ones after a repair."""
QUESTION_KINDS = ("proposed", "volunteered", LOST)
"""Kinds of event that number questions."""


class Row(NamedTuple):
    """An event as it is stored."""

    session: str
    seq: int
    kind: str
    data: str
    at: float
    asked: int
    """Questions of the session up to this event: after a gap, later ones keep their numbers."""
    checksum: str

    @property
    def is_whole(self) -> bool:
        """Whether it is what was stored."""
        return self.checksum == checksum_of(*self[:-1])

    def event(self) -> Event:
        """The event; ValueError if it is not what was stored."""
        if not self.is_whole:
            raise ValueError(f"event {self.seq} does not have its checksum")
        if not math.isfinite(self.at):
            raise ValueError(f"event {self.seq} has no time")
        return Event(self.kind, read_data(self.data), self.at, self.seq)


OLDER_COLUMNS = Row._fields[:5]
"""Columns of the events in ledgers from before there were checksums."""


def event_columns(names: Iterable[str]) -> tuple[str, ...]:
    """Those of a table's columns that make an event; empty if it is no table of events.

    Only a table of exactly the older columns has no checksums. In any other one the name of a
    column is damaged, and without their checksums its events must not be believed.

    >>> event_columns(["session", "seq", "kind", "data", "at", "asked", "checksuo"])
    ()
    """
    known = tuple(names)
    if set(Row._fields) <= set(known):
        return Row._fields
    return OLDER_COLUMNS if known == OLDER_COLUMNS else ()


def read_data(text: str) -> dict[str, Any]:
    """The data of an event; ValueError if they are not an object in JSON, or nested too deep."""
    try:
        data = json.loads(text)
    except RecursionError:
        raise ValueError("its data are nested too deep") from None
    if not isinstance(data, dict):
        raise ValueError("its data are not an object")
    return data


def checksum_of(session: str, seq: int, kind: str, data: str, at: float, asked: int) -> str:
    """The checksum of an event, over everything that is stored about it.

    >>> checksum_of("main", 1, "told", '{"choice":"same"}', 0.0, 1)
    '2c9fc7da09439838'
    """
    text = "\0".join((session, str(seq), kind, data, float(at).hex(), str(asked)))
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def stored_row(session: str, seq: int, plain: tuple[str, str, float], asked_before: int) -> Row:
    """The row of an event that is about to be stored.

    Parameters
    ----------
    plain : its kind, its data as JSON text, and its time.
    asked_before : questions of the session before it.
    """
    kind, data, at = plain
    found = read_data(data) if kind in QUESTION_KINDS else {}
    known = (session, seq, kind, data, at, asked_before + n_questions(kind, found))
    return Row(*known, checksum_of(*known))


def n_questions(kind: str, data: Mapping[str, Any]) -> int:
    """How many questions an event numbers."""
    questions = data.get("questions") if kind in QUESTION_KINDS else None
    if kind == LOST:
        return questions if isinstance(questions, int) and questions > 0 else 0
    return len(questions) if isinstance(questions, list) else 0
