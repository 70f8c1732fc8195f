"""The kept rows, and what the results page reads off them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from benchmarks.results.gpu import settled
from samekind.reports.figures import score
from samekind.simulation.rows import Row, read_rows

ROWS = Path(__file__).parents[1] / "rows"
CLASSES = {"class": "default"}
"""Where the classes themselves are the groups, some suites call the orientation ``class``."""


@cache
def read(folder: Path = ROWS) -> list[Row]:
    """All finished rows of a folder that were not withdrawn; of repeated runs the last one.

    A broken line is an error here: committed files must be whole.
    """
    found: dict[tuple[str, str], Row] = {}
    for file in map(read_rows, sorted(folder.glob("*.jsonl"))):
        if file.problem:
            raise SystemExit(f"{file.problem} Correct or remove it in {folder}.")
        found |= {(file.path.name, row["run"]): row for row in file.rows}
    return [
        row
        for row in found.values()
        if row.get("complete") and row.get("curve") and not row["protocol"].get("withdrawn")
    ]


def matching(rows: Iterable[Row], where: Mapping[str, Any]) -> list[Row]:
    """Rows whose fields have these values; ``protocol.from`` looks inside, ``"none"``: null."""
    return [
        row for row in rows if all(_fits(_field(row, name), value) for name, value in where.items())
    ]


def _field(row: Row, name: str) -> Any:
    value: Any = row
    for part in name.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def _fits(found: Any, wanted: Any) -> bool:
    if wanted == "none":
        return found is None
    return found in wanted if isinstance(wanted, list) else bool(found == wanted)


def place(row: Row) -> tuple[str, str]:
    """Set and orientation under the names of the published tables."""
    name, orientation = str(row["set"]), str(row["orientation"])
    if name in ("cifar10-frozen", "cifar10-simclr-pca128"):  # vectors of CIFAR-10
        name = "cifar10" if orientation == "class" else "cifar10-2"
    if name == "cifar20-frozen" and orientation == "coarse":
        name, orientation = "cifar20", "class"
    return name, CLASSES.get(orientation, orientation)


def point(row: Row, at: int | None) -> Mapping[str, float] | None:
    """The point at a number of answers (None: the last), if the run was scored there.

    The last point of a training by epochs is the mean of its last scores. A run that knew the rest
    before its budget was spent keeps that score up to the budget.
    """
    curve: Sequence[Mapping[str, float]] = row["curve"]
    knew_the_rest = row.get("complete") and at == row.get("budget")
    if at is None or at == curve[-1]["questions"] or knew_the_rest:
        return settled(row)
    return next((p for p in curve[::-1] if p["questions"] == at), None)


def scores(rows: Sequence[Row], at: int | None, metric: str) -> list[float]:
    """One metric of the runs that have it at a number of answers."""
    points = [point(row, at) for row in rows]
    return [p[metric] for p in points if p is not None and p.get(metric) is not None]


def short(value: float | None, digits: int = 3) -> str:
    """A score, or a dash where there is none."""
    return "-" if value is None or value != value else score(value, digits)


def spread(values: Sequence[float]) -> str:
    """Mean, and the standard deviation if there are several runs."""
    if len(values) < 2:
        return short(mean(values)) if values else "-"
    return f"{short(mean(values))} ± {short(stdev(values))}"


def numbers(values: Iterable[int]) -> str:
    """Seeds in words: ``0 to 4``, ``5, 7``."""
    kept = sorted(set(values))
    if len(kept) > 2 and kept[-1] - kept[0] == len(kept) - 1:
        return f"{kept[0]} to {kept[-1]}"
    return ", ".join(map(str, kept))


def groups_given(rows: Iterable[Row]) -> str:
    """Whether the method was given the number of groups."""
    given = {row.get("groups_given") is not None for row in rows}
    return "yes and no" if len(given) > 1 else "yes" if given == {True} else "**no**"


def machines(rows: Iterable[Row]) -> str:
    """The machines of some runs in a few words."""
    return ", ".join(sorted({_machine(row.get("machine") or {}) for row in rows}))


def _machine(about: Any) -> str:
    if not isinstance(about, Mapping):
        return str(about)
    device = str(about.get("gpu") or about.get("device") or "CPU")
    if not device.startswith("CPU"):
        return device
    return f"{about['cores']} cores, CPU" if about.get("cores") else "machine not noted"
