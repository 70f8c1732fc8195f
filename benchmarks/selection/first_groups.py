"""Whether IDC's regularisation (Eq. 14) keeps the network at the groups that it began with.

    python -m benchmarks.selection.first_groups --set cifar10-frozen --json first_groups.jsonl
    python -m benchmarks.selection.first_groups --vectors FILE --items 6000

The head begins at the groups of k-means and is sure of most items, right or wrong. Eq. 14 then
teaches the network what it is sure of. If that is too strong, the answers cannot correct it. Here
500 `value` questions are answered once, and the network learns from the same answers with and
without Eq. 14, from the first step on or after the warm-up, quickly or at the published rate.
Scored is the network alone, on items nobody was asked about: its accuracy, the share of the items
it had wrong that it has right now, and of those it had right that it still has right. Groups are
matched with kinds by the most frequent pairing, before and after.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from benchmarks.measuring import provenance
from samekind.clusterers.deep.idc import IDC
from samekind.constraints import Constraints
from samekind.session import Session
from samekind.simulation.loop import run
from samekind.simulation.people import person_named
from samekind.simulation.rows import append_row
from samekind.sources import open_set, vectors_collection

Ints = NDArray[np.intp]
NO_REG = ("pos", "neg")
VARIANTS: dict[str, dict[str, Any]] = {
    "pos": {"losses": ("pos",)},
    "pos, neg": {"losses": NO_REG},
    "as printed": {"profile": "paper"},
    "as printed, no warm-up": {"profile": "paper", "warm_up": 0.0},
    "program": {"profile": "program"},
    "program, no warm-up": {"profile": "program", "warm_up": 0.0},
    "repaired": {},
    "repaired, no warm-up": {"warm_up": 0.0},
    "calibrated": {"profile": "calibrated"},
    "slow pos, neg": {"losses": NO_REG, "epochs": 100, "learning_rate": 1e-4},
    "slow program, no warm-up": {
        "profile": "program", "warm_up": 0.0, "epochs": 100, "learning_rate": 1e-4,
    },
    "slow program without reg": {
        "profile": "program", "losses": NO_REG, "epochs": 100, "learning_rate": 1e-4,
    },
    "slow repaired": {"epochs": 100, "learning_rate": 1e-4},
    "slow calibrated": {"profile": "calibrated", "epochs": 100, "learning_rate": 1e-4},
}  # fmt: skip
"""Parameters of IDC; slow: the published rate and number of steps, made for whole networks."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Print, and append, one row for each variant, person and seed."""
    wanted = _parsed(arguments)
    X, truth, name = opened(wanted)
    for person in wanted.person:
        for seed in wanted.seeds:
            for row in measured(X, truth, person, seed, wanted.questions, wanted.variants):
                shown = {k: round(v, 3) if isinstance(v, float) else v for k, v in row.items()}
                print(shown, flush=True)
                if wanted.json:
                    append_row(wanted.json, {"set": name, **row, **provenance()})


def _parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    add = parser.add_argument
    add("--set", default="cifar10-frozen", help="a named set of vectors")
    add("--orientation", default="class")
    add("--vectors", type=Path, default=None, help="a .npz file with label and q, scale instead")
    add("--items", type=int, default=None, help="so many items, drawn at random")
    add("--person", nargs="+", default=["shown", "matched"])
    add("--questions", type=int, default=500)
    add("--seeds", type=int, nargs="+", default=[0, 1, 2])
    add("--variants", nargs="+", default=list(VARIANTS), choices=list(VARIANTS), metavar="NAME")
    add("--json", type=Path, default=None, help="rows are appended to this file")
    return parser.parse_args(arguments)


def opened(wanted: argparse.Namespace) -> tuple[NDArray[np.float32], Ints, str]:
    """Vectors, kinds, and the name of the set."""
    if wanted.vectors is None:
        found = open_set(wanted.set)
        X, labels = found.collection.matrix, found.orientations[wanted.orientation]
    else:
        with np.load(wanted.vectors, allow_pickle=False) as kept:
            X, labels = kept["q"].astype(np.float32) * kept["scale"], kept["label"]
    some = np.random.default_rng(0).permutation(len(X))[: wanted.items]
    kinds = np.unique(labels[some], return_inverse=True)[1].astype(np.intp)
    name = wanted.set if wanted.vectors is None else wanted.vectors.stem
    return np.asarray(X[some], dtype=np.float32), kinds, name


def measured(
    X: Any, truth: Ints, person: str, seed: int, questions: int, variants: Sequence[str]
) -> Iterator[dict[str, Any]]:
    """One row for each variant, all from the same answers."""
    known, before = asked(X, truth, person, seed, questions)
    rest = np.setdiff1d(np.arange(len(truth)), known.touched)
    right = named_groups(truth, before)[before] == truth
    for name in variants:
        begun = time.process_time()
        model = IDC(int(truth.max()) + 1, random_state=seed, **VARIANTS[name])
        after = model.fit(X, constraints=known).predicted_labels_
        now = named_groups(truth, after)[after] == truth
        yield {
            "variant": name, "learner": model.learner_name, "person": person, "seed": seed,
            "before": float(right[rest].mean()), "acc": float(now[rest].mean()),
            "corrected": float(now[rest][~right[rest]].mean()),
            "kept": float(now[rest][right[rest]].mean()), "followed": followed(after, known),
            "cpu_seconds": round(time.process_time() - begun, 2),
        }  # fmt: skip


def asked(X: Any, truth: Ints, person: str, seed: int, questions: int) -> tuple[Constraints, Ints]:
    """The answers to questions that were chosen at once, and the groups before them."""
    model = IDC(int(truth.max()) + 1, random_state=seed)
    session = Session(
        vectors_collection("vectors", X, "vectors"), X, clusterer=model, strategy="value",
        seed=seed, refit_every=questions + 1, ahead=questions, budget=questions,
    )  # fmt: skip
    before = session.clustering.labels
    who = person_named(person, truth, seed=seed, clusters=before)
    run(session, who, questions)
    return session.constraints, np.unique(before, return_inverse=True)[1].astype(np.intp)


def named_groups(truth: Ints, groups: Ints) -> NDArray[np.intp]:
    """The kind of each group in the one-to-one pairing that most items agree with; else -1."""
    shared = np.zeros((int(groups.max()) + 1, int(truth.max()) + 1), dtype=np.intp)
    np.add.at(shared, (groups, truth), 1)
    rows, columns = linear_sum_assignment(shared, maximize=True)
    kind = np.full(len(shared), -1, dtype=np.intp)
    kind[rows] = columns
    return kind


def followed(groups: Ints, known: Constraints) -> float:
    """The share of the links in the answers that the groups keep."""
    links = known.links()
    return float(np.mean((groups[links.a] == groups[links.b]) == links.same))


if __name__ == "__main__":
    main()
