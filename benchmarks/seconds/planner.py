"""ARI over modelled seconds: placements only, and the planner that mixes them with grids.

    python -m benchmarks.seconds.planner --sets tiles/shape fruits-frozen/colour --seeds 2 3

K is not given. The groups are refitted after every five answers and after every grid, and scored
then. `samekind bench seconds` compares the same systems at fixed numbers of questions.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score

from benchmarks.measuring import arguments, emit
from samekind.questions.seconds import expected_seconds
from samekind.session import Session
from samekind.simulation.datasets import dataset_for
from samekind.simulation.people import person_named
from samekind.simulation.settings import Settings

SETS = ("tiles/shape", "tiles/colour", "tiles/pattern", "fruits-frozen/colour", "digits/digit")
STRATEGIES = ("live", "planner")


def curve(
    name: str, strategy: str, limit: float, seed: int, noise: float
) -> list[tuple[float, float]]:
    """Modelled seconds and ARI after each refit."""
    named, orientation = name.split("/")
    dataset = dataset_for(named, None, Settings(items=2000, encoder="default", held_out=False))
    kinds, _ = dataset.truth(orientation)
    session = Session(dataset.labelled.collection, dataset.X, strategy=strategy, seed=seed)
    person = person_named("shown", kinds, seed=seed, noise=noise)
    seconds, points = 0.0, [(0.0, float(adjusted_rand_score(kinds, session.clustering.labels)))]
    while seconds < limit and (asked := session.ask()) is not None:
        choice = person.answer(asked.question)
        took = expected_seconds(asked.question, choice)
        seconds += took
        session.tell(asked.number, choice, seconds=round(took, 3))
        if session.due or seconds >= limit:
            session.refit()
            points.append((seconds, float(adjusted_rand_score(kinds, session.clustering.labels))))
    return points


def measures(points: list[tuple[float, float]], limit: float) -> dict[str, Any]:
    """Mean height up to the limit, scores on the way, and the seconds until .9."""
    at, ari = np.array(points).T
    grid = np.linspace(0, limit, 121)
    reached = [seconds for seconds, score in points if score >= 0.9]
    return {
        "area": round(float(np.interp(grid, at, ari).mean()), 4),
        **{f"at_{t}": round(float(np.interp(t, at, ari)), 4) for t in (30, 60, 120)},
        "seconds_to_.9": round(reached[0], 1) if reached else None,
    }


def main() -> None:
    parser = arguments(__doc__ or "", Path(__file__).with_name("planner.jsonl"))
    parser.add_argument("--sets", nargs="+", default=SETS, metavar="SET/ORIENTATION")
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1])
    parser.add_argument("--limit", type=float, default=120.0, help="modelled seconds of a run")
    parser.add_argument("--noise", type=float, default=0.0)
    given = parser.parse_args()
    for name in given.sets:
        for strategy in STRATEGIES:
            for seed in given.seeds:
                points = curve(name, strategy, given.limit, seed, given.noise)
                row = {"set": name, "strategy": strategy, "seed": seed, "noise": given.noise}
                emit({**row, **measures(points, given.limit)}, given.json)


if __name__ == "__main__":
    main()
