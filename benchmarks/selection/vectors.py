"""Which questions, and which method, make the most of 500 answers about frozen vectors.

    python -m benchmarks.selection.vectors --vectors FILE --strategy value value-hard value-random
    python -m benchmarks.selection.vectors --vectors FILE --method corrected --asked-by idc
    python -m benchmarks.selection.vectors --vectors FILE --method live --refit-every 25
    samekind report vectors.jsonl --metric acc --out FOLDER

The ablation of IDC (its Table 3) without training a network: features are learnt once, without
labels, and stay as they are. FILE (.npz) holds ``label`` (n,) and ``X`` (n, d), or ``q`` and
``scale`` with X = q * scale. As in ``recipes/idc.py`` all questions are asked at once and learnt
from once, unless ``--refit-every`` is given. The number of groups is given, as published, but not
to ``live``. With ``--asked-by`` a method learns from the answers in the session of another one.
Rows have the format of ``samekind bench``.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measuring import provenance
from samekind.errors import Infeasible
from samekind.ledger.store import MemoryStore
from samekind.session import Session
from samekind.simulation.curve_recorder import CurveRecorder
from samekind.simulation.datasets import Dataset
from samekind.simulation.rows import append_row
from samekind.simulation.runner import Runner, make_model
from samekind.simulation.settings import Settings
from samekind.simulation.suite import Person, Run
from samekind.sources import LabelledSet, vectors_collection

Row = dict[str, Any]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run every method with every strategy and seed, and append a row after each run."""
    wanted = _parsed(arguments)
    dataset = opened(wanted.vectors, unit=wanted.unit)
    person = Person.of(Settings(person=wanted.person, noise=wanted.noise, unsure=wanted.unsure))
    for method in wanted.method:
        for strategy in wanted.strategy:
            for seed in wanted.seeds:
                run = Run(
                    "idc-vectors", wanted.vectors.stem, "label", f"{method}-{strategy}", person,
                    seed, settings(method, strategy, wanted),
                )  # fmt: skip
                row = measured(run, dataset, wanted.asked_by or method)
                points = [f"{p['acc']:.4f} at {p['questions']}" for p in row["curve"]]
                print(run, "ACC", ", ".join(points), f"{row['seconds']:.0f} s", flush=True)
                append_row(wanted.rows, {**row, **provenance()})


def _parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    add = parser.add_argument
    add("--vectors", type=Path, required=True, help="a .npz file with label and X, or q and scale")
    add("--unit", action="store_true", help="scale every vector to length 1 first")
    add("--method", nargs="+", default=["idc"])
    add("--asked-by", help="learn from the answers that a session of this method asked for")
    add("--strategy", nargs="+", default=["value"])
    add("--refit-every", type=int, default=0, help="answers between refits; 0: ask all at once")
    add("--seeds", type=int, nargs="+", default=[0, 1, 2])
    add("--questions", type=int, default=500)
    add("--groups", type=int, default=None, help="instead of the number of kinds")
    add("--noise", type=float, default=0.0, help="share of wrong answers")
    add("--unsure", type=float, default=0.0, help="share of unsure answers")
    add("--person", default="shown", choices=("shown", "matched"), help="matched: as published")
    add("--rows", type=Path, default=Path("vectors.jsonl"), help="rows are appended to this file")
    return parser.parse_args(arguments)


def opened(file: Path, *, unit: bool = False) -> Dataset:
    """The vectors of a file with the kinds of its items."""
    with np.load(file, allow_pickle=False) as kept:
        raw = kept["X"] if "X" in kept else kept["q"].astype(np.float32) * float(kept["scale"])
        labels = kept["label"].astype(np.intp)
    X = np.asarray(raw, dtype=np.float32)
    if unit:
        X = X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-12)
    collection = vectors_collection(file.stem, X, file.name)
    reason = "vectors of length 1" if unit else "arrays are taken as they are"
    return Dataset(
        LabelledSet(file.stem, collection, {"label": labels}), X, None, "vectors", reason
    )


def settings(method: str, strategy: str, wanted: argparse.Namespace) -> Settings:
    """All questions at once, or one by one with refits."""
    return Settings(
        method, strategy, wanted.questions, wanted.refit_every,
        score_at=(wanted.questions,) if wanted.refit_every else (),
        groups="unknown" if method == "live" else "given",
        parameters={"n_clusters": wanted.groups} if wanted.groups and method != "live" else {},
    )  # fmt: skip


def measured(run: Run, dataset: Dataset, asker: str) -> Row:
    """The row of a run; if another method asked, its last point is that of the method."""
    store, groups = MemoryStore(), "unknown" if asker == "live" else "given"
    asking = replace(run, settings=replace(run.settings, method=asker, groups=groups))
    runner = Runner(asking, dataset, store=store)
    runner.execute()
    protocol = {**runner.protocol(), "asked_by": asker}
    row = {**runner.row(), "protocol": protocol, "complete": True}
    if asker == run.settings.method:
        return row
    given, model = make_model(run.settings, runner.n_kinds)
    recorder = CurveRecorder(runner.recorder.truth)
    try:  # opening the ledger fits this method to the answers in it
        session = Session(
            dataset.labelled.collection, dataset.X, store=store, clusterer=model, seed=run.seed
        )
    except Infeasible as problem:
        protocol["stopped"] = str(problem)
    else:
        recorder.record(session, len(session.answers))
    row |= {"run": run.name, "method": run.settings.method, "groups_given": given}
    return {**row, "curve": [row["curve"][0], *recorder.curve()]}


if __name__ == "__main__":
    main()
