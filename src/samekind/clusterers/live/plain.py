"""Plain groups: what a clustering finds without answers. Each of them is worth a few answers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samekind.clusterers.group_count import guessed_count
from samekind.clusterers.kmeans.centres import Blocks
from samekind.clusterers.kmeans.constrained import KMeans
from samekind.clusterers.live.graph import closeness
from samekind.clusterers.live.seeds import Seeds
from samekind.constraints import Constraints

Floats = NDArray[Any]
Ints = NDArray[np.intp]

GATHERED = 10
"""Half steps by which items move towards their neighbours before they are grouped."""
GUESSED = 800
"""Items by which the number of plain groups is guessed."""
FIRST = 32
"""Principal components by which it is guessed."""
WORTH = 2.0
"""Answers that a plain group is worth before any have come."""
FADED = 10
"""Placed items for each plain group after which all that counts are the answers."""
AGREED = 2.0
"""Pairs of answers that are taken to agree with the plain groups before any have come."""


def plain_groups(
    Z: Floats, n_groups: int, n_neighbors: int, seed: int, answers: Constraints | None = None
) -> Ints:
    """(m,) groups of principal components Z by k-means, after neighbours have moved together.

    What lies close together gathers, so that gaps between groups open. Other than on the graph
    alone, rows that hang together with few others still stay near to what they resemble.
    """
    import scipy.sparse as sp

    graph = closeness(np.asarray(Z, dtype=np.float32), n_neighbors)
    walk = sp.diags(1 / np.asarray(graph.sum(axis=1)).ravel()) @ graph
    for _ in range(GATHERED):
        Z = 0.5 * (Z + walk @ Z)
    points = directions(Z)
    if answers is not None and len(answers.touched):
        return np.asarray(
            KMeans(n_groups, random_state=seed).fit(points, constraints=answers).labels_
        )
    from sklearn.cluster import KMeans as Unconstrained  # three times as fast

    points = np.asarray(points, dtype=np.float32)
    n_groups = min(n_groups, len(np.unique(points, axis=0)))
    return np.asarray(Unconstrained(n_groups, n_init=4, random_state=seed).fit_predict(points))


def plain_count(Z: Floats, seed: int) -> int:
    """How many plain groups there are, guessed from some items and what spreads most.

    It does not look at the answers: it must not jump with each of them. As it comes out the same
    at every refit, the last guesses are remembered.
    """
    return _counted(np.asarray(Z, dtype=np.float64).tobytes(), Z.shape[1], seed)


@lru_cache(maxsize=4)
def _counted(items: bytes, width: int, seed: int) -> int:
    Z, rng = np.frombuffer(items).reshape(-1, width), np.random.default_rng(seed)
    rows = np.sort(rng.permutation(len(Z))[:GUESSED])
    some = np.ascontiguousarray(directions(Z)[rows, :FIRST])
    return guessed_count(some, Blocks.from_constraints(some, None), rng)


def directions(Z: Floats) -> Floats:
    """Rows as seen from their middle, all of length one."""
    centred = Z - Z.mean(axis=0)
    return np.asarray(centred / np.maximum(np.linalg.norm(centred, axis=1, keepdims=True), 1e-12))


@dataclass(frozen=True, eq=False)
class Plain:
    """Groups of a plain clustering as a belief that answers can overrule, one place at a time.

    Parameters
    ----------
    source : (m, k) what each row gives to each group before it is asked about. The first columns
        are the kinds that the answers tell apart, the others plain groups that are none of them.
    unseen : share of the items whose kind has probably not come up yet.
    """

    source: Floats
    unseen: float

    @classmethod
    def of(cls, groups: Ints, seeds: Seeds, unseen: float, *, closed: bool = False) -> Plain:
        """From plain groups (found without the answers) and the placed items.

        A group takes the name of a kind that has most of its placed items there, or that two of
        them, and most of those in the group, stand for: one answer, perhaps a wrong one, does not
        make one group of two. Named groups are worth less the less answers within one group agree.
        Those without a name are worth as much as other groups turned out to be kinds of their own,
        and more while kinds are still unseen; nothing if the number of kinds is `closed`.
        """
        n_groups = int(groups.max()) + 1
        votes = np.zeros((n_groups, seeds.n_kinds))
        np.add.at(votes, (groups[seeds.rows], seeds.labels), 1.0)
        name = _names(votes)
        reached = votes.sum(axis=1) > 0
        own = 2 * len(np.unique(votes.argmax(axis=0))) / max(int(reached.sum()), 1) - 1
        # Below one half, a group that no answer has reached is rather a part of a known kind.
        worth = np.where(name >= 0, agreement(votes), 0.0 if closed else max(own, 0.0) + unseen)
        worth *= WORTH * max(0.0, 1 - len(seeds.rows) / (FADED * n_groups))
        nameless = np.flatnonzero((name < 0) & (worth > 0))
        name[nameless] = seeds.n_kinds + np.arange(len(nameless))
        source = np.zeros((len(groups), seeds.n_kinds + len(nameless)))
        each = worth / np.maximum(np.bincount(groups, minlength=n_groups), 1)
        rows = np.flatnonzero(name[groups] >= 0)
        source[rows, name[groups[rows]]] = each[groups[rows]]
        return cls(source, unseen)


def _names(votes: Floats) -> Ints:
    """(groups,) the kind that each plain group is taken for; -1: none."""
    home = votes.argmax(axis=0)  # (kinds,)
    at_home = (home == np.arange(len(votes))[:, None]) & (votes > 0)
    best = (votes + 0.5 * at_home).argmax(axis=1)
    here = np.arange(len(votes)), best
    mostly = (votes[here] >= 2) & (votes[here] > votes.sum(axis=1) / 2)
    return np.asarray(np.where(at_home[here] | mostly, best, -1), dtype=np.intp)


def agreement(votes: Floats) -> float:
    """How much more often placed items of one plain group are of one kind than any two are.

    1: always; 0: not more often, so that the person looks for something else than lies together.

    >>> agreement(np.array([[9.0, 0.0], [0.0, 9.0]]))
    1.0
    >>> agreement(np.array([[50.0, 50.0], [50.0, 50.0]])) < 0.01
    True
    """
    here, kind, total = votes.sum(axis=1), votes.sum(axis=0), votes.sum()
    overall = (kind * (kind - 1)).sum() / max(total * (total - 1), 1.0)
    if overall >= 1:
        return 0.0
    alike = ((votes * (votes - 1)).sum() / 2 + AGREED) / ((here * (here - 1)).sum() / 2 + AGREED)
    return float(np.clip((alike - overall) / (1 - overall), 0.0, 1.0))
