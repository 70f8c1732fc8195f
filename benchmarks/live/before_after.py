"""Was a change of the default learner worth it? Two files of rows, run by run.

    samekind bench fresh --only live --rows before.jsonl      # with the earlier version
    samekind bench fresh --only live --rows after.jsonl       # with the later one
    python -m benchmarks.live.before_after before.jsonl after.jsonl

Compares runs of the same grouping, person and seed: area under the ARI over questions and over the
modelled seconds of the person, as far as both curves reach. Tests are Wilcoxon's over groupings
(means of seeds), and by set over all its runs, corrected by Holm. A fall is a step between two
scores in which the ARI is lower by more than .02. Prints Markdown.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from samekind.reports.statistics import holm, signed_rank
from samekind.simulation.rows import read_rows

AXES = {"questions": "questions", "person_seconds": "modelled seconds"}
FALL = 0.02
Key = tuple[str, str, str, int]
Curve = Sequence[Mapping[str, float]]
Curves = dict[Key, Curve]


def main(words: Sequence[str] | None = None) -> None:
    """Read both files and print the comparison."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--system", default="live")
    wanted = parser.parse_args(words)
    before, after = (
        curves(row for row in read_rows(path).rows if row["system"] == wanted.system)
        for path in (wanted.before, wanted.after)
    )
    print("\n".join(report(before, after)))


def curves(rows: Iterable[Mapping[str, Any]]) -> Curves:
    """The curve of each run."""
    return {
        (row["set"], row["orientation"], row["person"], row["seed"]): row["curve"] for row in rows
    }


def report(before: Curves, after: Curves) -> list[str]:
    """Lines of Markdown."""
    keys = sorted(before.keys() & after.keys())
    lines = [f"{len(keys)} pairs of runs."]
    for axis, name in AXES.items():
        areas = {key: paired_areas(before[key], after[key], axis) for key in keys}
        lines += [
            "",
            f"| area over {name} | before | after | better, worse | p |",
            "|---|---|---|---|---|",
        ]
        lines.append(_row("all", areas, by_grouping=True))
        sets = sorted({key[0] for key in keys})
        parts = {one: {k: v for k, v in areas.items() if k[0] == one} for one in sets}
        p = holm([signed_rank(_gains(parts[one])).p for one in sets])
        lines += [_row(one, parts[one], p=value) for one, value in zip(sets, p, strict=True)]
    for name, found in (("before", before), ("after", after)):
        counts = [falls(found[key]) for key in keys]
        fallen, steps = sum(c[0] for c in counts), sum(c[1] for c in counts)
        lines.append(f"\nFalls {name}: {fallen} of {steps} steps ({fallen / max(steps, 1):.1%}).")
    return lines


def paired_areas(before: Curve, after: Curve, axis: str) -> tuple[float, float]:
    """Mean ARI over the range that both curves have.

    >>> flat = [{"questions": 0, "ari": 0.5}, {"questions": 10, "ari": 0.5}]
    >>> rising = [{"questions": 0, "ari": 0.0}, {"questions": 20, "ari": 1.0}]
    >>> paired_areas(flat, rising, "questions")
    (0.5, 0.25)
    """
    end = min(before[-1][axis], after[-1][axis])
    found = []
    for curve in (before, after):
        x = np.array([point[axis] for point in curve], dtype=float)
        y = np.array([point["ari"] for point in curve], dtype=float)
        at = np.unique(np.concatenate([[0.0], x[x < end], [end]]))
        found.append(float(np.trapezoid(np.interp(at, x, y), at) / end))
    return found[0], found[1]


def falls(curve: Curve) -> tuple[int, int]:
    """Steps in which the ARI falls, and all steps."""
    scores = [point["ari"] for point in curve]
    steps = list(pairwise(scores))
    return sum(later < earlier - FALL for earlier, later in steps), len(steps)


def _gains(areas: Mapping[Key, tuple[float, float]]) -> list[float]:
    return [after - before for before, after in areas.values()]


def _row(
    name: str,
    areas: Mapping[Key, tuple[float, float]],
    *,
    by_grouping: bool = False,
    p: float | None = None,
) -> str:
    groupings: dict[Any, list[float]] = defaultdict(list)
    for key, (earlier, later) in areas.items():
        groupings[key[:3] if by_grouping else key].append(later - earlier)
    gains = [float(np.mean(values)) for values in groupings.values()]
    before, after = np.mean(list(areas.values()), axis=0)
    better, worse = sum(gain > 0 for gain in gains), sum(gain < 0 for gain in gains)
    value = signed_rank(gains).p if p is None else p
    return f"| {name} | {before:.3f} | {after:.3f} | {better}, {worse} | {value:.2g} |"


if __name__ == "__main__":
    main()
