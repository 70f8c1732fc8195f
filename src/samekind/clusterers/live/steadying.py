"""Steadying: what the answers said a moment ago counts as well.

Each answer moves borders, and some of the moves are chance. The groups are therefore averaged with
those that the answers without the latest five, and without the latest ten, lead to. These count the
less the more of the latest answers they did not expect: then there is a reason to change. The first
answers always have one. They also count less where answers are doubted: earlier groups were misled
by wrong answers that later ones have outvoted. All this depends on the answers alone, so that a
ledger leads to the same groups again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samekind.clusterers.live.seeds import Plain, Seeds
from samekind.constraints import Constraints

Floats = NDArray[Any]
Ints = NDArray[np.intp]
SharesOf = Callable[[Seeds, Plain, Ints], Floats]
"""Shares (m, j) that follow from some of the seeds: they, plain groups, their places among all."""

LEFT_OUT = (5, 10)
"""Latest answers without which the groups are found again."""
EARLIER_WEIGHT = 0.7
"""What each of these counts beside the groups by all answers, if they expected the latest ones."""
STEADY = (10, 30)
"""Placed items from which earlier groups count, and count fully."""
FEWER_KINDS = 0.6
"""The same is multiplied by this if a kind has come up since."""
MAX_DOUBTED = 0.05
"""Share of doubted answers from which earlier groups do not count at all."""
MAX_ANSWERS = 2000
"""With more answers the latest few change little."""


def latest_rows(known: Constraints, rows: Ints) -> tuple[Ints, ...]:
    """Places in `rows` (ascending) of the items that only the latest answers are about.

    One array for each of :data:`LEFT_OUT`; none, where no answers came before or very many.
    """
    if known.n_answers > MAX_ANSWERS:
        return ()
    answers = known.answers
    found = []
    for count in LEFT_OUT:
        before, since = answers[:-count], answers[-count:]
        if before:
            earlier = {item for answer in before for item in answer.question.items()}
            later = {item for answer in since for item in answer.question.items()}
            items = np.array(sorted(later - earlier), dtype=np.intp)
            found.append(np.searchsorted(rows, np.intersect1d(items, rows)).astype(np.intp))
    return tuple(found)


def steadied(
    shares: Floats, told: Seeds, plain: Plain, groups: Ints, latest: tuple[Ints, ...],
    shares_of: SharesOf, doubted: float = 0.0,
) -> Floats:  # fmt: skip
    """(m, k) shares, averaged with those of the answers without the latest ones.

    Parameters
    ----------
    shares : by all answers. told : the items that the person has placed. groups : (m,) plain
        groups. latest : see :func:`latest_rows`. shares_of : finds shares from some of the seeds.
        doubted : share of the answers that are doubted.
    """
    total, weights = shares.copy(), 1.0
    low, high = STEADY
    steady = EARLIER_WEIGHT * float(np.clip((len(told.rows) - low) / (high - low), 0.0, 1.0))
    steady *= max(0.0, 1 - doubted / MAX_DOUBTED)
    for left_out in latest if steady else ():
        new = np.isin(told.rows, left_out)
        kept = np.flatnonzero(~new)
        if not new.any() or not len(kept):
            continue
        kinds, labels = np.unique(told.labels[kept], return_inverse=True)
        if len(kinds) < 2:
            continue
        known = Seeds(told.rows[kept], labels.astype(np.intp), len(kinds))
        then = Plain.of(groups, known, plain.unseen, closed=not plain.unseen)
        found = _in_columns(shares_of(known, then, kept), kinds, then, plain, shares)
        expected = float((found[told.rows[new]].argmax(axis=1) == told.labels[new]).mean())
        weight = steady * expected * (FEWER_KINDS if len(kinds) < told.n_kinds else 1.0)
        total += weight * found
        weights += weight
    return np.asarray(total / weights)


def _in_columns(found: Floats, kinds: Ints, then: Plain, now: Plain, shares: Floats) -> Floats:
    """Earlier shares in the columns of those by all answers.

    Plain groups that were no kind go where they belong now. What has no column any more is shared
    out as it is by all answers.
    """
    moved = np.zeros(shares.shape)
    moved[:, kinds] = found[:, : len(kinds)]
    for group in np.flatnonzero(then.kind >= len(kinds)).tolist():
        if now.kind[group] >= 0:
            moved[:, now.kind[group]] += found[:, then.kind[group]]
    rest = 1 - moved.sum(axis=1, keepdims=True)
    return np.asarray(moved + rest * shares)
