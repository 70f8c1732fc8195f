"""Visibility: whether the vectors hold the difference that the person makes.

Each answered item is predicted from all others, by a linear rule and by the nearest of them. Where
both predict no better than guessing the commonest kind, more answers of this sort hardly help.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samekind.clusterers.live.blocks import MAX_ANSWERS, MIN_TOLD, left_out, spread_rows
from samekind.clusterers.live.seeds import Seeds
from samekind.constraints import Constraints

Floats = NDArray[Any]

MIN_JUDGED = 40
"""Answered items of kinds with two or more of them, below which nothing is said."""


@dataclass(frozen=True)
class Visibility:
    """How many answered items the other answers predict.

    Parameters
    ----------
    judged : answered items that were predicted. right : of them, predicted rightly.
    guessed : share that would be right by guessing the commonest kind every time.
    """

    judged: int
    right: int
    guessed: float

    @classmethod
    def of(cls, X: Floats, answers: Constraints, scale: Floats | None) -> Visibility | None:
        """Judge by the answers; None while there are too few, or only pairs.

        `scale` (d,) says how much each column of X counts; None: all the same.
        """
        seeds = Seeds.from_answers(answers)
        if seeds.n_kinds < 2 or len(seeds.rows) < MIN_TOLD * len(answers.touched):
            return None
        used = spread_rows(np.arange(len(seeds.rows)), MAX_ANSWERS)
        told = seeds.labels[used]
        sizes = np.bincount(told)
        judged = sizes[told] >= 2  # the only one of its kind cannot be predicted
        if judged.sum() < MIN_JUDGED:
            return None
        Z = np.asarray(X[seeds.rows[used]], dtype=np.float64)
        Z = (Z - Z.mean(axis=0)) * (1.0 if scale is None else scale)
        Z /= max(float(np.sqrt((Z**2).sum(axis=1).mean())), 1e-12)
        by_rule = (left_out(Z, told) + sizes / len(told)).argmax(axis=1)
        right = max(int((guess == told)[judged].sum()) for guess in (by_rule, _nearest(Z, told)))
        return cls(int(judged.sum()), right, float(sizes.max() / len(told)))

    @property
    def is_seen(self) -> bool:
        """Whether the answers are predicted better than by guessing, beyond chance."""
        deviation = sqrt(self.guessed * (1 - self.guessed) / self.judged)
        return self.right / self.judged > self.guessed + deviation


def _nearest(Z: Floats, told: NDArray[np.intp]) -> NDArray[np.intp]:
    """(s,) the kind of the nearest other answered item."""
    lengths = (Z**2).sum(axis=1)
    distances = lengths[:, None] + lengths[None, :] - 2 * Z @ Z.T
    np.fill_diagonal(distances, np.inf)
    return np.asarray(told[distances.argmin(axis=1)])
