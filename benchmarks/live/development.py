"""Curves of the live learner on groupings that settings are chosen on, and how often they fall.

    python -m benchmarks.live.development --seeds 0 1 2 --json FILE
    python -m benchmarks.live.development --compare FILE FILE

A whole session per row: questions of the strategy, a simulated person, a refit every five answers
(as on the page), the score after each. A step of a curve falls if the score is more than .02 lower
than before.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.live.development_sets import dataset_of, groupings
from benchmarks.measuring import provenance, table
from samekind.simulation.rows import append_row
from samekind.simulation.runner import Runner
from samekind.simulation.settings import Settings
from samekind.simulation.suite import Person, Run

FALL = 0.02
STEP = 5
PERSONS: dict[str, dict[str, Any]] = {
    "right": {},
    "wrong-5": {"noise": 0.05},
    "wrong-10": {"noise": 0.1},
    "wrong-20": {"noise": 0.2},
    "boundary": {"kind": "boundary", "noise": 0.1},
    "drifting": {"kind": "drifting", "change": "merge", "start": 20, "over": 40},
    "two": {"kind": "two", "change": "merge"},
}
VARIANTS = {"live": ("live", "live"), "placement": ("propagation", "placement")}


def main() -> None:
    wanted = arguments()
    if wanted.compare:
        compare([read(file) for file in wanted.compare])
        return
    began = time.monotonic()
    done = {name_of(row) for row in read(wanted.json)} if wanted.json else set()
    for run in runs(wanted):
        if (run["variant"], run["set"], run["person"], run["seed"]) in done:
            continue
        if time.monotonic() - began > wanted.limit:
            print("The time is over; repeat the command to go on.")
            return
        row = one(run, wanted.cards, wanted.questions)
        print(f"{run['variant']:9} {run['set']:20} {run['person']:9} {run['seed']} "
              + " ".join(f"{v:.3f}" for v in row["ari"][::2]), flush=True)  # fmt: skip
        if wanted.json:
            append_row(wanted.json, {**row, **provenance()})


def runs(wanted: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """What is to be run, seed by seed."""
    names = wanted.sets or list(groupings(wanted.cards))
    for seed in wanted.seeds:
        for name in names:
            for person in wanted.persons:
                for variant in wanted.variants:
                    yield {"variant": variant, "set": name, "person": person, "seed": seed}


def one(run: Mapping[str, Any], cards: Path | None, questions: int) -> dict[str, Any]:
    """The curve of one session."""
    dataset = dataset_of(run["set"], *groupings(cards)[run["set"]]())
    method, strategy = VARIANTS[run["variant"]]
    person = dict(PERSONS[run["person"]])
    settings = Settings(
        method, strategy, questions, questions_per_refit=STEP, groups="unknown", held_out=False,
        score_at=tuple(range(0, questions, STEP)),
    )  # fmt: skip
    kind, noise = person.pop("kind", "shown"), person.pop("noise", 0.0)
    who = Person(run["person"], kind=kind, noise=noise, parameters=person)
    began = time.perf_counter()
    runner = Runner(
        Run("development", run["set"], "kind", run["variant"], who, run["seed"], settings), dataset
    )
    runner.execute()
    row = runner.row()
    curve = row["curve"]
    return {
        **run,
        "kinds": row["kinds"],
        "questions": [point["questions"] for point in curve],
        "ari": [round(point["ari"], 4) for point in curve],
        "groups": [point.get("groups") for point in curve],
        "refit_seconds": row["refit_seconds"],
        "seconds": round(time.perf_counter() - began, 2),
    }


def compare(files: Sequence[Sequence[Mapping[str, Any]]]) -> None:
    """Print, file by file, the mean score of each set and person over the curve, and falls."""
    common = set.intersection(*({name_of(row)[1:] for row in rows} for rows in files))
    keys = sorted({(name[0], name[1]) for name in common}, key=lambda key: (key[1], key[0]))
    lines = [["set", "person", *(f"{what} {k + 1}" for k in range(len(files)) for what in
              ("mean", "10", "20", "40", "end", "falls"))]]  # fmt: skip
    for key in [*keys, *sorted({("ALL", person) for _, person in keys})]:
        cells = []
        for rows in files:
            curves = [
                row for row in rows
                if name_of(row)[1:] in common and row["person"] == key[1]
                and key[0] in (row["set"], "ALL")
            ]  # fmt: skip
            cells += figures(curves)
        lines.append([key[0], key[1], *cells])
    table(lines)


def figures(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Mean over the curve, the score at some numbers of answers, and the share of falling steps."""
    curves = [np.array(row["ari"]) for row in rows]
    steps = np.concatenate([np.diff(curve) for curve in curves])
    at = [np.mean([np.interp(q, row["questions"], row["ari"]) for row in rows])
          for q in (10, 20, 40)]  # fmt: skip
    return [
        f"{np.mean([curve.mean() for curve in curves]):.3f}",
        *(f"{value:.3f}" for value in at),
        f"{np.mean([curve[-1] for curve in curves]):.3f}",
        f"{100 * (steps < -FALL).mean():.1f}%",
    ]


def read(file: Path) -> list[dict[str, Any]]:
    """Rows of an earlier command, if there are some."""
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def name_of(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """Variant, set, person and seed."""
    return row["variant"], row["set"], row["person"], row["seed"]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    add = parser.add_argument
    add("--sets", nargs="+", default=None, help="groupings; all, unless named")
    add("--persons", nargs="+", default=["right"], choices=PERSONS)
    add("--variants", nargs="+", default=["live"], choices=VARIANTS)
    add("--seeds", type=int, nargs="+", default=[0])
    add("--questions", type=int, default=60)
    add("--cards", type=Path, default=None, help="a .npz file of X, colour and suit")
    add("--limit", type=float, default=360, help="seconds after which no run begins")
    add("--json", type=Path, default=None, help="rows are appended; what it has is not repeated")
    add("--compare", type=Path, nargs="+", default=None, help="files to compare, run by run")
    return parser.parse_args()


if __name__ == "__main__":
    main()
