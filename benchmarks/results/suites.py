"""Tables of whole suites, and scores over answers (``curves.toml``), for the results page."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import mean
from typing import Any

import numpy as np

from benchmarks.results.labels import label, learner_label, questions_by
from benchmarks.results.rows import (
    groups_given,
    machines,
    matching,
    numbers,
    scores,
    short,
    spread,
)
from samekind.evaluation import Curve
from samekind.reports.markdown import pipe_table
from samekind.reports.published import figures
from samekind.reports.results import finite_points
from samekind.reports.statistics import half_width
from samekind.simulation.rows import Row

MAX_COLUMNS = 8
"""Columns of a table that is still readable."""


def suite_table(name: str, rows: Sequence[Row], metric: str = "ari") -> str:
    """Area under the curve and final score per system, then the final score by set.

    Only people who never err. Seeds are averaged within a set and orientation first, so that all
    sets have the same weight.
    """
    found = [row for row in _of(name, rows) if not row.get("noise") and not row.get("unsure")]
    if not found:
        return _not_measured(name)
    places = sorted({_place(row) for row in found})
    runs = {system: matching(found, {"system": system}) for system in _systems(found)}
    area = {system: _mean(runs[system], lambda row: _area(row, metric)) for system in runs}
    order = sorted(runs, key=lambda system: -area[system])
    lines = []
    for system in order:
        held = len({_place(row) for row in runs[system]})
        sets = f"{held}" if held == len(places) else f"{held} of {len(places)}"
        final = short(_final(runs[system], metric))
        given = groups_given(runs[system])
        lines.append([system, given, short(area[system]), final, sets, str(len(runs[system]))])
    title = metric.upper()
    head = ["system", "K told", f"area under the {title} curve", f"final {title}", "sets", "runs"]
    finals = [
        [short(_final([r for r in runs[s] if _place(r) == place], metric)) for place in places]
        for s in order
    ]
    by_set = [
        ["system", *(f"{kind}: {way}" for kind, way in places)],
        *([system, *cells] for system, cells in zip(order, finals, strict=True)),
    ]
    if len(places) > MAX_COLUMNS:
        by_set = [["", *by_set[0][1:]], *by_set[1:]]
        by_set = [list(column) for column in zip(*by_set, strict=True)]
    return "\n".join([
        pipe_table(head, lines), "", f"Final {title} by set and orientation (mean over seeds):", "",
        pipe_table(by_set[0], by_set[1:]), "", _provenance(name, found),
    ])  # fmt: skip


def people_table(name: str, rows: Sequence[Row], metric: str = "ari") -> str:
    """The final score of each system by person."""
    found = _of(name, rows)
    if not found:
        return _not_measured(name)
    by_error = sorted(found, key=lambda r: (r.get("noise") or 0, r.get("unsure") or 0))
    people = list(dict.fromkeys(row["person"] for row in by_error))
    lines = []
    for system in sorted(_systems(found)):
        runs = matching(found, {"system": system})
        finals = [_final(matching(runs, {"person": person}), metric) for person in people]
        lines.append([system, groups_given(runs), *map(short, finals)])
    head = [f"final {metric.upper()}", "K told", *people]
    return "\n".join([pipe_table(head, lines), "", _provenance(name, found)])


def cost_table(name: str, rows: Sequence[Row]) -> str:
    """Final scores of each system on each set, on held-out items if there are any, and seconds."""
    found = _of(name, rows)
    if not found:
        return _not_measured(name)
    out = []
    for place in sorted({_place(row) for row in found}):
        here = [row for row in found if _place(row) == place]
        part = "heldout_" if "heldout_acc" in here[0]["curve"][-1] else ""
        lines = []
        for system in _systems(here):
            runs = matching(here, {"system": system})
            acc, nmi, ari = (scores(runs, None, part + metric) for metric in ("acc", "nmi", "ari"))
            asked, seconds = max(r["questions"] for r in runs), mean(r["seconds"] for r in runs)
            groups = "/".join(str(row["curve"][-1]["groups"]) for row in runs)
            cells = [spread(acc), short(mean(nmi)), short(mean(ari)), groups, f"{seconds:.0f}"]
            named = [learner_label(runs), questions_by(runs[0]), f"{asked:,}", str(len(runs))]
            lines.append((-mean(acc), [*named, *cells]))
        head = ["learner", "questions by", "answers", "seeds", "ACC", "NMI", "ARI", "groups"]
        head.append("seconds")
        ordered = [line for _, line in sorted(lines, key=lambda line: line[0])]
        title = f"**{place[0]}, {place[1]}**, {'held-out' if part else 'all'} items:"
        out += [title, "", pipe_table(head, ordered), ""]
    return "\n".join([*out, _provenance(name, found)])


def curves_table(name: str, binding: Mapping[str, Any], rows: Sequence[Row]) -> str:
    """Scores over answers: a column for each line of the binding, or a row if it is ``wide``."""
    about = binding[name]
    points: list[int] = about["answers"]
    cells = {line["label"]: _cells(line, points, rows, about["digits"]) for line in about["line"]}
    if not about.get("wide"):
        lines = [
            [f"{n:,}", *(column[place] for column in cells.values())]
            for place, n in enumerate(points)
        ]
        for row in about.get("rows", []):
            printed = [short(_printed(*which)) for which in row.get("published", [])]
            lines.append([row["label"], *printed, *row.get("cells", [])])
        return pipe_table([_corner(about, rows), *cells], lines)
    extra = [about["extra"]] if "extra" in about else []
    heads = ["none" if n == 0 else f"{n:,}" for n in points]
    lines = []
    for line in about["line"]:
        words = line["metric"].replace("heldout_", "held-out ").replace("_", " ").split()
        title = " ".join(w.upper() if w in ("acc", "ari", "nmi") else w for w in words)
        more = [line.get("extra", "")] if extra else []
        lines.append([line["label"], title, *cells[line["label"]], *more])
    return pipe_table([_corner(about, rows), "score", *heads, *extra], lines)


def _corner(about: Mapping[str, Any], rows: Sequence[Row]) -> str:
    """What heads the first column; with ``by``, what learnt in all lines and who asked."""
    corner = str(about["corner"])
    if "by" not in about:
        return corner
    chosen = [row for line in about["line"] for row in matching(rows, line["where"])]
    return f"{label(about['by'], chosen)}: {corner}"


def _printed(table: str, method: str, name: str, orientation: str) -> float | None:
    """The accuracy that a paper prints."""
    (found,) = [f for f in figures(name, orientation, table=table) if f.method == method]
    return found.acc


def _cells(
    line: Mapping[str, Any], points: Sequence[int], rows: Sequence[Row], digits: int
) -> list[str]:
    """Mean over seeds at each number of answers; with ``interval`` its 95 % interval."""
    chosen = matching(rows, line["where"])
    if not chosen:
        raise SystemExit(f"No row fits {line['label']!r} of results/curves.toml: {line['where']}.")
    out = []
    for n in points:
        values = scores(chosen, n, line["metric"])
        text = short(mean(values), digits) if values else ""
        if n in line.get("interval", []) and len(values) > 1:
            text += f" ± {short(float(half_width([np.array(values)])), 3)}"
        out.append(text)
    return out


def _of(name: str, rows: Sequence[Row]) -> list[Row]:
    return matching(rows, {"file": f"{name}.jsonl"})


def _not_measured(name: str) -> str:
    return f"Not measured yet: `benchmarks/rows/{name}.jsonl` is not there."


def _systems(rows: Sequence[Row]) -> list[str]:
    return list(dict.fromkeys(row["system"] for row in rows))


def _place(row: Row) -> tuple[str, str]:
    return row["set"], row["orientation"]


def _area(row: Row, metric: str) -> float | None:
    points = [{"questions": p["questions"], metric: p[metric]}
              for p in finite_points(row) if metric in p]  # fmt: skip
    return Curve(points).area(metric) if points else None


def _final(rows: Sequence[Row], metric: str) -> float:
    return _mean(rows, lambda row: row["curve"][-1].get(metric))


def _mean(rows: Sequence[Row], value: Callable[[Row], float | None]) -> float:
    """Mean over sets and orientations of the mean over their runs; nan without any."""
    places: dict[tuple[str, str], list[float]] = {}
    for row in rows:
        if (one := value(row)) is not None:
            places.setdefault(_place(row), []).append(one)
    return mean(mean(values) for values in places.values()) if places else float("nan")


def _provenance(name: str, rows: Sequence[Row]) -> str:
    commands = sorted({str(row.get("command")) for row in rows})
    shown = ", ".join(f"`{command}`" for command in commands[:3])
    commits = ", ".join(sorted({str(row.get("commit")) for row in rows}))
    return (
        f"{len(rows)} runs, seeds {numbers(row['seed'] for row in rows)}; {shown}"
        f"{', ...' if commands[3:] else ''}; commit {commits}; {machines(rows)}; "
        f"rows in `benchmarks/rows/{name}.jsonl`."
    )
