"""The figures that the papers print, typed, with the protocol behind each and doubts about it.

The CSV files in ``published/`` hold the figures as printed; ``published/tables.toml`` says what the
sets are called here and how the methods were run. ``consistency.csv`` answers, for sets of two
groups, whether one table of counts can give all the scores of a row.
"""

from __future__ import annotations

import csv
import tomllib
from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from samekind.errors import UnknownName

FOLDER = Path(__file__).parent / "published"
TOLERANCE = 0.0012
"""A deviation up to this is no doubt: rounding of the other scores explains .0005, and unequal
class sizes and the steps of the scan the rest."""
METRICS = {"ACC": "acc", "test accuracy": "acc", "NMI": "nmi", "ARI": "ari", "F": "f"}
PRETRAINED = " (ImageNet pretrained)"
ORIENTATIONS = {"default": "default", "personalized": "personalized"}


@dataclass(frozen=True, slots=True)
class Figure:
    """One printed row: a method on one set in one orientation.

    Scores lie between 0 and 1 (F is Fowlkes-Mallows), ``None`` where the paper has none.
    ``answers`` counts questions; a question of PCL or OCC is about a pair, one of IDC about an item
    and five groups, one of a FixMatch repository about a label. It is ``None`` where no number is
    given.
    ``doubt`` is a footnote, empty for most rows.
    """

    source: str
    table: str
    set: str
    orientation: str
    method: str
    answers: int | None
    acc: float | None
    nmi: float | None
    ari: float | None
    f: float | None
    protocol: str
    doubt: str


def figures(
    set: str | None = None, orientation: str | None = None, *, table: str | None = None
) -> list[Figure]:
    """Published figures, in the order of the papers, all or those of a set, orientation or table.

    Examples
    --------
    >>> [(f.method, f.acc) for f in figures("cifar10-2", "personalized", table="pcl-3")][-1]
    ('PCL', 0.873)
    """
    wanted = {"set": set, "orientation": orientation, "table": table}
    asked = {name: value for name, value in wanted.items() if value is not None}
    return [f for f in _all() if all(getattr(f, name) == value for name, value in asked.items())]


def titles() -> dict[str, str]:
    """Titles of the published tables by name (``pcl-3``), in the order of the papers."""
    return {table["name"]: f"{table['source']}: {table['title']}" for table in _about()["table"]}


@cache
def _about() -> dict[str, Any]:
    with (FOLDER / "tables.toml").open("rb") as file:
        return tomllib.load(file)


@cache
def _all() -> tuple[Figure, ...]:
    return tuple(figure for table in _about()["table"] for figure in _read(table))


def _read(table: dict[str, Any]) -> list[Figure]:
    """The rows of one table; the CSV has one line per score."""
    scores: dict[tuple[str, str, str], dict[str, float]] = defaultdict(dict)
    for line in _lines(table["file"]):
        row = (line["method"], line["dataset"], line["orientation"])
        value = float(line["value"])
        scores[row][METRICS[line["metric"]]] = round(value / 100, 6) if _percent(table) else value
    return [_figure(table, *row, given) for row, given in scores.items()]


def _figure(
    table: dict[str, Any], method: str, dataset: str, printed: str, given: dict[str, float]
) -> Figure:
    about = _about()
    names = about["house"][table["house"]]
    if dataset not in names:
        raise UnknownName("published set", dataset, names)
    house, orientation = names[dataset], ORIENTATIONS.get(printed, "default")
    role = _role(table, method)
    doubts = [_inconsistency(table["file"], method, dataset, printed)]
    protocol = [role["protocol"]]
    for remark in about["remark"]:
        here = {"table": table["name"], "method": method, "set": house, "orientation": orientation}
        if all(remark.get(name, value) == value for name, value in here.items()):
            doubts.append(remark.get("doubt", ""))
            protocol.append(remark.get("protocol", ""))
    if dataset.endswith(PRETRAINED):
        method += PRETRAINED
        protocol.append("Began from weights learnt on all of ImageNet.")
    return Figure(
        source=table["source"],
        table=table["name"],
        set=house,
        orientation=orientation,
        method=method,
        answers=_answers(role, house, printed),
        acc=given.get("acc"),
        nmi=given.get("nmi"),
        ari=given.get("ari"),
        f=given.get("f"),
        protocol=" ".join(filter(None, protocol)),
        doubt=" ".join(filter(None, doubts)),
    )


def _role(table: dict[str, Any], method: str) -> dict[str, Any]:
    roles: list[dict[str, Any]] = [_about()["role"][name] for name in table["roles"]]
    return next(role for role in roles if method in role.get("methods", [method]))


def _answers(role: dict[str, Any], house: str, printed: str) -> int | None:
    """How many questions were answered; the rows of FixMatch say it where others say a grouping."""
    if printed.endswith(" labels") and printed.split()[0].isdigit():
        return int(printed.split()[0])
    given = role.get("answers")
    return given.get(house, given.get("rest")) if isinstance(given, dict) else given


def _inconsistency(file: str, method: str, dataset: str, printed: str) -> str:
    """The doubt about a row whose scores no single table of counts can give, or an empty text."""
    found = [
        line
        for line in _lines("consistency.csv")
        if (line["table"], line["method"], line["dataset"], line["orientation"])
        == (file, method, dataset, printed)
    ]
    if not found:
        return ""
    near = min(found, key=lambda line: float(line["largest_unavoidable_deviation"]))
    deviation = near["largest_unavoidable_deviation"]
    if float(deviation) <= TOLERANCE:
        return ""
    shares = " or ".join(line["smaller_class_share"].removeprefix("0") for line in found)
    scores = near["nearest_possible_scores"].replace("=0.", " .").replace(" ARI", ", ARI")
    return (
        f"No table of counts with {shares} of the items in the smaller group and the printed ACC "
        f"(within rounding) gives the other scores: one is off by {deviation.removeprefix('0')} or "
        f"more, where rounding explains .0005. Nearest: {scores.replace(' F', ', F')}. A mean over "
        "several runs might; the paper names none."
    )


def _percent(table: dict[str, Any]) -> bool:
    return bool(table.get("percent", False))


@cache
def _lines(name: str) -> tuple[dict[str, str], ...]:
    with (FOLDER / name).open(newline="", encoding="utf-8") as file:
        return tuple(csv.DictReader(file))
