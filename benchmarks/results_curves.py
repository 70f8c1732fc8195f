"""Tables of scores over answers for the results page, from ``results/curves.toml``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import mean, stdev
from typing import Any

from results_rows import Row, matching, scores, short
from scipy.stats import t

from samekind.reports.published import figures


def curves_table(name: str, binding: Mapping[str, Any], rows: Sequence[Row]) -> str:
    """One table of curves as Markdown; its lines are columns, or lines when it is ``wide``."""
    about = binding[name]
    points: list[int] = about["answers"]
    cells = {line["label"]: _cells(line, points, rows, about["digits"]) for line in about["line"]}
    if about.get("wide"):
        heads = ["none" if n == 0 else f"{n:,}" for n in points]
        extra = [about["extra"]] if "extra" in about else []
        table = [[about["corner"], "score", *heads, *extra]]
        for line in about["line"]:
            said = [line.get("extra", "")] if extra else []
            metric = line["metric"].replace("heldout_", "held-out ").replace("_", " ")
            table.append([line["label"], _named(metric), *cells[line["label"]], *said])
    else:
        table = [[about["corner"], *cells]]
        for place, n in enumerate(points):
            table.append([f"{n:,}", *(column[place] for column in cells.values())])
        for row in about.get("rows", []):
            printed = [short(_printed(*which)) for which in row.get("published", [])]
            table.append([row["label"], *printed, *row.get("cells", [])])
    body = [f"| {' | '.join(row)} |" for row in table]
    return "\n".join([body[0], "|" + "---|" * len(table[0]), *body[1:]])


def _named(metric: str) -> str:
    return " ".join(
        word.upper() if word in ("acc", "ari", "nmi") else word for word in metric.split()
    )


def _printed(table: str, method: str, name: str, orientation: str) -> float | None:
    """The accuracy that a paper prints."""
    (found,) = [f for f in figures(name, orientation, table=table) if f.method == method]
    return found.acc


def _cells(
    line: Mapping[str, Any], points: Sequence[int], rows: Sequence[Row], digits: int
) -> list[str]:
    """Mean over seeds at each number of answers; with ``interval`` a 95 % interval of the mean."""
    chosen = matching(rows, line["where"])
    if not chosen:
        raise SystemExit(f"No row fits {line['label']!r} of results/curves.toml: {line['where']}.")
    out = []
    for n in points:
        values = scores(chosen, n, line["metric"])
        if not values:
            out.append("")
            continue
        text = short(mean(values), digits)
        if n in line.get("interval", []) and len(values) > 1:
            half = t.ppf(0.975, len(values) - 1) * stdev(values) / len(values) ** 0.5
            text += f" ± {short(half, 3)}"
        out.append(text)
    return out
