"""Begin a grouping from what is there already: folders, a label column, or a table of a person.

The labels become answers of the person who chose them, in portions: a correction later sets aside
one small portion instead of a whole group.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Literal

import numpy as np

from samekind.errors import InputError, SamekindError
from samekind.questions import YES, OneKind
from samekind.questions.by_hand import SeparateKinds
from samekind.questions.wording import plural

if TYPE_CHECKING:
    from samekind.session import Session
    from samekind.workspace.workspace import Workspace

Kind = Literal["folders", "column", "csv"]
Labels = dict[int, str]
"""Item positions with the name of their group."""
MAX_GROUPS = 1_000
"""Groups that a grouping can begin with."""
MAX_PORTIONS = 400
"""Answers that hold the labels; more items make larger portions."""
MIN_PORTION = 10
MAX_SCANNED_ITEMS = 50_000
"""Items of a table up to which its columns are offered."""
HEADINGS = frozenset({"id", "item", "file", "filename", "file name", "path", "name", "image"})
"""Headings, in lower case, of the column that names the items of a table."""


@dataclass(frozen=True)
class Start:
    """Something to begin from: its kind, the name of a column, and what it holds."""

    kind: Kind
    name: str
    groups: int
    items: int


def starts_of(workspace: Workspace) -> list[Start]:
    """List what a grouping of these items can begin from, besides a table of the person."""
    found = [("folders", "", folders_of(workspace))]
    found += [("column", name, labels) for name, labels in _columns(workspace).items()]
    return [
        Start(kind, name, len(set(labels.values())), len(labels))  # type: ignore[arg-type]
        for kind, name, labels in found
        if _is_grouping(labels)
    ]


def labels_of(workspace: Workspace, kind: Kind, name: str, text: str) -> Labels:
    """Return the labels to begin from.

    Parameters
    ----------
    name : of the column. text : of the person's own table.
    """
    if kind == "csv":
        return read_labels(text, list(workspace.collection.ids()))
    labels = folders_of(workspace) if kind == "folders" else _columns(workspace).get(name, {})
    if not _is_grouping(labels):
        what = "folders" if kind == "folders" else f"column {name!r}"
        raise InputError(
            f"Expected at least 2 groups in the {what}, got {len(set(labels.values()))}. Begin "
            "with questions instead, or with a table of your own."
        )
    return labels


def begin_from(workspace: Workspace, title: str, labels: Labels) -> tuple[Session, str]:
    """Begin a grouping from labels; returns its session, and what was done in words."""
    kinds = _kinds(labels)
    if not 2 <= len(kinds) <= MAX_GROUPS:
        raise InputError(
            f"Expected from 2 to {MAX_GROUPS:,} groups to begin from, got {len(kinds):,}. Choose "
            "other folders, another column or another table."
        )
    session = workspace.begin(title)
    for parts, why in _portions(kinds):
        question = SeparateKinds if len(parts) > 1 else OneKind
        session.volunteer(question(parts, why=why), YES)
    for name, items in kinds.items():
        session.naming.name_kind(items[0], name)
    session.refit()
    left = len(workspace.collection) - len(labels)
    words = f"{plural(len(kinds), 'group')} from {plural(len(labels), 'item')}."
    if left:
        words += f" {plural(left, 'item has', 'items have')} no label and is placed by likeness."
        words = words.replace("have no label and is", "have no label and are")
    return session, words


def folders_of(workspace: Workspace) -> Labels:
    """Return the folder of every item that is in one, below the folder that all share."""
    found = {i: PurePosixPath(id).parent.parts for i, id in enumerate(workspace.collection.ids())}
    found = {i: parts for i, parts in found.items() if parts}
    if len(found) == len(workspace.collection) and found:
        shared = _shared([*found.values()])
        found = {i: parts[shared:] for i, parts in found.items()}
    return {i: "/".join(parts) for i, parts in found.items() if parts}


def read_labels(text: str, ids: Sequence[str]) -> Labels:
    """Read a table with a column that names items and one that names groups.

    An item is named by its id, by the end of its path, or by its file name, if that is unique.
    """
    rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text)))
    rows = [[cell.strip() for cell in row] for row in rows if any(cell.strip() for cell in row)]
    if not rows or max(map(len, rows)) < 2:
        raise InputError(
            "Expected a table with two columns, one that names the items and one that names their "
            "groups. Save it as CSV."
        )
    place = _by_name(ids)
    first = next((k for k, cell in enumerate(rows[0]) if cell.casefold() in HEADINGS), 0)
    has_heading = _place(rows[0][first], place) is None
    column = _group_column(rows, first, has_heading=has_heading)
    labels: Labels = {}
    for row in rows[1:] if has_heading else rows:
        where = _place(row[first], place) if len(row) > max(first, column) else None
        if where is not None and row[column]:
            labels[where] = row[column]
    if not labels:
        raise InputError(
            f"None of the {len(rows):,} rows names one of these items. Expected names such as "
            f"{ids[0]!r} in the column {rows[0][first]!r}."
        )
    return labels


def _group_column(rows: list[list[str]], first: int, *, has_heading: bool) -> int:
    """Return the column of the groups: one called so, or else the one after the names."""
    if has_heading:
        called = {cell.casefold(): k for k, cell in enumerate(rows[0]) if k != first}
        for heading in ("name", "group name", "label", "kind", "class", "category", "group"):
            if heading in called:
                return called[heading]
    return first + 1 if first + 1 < len(rows[0]) else 0


def _delimiter(text: str) -> str:
    head = text[:20_000]
    return max(",;\t|", key=lambda mark: head.count(mark))


def _by_name(ids: Sequence[str]) -> dict[str, int | None]:
    """Positions by id and by every unique end of a path; None for ends of several paths."""
    found: dict[str, int | None] = {}
    for position, id in enumerate(ids):
        parts = PurePosixPath(id).parts
        for k in range(1, len(parts)):
            end = "/".join(parts[k:])
            found[end] = None if end in found else position
    return found | {id: position for position, id in enumerate(ids)}


def _place(name: str, place: Mapping[str, int | None]) -> int | None:
    """Return the position of the item with this name; a longer path may name it, too."""
    parts = PurePosixPath(name.replace("\\", "/")).parts
    ends = ("/".join(parts[k:]) for k in range(len(parts)))
    return next((place[end] for end in (name, *ends) if place.get(end) is not None), None)


def _columns(workspace: Workspace) -> dict[str, Labels]:
    """Return the columns of a table or a set that could be groups."""
    collection = workspace.collection
    if len(collection) > MAX_SCANNED_ITEMS:
        return {}
    found: dict[str, Labels] = {}
    for position, item in enumerate(collection):
        for column, value in getattr(item, "cells", ()):
            if value.strip():
                found.setdefault(column, {})[position] = value
    return {
        name: labels
        for name, labels in (found | _set_labels(workspace)).items()
        if _is_grouping(labels)
    }


def _set_labels(workspace: Workspace) -> dict[str, Labels]:
    """Return the labels that a set or an array file has beside its items."""
    from samekind.sources import label_texts, open_labelled

    location = workspace.collection.location
    if not location:
        return {}
    try:
        known = open_labelled(location)
    except (SamekindError, OSError):
        return {}
    place = {id: i for i, id in enumerate(workspace.collection.ids())}
    found = {}
    for name, labels in known.orientations.items():
        pairs = zip(known.collection.ids(), label_texts(labels), strict=True)
        found[name] = {place[id]: text for id, text in pairs if text and id in place}
    return found


def _is_grouping(labels: Labels) -> bool:
    """Whether labels group items, instead of naming each of them or all alike."""
    n_groups = len(set(labels.values()))
    return 2 <= n_groups <= min(MAX_GROUPS, len(labels) / 2)


def _kinds(labels: Labels) -> dict[str, list[int]]:
    kinds: dict[str, list[int]] = {}
    for position in sorted(labels):
        kinds.setdefault(labels[position], []).append(position)
    return kinds


def _portions(kinds: Mapping[str, list[int]]) -> Iterator[tuple[tuple[tuple[int, ...], ...], str]]:
    """Cut the labels into questions: first one item of every kind, then portions of each kind."""
    n_items = sum(map(len, kinds.values()))
    size = max(MIN_PORTION, int(np.ceil(n_items / MAX_PORTIONS)))
    yield tuple((items[0],) for items in kinds.values()), "You began with these groups."
    for name, (first, *others) in kinds.items():
        for start in range(0, len(others), size):
            yield ((first, *others[start : start + size]),), f"You began with the group {name}."


def _shared(paths: Sequence[tuple[str, ...]]) -> int:
    """Count the folders that all paths begin with."""
    shortest = min(map(len, paths))
    return next((k for k in range(shortest) if len({path[k] for path in paths}) > 1), shortest)
