"""From memberships to groups that honour every answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samekind.clusterers.kmeans.assignment import Assigner
from samekind.clusterers.kmeans.centres import Blocks, sums_by
from samekind.constraints import Constraints

Floats = NDArray[Any]
Ints = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Settled:
    """Groups without gaps, and how the columns of the memberships lead to them.

    Parameters
    ----------
    labels : (n,) from 0. membership : (n, groups), rows sum to one.
    columns : which columns of the memberships became groups; the first groups, in this order.
    """

    labels: Ints
    membership: NDArray[np.float32]
    columns: Ints

    def predict(self, p: Floats) -> Ints:
        """The groups of other items, by their memberships."""
        return np.asarray(p[:, self.columns].argmax(axis=1), dtype=np.intp)


def settled(p: Floats, known: Constraints) -> Settled:
    """Put every item into its strongest group, answered ones where the answers allow it.

    Items known to be of one kind vote together. Kinds known to be different are kept apart, where
    that is cheapest. Items that no group may take open a group of their own.
    """
    n, k = p.shape
    labels = np.asarray(p.argmax(axis=1), dtype=np.intp)
    if len(known.touched):
        labels = _honoured(p, labels, known)
    present = np.unique(labels)
    columns = present[present < k]
    if not len(columns):
        columns = np.array([int(p.sum(axis=0).argmax())])
    membership = np.zeros((n, len(present)), dtype=np.float32)
    inside = p[:, columns] + 1e-12
    membership[:, : len(columns)] = inside / inside.sum(axis=1, keepdims=True)
    final = np.searchsorted(present, labels).astype(np.intp)
    sure = np.union1d(known.touched, np.flatnonzero(labels >= k)).astype(np.intp)
    membership[sure] = np.eye(len(present), dtype=np.float32)[final[sure]]
    return Settled(final, membership, columns)


def _honoured(p: Floats, labels: Ints, known: Constraints) -> Ints:
    """Labels in which no answer is broken; numbers from k on are groups opened here."""
    blocks = Blocks.from_constraints(p, known)
    members = blocks.members
    if not len(members):
        return labels
    cost = sums_by(blocks.of[members], -np.log(p[members] + 1e-9), len(blocks.size))
    placed = Assigner(blocks.apart, p.shape[1]).assign(cost)
    edges = blocks.apart.tocoo()
    clashing = np.flatnonzero(placed[edges.row] == placed[edges.col])
    for a, b in zip(edges.row[clashing].tolist(), edges.col[clashing].tolist(), strict=True):
        if placed[a] != placed[b]:
            continue
        mover = a if blocks.size[a] <= blocks.size[b] else b
        others = blocks.apart.indices[blocks.apart.indptr[mover] : blocks.apart.indptr[mover + 1]]
        taken = set(placed[others].tolist())
        allowed = [group for group in np.argsort(cost[mover]).tolist() if group not in taken]
        opened = p.shape[1]
        while opened in taken:
            opened += 1
        placed[mover] = allowed[0] if allowed else opened
    labels = labels.copy()
    labels[members] = placed[blocks.of[members]]
    return labels
