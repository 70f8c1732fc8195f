"""Begin a grouping from what is there already: folders, a label column, or a file with groups.

The labels become answers of the person who chose them, in portions: a correction later sets aside
one small portion instead of a whole group.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Literal

import numpy as np

from samekind.characters import one_line
from samekind.errors import InputError, SamekindError, SourceError, StateError
from samekind.questions import YES, OneKind
from samekind.questions.by_hand import SeparateKinds
from samekind.questions.wording import plural
from samekind.session.naming import MAX_NAME_LENGTH, clean
from samekind.user_paths import expanded
from samekind.workspace.label_files import Labels, read_labels

if TYPE_CHECKING:
    from samekind.session import Session
    from samekind.workspace.workspace import Workspace

Kind = Literal["folders", "column", "csv"]
LabelSource = str | Path | Mapping[str, str] | Sequence[object]
"""A label file, groups by ids of items, or a label per item, None where it is not known."""
MAX_GROUPS = 1_000
"""Groups that a grouping can begin with."""
MAX_PORTIONS = 400
"""Answers that hold the labels; more items make larger portions."""
MIN_PORTION = 10
MAX_SCANNED_ITEMS = 50_000
"""Items of a table up to which its columns are offered."""
MAX_FILE_BYTES = 500_000_000
METADATA_FILES = ("metadata.csv", "metadata.jsonl")
"""Tables beside the pictures in a folder of Hugging Face datasets."""


@dataclass(frozen=True)
class Start:
    """Something to begin from: its kind, the name of a column, and what it holds."""

    kind: Kind
    name: str
    groups: int
    items: int


def starts_of(workspace: Workspace) -> list[Start]:
    """List what a grouping of these items can begin from, besides a file of the person."""
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
    name : of the column. text : of the person's own file, of any format that
        :mod:`samekind.workspace.label_files` reads.
    """
    if kind == "csv":
        return read_labels(text, workspace.collection)
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
    labels = _checked(labels)
    session = workspace.begin(title)
    return session, tell_labels(session, labels)


def import_labels(session: Session, source: LabelSource) -> str:
    """Begin a session that has no answers yet from a label file, or from labels.

    Returns what was done in words.
    """
    if session.answers:
        raise StateError(
            f"Expected a grouping without answers, got {session.name!r} with "
            f"{plural(len(session.answers), 'answer')}. Begin another one from these labels."
        )
    if isinstance(source, str | Path):
        labels = read_labels(check_label_file(source), session.collection)
    elif isinstance(source, Mapping):
        ids, texts = list(source), _texts(list(source.values()))
        rows = [{"id": str(ids[k]), "label": text} for k, text in texts.items()]
        labels = read_labels(json.dumps(rows), session.collection) if rows else {}
    elif isinstance(source, Iterable):
        labels = _by_position(list(source), len(session.collection))
    else:
        raise InputError(
            f"Expected a label file, groups by the ids of items, or a label for each item, got "
            f"{source!r}. For example: import_labels('groups.csv')"
        )
    return tell_labels(session, _checked(labels))


def _by_position(labels: Sequence[object], n_items: int) -> Labels:
    if len(labels) != n_items:
        raise InputError(
            f"Expected a label for each of {n_items:,} items, None where it is not known, got "
            f"{len(labels):,}."
        )
    return _texts(labels)


def _texts(labels: Sequence[object]) -> Labels:
    """Known labels as texts, by their index.

    Tables turn whole numbers to floats to make room for gaps: those read as they were.
    """
    known = {k: label for k, label in enumerate(labels) if _is_known(label)}
    floats = [x for x in known.values() if isinstance(x, float | np.floating)]
    if len(known) < len(labels) and all(float(x).is_integer() for x in floats):
        known |= {k: int(x) for k, x in known.items() if isinstance(x, float | np.floating)}
    return {k: text for k, label in known.items() if (text := str(label)).strip()}


def _is_known(label: object) -> bool:
    """Whether it is a label, and not None, NaN, NaT or NA: the last two differ from themselves."""
    if label is None:
        return False
    try:
        return bool(label == label)
    except TypeError:  # the NA of pandas is neither equal to itself nor different
        return False
    except ValueError:
        raise InputError(
            f"Expected one label for each item, got {label!r}. Give a text or a number for each."
        ) from None


def tell_labels(session: Session, labels: Labels) -> str:
    """Record labels as answers, and learn from them; returns what was done in words."""
    kinds = _kinds(labels)
    for parts, why in _portions(kinds):
        question = SeparateKinds if len(parts) > 1 else OneKind
        session.volunteer(question(parts, why=why), YES)
    for name, items in kinds.items():
        session.naming.name_kind(items[0], name)
    session.refit()
    left = len(session.collection) - len(labels)
    words = f"{plural(len(kinds), 'group')} from {plural(len(labels), 'item')}."
    if left:
        words += f" {plural(left, 'item has', 'items have')} no label and is placed by likeness."
        words = words.replace("have no label and is", "have no label and are")
    return words


def _checked(labels: Labels) -> Labels:
    """Return the labels as names that can be stored; refuse too few, too many, or lookalikes."""
    lines = {label: one_line(label) for label in set(labels.values())}
    _check_names(set(lines.values()) - {""})
    return {item: clean(lines[label]) for item, label in labels.items() if lines[label]}


def _check_names(names: set[str]) -> None:
    n_groups = len(names)
    if not 2 <= n_groups <= MAX_GROUPS:
        raise InputError(
            f"Expected from 2 to {MAX_GROUPS:,} groups to begin from, got {n_groups:,}. Choose "
            "other folders, another column or another file."
        )
    seen: set[str] = set()
    for name in sorted(names):
        if clean(name) in seen:
            raise InputError(
                f"Expected names that differ in their first {MAX_NAME_LENGTH} characters, got "
                f"two groups whose names begin with {clean(name)!r}. Shorten these names."
            )
        seen.add(clean(name))


def check_label_file(source: str | Path) -> str:
    """Return the content of a label file; fails early, before any long work.

    A folder of Hugging Face datasets has a label file of its own.
    """
    path = expanded(source)
    if path.is_dir():
        inside = (at / name for at in (path, path / "train") for name in METADATA_FILES)
        path = next((file for file in inside if file.is_file()), path / METADATA_FILES[0])
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise InputError(
                f"Expected a file of at most {MAX_FILE_BYTES:,} bytes, got {path} with "
                f"{path.stat().st_size:,}. Leave out columns other than item and group."
            )
        return path.read_text(encoding="utf-8")
    except OSError as problem:
        raise SourceError(
            f"{path} cannot be read: {problem.strerror or problem}. Name a file with groups."
        ) from problem
    except UnicodeDecodeError as problem:
        raise SourceError(f"Expected UTF-8 in {path}, got other bytes. Save it again.") from problem


def folders_of(workspace: Workspace) -> Labels:
    """Return the folder of every item that is in one, below the folder that all share."""
    found = {i: PurePosixPath(id).parent.parts for i, id in enumerate(workspace.collection.ids())}
    found = {i: parts for i, parts in found.items() if parts}
    if len(found) == len(workspace.collection) and found:
        shared = _shared([*found.values()])
        found = {i: parts[shared:] for i, parts in found.items()}
    return {i: "/".join(parts) for i, parts in found.items() if parts}


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
