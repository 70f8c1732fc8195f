"""From answers about items to feedback about columns: which are chosen, which are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from samekind.clusterers.kmeans.centres import sums_by
from samekind.clusterers.live.settling import settled
from samekind.constraints import Constraints
from samekind.training.feedback_tuning import Feedback

Floats = NDArray[Any]
Ints = NDArray[np.intp]
LEAST = 1e-9
"""Shares below this speak no louder against a column."""
LIKELY = 0.5
"""Share from which an item that no other is known to be like stands for its column."""


def voted(p: Floats, known: Constraints) -> Floats:
    """Memberships p (n, k) in which items known to be of one kind have one row: their joint vote.

    Whoever many answers speak of has as many votes. That is the item that stood for a group while
    others were placed beside it: a hard item, which was asked about because the network may be
    wrong about it, must not carry the whole group to another column.

    >>> p = np.array([[0.9, 0.1], [0.2, 0.8], [0.1, 0.9], [0.3, 0.7]])
    >>> known = Constraints.from_links(4, [(0, 1, True), (0, 2, True)])
    >>> voted(p, known).argmax(axis=1).tolist()
    [0, 0, 0, 1]
    """
    links = known.links()
    ends = np.concatenate([links.a[links.same], links.b[links.same]])
    if not len(ends):
        return p
    voices = np.bincount(ends, minlength=known.n_items).astype(np.float64)
    items = known.touched
    home, of = np.unique(known.components[items], return_inverse=True)
    many = np.bincount(of) > 1
    # Items that are tied only through others that left the collection have one vote each.
    weight = np.maximum(voices[items], 1.0)
    total = sums_by(of, np.log(p[items] + LEAST) * weight[:, None], len(home))
    mean = total / np.bincount(of, weights=weight)[:, None]
    shares = np.exp(mean - mean.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    result = p.copy()
    tied = items[many[of]]
    result[tied] = shares[of[many[of]]]
    return result


def feedback_of(p: Floats, known: Constraints) -> Feedback:
    """What the answers mean in columns of the memberships p (n, k).

    Items known to be like another item are *chosen* for the column of their kind, which all of
    them vote for, kinds known to be different apart from each other. Items that are only known to
    differ from others have *refused* the columns of those, where these are more than a guess. A
    kind for which no column is left has no feedback.

    >>> p = np.array([[0.9, 0.1, 0.0], [0.4, 0.6, 0.0], [0.1, 0.8, 0.1], [0.1, 0.8, 0.1]])
    >>> known = Constraints.from_links(4, [(0, 1, True), (3, 2, False), (3, 0, False)])
    >>> found = feedback_of(p, known)
    >>> found.items.tolist(), found.chosen.tolist(), found.refused[2].tolist()
    ([0, 1, 3], [0, 0, -1], [True, True, False])
    """
    k = p.shape[1]
    items = known.touched
    votes = voted(p, known)
    result = settled(votes, known)
    group = result.labels[items]
    column = np.full(len(items), -1, dtype=np.intp)
    inside = group < len(result.columns)
    column[inside] = result.columns[group[inside]]
    home, first, of = np.unique(known.components[items], return_index=True, return_inverse=True)
    sizes = np.bincount(of, minlength=len(home))
    chosen = np.where(sizes[of] > 1, column, -1)
    sure = (sizes[of] > 1) | (votes[items, column] >= LIKELY)
    stands = np.where(sure, column, -1)[first]  # (components,) the column that it stands for
    refused = np.zeros((len(home), k + 1), dtype=bool)  # the last column: for those without one
    pairs = np.searchsorted(home, known.component_links())
    for a, b in (pairs.T, pairs.T[::-1]):
        refused[a, stands[b]] = True
    table = refused[of, :k] & (sizes[of] == 1)[:, None]
    table &= ~table.all(axis=1, keepdims=True)  # nothing is left for these
    used = (chosen >= 0) | table.any(axis=1)
    return Feedback(items[used], chosen[used], table[used])
