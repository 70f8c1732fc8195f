"""Tables with two or three labelings each, from small packages (``pip install 'samekind[sets]'``).

Labels, and columns that reveal them (the name of a car, the date of a day), are neither compared
nor shown. The content is checked against a known checksum.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samekind.sources.files.columns import Column, Columns, collect_rows
from samekind.sources.files.delimited import read_csv
from samekind.sources.sets.checksums import check_content, content_sum
from samekind.sources.sets.labelled import LabelledSet
from samekind.sources.sets.locations import packaged

SUMS = {
    "penguins": "85dbaf1a9be14f76e55542a9f2ee19e86808f9617e07e013e91761d7c72ce8b5",
    "cars": "d58c9a9b71d9eb6c571eee6bf5c80201c6a82501ecf34319c3d47c3dbb1976ef",
    "weather": "ecb81f38e9501b4f1ac032de7ffac9ba8b0573bd87111618eeea118614e44774",
}
"""Checksums of the measurements and labels of each set."""
SEASONS = ("winter", "spring", "summer", "autumn")


def penguins(seed: int = 0) -> LabelledSet:
    """333 penguins by four measurements: species (3), sex (2), island (3). Needs the extra 'sets'.

    Palmer Archipelago (Gorman, Williams and Fraser 2014; data CC0), from the package
    palmerpenguins (MIT), without the eleven birds of unknown sex or size.
    """
    columns, _ = read_csv(packaged("penguins", "palmerpenguins", "data/penguins.csv"))
    sizes = ("bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g")
    numbers = np.stack([np.asarray(columns[name], dtype=np.float64) for name in sizes], axis=1)
    known = np.isfinite(numbers).all(axis=1) & (np.asarray(columns["sex"]) != "")
    kinds = {name: np.asarray(columns[name])[known] for name in ("species", "sex", "island")}
    return _table("penguins", ("palmerpenguins", "0.1.6"), sizes, numbers[known], kinds)


def cars(seed: int = 0) -> LabelledSet:
    """393 cars of 1970 to 1982 by six numbers: origin (3), cylinders (3). Needs the extra 'sets'.

    From the package vega_datasets (MIT), without cars of unknown horsepower and the seven with
    three or five cylinders. Names are not shown, because they reveal the origin.
    """
    path = packaged("cars", "vega_datasets", "_data/cars.json")
    rows = [
        row
        for row in json.loads(path.read_text("utf-8"))
        if row["Horsepower"] is not None and row["Cylinders"] in (4, 6, 8)
    ]
    names = {
        "Miles_per_Gallon": "miles per gallon",
        "Displacement": "displacement",
        "Horsepower": "horsepower",
        "Weight_in_lbs": "weight",
        "Acceleration": "acceleration",
        "Year": "year",
    }
    numbers = np.asarray([[_number(row[key]) for key in names] for row in rows])
    kinds = {
        "origin": np.asarray([row["Origin"] for row in rows]),
        "cylinders": np.asarray([row["Cylinders"] for row in rows]),
    }
    return _table("cars", ("vega_datasets", "0.9.0"), tuple(names.values()), numbers, kinds)


def weather(seed: int = 0) -> LabelledSet:
    """1,461 days in Seattle by four numbers: weather (5), season (4). Needs the extra 'sets'.

    2012 to 2015 (NOAA, public domain), from the package vega_datasets (MIT). Dates are not shown.
    """
    columns, _ = read_csv(packaged("weather", "vega_datasets", "_data/seattle-weather.csv"))
    sizes = ("precipitation", "temp_max", "temp_min", "wind")
    numbers = np.stack([np.asarray(columns[name], dtype=np.float64) for name in sizes], axis=1)
    months = [int(str(date).split("/")[1]) for date in columns["date"]]
    kinds = {
        "weather": np.asarray(columns["weather"]),
        "season": np.asarray([SEASONS[month % 12 // 3] for month in months]),
    }
    return _table("weather", ("vega_datasets", "0.9.0"), sizes, numbers, kinds)


def _table(
    name: str,
    package: tuple[str, str],
    columns: tuple[str, ...],
    numbers: NDArray[np.float64],
    kinds: Mapping[str, NDArray[Any]],
) -> LabelledSet:
    """Rows of numbers as items, after checking their checksum, with labels beside them."""
    labels = ["\0".join(map(str, values.tolist())) for values in kinds.values()]
    found = content_sum([*columns, numbers.astype("<f8"), *kinds, *labels])
    check_content(package[0], found, SUMS[name], package[1])
    order = np.random.default_rng(0).permutation(len(numbers))  # files are sorted by kind
    ids: Column = [f"{name.removesuffix('s')}-{row:04d}" for row in order]
    table: Columns = {"id": ids}
    for place, column in enumerate(columns):
        table[column] = numbers[order, place]
    collection = collect_rows(Path(name), table)
    return LabelledSet(name, collection, {kind: values[order] for kind, values in kinds.items()})


def _number(cell: Any) -> float:
    """A number, the year of a date, or NaN if missing."""
    if cell is None:
        return float("nan")
    return float(cell[:4] if isinstance(cell, str) else cell)
