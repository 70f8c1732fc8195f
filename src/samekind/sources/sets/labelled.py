"""Collections whose true kinds are known, only for simulated people and for evaluation.

Labels are never part of a :class:`~samekind.items.Collection`; they stand beside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samekind.errors import InputError, SourceError, UnknownName
from samekind.items import Collection
from samekind.sources.files.columns import OUTSIDE, SPLIT, check_names, collect_rows, is_split
from samekind.sources.files.folders import natural
from samekind.sources.files.graphs import GRAPH_SUFFIXES, open_labelled_graph
from samekind.user_paths import expanded

Labels = NDArray[np.intp]
_NONE: NDArray[Any] = np.empty(0)


@dataclass(frozen=True, eq=False)
class LabelledSet:
    """A collection with label columns beside it; a learner never sees the labels.

    Parameters
    ----------
    collection : the items of a session.
    orientations : for each label column one label per item of `collection`.
    held_out : items that are not in the session (split "test"); None if there are none.
    held_out_orientations : their labels.
    """

    name: str
    collection: Collection
    orientations: Mapping[str, NDArray[Any]]
    held_out: Collection | None = None
    held_out_orientations: Mapping[str, NDArray[Any]] = field(default_factory=dict)

    def truth(
        self, orientation: str, mapping: Mapping[str, Any] | None = None
    ) -> tuple[Labels, Labels | None]:
        """Group codes from 0 of the items and of the held-out items; -1 if unknown.

        Parameters
        ----------
        orientation : the label column.
        mapping : {label: group}, to derive another orientation from the column. Keys are compared
            as text with the labels, or else with the column that names them (``digit_name`` for
            ``digit``). A group of None means unknown.

        Raises
        ------
        UnknownName
            If there is no such label column.
        InputError
            If a label has no group in the mapping.
        """
        if orientation not in self.orientations:
            raise UnknownName("orientation", orientation, self.orientations)
        both = [self.orientations]
        if self.held_out is not None:
            both.append(self.held_out_orientations)
        texts = [label_texts(columns[orientation]) for columns in both]
        if mapping is not None:
            named = self._named(orientation)
            names = [label_texts(columns[named]) for columns in both] if named else texts
            texts = _mapped(orientation, texts, names, mapping)
        known = sorted({text for part in texts for text in part if text}, key=natural)
        code = {text: number for number, text in enumerate(known)} | {"": -1}
        codes = [np.asarray([code[text] for text in part], dtype=np.intp) for part in texts]
        return codes[0], codes[1] if len(codes) > 1 else None

    def _named(self, orientation: str) -> str | None:
        """The column with the names of a label column's values, if there is one."""
        return next((n for n in name_columns(orientation) if n in self.orientations), None)


def open_labelled(source: str | Path, *, labels: Sequence[str] = (), seed: int = 0) -> LabelledSet:
    """Open a named set, or a table with its label columns separated from its items.

    Parameters
    ----------
    source : name of a set, or path of a .csv, .parquet or .npz file.
    labels : label columns. Needed for a CSV file or a plain Parquet table, where labels cannot be
        told from measurements; elsewhere all columns beside the items are labels.
    seed : determines sets that are drawn.
    """
    from samekind.sources.sets.named import SETS

    if isinstance(source, str) and source in SETS:
        known = SETS[source](seed=seed)
        check_names(Path(source), known.orientations, labels)
        return known
    path = expanded(source)
    if not path.exists():
        raise SourceError(
            f"There is no file {str(source)!r}. Give a table, or a set: {', '.join(sorted(SETS))}."
        )
    collection, columns = _read(path, labels)
    check_names(path, columns, labels)
    return split_labelled(collection, columns)


def split_labelled(collection: Collection, columns: Mapping[str, NDArray[Any]]) -> LabelledSet:
    """Hold out the items that are marked as test in the column ``split``.

    With other words than train and test in it, it is a label column like all others.
    If all items are marked as test, the file is one half of a set in two files: its items are the
    collection, and none are held out.
    """
    columns = dict(columns)
    split = columns.pop(SPLIT) if is_split(label_texts(columns.get(SPLIT, _NONE))) else None
    name = collection.name
    if not columns:
        raise InputError(f"Expected a label column in {name!r}. Give one with labels=[...].")
    if split is None:
        return LabelledSet(name, collection, columns)
    apart = np.asarray([text.lower() in OUTSIDE for text in label_texts(split)], dtype=np.bool_)
    if apart.all() or not apart.any():
        return LabelledSet(name, collection, columns)
    inside, outside = np.flatnonzero(~apart), np.flatnonzero(apart)
    return LabelledSet(
        name,
        collection.take(inside.tolist()),
        {column: values[inside] for column, values in columns.items()},
        collection.take(outside.tolist()),
        {column: values[outside] for column, values in columns.items()},
    )


def label_texts(labels: NDArray[Any]) -> list[str]:
    """Labels as texts: ``3`` for 3 and 3.0, empty if missing."""
    return [_text(label) for label in labels.tolist()]


def name_columns(label: str) -> tuple[str, ...]:
    """Possible columns with the names of a label column's values."""
    return (f"{label}_name", f"{label.removesuffix('_label')}_name")


def _text(label: Any) -> str:
    if label is None or label != label:  # NaN is not equal to itself
        return ""
    if isinstance(label, bytes):
        return label.decode("utf-8", "replace")
    if isinstance(label, float) and label.is_integer():
        return str(int(label))
    return str(label).strip()


def _mapped(
    orientation: str,
    labels: list[list[str]],
    names: list[list[str]],
    mapping: Mapping[str, Any],
) -> list[list[str]]:
    """The groups of labels, looked up by label or else by name."""
    groups = {str(label): "" if group is None else _text(group) for label, group in mapping.items()}

    def group(label: str, name: str) -> str:
        if not label or label in groups:
            return groups.get(label, "")
        if name in groups:
            return groups[name]
        also = f" ({name})" if name != label else ""
        raise InputError(
            f"The label {label!r}{also} of {orientation!r} has no group in the mapping. "
            f"The mapping has: {', '.join(list(groups)[:10])}. Add it, with null if unknown."
        )

    return [
        [group(label, name) for label, name in zip(*part, strict=True)]
        for part in zip(labels, names, strict=True)
    ]


def _read(path: Path, labels: Sequence[str]) -> tuple[Collection, dict[str, NDArray[Any]]]:
    """Items and label columns of a table, by its suffix."""
    suffix = path.suffix.lower()
    if suffix == ".npz":
        from samekind.sources.files.arrays import open_labelled_npz

        return open_labelled_npz(path)
    if suffix == ".parquet":
        from samekind.sources.files.parquet import (
            column_names,
            marks_split,
            open_labelled_parquet,
        )

        names = [n for n in column_names(path) if n != SPLIT or marks_split(path)]
        return open_labelled_parquet(path, _with_companions(labels, names))
    if suffix in (".csv", ".tsv"):
        from samekind.sources.files.delimited import read_csv

        columns, notes = read_csv(path)
        marks = is_split(label_texts(np.asarray(columns.get(SPLIT, _NONE))))
        wanted = _with_companions(labels, [n for n in columns if n != SPLIT or marks])
        check_names(path, columns, wanted)
        collection = collect_rows(path, columns, notes, wanted)
        return collection, {name: np.asarray(columns[name]) for name in wanted}
    if suffix in GRAPH_SUFFIXES:
        return open_labelled_graph(path)
    raise SourceError(
        f"Expected a .csv, .tsv, .parquet, .npz, .gml or .graphml file with labels, got "
        f"{str(path)!r}."
    )


def _with_companions(labels: Sequence[str], columns: Sequence[str]) -> list[str]:
    """The label columns, those that name their values, and ``split`` if it exists."""
    companions = [name for label in labels for name in name_columns(label)] if labels else []
    extra = [name for name in (*companions, SPLIT) if name in columns]
    return list(dict.fromkeys([*labels, *extra]))
