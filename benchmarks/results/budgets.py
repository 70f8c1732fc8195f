"""Table of live and polish on learnt features, by number of questions and wrong answers."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.results.labels import shown
from benchmarks.results.own import NOT_YET
from benchmarks.results.rows import groups_given, machines, matching, numbers, scores, spread
from samekind.reports.markdown import pipe_table
from samekind.simulation.rows import Row

SUITE = "features"
"""The suite of rows of ``recipes/live.py`` and ``recipes/polish.py``."""


def budgets_table(name: str, rows: Sequence[Row]) -> str:
    """ACC of all items of a set, a line for each learner, its features and its people."""
    found = matching(rows, {"suite": SUITE, "set": name})
    if not found:
        return NOT_YET
    budgets = sorted({p["questions"] for row in found for p in row["curve"] if p["questions"]})
    lines: dict[tuple[str, str, float], list[Row]] = {}
    for row in found:
        key = (str(row["encoder"]), str(row["learner"]), float(row["noise"]))
        lines.setdefault(key, []).append(row)
    heads = ["features", "learner", "K given", "wrong answers", *(f"{n:,}" for n in budgets)]
    return pipe_table(
        [*heads, "seeds", "commit", "machine"],
        [
            [
                f"`{features}`", shown(learner), groups_given(some), f"{noise:.0%}",
                *(spread(scores(some, n, "acc")) for n in budgets),
                numbers(int(row["seed"]) for row in some),
                ", ".join(sorted({str(row["commit"]) for row in some})), machines(some),
            ]
            for (features, learner, noise), some in lines.items()
        ],
    )  # fmt: skip
