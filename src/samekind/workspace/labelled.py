"""Labelled sets: a set or table opened with the label columns that a person named."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

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
