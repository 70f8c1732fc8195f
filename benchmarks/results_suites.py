"""Summaries of whole suites (the quick one, people who err) for the results page."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import mean

from results_rows import Row, machine, matching, numbers, short, spread

from samekind.evaluation import Curve

WIDEST = 8
"""Columns of a table that a person can still read."""


def suite_table(name: str, rows: Sequence[Row], metric: str = "ari") -> str:
    """Area under the curve and final score per system, then the final score by set.

    Only people who never err. Seeds are averaged inside a set and orientation first, so that a set
    with more seeds does not weigh more.
    """
    found = [row for row in _of(name, rows) if not row.get("noise") and not row.get("unsure")]
    if not found:
        return f"Not measured yet: `benchmarks/rows/{name}.jsonl` is not there."
    blocks = sorted({_block(row) for row in found})
    systems = sorted(
        {row["system"] for row in found},
        key=lambda s: -_over_blocks(_runs(found, s), lambda r: _area(r, metric)),
    )
    out = [
        f"| system | K told | area under the {metric.upper()} curve | final {metric.upper()} "
        "| sets | runs |",
        "|---|---|---|---|---|---|",
    ]
    for system in systems:
        runs = _runs(found, system)
        held = len({_block(row) for row in runs})
        area = _over_blocks(runs, lambda r: _area(r, metric))
        final = _over_blocks(runs, lambda r: _final(r, metric))
        partly = "" if held == len(blocks) else f" of {len(blocks)}"
        out.append(
            f"| {system} | {_told(runs)} | {short(area)} | {short(final)} | {held}{partly} "
            f"| {len(runs)} |"
        )
    out += ["", f"Final {metric.upper()} by set and orientation (mean over seeds):", ""]
    finals = [[_final_in(found, system, block, metric) for block in blocks] for system in systems]
    heads = [f"{kind}: {way}" for kind, way in blocks]
    out += _grid("system", systems, heads, finals, turned=len(blocks) > WIDEST)
    return "\n".join([*out, "", _provenance(name, found)])


def _grid(
    corner: str,
    rows: Sequence[str],
    columns: Sequence[str],
    cells: Sequence[Sequence[str]],
    *,
    turned: bool,
) -> list[str]:
    """A table with these rows; turned on its side where it would have too many columns."""
    if turned:
        corner, rows, columns = "", columns, rows
        cells = [list(column) for column in zip(*cells, strict=True)]
    out = [f"| {corner} | {' | '.join(columns)} |", "|---|" + "---|" * len(columns)]
    return out + [
        f"| {name} | {' | '.join(line)} |" for name, line in zip(rows, cells, strict=True)
    ]


def people_table(name: str, rows: Sequence[Row], metric: str = "ari") -> str:
    """The final score of each system by the person who answers."""
    found = _of(name, rows)
    if not found:
        return f"Not measured yet: `benchmarks/rows/{name}.jsonl` is not there."
    people = list(
        dict.fromkeys(
            row["person"]
            for row in sorted(found, key=lambda r: (r.get("noise") or 0, r.get("unsure") or 0))
        )
    )
    out = [
        f"| final {metric.upper()} | K told | {' | '.join(people)} |",
        "|---|---|" + "---|" * len(people),
    ]
    for system in sorted({row["system"] for row in found}):
        runs = _runs(found, system)
        cells = [
            short(_over_blocks(matching(runs, {"person": person}), lambda r: _final(r, metric)))
            for person in people
        ]
        out.append(f"| {system} | {_told(runs)} | {' | '.join(cells)} |")
    return "\n".join([*out, "", _provenance(name, found)])


def cost_table(name: str, rows: Sequence[Row]) -> str:
    """Last scores of each system on each set (held-out items where there are some), and seconds."""
    found = _of(name, rows)
    if not found:
        return f"Not measured yet: `benchmarks/rows/{name}.jsonl` is not there."
    out = []
    for block in sorted({_block(row) for row in found}):
        here = [row for row in found if _block(row) == block]
        scored = "held-out items" if "heldout_acc" in here[0]["curve"][-1] else "all items"
        part = "heldout_" if scored == "held-out items" else ""
        out += [f"**{block[0]}, {block[1]}**, {scored}:", ""]
        out += [
            "| system | answers | seeds | ACC | NMI | ARI | groups | seconds |",
            "|---" * 8 + "|",
        ]
        by_system = {row["system"]: _runs(here, row["system"]) for row in here}
        acc = {
            name: mean(r["curve"][-1][f"{part}acc"] for r in by_system[name]) for name in by_system
        }
        for system in sorted(acc, key=lambda name: -acc[name]):
            last = [row["curve"][-1] for row in by_system[system]]
            cells = [spread([point[f"{part}acc"] for point in last])]
            cells += [
                short(mean(point[part + metric] for point in last)) for metric in ("nmi", "ari")
            ]
            asked = f"{max(row['questions'] for row in by_system[system]):,}"
            groups = "/".join(str(point["groups"]) for point in last)
            seconds = f"{mean(row['seconds'] for row in by_system[system]):.0f}"
            line = [system, asked, str(len(last)), *cells, groups, seconds]
            out.append("| " + " | ".join(line) + " |")
        out.append("")
    return "\n".join([*out, _provenance(name, found)])


def _of(name: str, rows: Iterable[Row]) -> list[Row]:
    return matching(rows, {"file": f"{name}.jsonl"})


def _runs(rows: Iterable[Row], system: str) -> list[Row]:
    return [row for row in rows if row["system"] == system]


def _block(row: Row) -> tuple[str, str]:
    return row["set"], row["orientation"]


def _final_in(rows: Sequence[Row], system: str, block: tuple[str, str], metric: str) -> str:
    runs = [row for row in _runs(rows, system) if _block(row) == block]
    return short(_over_blocks(runs, lambda r: _final(r, metric))) if runs else "-"


def _area(row: Row, metric: str) -> float | None:
    """Area under a curve; of several scores at one number of answers the last counts."""
    points = {p["questions"]: {"questions": p["questions"], metric: p[metric]}
              for p in row["curve"] if p.get(metric) is not None}  # fmt: skip
    return Curve([points[n] for n in sorted(points)]).area(metric) if points else None


def _final(row: Row, metric: str) -> float | None:
    last: Mapping[str, float] = row["curve"][-1]
    return last.get(metric)


def _over_blocks(rows: Sequence[Row], value: Callable[[Row], float | None]) -> float:
    """Mean over sets and orientations of the mean over their runs; nan without any."""
    blocks: dict[tuple[str, str], list[float]] = {}
    for row in rows:
        one = value(row)
        if one is not None:
            blocks.setdefault(_block(row), []).append(one)
    return mean(mean(values) for values in blocks.values()) if blocks else float("nan")


def _told(rows: Sequence[Row]) -> str:
    given = {row.get("groups_given") is not None for row in rows}
    return "yes and no" if len(given) > 1 else "yes" if given == {True} else "**no**"


def _provenance(name: str, rows: Sequence[Row]) -> str:
    commands = sorted({str(row.get("command")) for row in rows})
    said = ", ".join(f"`{command}`" for command in commands[:3]) + (", ..." if commands[3:] else "")
    commits = ", ".join(sorted({str(row.get("commit")) for row in rows}))
    machines = ", ".join(sorted({machine(row) for row in rows}))
    return (
        f"{len(rows)} runs, seeds {numbers(row['seed'] for row in rows)}; {said}; "
        f"commit {commits}; {machines}; rows in `benchmarks/rows/{name}.jsonl`."
    )
