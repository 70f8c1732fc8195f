"""Placements: other items placed by an orientation, and written as CSV or JSON."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from samekind.atomic_files import new_file
from samekind.clustering import Clustering
from samekind.errors import ExportError
from samekind.exports.tables import formula_note, table_row
from samekind.items import Skipped
from samekind.user_paths import expanded, is_there

NOWHERE = "Fits no group"
COLUMNS = ("id", "group", "name", "confidence", "fits", "strangeness")


@dataclass(frozen=True)
class Placed:
    """One item: its group, and whether it fits.

    Parameters
    ----------
    group, name : number and name of the group; of the nearest one if the item fits none.
    confidence : 0 to 1, the membership in that group.
    strangeness : how different it is from the sorted items, about 1 % of which exceed 1.
    """

    id: str
    group: int
    name: str
    confidence: float
    fits: bool
    strangeness: float


@dataclass(frozen=True)
class Placements:
    """The placed items of a collection, and those that could not be read."""

    collection: str
    orientation: str
    items: tuple[Placed, ...]
    skipped: tuple[Skipped, ...] = ()

    @property
    def strangers(self) -> tuple[Placed, ...]:
        """The items that fit no group, the strangest first."""
        return tuple(sorted((i for i in self.items if not i.fits), key=lambda i: -i.strangeness))

    def clustering(self) -> Clustering:
        """The groups for an export to folders; items that fit none are in group 0."""
        labels = np.array([item.group if item.fits else 0 for item in self.items], dtype=np.intp)
        names = {item.group: item.name for item in self.items} | {0: NOWHERE}
        return Clustering(labels, np.zeros((len(labels), 1), dtype=np.float32), names=names)

    def formula_note(self, *, no_formulas: bool = False) -> str:
        """Say which cells of the CSV file a spreadsheet would calculate; empty if none."""
        names = {item.group: item.name for item in self.items}
        cells = (*(item.id for item in self.items), *names.values())
        return formula_note(cells, no_formulas=no_formulas)

    def write_csv(self, path: str | Path, *, no_formulas: bool = False) -> None:
        """Write one row per item; UTF-8, with a header. Never overwrites a file.

        With `no_formulas`, an apostrophe is put before cells that a spreadsheet would calculate.
        """

        def write(file: TextIO) -> None:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(COLUMNS)
            for item in self.items:
                cells = {**vars(item), "fits": "true" if item.fits else "false"}
                row = (cells[column] for column in COLUMNS)
                writer.writerow(table_row(row, no_formulas=no_formulas))

        _new_text(path, write)

    def as_plain(self) -> dict[str, Any]:
        """Return the items, those that fit no group, and those that could not be read, as JSON."""
        return {
            "format": "samekind-placements",
            "version": 1,
            "collection": self.collection,
            "orientation": self.orientation,
            "items": [dict(vars(item)) for item in self.items],
            "fit_no_group": [item.id for item in self.strangers],
            "not_read": [{"id": s.id, "reason": s.reason} for s in self.skipped],
        }

    def write_json(self, path: str | Path) -> None:
        """Write what :meth:`as_plain` returns. Never overwrites a file."""

        def write(file: TextIO) -> None:
            json.dump(self.as_plain(), file, ensure_ascii=False, allow_nan=False, indent=1)
            file.write("\n")

        _new_text(path, write)


def check_new(paths: Sequence[str | Path | None]) -> None:
    """Fail early, before any long work, if a file exists or is named twice."""
    places = [expanded(path).absolute() for path in paths if path is not None]
    for place in places:
        there = is_there(place, ExportError) or os.path.islink(place)
        if there and not (place.is_dir() and not any(place.iterdir())):
            raise ExportError(f"{place} exists already. Choose another name.")
        if not place.parent.is_dir():
            raise ExportError(f"The folder {place.parent} does not exist. Create it first.")
        if places.count(place) > 1:
            raise ExportError(f"{place} is named twice. Choose different names.")


def check_table(path: str | Path | None) -> None:
    """Fail early, before any long work, if a table cannot be written to this path."""
    from samekind.exports.plan import format_of

    check_new([path])
    if path is not None:
        format_of(Path(path), None)


def _new_text(path: str | Path, write: Callable[[TextIO], None]) -> None:
    """Write a new text file atomically; invalid Unicode in ids is written as \\udcff."""
    with (
        export_file(expanded(path).absolute()) as draft,
        draft.open("x", encoding="utf-8", errors="backslashreplace", newline="") as file,
    ):
        write(file)


@contextmanager
def export_file(final: Path) -> Iterator[Path]:
    """A draft of a new file, as :func:`~samekind.atomic_files.new_file`, with our errors."""
    try:
        with new_file(final) as draft:
            yield draft
    except FileExistsError as error:
        raise ExportError(f"{final} exists already. Choose another name.") from error
    except OSError as error:
        raise ExportError(
            f"{final} cannot be written: {error.strerror or error}. Choose another folder."
        ) from error
