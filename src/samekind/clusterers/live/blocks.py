"""Blocks: how much each of several vectors per item counts, judged by the answers.

An item may be described by several vectors side by side: what a network recognises, the layout, the
colours. Before any answer the first of them decides. Each answered item is then predicted from the
other answered ones by every block alone, and a block gains weight where it predicts better.
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

PRIOR = 4.0
"""Logarithm of how much likelier the first block is than each other one before any answer."""
RIDGE = 0.1
"""Regularisation of the predictions; the mean squared length of the items is one."""
SHARPNESS = 4.0
"""How quickly a predicted score becomes a certain kind."""
DOUBT = 0.02
"""Share of answers that no block can predict: one odd answer decides nothing."""
MAX_ANSWERS = 300
"""Answered items that are predicted; of more, evenly spread ones."""
MAX_ROWS = 2000
"""Items by which the size of a block is measured."""


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
        some = rows[np.linspace(0, len(rows) - 1, min(len(rows), MAX_ROWS)).astype(np.intp)]
        sample = np.asarray(X[some], dtype=np.float64)
        mean = sample.mean(axis=0)
        sample -= mean
        lengths = [np.sqrt((sample[:, a:b] ** 2).sum(axis=1).mean()) for a, b in checked]
        size = np.maximum(np.array(lengths), 1e-12)
        evidence = np.zeros(len(checked))
        seeds = Seeds.from_answers(answers)
        if seeds.n_kinds >= 2:
            spread = np.linspace(0, len(seeds.rows) - 1, min(len(seeds.rows), MAX_ANSWERS))
            used = np.unique(spread.astype(np.intp))
            told = seeds.labels[used]
            near = (np.asarray(X[seeds.rows[used]], dtype=np.float64) - mean) / np.repeat(
                size, [b - a for a, b in checked]
            )
            for place, (a, b) in enumerate(checked):
                evidence[place] = predictability(near[:, a:b], told)
        prior = np.where(np.arange(len(checked)) == 0, PRIOR, 0.0)
        score = evidence + prior
        share = np.exp(score - score.max())
        if not evidence.any():  # nothing is known: the first block alone
            share = (prior > 0).astype(float)
        return cls(checked, share / share.sum(), evidence, size)

    def scale(self) -> Floats:
        """(d,) the factor of each column of X."""
        factor = np.sqrt(self.share) / self.size * self.size[0]
        return np.repeat(factor, [b - a for a, b in self.blocks])

    def main(self) -> Floats:
        """(d,) one for the columns of the block that counts most, zero for the others."""
        chosen = np.arange(len(self.blocks)) == int(self.share.argmax())
        return np.repeat(chosen.astype(np.float64), [b - a for a, b in self.blocks])


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


def predictability(Z: Floats, told: Ints) -> float:
    """Logarithm of the probability with which the other answers predict each one.

    Regression on the kinds with a linear kernel, and for each item the prediction by all others
    (in closed form), as shares of the kinds.
    """
    k = int(told.max()) + 1
    counts = np.bincount(told, minlength=k)
    wanted = np.eye(k)[told]
    kernel = Z @ Z.T + np.mean(Z**2) + RIDGE * np.eye(len(Z))
    inverse = np.linalg.inv(kernel)
    centred = wanted - counts / len(told)
    without = centred - (inverse @ centred) / np.diag(inverse)[:, None]
    scores = SHARPNESS * without
    scores -= scores.max(axis=1, keepdims=True)
    shares = np.exp(scores)
    shares /= shares.sum(axis=1, keepdims=True)
    found = (1 - DOUBT) * shares[np.arange(len(told)), told] + DOUBT / k
    judged = counts[told] >= 2  # the only one of its kind cannot be predicted
    return float(np.log(found[judged]).sum())
