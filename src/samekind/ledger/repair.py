"""Repair: save all whole events of a damaged ledger to a new file, and say what is missing."""

from __future__ import annotations

import math
import os
import shlex
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from samekind.atomic_files import new_file, sync_folder
from samekind.errors import CorruptedLedger, InputError, SamekindError, StoreError
from samekind.ledger import sqlite_file as ledgerfile
from samekind.ledger.checksums import LOST, Row, event_columns, n_questions, stored_row
from samekind.ledger.database_image import opened, with_log
from samekind.ledger.fold import LedgerState
from samekind.ledger.folded_constraints import ANSWER_KINDS
from samekind.ledger.foreign_log import misfit_of
from samekind.ledger.last_events import is_table, read_note
from samekind.ledger.pages import scan_pages
from samekind.ledger.store import check_session, to_row
from samekind.ledger.write_ahead_log import committed, is_log, log_of
from samekind.protocols import Event
from samekind.questions.wording import plural
from samekind.user_paths import expanded

MAX_GAP = 1_000_000
"""Missing events in a row that are believed: a stranger's file may claim any number."""


@dataclass(frozen=True, slots=True)
class Missing:
    """Events that could not be saved: from one number to another, and how many questions.

    `after` and `before` are the times of the events around them, in UTC seconds.
    """

    first: int
    last: int
    questions: int
    after: float | None
    before: float | None

    def describe(self) -> str:
        """One sentence part, such as "events 3 to 5 (2026-11-18 09:00 to 09:02 UTC)"."""
        numbers = f"{self.first} to {self.last}" if self.last > self.first else f"{self.first}"
        times = [t for t in (self.after, self.before) if t is not None]
        shown = [_minute(t) for t in times]
        when = f" ({' to '.join(dict.fromkeys(shown))} UTC)" if shown else ""
        return f"{'events' if self.last > self.first else 'event'} {numbers}{when}"


def _minute(at: float) -> str:
    try:
        return time.strftime("%Y-%m-%d %H:%M", time.gmtime(at))
    except (OverflowError, ValueError, OSError):  # a stranger's file may hold any number
        return "a time that no calendar has"


@dataclass(frozen=True, slots=True)
class SavedSession:
    """What was saved of one session."""

    name: str
    events: int
    answers: int
    missing: tuple[Missing, ...]
    unusable: tuple[int, ...]
    """Numbers of whole events that are not valid, or refer to a missing question or answer."""


@dataclass(frozen=True, slots=True)
class Repaired:
    """The new file, and what is in it."""

    path: Path
    sessions: tuple[SavedSession, ...]
    left_out: Path | None = None
    """A write-ahead log beside the ledger that belongs to another one."""

    @property
    def is_complete(self) -> bool:
        """Whether there is no gap."""
        return not any(saved.missing or saved.unusable for saved in self.sessions)

    def describe(self) -> list[str]:
        """What was saved and what is missing, in sentences."""
        events = sum(saved.events for saved in self.sessions)
        answers = sum(saved.answers for saved in self.sessions)
        lines = [
            f"Saved {plural(events, 'event')} with {plural(answers, 'answer')} to {self.path}."
        ]
        for saved in self.sessions:
            lines += _describe_gaps(saved)
        if self.is_complete:
            lines.append("Up to the last event that was found, nothing is missing.")
        if self.left_out is not None:
            lines.append(
                f"The log {self.left_out} belongs to another ledger, or to another state of this "
                f"one. To save its events too: samekind repair {shlex.quote(str(self.left_out))}"
            )
        return lines


def _describe_gaps(saved: SavedSession) -> Iterator[str]:
    if saved.missing:
        gaps = ", ".join(gap.describe() for gap in saved.missing)
        yield (
            f"Missing from {saved.name!r}: {gaps}. If an answer was changed or taken back there, "
            "the earlier answer stands. Look through the list of answers."
        )
    if saved.unusable:
        number = len(saved.unusable)
        yield (
            f"{plural(number, 'more event')} of {saved.name!r:.40} could not be used, because "
            f"{'it is' if number == 1 else 'they are'} not valid, or "
            f"{'refers' if number == 1 else 'refer'} to something that is missing."
        )


def repair(path: str | Path, target: str | Path | None = None) -> Repaired:
    """Save all whole events of a ledger to a new file; the damaged one is not changed.

    Parameters
    ----------
    path : a ledger file, damaged or not, or a write-ahead log (``NAME-wal``) alone.
    target : the new file; None: ``NAME.repaired.samekind`` beside it. Must not exist yet.
    """
    path = expanded(path)
    if target is None:
        is_alone = path.name.endswith("-wal")
        stem, suffix = (path.name, "") if is_alone else (path.stem, path.suffix)
        target = path.with_name(f"{stem}.repaired{suffix or '.samekind'}")
    target = expanded(target)
    if os.path.lexists(target):
        raise StoreError(f"{target} exists already. Choose another name with --to.")
    path = ledgerfile.resolved(path)
    found, left_out = _found(path)
    if not any(found.values()):
        raise CorruptedLedger(
            f"Expected a ledger with events, but no whole event was found in {path}. It was not "
            "changed. Put a backup in its place."
        )
    sessions = _write(target, found, {} if left_out else read_note(path))
    sync_folder(target.parent)
    return Repaired(target, sessions, log_of(path) if left_out else None)


def _write(
    target: Path, found: Mapping[str, Sequence[Row]], confirmed: Mapping[str, int]
) -> tuple[SavedSession, ...]:
    """Write the new ledger; what goes wrong is said of its final name."""
    from samekind.ledger.sql import SqlStore

    sessions = []
    draft = target
    try:
        with new_file(target) as draft:
            try:
                with SqlStore(draft) as store:
                    for name in sorted({*found, *confirmed}):
                        rows = found.get(name, [])
                        if not _is_name(name):
                            unusable = tuple(row.seq for row in rows)
                            sessions.append(SavedSession(name, 0, 0, (), unusable))
                            continue
                        events, saved = _complete(name, rows, confirmed.get(name, 0))
                        store.extend(name, events)
                        sessions.append(saved)
            finally:  # SQLite leaves them behind if the disk is full
                for suffix in ("-wal", "-shm", "-last"):
                    Path(f"{draft}{suffix}").unlink(missing_ok=True)
    except StoreError as problem:
        raise type(problem)(str(problem).replace(str(draft), str(target))) from problem
    except OSError as problem:
        raise ledgerfile.from_system(problem, target) from problem
    return tuple(sessions)


def salvage(path: str | Path) -> dict[str, list[Event]]:
    """Read what is left of a damaged ledger, by session; the file itself is not changed.

    Events keep their numbers, so a gap shows which ones are lost.
    """
    found = whole_rows(Path(path))
    events = {name: map(_event, rows) for name, rows in found.items()}
    return {name: [event for event in some if event is not None] for name, some in events.items()}


def whole_rows(path: Path) -> dict[str, list[Row]]:
    """All whole events of a file by session, in order."""
    return _found(path)[0]


def _found(path: Path) -> tuple[dict[str, list[Row]], bool]:
    """The whole events of a file, and whether its log was left out because it is of another."""
    path = ledgerfile.resolved(path)
    ledgerfile.check_regular(path)
    if not os.path.isfile(path):
        raise InputError(f"Expected a damaged ledger, but there is no file {path}.")
    file, log = _content(path), b""
    left_out = False
    if is_log(file):  # one that was moved away, or whose ledger is gone
        file, log = b"", file
    elif os.path.exists(log_of(path)):
        log = _content(log_of(path))
        misfit = misfit_of(path)
        left_out = misfit is not None and not misfit.is_damage
    log = b"" if left_out else log
    found: dict[tuple[str, int], Row] = {}
    for row in (*_read(file, log), *scan_pages(file, log)):  # what SQLite finds was committed
        found.setdefault((row.session, row.seq), row)
    by_session: dict[str, list[Row]] = {}
    for key in sorted(found):
        by_session.setdefault(key[0], []).append(found[key])
    return by_session, left_out


def _content(file: Path) -> bytes:
    try:
        return ledgerfile.read_file(file)
    except OSError as problem:
        reason = problem.strerror or str(problem)
        raise StoreError(
            f"{file} cannot be read: {reason}. Make it readable, or copy it to another disk, and "
            "repair it again. Nothing was changed."
        ) from problem


def _read(file: bytes, log: bytes) -> list[Row]:
    """Rows that SQLite itself can read from a file with its log."""
    changes = committed(log)
    try:
        with closing(opened(file if changes is None else with_log(file, changes))) as connection:
            return list(_read_rows(connection)) if _has_events(connection) else []
    except (sqlite3.Error, UnicodeDecodeError):
        return []


def _complete(name: str, rows: Sequence[Row], confirmed: int) -> tuple[list[Event], SavedSession]:
    """The events of a session with others in the place of missing ones, up to the confirmed one."""
    ids: dict[str, int] = {}
    state = LedgerState(lambda id: ids.setdefault(id, len(ids)))
    events: list[Event] = []
    missing, unusable = [], []
    asked, answers, last_at = 0, 0, None
    for row in rows:
        event = _event(row)
        questions = max(0, row.asked - asked)
        if event is not None:
            questions = n_questions(row.kind, event.data)
        if not len(events) < row.seq <= len(events) + MAX_GAP:
            unusable.append(row.seq)
            continue
        if row.seq > len(events) + 1:
            gap = Missing(
                len(events) + 1, row.seq - 1, row.asked - questions - asked, last_at, row.at
            )
            missing.append(gap)
            for seq in range(gap.first, row.seq):
                lost = gap.questions if seq == gap.first else 0
                at = last_at or (row.at if math.isfinite(row.at) else 0.0)
                events.append(Event(LOST, {"questions": lost}, at, seq))
                state.fold(events[-1])
        if event is None or not _folds(state, event):
            unusable.append(row.seq)
            at = row.at if math.isfinite(row.at) else last_at or 0.0
            event = Event(LOST, {"questions": questions}, at, row.seq)
            state.n_asked, state.seq = row.asked, row.seq
        answers += event.kind in ANSWER_KINDS
        events.append(event)
        asked, last_at = row.asked, event.at
    if len(events) < confirmed <= len(events) + MAX_GAP:
        missing.append(Missing(len(events) + 1, confirmed, 0, last_at, None))
        while len(events) < confirmed:
            events.append(Event(LOST, {"questions": 0}, last_at or 0.0, len(events) + 1))
    saved = len(rows) - len(unusable)
    return events, SavedSession(name, saved, answers, tuple(missing), tuple(unusable))


def _is_name(name: str) -> bool:
    """Whether a session can have this name."""
    try:
        check_session(name)
    except InputError:
        return False
    return True


def _event(row: Row) -> Event | None:
    """The event of a row; None if it cannot be stored."""
    try:
        event = row.event()
        to_row(event)
    except (ValueError, InputError):
        return None
    return event


def _folds(state: LedgerState, event: Event) -> bool:
    """Whether an event makes sense after those before it; if so, it is folded."""
    try:
        number = event.data.get("number")
        if event.kind not in (LOST, "volunteered") and number is not None:
            if number not in state.asked:
                return False
        state.fold(event)
    except (SamekindError, TypeError):  # a number that is a list
        return False
    return True


def _read_rows(connection: sqlite3.Connection) -> Iterator[Row]:
    """Rows that the database itself can read, from both ends of each session to the damage."""
    if not (columns := _columns(connection)):  # events with their checksums are found in the pages
        return
    names = sorted(set(_names(connection, "min", ">")) | set(_names(connection, "max", "<")))
    for name in names:
        found = {int(str(row[1])): row for row in _rows_of(connection, columns, name, "DESC")}
        found |= {int(str(row[1])): row for row in _rows_of(connection, columns, name, "ASC")}
        ordered = [found[seq] for seq in sorted(found)]
        yield from (_checked(ordered) if columns == Row._fields else _older(ordered))


def _checked(rows: Sequence[tuple[object, ...]]) -> Iterator[Row]:
    for columns in rows:
        row = Row(*columns)  # type: ignore[arg-type]
        numbers = isinstance(row.asked, int) and isinstance(row.at, int | float)
        try:
            if numbers and row.is_whole:
                yield row
        except (TypeError, ValueError, AttributeError):  # a column of another type
            continue


def _older(rows: Sequence[tuple[object, ...]]) -> Iterator[Row]:
    """Rows of a ledger without checksums. After a gap the numbers of questions are not known."""
    asked = 0
    for position, (session, seq, kind, data, at) in enumerate(rows, start=1):
        try:
            if seq != position:
                return
            row = stored_row(str(session), position, (str(kind), str(data), float(str(at))), asked)
            row.event()
        except (TypeError, ValueError):
            return
        asked = row.asked
        yield row


def _has_events(connection: sqlite3.Connection) -> bool:
    """Whether the events are in a table, or cannot be found out. A view is not looked into."""
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, ledgerfile.MAX_VALUE_BYTES)
    try:
        return is_table(connection, "events")
    except (sqlite3.Error, UnicodeDecodeError):
        return True


def _columns(connection: sqlite3.Connection) -> tuple[str, ...]:
    """The columns of the events; empty if they cannot be told, or their names are damaged."""
    try:
        found = connection.execute("SELECT * FROM events LIMIT 0").description
    except (sqlite3.Error, UnicodeDecodeError):
        return ()
    return event_columns(column[0] for column in found)


def _names(connection: sqlite3.Connection, end: str, beyond: str) -> Iterator[str]:
    """Names of sessions from one end of the table to the damage."""
    last: object = None  # as it is stored, so that every step goes on in SQLite's order
    while True:
        where, given = ("", ()) if last is None else (f"WHERE session {beyond} ?", (last,))
        try:
            row = connection.execute(f"SELECT {end}(session) FROM events {where}", given).fetchone()
        except (sqlite3.Error, UnicodeDecodeError):  # SQLite may quote invalid bytes
            return
        if row[0] is None or row[0] == last:
            return
        last = row[0]
        if isinstance(last, str):
            yield last


def _rows_of(
    connection: sqlite3.Connection, columns: Sequence[str], session: str, order: str
) -> Iterator[tuple[object, ...]]:
    """Readable rows of a session from one end to the damage."""
    query = f"SELECT {', '.join(columns)} FROM events WHERE session = ? ORDER BY seq {order}"
    try:
        cursor = connection.execute(query, (session,))
        while (row := cursor.fetchone()) is not None:
            if isinstance(row[1], int):
                yield row
    except (sqlite3.Error, UnicodeDecodeError):
        return
