"""Blocks: how much each of several vectors per item counts, judged by the answers.

An item may be described by several vectors side by side: what a network recognises, the layout, the
colours. Before any answer the first of them decides. Each answered item is then predicted from the
other answered ones by every block alone, and a block gains weight where it predicts better. Where
answers are pairs, the pairs are predicted by how close their items are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samekind.clusterers.live.seeds import Seeds
from samekind.constraints import Constraints
from samekind.errors import InputError

Floats = NDArray[Any]
Ints = NDArray[np.intp]
Pairs = Sequence[tuple[int, int]]

PRIOR = 2.0
"""Logarithm of how much likelier the first block is than each other one before any answer."""
RIDGE = 0.1
"""Regularisation of the predictions; the mean squared length of the items is one."""
SHARPNESS = (0.0, 1.0, 2.0, 4.0, 6.0)
"""How quickly a predicted score becomes a certain kind; 0: only the sizes of the kinds count. The
best is taken, so that a block that knows nothing is neither believed nor blamed."""
DOUBT = 0.02
"""Share of answers that no block can predict: one odd answer decides nothing."""
MAX_ANSWERS = 300
"""Answered items, or pairs, that are predicted; of more, evenly spread ones."""
MAX_ROWS = 2000
"""Items by which the size of a block is measured."""
MIN_TOLD = 0.5
"""Share of answered items with a known kind below which pairs are predicted, not kinds."""


@dataclass(frozen=True, eq=False)
class BlockWeights:
    """What each block counts.

    Parameters
    ----------
    blocks : first and last column of each, the latter excluded.
    share : (b,) how much each counts; they sum to one.
    evidence : (b,) logarithm of the probability with which each predicts the answers.
    size : (b,) root of the mean squared length of each.
    """

    blocks: tuple[tuple[int, int], ...]
    share: Floats
    evidence: Floats
    size: Floats

    @classmethod
    def of(cls, X: Floats, rows: Ints, blocks: Pairs, answers: Constraints) -> BlockWeights:
        """Judge the blocks by the answers, on X and some of its rows."""
        checked = checked_blocks(blocks, X.shape[1])
        some = np.asarray(X[spread_rows(rows, MAX_ROWS)], dtype=np.float64)
        mean = some.mean(axis=0)
        some -= mean
        lengths = [np.sqrt((some[:, a:b] ** 2).sum(axis=1).mean()) for a, b in checked]
        size = np.maximum(np.array(lengths), 1e-12)
        evidence = np.zeros(len(checked))
        for place, (a, b) in enumerate(checked):
            evidence[place] = _Evidence(X[:, a:b], mean[a:b], size[place]).of(answers)
        score = evidence + np.where(np.arange(len(checked)) == 0, PRIOR, 0.0)
        share = np.exp(score - score.max())
        if not evidence.any():  # nothing is known: the first block alone
            share = (np.arange(len(checked)) == 0).astype(float)
        return cls(checked, share / share.sum(), evidence, size)

    def scale(self) -> Floats:
        """(d,) the factor of each column of X."""
        factor = np.sqrt(self.share) / self.size * self.size[0]
        return np.repeat(factor, [b - a for a, b in self.blocks])

    def main(self) -> Floats:
        """(d,) one for the columns of the block that counts most, zero for the others."""
        chosen = np.arange(len(self.blocks)) == int(self.share.argmax())
        return np.repeat(chosen.astype(np.float64), [b - a for a, b in self.blocks])


@dataclass(frozen=True, eq=False)
class _Evidence:
    """How well one block predicts the answers."""

    X: Floats
    mean: Floats
    size: float

    def of(self, answers: Constraints) -> float:
        seeds = Seeds.from_answers(answers)
        told = len(seeds.rows) / max(len(answers.touched), 1)
        if seeds.n_kinds >= 2 and told >= MIN_TOLD:
            used = spread_rows(np.arange(len(seeds.rows)), MAX_ANSWERS)
            return predictability(self._at(seeds.rows[used]), seeds.labels[used])
        links = answers.links()
        used = spread_rows(np.arange(len(links.a)), MAX_ANSWERS)
        difference = self._at(links.a[used]) - self._at(links.b[used])
        return pair_predictability((difference**2).sum(axis=1) / 2, links.same[used])

    def _at(self, rows: Ints) -> Floats:
        return np.asarray((np.asarray(self.X[rows], dtype=np.float64) - self.mean) / self.size)


def spread_rows(rows: Ints, most: int) -> Ints:
    """At most so many of the rows, evenly spread."""
    if len(rows) <= most:
        return rows
    return rows[np.linspace(0, len(rows) - 1, most).astype(np.intp)]


def checked_blocks(blocks: Pairs, width: int) -> tuple[tuple[int, int], ...]:
    """Check that the blocks stand side by side and cover all columns."""
    found = tuple((int(a), int(b)) for a, b in blocks)
    starts = [a for a, _ in found]
    stops = [b for _, b in found]
    if starts != [0, *stops[:-1]] or stops[-1] != width or any(a >= b for a, b in found):
        raise InputError(
            f"Expected blocks that cover the {width} columns one after the other, got {found}. "
            "Give the blocks of the encoder, or none."
        )
    return found


def left_out(Z: Floats, told: Ints) -> Floats:
    """(s, k) the kind of each answered item as all others predict it: about 1 for it, else 0.

    Regression on the kinds with a linear kernel; leaving each item out has a closed form. The
    shares of the kinds among the answers are taken off.
    """
    k = int(told.max()) + 1
    wanted = np.eye(k)[told]
    kernel = Z @ Z.T + np.mean(Z**2) + RIDGE * np.eye(len(Z))
    inverse = np.linalg.inv(kernel)
    centred = wanted - wanted.mean(axis=0)
    return np.asarray(centred - (inverse @ centred) / np.diag(inverse)[:, None])


def predictability(Z: Floats, told: Ints) -> float:
    """Logarithm of the probability with which the other answers predict each one."""
    predicted, sizes = left_out(Z, told), np.bincount(told)
    judged = sizes[told] >= 2  # the only one of its kind cannot be predicted
    own = np.arange(len(told)), told
    found = []
    for sharpness in SHARPNESS:
        scores = sharpness * predicted + np.log(sizes + 0.5)
        shares = np.exp(scores - scores.max(axis=1, keepdims=True))
        shares = (shares / shares.sum(axis=1, keepdims=True))[own]
        found.append(float(np.log((1 - DOUBT) * shares + DOUBT / len(sizes))[judged].sum()))
    return max(found)


def pair_predictability(distances: Floats, same: NDArray[np.bool_]) -> float:
    """Logarithm of the probability of the pairs, if close items are the same kind.

    Logistic regression on the squared distance (two random items: one on average), which has two
    numbers to fit whatever the width of a block. That far items are the same is never believed.
    """
    if not same.any() or same.all():  # one kind of answer: distances cannot be compared
        return 0.0
    design = np.stack([np.ones(len(distances)), 1 - distances], axis=1)
    prior = np.array([0.1, 0.05])  # a weak pull to no difference
    weight = np.zeros(2)
    for _ in range(25):
        p = 1 / (1 + np.exp(-np.clip(design @ weight, -30, 30)))
        slope = design.T @ (same - p) - prior * weight
        bend = (design * (p * (1 - p) + 1e-9)[:, None]).T @ design + np.diag(prior)
        weight = weight + np.clip(np.linalg.solve(bend, slope), -3, 3)
    if weight[1] < 0:
        share = same.mean()
        weight = np.array([np.log(share / (1 - share)), 0.0])
    p = 1 / (1 + np.exp(-np.clip(design @ weight, -30, 30)))
    found = (1 - DOUBT) * np.where(same, p, 1 - p) + DOUBT / 2
    return float(np.log(found).sum())
