"""Straight: groups by a linear classifier on the answers alone, where spreading misleads.

Answers spread well where items of one kind lie close together. Some wishes cut across that: whether
eyes are open, with twenty faces in the pile, or how many things there are. Neighbours then are of
one face, not of one kind, and the classifier alone is better. Which of the two is the case is
decided by the answers themselves: each is foretold from the others in both ways.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samekind.clusterers.live.graph import spread
from samekind.clusterers.live.linear_head import LinearHead
from samekind.clusterers.live.orientation import Orientation
from samekind.clusterers.live.seeds import Seeds

Floats = NDArray[Any]
Ints = NDArray[np.intp]

FOLDS = 4
FEWEST = 12
"""Placed items below which nobody can tell."""
CLEARLY = 1.0
"""Standard deviations of chance by which it must be ahead."""
FIRM, CONFIDENCE = 1000.0, (2.0, 40.0)
"""Inverse strength of the penalty times the number of answers, and its bounds, for items of length
one: late answers are about items between groups, and each says less of where the border lies."""
SAMPLE = 2000
"""Items over which answers spread in the trial."""


def straight_head(space: Floats, seeds: Seeds, weight: Floats | None) -> LinearHead:
    """The classifier on items along the orientation, as a head."""
    k = seeds.n_kinds
    model = straight_line(space, seeds, weight)
    towards, bias = np.zeros((space.shape[1], k)), np.full(k, -1e4)
    present = model.classes_
    if len(present) == 2:
        towards[:, present[1]], bias[present] = model.coef_[0], (0.0, model.intercept_[0])
    else:
        towards[:, present], bias[present] = model.coef_.T, model.intercept_
    return LinearHead(towards.astype(np.float32), bias.astype(np.float32))


def straight_line(space: Floats, seeds: Seeds, weight: Floats | None) -> Any:
    """A linear classifier along the orientation, trained on the seeds alone."""
    from sklearn.linear_model import LogisticRegression

    # Whitened items are the longer the more coordinates they have: the penalty must follow.
    firmness = np.clip(FIRM / len(seeds.rows), *CONFIDENCE) / space.shape[1]
    model = LogisticRegression(C=float(firmness), max_iter=300)
    with warnings.catch_warnings():  # many kinds and few answers are the usual beginning here
        warnings.filterwarnings("ignore", message="The number of unique classes is greater")
        model.fit(space[seeds.rows], seeds.labels, sample_weight=weight)
    return model


def cuts_across(
    Z: Floats,
    seeds: Seeds,
    weight: Floats | None,
    *,
    shrinkage: float,
    n_neighbors: int,
    width: int,
    balance: float,
    seed: int,
) -> bool:
    """Whether the classifier foretells answers clearly better than what spreads from the others.

    Parameters
    ----------
    Z : (m, p) principal components. seeds : the placed items. weight : how much each is believed.
    """
    if seeds.n_kinds < 2 or len(seeds.rows) < FEWEST:
        return False
    rng = np.random.default_rng(seed)
    others = np.setdiff1d(np.arange(len(Z)), seeds.rows)
    drawn = rng.permutation(others)[: max(0, SAMPLE - len(seeds.rows))]
    rows = np.union1d(seeds.rows, drawn)
    Z, at = Z[rows], np.searchsorted(rows, seeds.rows)
    believed = np.ones(len(at)) if weight is None else np.asarray(weight)[: len(at)]
    ahead = doubt = 0.0
    for out in _folds(seeds.labels, rng):
        kept = np.flatnonzero(~out)
        kinds, labels = np.unique(seeds.labels[kept], return_inverse=True)
        asked = np.flatnonzero(out & np.isin(seeds.labels, kinds))
        if len(kinds) < 2 or not len(asked):
            continue
        some = Seeds(at[kept], labels.astype(np.intp), len(kinds))
        space = Orientation.learnt(Z, some, shrinkage, believed[kept])(Z)
        strength = spread(space, some, n_neighbors, believed[kept], width=width, balance=balance)
        reached = strength[at[asked]]
        meant = np.searchsorted(kinds, seeds.labels[asked])
        by_spread = reached.argmax(axis=1) == meant
        by_line = straight_line(space, some, believed[kept]).predict(space[at[asked]]) == meant
        gain = (by_line.astype(float) - by_spread) * believed[asked]
        ahead, doubt = ahead + gain.sum(), doubt + (gain**2).sum()
    return bool(ahead > CLEARLY * np.sqrt(doubt))


def _folds(labels: Ints, rng: np.random.Generator) -> list[NDArray[np.bool_]]:
    """Masks of the items that are left out in turn; each kind is spread over all of them."""
    order = np.lexsort((rng.random(len(labels)), labels))
    fold = np.empty(len(labels), dtype=np.intp)
    fold[order] = np.arange(len(labels)) % FOLDS
    return [fold == k for k in range(FOLDS)]
