"""Runs: what rows of benchmarks say, read from files in which a line may be broken."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from samekind.errors import InputError, SourceError, UnknownName
from samekind.evaluation import METRICS, Curve

Row = Mapping[str, Any]


@dataclass(frozen=True, order=True)
class Block:
    """One thing to be good at: a set, what it is sorted for, and who answers."""

    suite: str
    set: str
    orientation: str
    person: str

    @property
    def place(self) -> tuple[str, str, str]:
        """The block without the person."""
        return self.suite, self.set, self.orientation


@dataclass(frozen=True, eq=False)
class Run:
    """One run of one system.

    Parameters
    ----------
    points : rows of the curve, rising in questions, with finite numbers only.
    budget : questions that were allowed. row : everything else that the row says.
    """

    block: Block
    system: str
    seed: int
    points: tuple[Mapping[str, float], ...]
    budget: float
    row: Row = field(repr=False)

    @property
    def told_groups(self) -> bool:
        """Whether the method was told the number of groups."""
        return self.row.get("groups_given") is not None

    def curve(self, metric: str) -> Curve:
        """The rows with this score; a run with nothing left to ask keeps its last score."""
        rows = [dict(point) for point in self.points if metric in point]
        asked = self.row.get("questions")
        if rows and isinstance(asked, int | float) and rows[-1]["questions"] >= asked:
            if self.budget > rows[-1]["questions"]:
                rows.append({**rows[-1], "questions": self.budget})
        return Curve(rows)


@dataclass(frozen=True, eq=False)
class Runs:
    """The runs of a report, and in sentences what was left out on the way."""

    runs: Sequence[Run]
    notes: Sequence[str]

    def metrics(self) -> list[str]:
        """Scores that at least one curve has."""
        names = {name for run in self.runs for point in run.points for name in point}
        return sorted(
            name for name in names if name.split("_", 1)[-1] in METRICS or name in METRICS
        )

    def only(self, systems: Sequence[str] = (), sets: Sequence[str] = ()) -> Runs:
        """The runs of these systems and sets; empty: all."""
        for what, wanted, known in (
            ("system", systems, {run.system for run in self.runs}),
            ("set", sets, {run.block.set for run in self.runs}),
        ):
            for name in wanted:
                if name not in known:
                    raise UnknownName(what, name, known)
        kept = [
            run
            for run in self.runs
            if (not systems or run.system in systems) and (not sets or run.block.set in sets)
        ]
        if not kept:
            raise InputError("No run is of these systems and of these sets. Leave one of them out.")
        return Runs(kept, self.notes)

    def scored(self, metric: str) -> Runs:
        """The runs whose curve has this score; the others are told in a note."""
        kept = [run for run in self.runs if any(metric in point for point in run.points)]
        if not kept:
            known = ", ".join(self.metrics()) or "none"
            raise InputError(f"No run has the score {metric!r}. Known: {known}.")
        without = len(self.runs) - len(kept)
        note = f"{_runs(without)} left out: no score `{metric}`."
        return Runs(kept, [*self.notes, note] if without else self.notes)


def read_runs(paths: Iterable[str | Path]) -> Runs:
    """Read JSONL files. Broken lines, incomplete runs and repeated runs are told in notes."""
    rows: list[Row] = []
    notes: list[str] = []
    for path in map(Path, paths):
        found, broken, others = _read(path)
        rows += found
        if broken:
            lines = ", ".join(map(str, broken[:5])) + (", ..." if len(broken) > 5 else "")
            said = "line is" if len(broken) == 1 else "lines are"
            notes.append(f"{path.name}: {len(broken)} {said} broken and passed over ({lines}).")
        if others:
            said = "row has" if others == 1 else "rows have"
            notes.append(f"{path.name}: {others} {said} no curve and no system; passed over.")
    whole = [row for row in rows if row.get("complete", True)]
    done = {_name(row) for row in whole}
    partial = {_name(row) for row in rows} - done
    if partial:
        notes.append(f"{_runs(len(partial))} left out: not finished.")
    kept, repeated, changed = _latest(whole)
    if repeated:
        notes.append(f"{_runs(repeated)} left out: written again later under the same name.")
    if changed:
        names = ", ".join(sorted({str(row["system"]) for row in changed}))
        notes.append(
            f"{_runs(len(changed))} left out: done again later by the same system on the same set "
            f"with the same person and seed, but with other settings ({names})."
        )
    if not kept:
        raise SourceError(
            "The files hold no complete run. Give the JSONL files that `samekind bench` wrote."
        )
    return Runs(sorted((_run(row) for row in kept), key=_order), notes)


def _read(path: Path) -> tuple[list[Row], list[int], int]:
    """Rows, numbers of broken lines, and how many objects are something else."""
    try:
        lines = path.expanduser().read_bytes().split(b"\n")
    except OSError as problem:
        raise SourceError(f"{path} cannot be read: {problem.strerror}.") from problem
    rows: list[Row] = []
    broken: list[int] = []
    others = 0
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError:
            broken.append(number)
            continue
        if not isinstance(row, dict) or not row.get("system") or not _points(row):
            others += 1
        else:
            rows.append(row)
    return rows, broken, others


def _points(row: Row) -> tuple[Mapping[str, float], ...]:
    """The curve with finite numbers only; of points with as many questions the last."""
    curve = row.get("curve")
    found: dict[float, Mapping[str, float]] = {}
    for point in curve if isinstance(curve, list) else ():
        if isinstance(point, dict):
            numbers = {name: float(v) for name, v in point.items() if _finite(v)}
            if "questions" in numbers:
                found[numbers["questions"]] = numbers
    return tuple(found[at] for at in sorted(found))


def _finite(value: Any) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)


def _cell(row: Row) -> tuple[str, ...]:
    """What makes two runs the same run of the same seed."""
    keys = ("suite", "set", "orientation", "person", "system", "seed")
    return tuple(str(row.get(key, "")) for key in keys)


def _name(row: Row) -> str:
    return str(row.get("run") or "/".join(_cell(row)))


def _latest(rows: Sequence[Row]) -> tuple[list[Row], int, list[Row]]:
    """The last row of each run and seed; how many had the same name; those of another name."""
    by_name: dict[str, Row] = {}
    for row in rows:
        by_name.pop(_name(row), None)  # a run that was done again counts as done now
        by_name[_name(row)] = row
    by_cell = {_cell(row): row for row in by_name.values()}
    kept = list(by_cell.values())
    changed = [row for row in by_name.values() if by_cell[_cell(row)] is not row]
    return kept, len(rows) - len(by_name), changed


def _run(row: Row) -> Run:
    person = str(row.get("person") or _person_of(row))
    suite, name, orientation = (str(row.get(k) or "-") for k in ("suite", "set", "orientation"))
    block = Block(suite, name, orientation, person)
    points = _points(row)
    budget = row.get("budget")
    seed = row.get("seed")
    return Run(
        block,
        str(row["system"]),
        seed if isinstance(seed, int) else 0,
        points,
        float(budget) if _finite(budget) else points[-1]["questions"],  # type: ignore[arg-type]
        row,
    )


def _person_of(row: Row) -> str:
    noise = row.get("noise") or 0.0
    return f"{noise:.0%} wrong".replace("%", " %") if noise else "perfect"


def _order(run: Run) -> tuple[Any, ...]:
    return run.block, run.system, run.seed


def _runs(count: int) -> str:
    return "1 run" if count == 1 else f"{count} runs"
