"""Labelled sets: a set or table opened with the label columns that a person named."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from samekind.errors import InputError
from samekind.workspace.pile import check_source

if TYPE_CHECKING:
    from samekind.sources import LabelledSet

TABLE_SUFFIXES = (".csv", ".tsv", ".parquet")


def labelled_set(source: str, labels: Sequence[str], *, option: str) -> LabelledSet:
    """Open a set or table with these label columns; without any, with all it knows to be labels.

    `option` names the option that gives a column, for the message when one is needed.
    """
    from samekind.sources import open_labelled

    check_source(source)
    try:
        return open_labelled(source, labels=labels)
    except InputError as problem:
        if not labels and is_table(source) and type(problem) is InputError:
            raise InputError(
                f"Which column of {source!r} holds the labels? Name it: {option} COLUMN."
            ) from problem
        raise


def is_table(source: str) -> bool:
    """Whether only its owner can say which columns are labels."""
    from samekind.sources import SETS

    return source not in SETS and Path(source).suffix.lower() in TABLE_SUFFIXES


def read_map(file: Path) -> dict[str, Any]:
    """Read a JSON file {label: group}, which makes an orientation out of a label column."""
    advice = 'Give a JSON object such as {"cat": "animal", "rose": "plant"}.'
    try:
        mapping = json.loads(file.expanduser().read_text(encoding="utf-8"))
    except OSError as problem:
        raise InputError(
            f"The map {str(file)!r} cannot be read: {problem.strerror}. {advice}"
        ) from problem
    except ValueError as problem:
        raise InputError(f"The map {str(file)!r} is not JSON: {problem}. {advice}") from problem
    if not isinstance(mapping, dict):
        raise InputError(f"The map {str(file)!r} is JSON, but not an object. {advice}")
    for label, group in mapping.items():
        if isinstance(group, dict | list):
            raise InputError(
                f"The group of {label!r} in the map {str(file)!r} is not a single value. {advice}"
            )
    return mapping
