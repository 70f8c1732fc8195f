"""The curve of a run: the groups scored on the way, what the answers cost, and random checks."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samekind.evaluation import score
from samekind.session import Session
from samekind.simulation.costs import costs
from samekind.simulation.experiment import scored

Kinds = NDArray[np.intp]
NOT_KEPT = ("unasked_fm", "unasked_pair_f1", "unasked_bcubed")
"""Scores that nobody looks at."""


class CurveRecorder:
    """Scores a session. The only place of a run, beside its person, that knows the kinds.

    Parameters
    ----------
    truth, heldout_truth : kinds of the items and of those held out; None: not scored on them.
    other : kinds of the other orientation in the session, where people have two in mind.
    heldout : vectors of the held-out items. began : when the run began, by `time.perf_counter`.
    """

    def __init__(
        self,
        truth: Kinds,
        heldout: Any,
        heldout_truth: Kinds | None,
        began: float,
        other: Kinds | None = None,
    ) -> None:
        self.truth, self.began, self.other = truth, began, other
        self.heldout = None if heldout_truth is None else heldout
        self.heldout_truth = None if heldout is None else heldout_truth
        self.curve: list[dict[str, Any]] = []

    def note(self, session: Session, told: int) -> None:
        """Add a row to the curve, unless there is one of this state."""
        refits = session.clustering.snapshot
        if self.curve and (self.curve[-1]["refits"], self.curve[-1]["questions"]) == (refits, told):
            return
        seconds = time.perf_counter() - self.began
        scores = scored(session, self.truth, self.heldout, self.heldout_truth).row()
        row: dict[str, Any] = {
            "questions": told,
            **costs(session.answers),
            "seconds": round(seconds, 2),
            "groups": session.clustering.n_groups,
            "refits": refits,
            **{n: round(float(v), 5) for n, v in scores.items() if n not in NOT_KEPT},
        }
        if self.other is not None:
            beside = score(self.other, session.clustering.labels)
            row |= {f"other_{name}": round(beside[name], 5) for name in ("acc", "ari")}
        if (checks := checked(session, self.truth)) is not None:
            row["checks"] = checks
        self.curve.append(row)


def checked(session: Session, kinds: Kinds) -> dict[str, float] | None:
    """The interval of the random checks and the share that it should hold; None: too few."""
    found: Mapping[str, Any] | None = session.progress()["quality"]
    if found is None:
        return None
    interval = {name: round(float(found[name]), 5) for name in ("share", "low", "high")}
    return {**interval, "truth": round(in_place(session, kinds), 5)}


def in_place(session: Session, kinds: Kinds) -> float:
    """Share of items that a person who never errs would put where they are, if asked about each.

    A group stands for the kind that most answered items in it are of. An item is in place if that
    is its kind; or if no group stands for its kind, and its own stands for none: then the person
    would say "none of these", and the groups say so, too.
    """
    labels, answered = session.clustering.labels, session.constraints.touched
    answered = answered[kinds[answered] >= 0]
    stands_for = dict.fromkeys(session.clustering.numbers, -1)
    for number in np.unique(labels[answered]).tolist():
        stands_for[number] = int(np.bincount(kinds[answered[labels[answered] == number]]).argmax())
    of_group = np.array([stands_for[number] for number in session.clustering.numbers])
    kind_of_group = of_group[np.searchsorted(session.clustering.numbers, labels)]
    unseen = ~np.isin(kinds, of_group)
    right = (kind_of_group == kinds) | (unseen & (kind_of_group < 0))
    return float(right[kinds >= 0].mean())
