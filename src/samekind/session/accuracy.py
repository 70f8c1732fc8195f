"""Accuracy: how many items are where the person wants them, estimated from all placements.

Every placement is a small experiment: before it is asked, the groups imply an answer (see
:mod:`samekind.session.expectations`). Most items are chosen because they are hard, so the share of
answers that came as implied says little by itself. The model therefore separates what is known:

    P(the group of an item is right) = sigmoid(level + slope * logit(clear))

where `clear` is the share of items whose group is less clear. An item that a strategy chose is
harder by `harder` than a random one of the same clearness; random checks are the anchor. Earlier
groups were worse: `GROWTH` is how fast the level rises with the number of answers. Finally the
person gives a wrong answer with probability `slips`. A posterior over the four unknowns is computed
on a grid. The priors come from simulated sessions on drawn piles (docs/explanation/quality.md).

Items whose group the answers fix are not guessed: each is right unless that answer was a slip. They
are the clearest ones, and over all items `clear` is spread evenly. So the accuracy is their share
times ``1 - slips``, and the area under the curve up to the clearness at which they begin.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from samekind.questions import UNSURE, Answer

Floats = NDArray[np.float64]

MIN_PLACEMENTS = 10
"""Placements that an estimate needs."""
N_LATEST_PLACEMENTS = 120
"""Latest placements that count; earlier ones say little about the groups of today."""
TAIL_BELOW, TAIL_ABOVE = 0.025, 0.01
"""Parts of the belief that the stated interval leaves out. In simulations truths above it were ten
times as frequent as those below, so that it reaches higher."""
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
CHANCE = np.array([-1.96, -1.44, -1.15, -0.93, -0.76, -0.6, -0.45, -0.32, -0.19, -0.06])
CHANCE = np.concatenate([CHANCE, -CHANCE[::-1]])
"""Twenty equally probable values of a standard normal distribution."""


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
    share : the estimate. low, high : its interval, of 95 % or more.
    placements : what it is based on.
    slips : the estimated share of wrong answers.
    curve : (40,) probability that the guessed group of an item is right, by its clearness.
    fixed : share of the items whose group the answers fix. They are the clearest.
    """

    share: float
    low: float
    high: float
    placements: int
    slips: float
    curve: tuple[float, ...]
    fixed: float = 0.0

    def of_items(self, clear: NDArray[Any]) -> Floats:
        """The probability that items of this clearness are in place."""
        guessed = np.interp(clear, SHARES, np.array(self.curve))
        return np.where(np.asarray(clear) > 1 - self.fixed, 1 - self.slips, guessed)


def placed(answer: Answer, position: int = 0) -> Placed | None:
    """An answer as a placement among two groups or more; None: it tells nothing of the groups."""
    question, expected = answer.question, answer.question.expected
    if expected is None or question.many or answer.choice == UNSURE:
        return None
    shown = sum(bool(question.exemplars(choice)) for choice in question.choices())
    if shown < 2:
        return None
    agreed, clear = answer.choice == expected.choice, min(max(expected.clear, 0.01), 0.99)
    return Placed(answer.number, position, agreed, clear, shown, question.at_random)


def latest_placements(
    latest_first: Iterable[Answer], n_answers: int, at_most: int = N_LATEST_PLACEMENTS
) -> list[Placed]:
    """The latest answers that tell how good the groups were, in the order of answering.

    No more answers are looked at than that takes.

    Parameters
    ----------
    latest_first : the answers in force, of which there are `n_answers`.
    """
    positions = range(n_answers - 1, -1, -1)
    found = (placed(answer, k) for k, answer in zip(positions, latest_first, strict=False))
    return [*islice((one for one in found if one is not None), at_most)][::-1]


def estimate(
    latest: Sequence[Placed],
    n_placements: int | None = None,
    *,
    n_items: int = 0,
    n_fixed: int = 0,
) -> Accuracy | None:
    """Estimate the accuracy from the latest placements; None while there are too few.

    Parameters
    ----------
    n_placements : how many there are in all. None: no more than these.
    n_items : items in the pile; 0: so many that what happens to each of them does not matter.
    n_fixed : of them, those whose group the answers fix.
    """
    if len(latest) < MIN_PLACEMENTS:
        return None
    grid = _grid()
    belief = grid.posterior(latest[-N_LATEST_PLACEMENTS:])
    fixed = n_fixed / n_items if n_items else 0.0
    right = grid.accuracy(fixed)
    low, high = _interval(right, belief, n_items)
    return Accuracy(
        share=float(belief @ right),
        low=low,
        high=high,
        placements=len(latest) if n_placements is None else n_placements,
        slips=float(belief @ grid.slips),
        curve=tuple(np.round(belief @ grid.curves, 5).tolist()),
        fixed=fixed,
    )


def _interval(right: Floats, belief: Floats, n_items: int) -> tuple[float, float]:
    """The ends of the belief about the share of `n_items` that are right.

    Of twelve items that are right with a probability of 90 % each, nine or twelve may be. `CHANCE`
    stands for that, around each point of the grid.

    Parameters
    ----------
    right : (points,) the expected share at each point. belief : (points,) their probabilities.
    """
    if n_items:
        spread = np.sqrt(right * (1 - right) / n_items)
        right = np.clip(right[:, None] + spread[:, None] * CHANCE, 0.0, 1.0).ravel()
        belief = np.repeat(belief / len(CHANCE), len(CHANCE))
    order = np.argsort(right, kind="stable")
    reached = np.cumsum(belief[order])
    ends = np.searchsorted(reached, [TAIL_BELOW, 1 - TAIL_ABOVE])
    low, high = right[order[np.minimum(ends, len(order) - 1)]].tolist()
    return low, high


@dataclass(frozen=True, eq=False)
class _Grid:
    """The unknowns at the points of a grid, their prior, and what each point means.

    Parameters
    ----------
    level, slope, harder, slips : (points,) the unknowns; slips change from point to point.
    prior : (points,) its logarithm. curves : (points, 40) probability by clearness.
    """

    level: Floats
    slope: Floats
    harder: Floats
    slips: Floats
    prior: Floats
    curves: Floats

    def accuracy(self, fixed: float) -> Floats:
        """(points,) the share of items that are right if answers fix this share of them."""
        cells = len(SHARES)
        guessed = np.clip((1 - fixed) * cells - np.arange(cells), 0.0, 1.0) / cells
        return np.asarray(self.curves @ guessed + fixed * (1 - self.slips))

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
        apart = slice(None, None, len(SLIPS))  # slips do not matter for what is right
        level = self.level[apart, None] + self.slope[apart, None] * clear - earlier
        right = _sigmoid(level - self.harder[apart, None] * ~random)
        found = np.empty((len(right), len(SLIPS)))
        likelihood = np.empty_like(right)  # used again: memory from the system costs more
        for k, slips in enumerate(SLIPS):
            # as implied: (1 - slips) * right + slips * (1 - right) / choices
            by_slip, by_right = slips / choices, 1 - slips - slips / choices
            np.multiply(right, np.where(agreed, by_right, -by_right), out=likelihood)
            likelihood += np.where(agreed, by_slip, 1 - by_slip)
            np.log(np.maximum(likelihood, 1e-9, out=likelihood), out=likelihood)
            found[:, k] = likelihood @ weight
        logs = self.prior + found.ravel()
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
    curves = _sigmoid(level[:, None] + slope[:, None] * _logit(SHARES))
    return _Grid(level, slope, HARDER + HARDER_SPREAD * step, slips, prior, curves)


def _normal(x: Floats, mean: float, spread: float) -> Floats:
    return np.asarray(np.exp(-(((x - mean) / spread) ** 2) / 2) / spread)


def _sigmoid(x: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-x)))


def _logit(share: Floats) -> Floats:
    return np.asarray(np.log(share / (1 - share)))
