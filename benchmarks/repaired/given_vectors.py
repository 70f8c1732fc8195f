"""Run the systems of the suite repaired-frozen, or of another one, on a file of CIFAR-10 vectors.

    python -m benchmarks.repaired.given_vectors FILE.npz --rows benchmarks/rows/repaired.jsonl
    python -m benchmarks.repaired.given_vectors FILE.npz --rows benchmarks/rows/live-60000.jsonl \\
        --suite live --only live --seeds 5 6 7 8 9

The file holds int8 vectors ``q`` times ``scale``, ``label`` (ten classes), ``split`` (0 train, 1
test) and ``names`` of the classes. Runs whose row exists are not repeated.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.measuring import provenance
from samekind.simulation.datasets import Dataset
from samekind.simulation.rows import append_row, finished, read_runs
from samekind.simulation.runner import Runner
from samekind.simulation.suite_file import open_suite
from samekind.sources import LabelledSet, RowCollection, Rows, class_maps


def main() -> None:
    """Run what is missing and print the held-out accuracy after each round."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--rows", type=Path, required=True)
    parser.add_argument("--suite", default="repaired-frozen")
    parser.add_argument("--only", nargs="*", default=())
    parser.add_argument("--seeds", type=int, nargs="*", default=None)
    parser.add_argument("--orientations", nargs="*", default=("personalized", "default"))
    wanted = parser.parse_args()
    dataset, name = open_vectors(wanted.file), wanted.file.stem
    done = finished(read_runs([wanted.rows])) if wanted.rows.exists() else set()
    for run in open_suite(wanted.suite).runs(wanted.only, wanted.seeds, ["cifar10-frozen"]):
        run = replace(run, set=name, settings=replace(run.settings, encoder="none"))
        if run.name in done or run.orientation not in wanted.orientations:
            continue
        runner = Runner(run, dataset)
        complete = runner.execute()
        row = {**runner.row(), "protocol": runner.protocol(), "complete": complete, **provenance()}
        append_row(wanted.rows, row)
        shown = {point["questions"]: round(point["heldout_acc"], 4) for point in row["curve"]}
        print(run, shown, row["refit_seconds"], flush=True)


def open_vectors(file: Path) -> Dataset:
    """Read the file; the maps of CIFAR10-2 make its two orientations."""
    with np.load(file, allow_pickle=False) as kept:
        X = kept["q"].astype(np.float32) * kept["scale"]
        classes, test = kept["names"][kept["label"]], kept["split"] == 1
    maps = class_maps("cifar10-2")
    place = {name: at for at, name in enumerate(maps["classes"])}
    codes = np.array([place[str(name)] for name in classes])
    columns = {name: np.asarray(of)[codes] for name, of in maps["orientations"].items()}
    parts = []
    for chosen, prefix in ((~test, "train"), (test, "test")):
        keys = [f"{prefix}-{number:05d}" for number in range(int(chosen.sum()))]
        collection = RowCollection(
            file.stem, Rows(X[chosen], keys=keys), location=file.stem, ready=True
        )
        parts.append((collection, {name: of[chosen] for name, of in columns.items()}))
    labelled = LabelledSet(file.stem, *parts[0], *parts[1])
    return Dataset(labelled, X[~test], X[test], "vectors", "the vectors of a file")


if __name__ == "__main__":
    main()
