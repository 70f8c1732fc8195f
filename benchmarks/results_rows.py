"""The kept rows of all benchmarks, and what is read off them for the results page."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import mean, stdev
from typing import Any

HERE = Path(__file__).parent
ROWS = HERE / "rows"
Row = Mapping[str, Any]
CLASSES = {"class": "default"}
"""Where the classes themselves are the groups, some suites say ``class`` for the orientation."""


def read(folder: Path = ROWS) -> list[Row]:
    """All finished rows of a folder; of rows with the same ``run`` in a file the last one counts.

    A line that cannot be read is an error here: what is committed must be whole.
    """
    found: dict[tuple[str, str], Row] = {}
    for file in sorted(folder.glob("*.jsonl")):
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
                found[file.name, row["run"]] = {**row, "file": file.name}
            except (json.JSONDecodeError, KeyError, TypeError) as problem:
                raise SystemExit(
                    f"Line {number} of {file} is not a row ({problem}). Mend or remove it."
                ) from problem
    return [row for row in found.values() if usable(row)]


def usable(row: Row) -> bool:
    """Finished, with at least one score, and not withdrawn since."""
    return bool(row.get("complete")) and bool(row.get("curve")) and not withdrawn(row)


def withdrawn(row: Row) -> str:
    """Why a row no longer counts, or nothing."""
    return str((row.get("protocol") or {}).get("withdrawn", ""))


def field(row: Row, name: str) -> Any:
    """A field of a row; ``protocol.from`` looks inside."""
    value: Any = row
    for part in name.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def matching(rows: Iterable[Row], where: Mapping[str, Any]) -> list[Row]:
    """Rows whose fields are as wanted; ``"none"`` wants a field that is null or missing."""
    return [
        row for row in rows if all(_fits(field(row, name), value) for name, value in where.items())
    ]


def _fits(found: Any, wanted: Any) -> bool:
    if wanted == "none":
        return found is None
    return found in wanted if isinstance(wanted, list) else bool(found == wanted)


def place(row: Row) -> tuple[str, str]:
    """Set and orientation under the names of the published tables."""
    name, way = str(row["set"]), str(row["orientation"])
    if name == "cifar10-frozen":  # vectors of CIFAR-10 that come with the house
        name = "cifar10" if way == "class" else "cifar10-2"
    if name == "cifar20-frozen" and way == "coarse":
        name, way = "cifar20", "class"
    return name, CLASSES.get(way, way)


def point(row: Row, at: int | None) -> Mapping[str, float] | None:
    """The score at a number of answers (None: at the end), if it was taken there."""
    curve: Sequence[Mapping[str, float]] = row["curve"]
    if at is None:
        return curve[-1]
    return next((p for p in reversed(curve) if p["questions"] == at), None)


def scores(rows: Sequence[Row], at: int | None, metric: str) -> list[float]:
    """One metric of several runs at a number of answers, of those that have it."""
    points = [point(row, at) for row in rows]
    return [p[metric] for p in points if p is not None and p.get(metric) is not None]


def short(value: float | None, digits: int = 3) -> str:
    """A score without the leading zero: .873; a dash where there is none."""
    if value is None or value != value:
        return "-"
    text = f"{value + 1e-9:.{digits}f}"  # what ends in 5 is rounded up
    sign, text = ("-", text[1:]) if text.startswith("-") else ("", text)
    text = text.removeprefix("0")
    return text if float(text) == 0 else sign + text


def spread(values: Sequence[float]) -> str:
    """Mean, and the standard deviation when there are several runs."""
    if len(values) < 2:
        return short(mean(values)) if values else "-"
    return f"{short(mean(values))} ± {short(stdev(values))}"


def numbers(values: Iterable[int]) -> str:
    """Seeds in words: ``0 to 4``, ``5, 7``."""
    kept = sorted(set(values))
    if len(kept) > 2 and kept[-1] - kept[0] == len(kept) - 1:
        return f"{kept[0]} to {kept[-1]}"
    return ", ".join(map(str, kept))


def machine(row: Row) -> str:
    """The machine in a few words."""
    about = row.get("machine") or {}
    if not isinstance(about, Mapping):
        return str(about)
    device = str(about.get("gpu") or about.get("device") or "CPU")
    if not device.startswith("CPU"):
        return device
    cores = about.get("cores")
    return f"{cores} cores, CPU" if cores else "machine not noted"
