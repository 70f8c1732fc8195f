"""Accuracy: how many items are where the person wants them, estimated from all placements.

Every placement is a small experiment: before it is asked, the groups imply an answer (see
:mod:`samekind.session.expectations`). Most items are chosen because they are hard, so the share of
answers that came as implied says little by itself. The model therefore separates what is known:

    P(the group of an item is right) = sigmoid(level + slope * logit(clear))

where `clear` is the share of items whose group is less clear. Over all items `clear` is spread
evenly, so the accuracy is the area under this curve. An item that a strategy chose is harder by
`harder` than a random one of the same clearness; random checks are the anchor. Earlier groups were
worse: `GROWTH` is how fast the level rises with the number of answers. Finally the person gives a
wrong answer with probability `slips`. A posterior over the four unknowns is computed on a grid.
The priors come from simulated sessions on drawn piles (docs/explanation/quality.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from samekind.questions import UNSURE, Answer

Floats = NDArray[np.float64]

MIN_PLACEMENTS = 10
"""Placements that an estimate needs."""
N_LATEST_PLACEMENTS = 120
"""Latest placements that count; earlier ones say little about the groups of today."""
ERROR = 0.05
"""Probability that the truth is outside the stated interval."""
HARD, EASY = (0.4, 1.6), (5.0, 1.8)
"""Prior of the level: mean and standard deviation for piles that are hard and easy to sort."""
EASY_SHARE = 0.4
"""Prior probability of an easy pile."""
SLOPES = (0.35, 0.65, 1.0)
HARDER, HARDER_SPREAD = 0.5, 0.5
"""By how much items that a strategy chose are harder: mean and standard deviation."""
SLIPS, SLIPS_PRIOR = (0.0, 0.04, 0.1, 0.2, 0.35), (0.43, 0.25, 0.15, 0.1, 0.07)
"""Shares of wrong answers, and their prior probabilities."""
CHOSEN_WEIGHT = 0.65
"""Weight of a placement that a strategy chose, compared with a random check."""
HALF_LIFE = 0.7
"""Share of all placements after which one counts half."""
GROWTH = 0.7
"""Rise of the level when the number of placements grows e-fold."""
SHARES = (np.arange(40) + 0.5) / 40
"""Values of `clear` at which the curve is computed."""


class Placed(NamedTuple):
    """A placement that was answered.

    Parameters
    ----------
    number : of the question. position : answers in force before it.
    agreed : whether the answer was the one that the groups implied. clear : see the module.
    choices : groups that were shown. random : whether the item was drawn at random.
    """

    number: int
    position: int
    agreed: bool
    clear: float
    choices: int
    random: bool


@dataclass(frozen=True)
class Accuracy:
    """The estimated share of items that are where the person wants them.

    Parameters
    ----------
    share : the estimate. low, high : its 95 % interval. placements : what it is based on.
    slips : the estimated share of wrong answers.
    curve : (40,) probability that an item is in place, by its clearness.
    """

    share: float
    low: float
    high: float
    placements: int
    slips: float
    curve: tuple[float, ...]

    def of_items(self, clear: NDArray[Any]) -> Floats:
        """The probability that items of this clearness are in place."""
        return np.asarray(np.interp(clear, SHARES, np.array(self.curve)), dtype=np.float64)


def placements(answers: Iterable[Answer]) -> list[Placed]:
    """The answers that tell how good the groups were: placements among two groups or more."""
    found = []
    for position, answer in enumerate(answers):
        question, expected = answer.question, answer.question.expected
        if expected is None or question.many or answer.choice == UNSURE:
            continue
        shown = sum(bool(question.exemplars(choice)) for choice in question.choices())
        if shown >= 2:
            agreed = answer.choice == expected.choice
            clear = min(max(expected.clear, 0.01), 0.99)
            at = answer.number, position
            found.append(Placed(*at, agreed, clear, shown, question.at_random))
    return found


def estimate(placed: Sequence[Placed]) -> Accuracy | None:
    """Estimate the accuracy; None while there are too few placements."""
    if len(placed) < MIN_PLACEMENTS:
        return None
    grid = _grid()
    belief = grid.posterior(placed[-N_LATEST_PLACEMENTS:])
    order = np.argsort(grid.accuracy, kind="stable")
    reached = np.cumsum(belief[order])
    low, high = np.searchsorted(reached, [ERROR / 2, 1 - ERROR / 2])
    curve = belief @ _sigmoid(grid.level[:, None] + grid.slope[:, None] * _logit(SHARES))
    return Accuracy(
        share=float(belief @ grid.accuracy),
        low=float(grid.accuracy[order[low]]),
        high=float(grid.accuracy[order[min(high, len(order) - 1)]]),
        placements=len(placed),
        slips=float(belief @ grid.slips),
        curve=tuple(np.round(curve, 5).tolist()),
    )


@dataclass(frozen=True, eq=False)
class _Grid:
    """The unknowns at the points of a grid, their prior, and the accuracy at each point."""

    level: Floats
    slope: Floats
    harder: Floats
    slips: Floats
    prior: Floats
    accuracy: Floats

    def posterior(self, placed: Sequence[Placed]) -> Floats:
        """(points,) probability of each point after these placements."""
        position = np.array([p.position for p in placed], dtype=np.float64)
        agreed, random = (np.array([getattr(p, n) for p in placed]) for n in ("agreed", "random"))
        choices = np.array([p.choices for p in placed], dtype=np.float64)
        clear = _logit(np.array([p.clear for p in placed]))
        now = position.max() + 1
        age = np.maximum(now - position, 0.0) / max(8.0, HALF_LIFE * now)
        weight = np.where(random, 1.0, CHOSEN_WEIGHT) * 0.5**age
        earlier = GROWTH * np.log(now / (position + 4.0)) + 0.0
        level = self.level[:, None] + self.slope[:, None] * clear - earlier
        right = _sigmoid(level - self.harder[:, None] * ~random)
        slips = self.slips[:, None]
        as_implied = (1 - slips) * right + slips * (1 - right) / choices
        likelihood = np.where(agreed, as_implied, 1 - as_implied)
        logs = self.prior + np.log(np.maximum(likelihood, 1e-9)) @ weight
        belief = np.exp(logs - logs.max())
        return np.asarray(belief / belief.sum())


@lru_cache(maxsize=1)
def _grid() -> _Grid:
    levels = np.linspace(-3.5, 7.5, 34)
    beyond = np.linspace(-2.0, 2.0, 5)
    level, slope, step, slips = (
        axis.ravel() for axis in np.meshgrid(levels, SLOPES, beyond, SLIPS, indexing="ij")
    )
    piles = (1 - EASY_SHARE) * _normal(level, *HARD) + EASY_SHARE * _normal(level, *EASY)
    prior = np.log(piles) - step**2 / 2 + np.log(SLIPS_PRIOR)[np.searchsorted(SLIPS, slips)]
    accuracy = _sigmoid(level[:, None] + slope[:, None] * _logit(SHARES)).mean(axis=1)
    return _Grid(level, slope, HARDER + HARDER_SPREAD * step, slips, prior, accuracy)


def _normal(x: Floats, mean: float, spread: float) -> Floats:
    return np.asarray(np.exp(-(((x - mean) / spread) ** 2) / 2) / spread)


def _sigmoid(x: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-x)))


def _logit(share: Floats) -> Floats:
    return np.asarray(np.log(share / (1 - share)))
