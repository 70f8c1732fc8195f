"""Opening a set or table with the label columns that a command was told of."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from samekind.errors import InputError
from samekind.workspace.request import check_place

if TYPE_CHECKING:
    from samekind.sources import LabelledSet


def labelled_set(source: str, labels: Sequence[str], *, option: str) -> LabelledSet:
    """A set or table with these label columns; without any, all that it knows to be labels.

    `option` is how a person names a column, if one is needed and none was given.
    """
    from samekind.sources import open_labelled

    check_place(source)
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

    return source not in SETS and Path(source).suffix.lower() in (".csv", ".tsv", ".parquet")
