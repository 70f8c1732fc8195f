"""Results: the finished runs that a report is about, read from rows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from samekind.errors import InputError, SourceError, UnknownName
from samekind.evaluation import METRICS, Curve
from samekind.questions.wording import plural
from samekind.simulation.rows import Row, read_rows


@dataclass(frozen=True, order=True)
class Block:
    """A set, an orientation of it, and the person who answers."""

    suite: str
    set: str
    orientation: str
    person: str

    @property
    def place(self) -> tuple[str, str, str]:
        """The block without the person."""
        return self.suite, self.set, self.orientation


@dataclass(frozen=True, eq=False)
class Result:
    """A finished run of one system.

    Parameters
    ----------
    points : points of the curve, rising in questions, with finite numbers only.
    budget : number of questions allowed. row : the whole row.
    """

    block: Block
    system: str
    seed: int
    points: tuple[Mapping[str, float], ...]
    budget: float
    row: Row = field(repr=False)

    @classmethod
    def of(cls, row: Row) -> Result:
        """The result that a row describes."""
        suite, name, orientation = (str(row.get(k) or "-") for k in ("suite", "set", "orientation"))
        points, budget, seed = finite_points(row), row.get("budget"), row.get("seed")
        return cls(
            Block(suite, name, orientation, str(row.get("person") or "-")),
            str(row.get("system") or "-"),
            seed if isinstance(seed, int) else 0,
            points,
            float(budget) if isinstance(budget, int | float) else points[-1]["questions"],
            row,
        )

    @property
    def groups_given(self) -> bool:
        """Whether the method was given the number of groups."""
        return self.row.get("groups_given") is not None

    @property
    def stand_in(self) -> str:
        """The learner, if it is not the method that the row names; else empty."""
        method, learner = (str(self.row.get(key) or "") for key in ("method", "learner"))
        own = learner.lower().startswith(method.lower())
        return "" if own else learner

    def curve(self, metric: str) -> Curve:
        """The points with this score; a run that ran out of questions keeps its last score."""
        rows = [dict(point) for point in self.points if metric in point]
        asked = self.row.get("questions")
        if rows and isinstance(asked, int | float) and rows[-1]["questions"] >= asked:
            if self.budget > rows[-1]["questions"]:
                rows.append({**rows[-1], "questions": self.budget})
        return Curve(rows)


@dataclass(frozen=True, eq=False)
class Results:
    """The runs of a report, and notes on what was left out."""

    runs: Sequence[Result]
    notes: Sequence[str]

    def metrics(self) -> list[str]:
        """Scores that at least one curve has."""
        names = {name for run in self.runs for point in run.points for name in point}
        return sorted(
            name for name in names if name.split("_", 1)[-1] in METRICS or name in METRICS
        )

    def only(self, systems: Sequence[str] = (), sets: Sequence[str] = ()) -> Results:
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
            raise InputError("No run has both one of these systems and one of these sets.")
        return Results(kept, self.notes)

    def scored(self, metric: str) -> Results:
        """The runs whose curve has this score; a note counts the others."""
        kept = [run for run in self.runs if any(metric in point for point in run.points)]
        if not kept:
            known = ", ".join(self.metrics()) or "none"
            raise InputError(f"No run has the score {metric!r}. Known: {known}.")
        without = len(self.runs) - len(kept)
        note = f"{plural(without, 'run')} left out: no score `{metric}`."
        return Results(kept, [*self.notes, note] if without else self.notes)


def read_results(paths: Iterable[str | Path]) -> Results:
    """Read files of rows. Notes tell of broken lines, incomplete runs and repeated runs."""
    rows: list[Row] = []
    notes: list[str] = []
    for file in map(read_rows, paths):
        found = [row for row in file.rows if row.get("system") and finite_points(row)]
        rows += found
        others = len(file.rows) - len(found)
        without = f"{file.path.name}: rows without a system or a curve, left out: {others}."
        notes += [note for note in (file.problem, without if others else "") if note]
    whole = [row for row in rows if row["complete"]]
    partial = {row["run"] for row in rows} - {row["run"] for row in whole}
    if partial:
        notes.append(f"{plural(len(partial), 'run')} left out: not finished.")
    kept, repeated, changed = _latest(whole)
    if repeated:
        notes.append(f"{plural(repeated, 'run')} left out: repeated later under the same name.")
    if changed:
        names = ", ".join(sorted({str(row["system"]) for row in changed}))
        notes.append(
            f"{plural(len(changed), 'run')} left out: repeated later by the same system on the "
            f"same set with the same person and seed, but with other settings ({names})."
        )
    if not kept:
        raise SourceError(
            "The files hold no complete run. Give the JSONL files that `samekind bench` wrote."
        )
    runs = sorted(map(Result.of, kept), key=lambda run: (run.block, run.system, run.seed))
    return Results(runs, notes)


def finite_points(row: Row) -> tuple[Mapping[str, float], ...]:
    """The curve with finite numbers only; of points with equal questions the last."""
    found: dict[float, Mapping[str, float]] = {}
    for point in row.get("curve") or ():
        numbers = {
            name: float(value)
            for name, value in point.items()
            if isinstance(value, int | float) and math.isfinite(value)
        }
        if "questions" in numbers:
            found[numbers["questions"]] = numbers
    return tuple(found[at] for at in sorted(found))


def _cell(row: Row) -> tuple[str, ...]:
    """The identity of a run of one seed."""
    keys = ("suite", "set", "orientation", "person", "system", "seed")
    return tuple(str(row.get(key, "")) for key in keys)


def _latest(rows: Sequence[Row]) -> tuple[list[Row], int, list[Row]]:
    """The last row of each run and seed; how many had the same name; those of another name."""
    by_name: dict[str, Row] = {}
    for row in rows:
        by_name.pop(row["run"], None)  # a repeated run counts as the newest
        by_name[row["run"]] = row
    by_cell = {_cell(row): row for row in by_name.values()}
    changed = [row for row in by_name.values() if by_cell[_cell(row)] is not row]
    return list(by_cell.values()), len(rows) - len(by_name), changed
