"""Labelled sets: a set or table opened with the label columns that a person named."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from samekind.bulk.sampled_pile import open_sampled
from samekind.errors import InputError, SourceError
from samekind.sources import is_vector_store
from samekind.user_paths import expanded
from samekind.workspace.pile import check_source

if TYPE_CHECKING:
    from samekind.sources import LabelledSet

TABLE_SUFFIXES = (".csv", ".tsv", ".parquet")


def labelled_set(source: str, labels: Sequence[str], *, option: str) -> LabelledSet:
    """Open a set or table with these label columns; without any, with all it knows to be labels.

    `option` names the option that gives a column, for the message when one is needed.
    """
    from samekind.sources import open_labelled

    if is_vector_store(source):
        return _labelled_store(source, labels, option)
    check_source(source)
    try:
        return open_labelled(source, labels=labels)
    except InputError as problem:
        if not labels and is_table(source) and type(problem) is InputError:
            raise InputError(
                f"Which column of {source!r} holds the labels? Name it: {option} COLUMN."
            ) from problem
        raise


def _labelled_store(path: str, labels: Sequence[str], option: str) -> LabelledSet:
    """Open the reference items of a store with the labels that their source has for them."""
    from samekind.sources import LabelledSet

    items = open_sampled(path)
    known = labelled_set(items.store.manifest.source, labels, option=option)
    place = {id: at for at, id in enumerate(known.collection.ids())}
    columns = dict(known.orientations)
    if known.held_out is not None:  # an embedded table has both parts
        place |= {id: len(place) + at for at, id in enumerate(known.held_out.ids())}
        outside = known.held_out_orientations
        columns = {name: np.concatenate([of, outside[name]]) for name, of in columns.items()}
    missing = next((id for id in items.ids() if id not in place), None)
    if missing is not None:
        raise SourceError(
            f"{known.name!r} has no labels for the item {missing!r} of {path!r}. Embed it again."
        )
    at = np.array([place[id] for id in items.ids()], dtype=np.intp)
    return LabelledSet(items.name, items, {name: of[at] for name, of in columns.items()})


def is_table(source: str) -> bool:
    """Whether only its owner can say which columns are labels."""
    from samekind.sources import SETS

    return source not in SETS and Path(source).suffix.lower() in TABLE_SUFFIXES


def read_map(file: Path) -> dict[str, Any]:
    """Read a JSON file {label: group}, which makes an orientation out of a label column."""
    advice = 'Give a JSON object such as {"cat": "animal", "rose": "plant"}.'
    try:
        mapping = json.loads(expanded(file).read_text(encoding="utf-8"))
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
