"""What a simulated person gets for few answers: demo tiles in four orientations, and digits."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from report import arguments, emit, table
from samekind.simulation.experiment import Experiment

from samekind.sources import LabelledSet, open_set
from samekind.strategies import DEFAULT

Curve = dict[int, float]
Suite = tuple[str, str, str, list[Experiment]]
ORIENTATIONS = ("colour", "shape", "pattern", "count")
AT = (0, 10, 20, 30, 40, 50)


def main() -> None:
    """Every experiment with every seed; a row for each, a table line for each experiment."""
    parser = arguments(__doc__ or "")
    parser.add_argument("--seeds", type=int, help="fewer seeds, for a quick look")
    parser.add_argument("--only", default="", help="only experiments whose name holds this word")
    parser.add_argument(
        "--tiles",
        nargs="+",
        metavar="METHOD+STRATEGY",
        help="instead: these on tiles, as `samekind simulate tiles` runs them, three seeds each",
    )
    parser.add_argument("--groups", type=int, help="with --tiles: the number of groups is given")
    chosen = parser.parse_args()
    sets = {name: open_set(name) for name in ("tiles", "digits")}
    lines: list[list[str]] = [["", "", *(str(at) for at in AT)]]
    plans = suites(chosen.seed, chosen.seeds)
    if chosen.tiles:
        plans = as_simulated(chosen.tiles, chosen.groups, chosen.seed, chosen.seeds or 3)
    for name, set_name, measure, experiments in plans:
        if chosen.only not in name:
            continue
        reports = []
        for report in run(sets[set_name], experiments):
            emit({"benchmark": "tiles_digits", "name": name, **report}, chosen.json)
            reports.append(report)
        lines.append(line(name, measure, [curve_of(report, measure) for report in reports]))
    table(lines)


def as_simulated(
    pairs: Sequence[str], groups: int | None, first: int, seeds: int
) -> Iterator[Suite]:
    """What the command line does by default, in each orientation: one suite per method."""
    given = "" if groups is None else f", {groups} groups given"
    for pair in pairs:
        method, _, strategy = pair.partition("+")
        for orientation in ORIENTATIONS:
            yield (
                f"tiles {orientation}, {method} + {strategy or DEFAULT}{given}",
                "tiles",
                "acc",
                [
                    Experiment(orientation, method, strategy or DEFAULT, seed=seed, groups=groups)
                    for seed in range(first, first + seeds)
                ],
            )


def suites(first: int, seeds: int | None) -> Iterator[Suite]:
    """Name, set, the score that is shown, and one experiment per seed."""

    def seeded(count: int, **settings: Any) -> list[Experiment]:
        return [
            Experiment(seed=seed, **settings)
            for seed in range(first, first + min(count, seeds or count))
        ]

    for orientation in ORIENTATIONS:
        yield (
            f"tiles {orientation}",
            "tiles",
            "acc",
            seeded(5, orientation=orientation, questions=40),
        )
    for noise in (0.0, 0.05):
        yield (
            f"digits, {noise:.0%} wrong answers",
            "digits",
            "ari",
            seeded(10, orientation="digit", questions=50, noise=noise),
        )
    for method in ("propagation", "kmeans"):
        for strategy in ("placement", "uncertainty", "random"):
            if (method, strategy) != ("propagation", "placement"):
                yield (
                    f"digits, {method} + {strategy}",
                    "digits",
                    "ari",
                    seeded(5, orientation="digit", questions=50, method=method, strategy=strategy),
                )


def run(labelled: LabelledSet, experiments: Sequence[Experiment]) -> Iterator[dict[str, Any]]:
    """Simulate one after the other; each report says how long that took."""
    for experiment in experiments:
        started = time.perf_counter()
        report = experiment.run(labelled)
        yield {**report, "seconds": round(time.perf_counter() - started, 1)}


def curve_of(report: dict[str, Any], measure: str) -> Curve:
    """The score by the number of questions."""
    return {row["questions"]: row[measure] for row in report["curve"]}


def line(name: str, measure: str, curves: Sequence[Curve]) -> list[str]:
    """Mean and, in brackets, least and most over the seeds."""
    cells = []
    for at in AT:
        scores = [curve[at] for curve in curves if at in curve]
        cells.append(
            f"{np.mean(scores):.3f} [{min(scores):.3f} {max(scores):.3f}]" if scores else ""
        )
    return [name, measure, *cells]


if __name__ == "__main__":
    main()
