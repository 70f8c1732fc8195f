"""Where other items were placed by an orientation, item by item, and as CSV or JSON."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

import numpy as np

from samekind.atomic_files import draft_name, put_in_place
from samekind.clustering import Clustering
from samekind.errors import ExportError
from samekind.items import Skipped

NOWHERE = "Fits no group"
COLUMNS = ("id", "group", "name", "confidence", "fits", "strangeness")


@dataclass(frozen=True)
class Placed:
    """One item: its group, and whether it fits there.

    Parameters
    ----------
    group, name : number and name of the group; of the nearest one where the item fits none.
    confidence : 0 to 1, the share of that group among all that claim the item.
    strangeness : how unlike the sorted pile it is; about one in a hundred of its items exceeds 1.
    """

    id: str
    group: int
    name: str
    confidence: float
    fits: bool
    strangeness: float


@dataclass(frozen=True)
class Placements:
    """All items of a collection as they were placed, and those that could not be read."""

    collection: str
    orientation: str
    items: tuple[Placed, ...]
    skipped: tuple[Skipped, ...] = ()

    @property
    def strangers(self) -> tuple[Placed, ...]:
        """The items that fit no group, the strangest first."""
        return tuple(sorted((i for i in self.items if not i.fits), key=lambda i: -i.strangeness))

    def clustering(self) -> Clustering:
        """The groups for an export in folders; what fits none has the number 0."""
        labels = np.array([item.group if item.fits else 0 for item in self.items], dtype=np.intp)
        names = {item.group: item.name for item in self.items} | {0: NOWHERE}
        return Clustering(labels, np.zeros((len(labels), 1), dtype=np.float32), names=names)

    def write_csv(self, path: str | Path) -> None:
        """One row per item; UTF-8, with a header. A file that is there is not overwritten."""

        def write(file: TextIO) -> None:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(COLUMNS)
            for item in self.items:
                cells = {**vars(item), "fits": "true" if item.fits else "false"}
                writer.writerow([cells[column] for column in COLUMNS])

        _new_text(path, write)

    def write_json(self, path: str | Path) -> None:
        """The items, those that fit no group, and those that could not be read."""
        content = {
            "format": "samekind-placements",
            "version": 1,
            "collection": self.collection,
            "orientation": self.orientation,
            "items": [dict(vars(item)) for item in self.items],
            "fit_no_group": [item.id for item in self.strangers],
            "not_read": [{"id": s.id, "reason": s.reason} for s in self.skipped],
        }

        def write(file: TextIO) -> None:
            json.dump(content, file, ensure_ascii=False, allow_nan=False, indent=1)
            file.write("\n")

        _new_text(path, write)


def check_new(paths: Sequence[str | Path | None]) -> None:
    """Refuse, before long work, to write over what is there or twice into the same place."""
    places = [Path(path).expanduser().absolute() for path in paths if path is not None]
    for place in places:
        if os.path.lexists(place) and not (place.is_dir() and not any(place.iterdir())):
            raise ExportError(f"{place} exists already. Choose another name.")
        if not place.parent.is_dir():
            raise ExportError(f"The folder {place.parent} is not there. Make it first.")
        if places.count(place) > 1:
            raise ExportError(f"{place} is named twice. Choose one name for each.")


def _new_text(path: str | Path, write: Callable[[TextIO], None]) -> None:
    """Write a new text file, whole or not at all."""
    final = Path(path).expanduser().absolute()
    draft = draft_name(final)
    try:
        # An id is the user's file name: what is no text is written as \udcff, nothing else changes.
        with draft.open("x", encoding="utf-8", errors="backslashreplace", newline="") as file:
            write(file)
        put_in_place(draft, final)
    except FileExistsError as error:
        raise ExportError(f"{final} exists already. Choose another name.") from error
    except OSError as error:
        raise ExportError(f"{final} cannot be written: {error.strerror or error}.") from error
    finally:
        draft.unlink(missing_ok=True)
