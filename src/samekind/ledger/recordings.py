"""Recordings: read the answers of an earlier session from its ledger or from a .jsonl file."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from samekind.errors import ChangedCollection, InputError, SourceError, UnknownName
from samekind.items import Collection
from samekind.ledger.event_log import EventLog
from samekind.ledger.positions import Positions
from samekind.ledger.sqlite_file import check_owner
from samekind.protocols import Store
from samekind.questions import Answer, question_from_json
from samekind.user_paths import expanded

LINE_FORMAT = 'Each line holds {"question": {...}, "choice": "..."}, as write_answers writes them.'


def recorded_answers(
    source: str | Path | Store, collection: Collection, *, session: str | None = None
) -> tuple[Answer, ...]:
    """The answers in force of a recorded session, in the order in which they were given.

    They refer to positions in `collection`, which should be the one that was sorted. Renamed items
    are recognised by their content. Items that are gone get positions after the last item, so that
    everything implied through them still holds.

    Parameters
    ----------
    source : a store, a ledger file, the address of a database, or a ``.jsonl`` file of answers.
    session : its name; None takes the only session, or "main" if there are several.
    """
    if not isinstance(source, str | Path):
        return _of_store(source, collection, session)
    text = str(source)
    if "://" not in text and (text.lower().endswith(".jsonl") or not Path(text).exists()):
        return _checked(_of_lines(expanded(text), collection), collection, text)
    if "://" not in text:
        check_owner(Path(text))
    from samekind.ledger.sql import SqlStore

    with SqlStore(source) as store:
        return _of_store(store, collection, session)


def write_answers(path: str | Path, answers: Iterable[Answer], name: Callable[[int], str]) -> None:
    """Write answers to a new ``.jsonl`` file, with ids instead of positions.

    Parameters
    ----------
    name : position to id, such as ``session.positions.name``.
    """
    rows = [
        {
            "question": answer.question.to_json(name),
            "choice": answer.choice,
            "by": answer.by,
            "seconds": answer.seconds,
        }
        for answer in answers
    ]
    with expanded(path).open("x", encoding="ascii") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)


def _of_store(store: Store, collection: Collection, session: str | None) -> tuple[Answer, ...]:
    known = store.sessions()
    if session is None:
        session = known[0] if len(known) == 1 else "main"
    if session not in known:
        raise UnknownName("recorded session", session, known)
    log = EventLog(store, session, collection)
    answers = tuple(log.ledger.answers.values())
    return _checked(answers, collection, f"session {session!r}")


def _of_lines(path: Path, collection: Collection) -> tuple[Answer, ...]:
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as problem:
        raise SourceError(
            f"The recorded answers {str(path)!r} cannot be read: {problem}. Give a ledger or a "
            ".jsonl file of answers."
        ) from problem
    position = Positions(collection)
    return tuple(
        _answer(number, line, position, path)
        for number, line in enumerate(lines, start=1)
        if line.strip()
    )


def _answer(number: int, line: str, position: Positions, path: Path) -> Answer:
    try:
        row: Any = json.loads(line)
        question = question_from_json(row["question"], position)
        return Answer(number, question, row["choice"], row.get("by", "me"), row.get("seconds"))
    except (KeyError, TypeError, AttributeError, ValueError, InputError) as problem:
        raise SourceError(
            f"Line {number} of {str(path)!r} is not an answer ({problem}). {LINE_FORMAT}"
        ) from problem


def _checked(answers: tuple[Answer, ...], collection: Collection, what: str) -> tuple[Answer, ...]:
    """Refuse a recording that is empty or about other items."""
    if not answers:
        raise SourceError(f"Expected recorded answers, got none in {what}. Record a session first.")
    items = [i for answer in answers for i in answer.question.items()]
    if min(items) >= len(collection):
        raise ChangedCollection(
            f"None of the items in {what} is in {collection.name!r}. Replay it on the collection "
            "that was sorted."
        )
    return answers
