"""Columns of a table that is too large to hold: found in one pass, then applied to some rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samekind.errors import InputError, SourceError
from samekind.sources import MAX_CATEGORIES

LEFT_OUT = ("id", "split")
ROWS_AT_A_TIME = 65_536


def find_columns(
    source: str, shards: Sequence[Callable[[], Any]], exclude: Sequence[str] = ()
) -> tuple[str, ...]:
    """Name the numbers of a table's rows, as a table in memory is compared.

    A column of numbers is used unchanged. One of texts with few values becomes ``name=value`` for
    each value; one with many is only shown. The texts of all rows are looked at once.

    Parameters
    ----------
    shards : functions that open a Parquet file each, all with the same columns.
    """
    schema = shards[0]().schema_arrow
    unknown = [name for name in exclude if name not in schema.names]
    if unknown:
        raise InputError(
            f"{source!r} has no column {unknown[0]!r}. Columns: {', '.join(schema.names)}."
        )
    used = [n for n in schema.names if n not in exclude and n.lower() not in LEFT_OUT]
    texts = {name: _Values() for name in used if _is_text(schema.field(name).type)}
    for open_shard in shards:
        searched = [name for name, values in texts.items() if values.few]
        if searched:
            for batch in open_shard().iter_batches(ROWS_AT_A_TIME, columns=searched):
                for name in searched:
                    texts[name].add(batch.column(name))
    names: list[str] = []
    for name in used:
        if name in texts:
            names += [f"{name}={value}" for value in texts[name].categories()]
        elif _is_number(schema.field(name).type):
            names.append(name)
    if not names:
        raise SourceError(
            f"Expected a column of numbers, or of texts with at most {MAX_CATEGORIES} different "
            f"values, in {source!r}, got: {', '.join(schema.names)}. Add a column to compare by."
        )
    return tuple(names)


class _Values:
    """The different texts of a column, while they are few."""

    def __init__(self) -> None:
        self.values: set[str] = set()
        self.n_filled = 0

    @property
    def few(self) -> bool:
        return len(self.values) <= MAX_CATEGORIES

    def add(self, column: Any) -> None:
        if not self.few:
            return
        counts = column.value_counts().to_pylist()
        filled = {row["values"]: row["counts"] for row in counts if row["values"]}
        self.values |= filled.keys()
        self.n_filled += sum(filled.values())

    def categories(self) -> list[str]:
        """Return the values to compare by; none if nearly every row has its own."""
        own = len(self.values) == self.n_filled and len(self.values) > 1
        return sorted(self.values) if self.few and not own else []


@dataclass(frozen=True)
class Features:
    """The numbers of some rows of a table by the names that :func:`find_columns` returned."""

    columns: tuple[str, ...]

    def matrix(self, table: Any) -> NDArray[np.float64]:
        """(n, columns) numbers, NaN where missing."""
        return np.stack([self._values(table, name) for name in self.columns], axis=1)

    def shown(self, table: Any) -> dict[str, list[Any]]:
        """Return what a person sees of each row, by column."""
        found = {}
        for name in table.column_names:
            cells = table.column(name).to_pylist()
            if _is_text(table.schema.field(name).type):
                found[name] = ["" if cell is None else str(cell) for cell in cells]
            elif _is_number(table.schema.field(name).type):
                found[name] = _numbers(cells).tolist()
        return {name: cells for name, cells in found.items() if name.lower() not in LEFT_OUT}

    def _values(self, table: Any, name: str) -> NDArray[np.float64]:
        if name in table.column_names:
            values = _numbers(table.column(name).to_pylist())
            return np.where(np.isinf(values), np.nan, values)
        column = next((n for n in table.column_names if name.startswith(f"{n}=")), None)
        if column is None:
            raise SourceError(
                f"Expected a column for {name!r}, got: {', '.join(table.column_names)}. Give a "
                "table with the same columns."
            )
        value = name.removeprefix(f"{column}=")
        cells = table.column(column).to_pylist()
        return np.array([np.nan if not cell else float(cell == value) for cell in cells])


def _numbers(cells: Iterable[Any]) -> NDArray[np.float64]:
    return np.array([np.nan if cell is None else float(cell) for cell in cells], dtype=np.float64)


def _plain(kind: Any) -> Any:
    import pyarrow.types as types

    return kind.value_type if types.is_dictionary(kind) else kind


def _is_text(kind: Any) -> bool:
    import pyarrow.types as types

    kind = _plain(kind)
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_null(kind))


def _is_number(kind: Any) -> bool:
    import pyarrow.types as types

    kind = _plain(kind)
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind))
