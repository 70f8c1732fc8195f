"""What a simulated person gets for few answers: demo tiles in four orientations, and digits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from report import arguments, emit, table

from samekind.experiment import Experiment
from samekind.sources import LabelledSet, open_set

Curve = dict[int, float]
AT = (0, 10, 20, 30, 40, 50)


def main() -> None:
    """Every experiment with every seed; a row for each, a table line for each experiment."""
    parser = arguments(__doc__ or "")
    parser.add_argument("--seeds", type=int, help="fewer seeds, for a quick look")
    parser.add_argument("--only", default="", help="only experiments whose name holds this word")
    chosen = parser.parse_args()
    sets = {name: open_set(name) for name in ("tiles", "digits")}
    lines: list[list[str]] = [["", "", *(str(at) for at in AT)]]
    for name, set_name, measure, experiments in suites(chosen.seed, chosen.seeds):
        if chosen.only not in name:
            continue
        reports = list(run(sets[set_name], experiments))
        lines.append(line(name, measure, [curve_of(report, measure) for report in reports]))
        for report in reports:
            emit({"benchmark": "tiles_digits", "name": name, **report}, chosen.json)
    table(lines)


def suites(first: int, seeds: int | None) -> Iterator[tuple[str, str, str, list[Experiment]]]:
    """Name, set, the score that is shown, and one experiment per seed."""

    def seeded(count: int, **settings: Any) -> list[Experiment]:
        return [
            Experiment(seed=seed, **settings)
            for seed in range(first, first + min(count, seeds or count))
        ]

    for orientation in ("colour", "shape", "pattern", "count"):
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
    """Simulate one after the other."""
    return (experiment.run(labelled) for experiment in experiments)


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
