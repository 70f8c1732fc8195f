"""Whether the interval of the random checks holds the true share of well-placed items.

    python benchmarks/checks.py --runs 20

A simulated person sorts the digits with the learner and the strategy ``live``. After 50, 100 and
200 answers the interval is compared with the truth: the share of all items whose group is the one
whose central exemplar the person would call the same kind.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from samekind.session import Session
from samekind.simulation.loop import run
from samekind.simulation.people import Noisy, Truth
from samekind.sources import open_labelled
from samekind.workspace.pile import encoded_pile

AT = (50, 100, 200)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--noise", type=float, default=0.0)
    parser.add_argument("--json", default=None)
    wanted = parser.parse_args()
    labelled = open_labelled("digits")
    truth, _ = labelled.truth("digit")
    pile = encoded_pile(labelled.collection)
    rows: list[dict[str, Any]] = []
    for seed in range(wanted.runs):
        session = Session(
            pile.collection, pile.X, clusterer="live", strategy="live", seed=seed, refit_every=5
        )
        person = Noisy(Truth(truth), wanted.noise, seed) if wanted.noise else Truth(truth)
        told = 0
        for until in AT:
            told += run(session, person, until - told).n_answers
            found = session.progress()["quality"]
            real = agreement(session, truth)
            rows.append({"seed": seed, "answers": told, "truth": real, **(found or {})})
    for until in AT:
        here = [row for row in rows if row["answers"] == until and "low" in row]
        held = np.mean([row["low"] <= row["truth"] <= row["high"] for row in here])
        width = np.mean([row["high"] - row["low"] for row in here])
        bias = np.mean([row["share"] - row["truth"] for row in here])
        print(
            f"{until} answers: interval holds the truth in {100 * held:.0f} % of {len(here)} runs,"
            f" mean width {width:.2f}, estimate less truth {bias:+.3f}"
        )
    if wanted.json:
        Path(wanted.json).write_text(json.dumps(rows, indent=1))


def agreement(session: Session, truth: np.ndarray) -> float:
    """Share of items that are of the same kind as most answered items of their group."""
    labels, answered = session.clustering.labels, session.constraints.touched
    right = 0
    for number in session.clustering.numbers:
        members = labels == number
        known = np.intersect1d(answered, np.flatnonzero(members))
        if len(known):
            kind = np.bincount(truth[known]).argmax()
            right += int((truth[members] == kind).sum())
    return right / len(truth)


if __name__ == "__main__":
    main()
