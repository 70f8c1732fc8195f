"""Seeds: the items whose group is known, and plain groups for what the answers leave open.

Plain groups are what a clustering finds without answers. Each of them is worth a few answers.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samekind.clusterers.group_count import guessed_count
from samekind.clusterers.kmeans.centres import Blocks
from samekind.clusterers.kmeans.constrained import KMeans
from samekind.constraints import Constraints
from samekind.neighbours import neighbour_graph

Floats = NDArray[Any]
Ints = NDArray[np.intp]

SMOOTHING_STEPS = 10
"""Half steps by which items move towards their neighbours before they are grouped."""
COUNTED_ITEMS, COUNTED_COMPONENTS = 800, 32
"""Items and principal components by which the number of plain groups is guessed."""
WORTH = 2.0
"""Answers that a plain group is worth before any have come."""
FADED = 10
"""Placed items for each plain group after which only the answers count."""
MIDDLE_ITEMS = 5
"""Items in the middle of a plain group from which it spreads."""
PRIOR_AGREEMENTS = 2.0
"""Pairs of answers that are taken to agree with the plain groups before any have come."""


@dataclass(frozen=True, eq=False)
class Seeds:
    """Rows with a known group, `labels` from 0 to ``n_kinds - 1``."""

    rows: Ints
    labels: Ints
    n_kinds: int
    everywhere: bool = False
    """Whether every row is a seed, so that nothing is left to spread to."""

    @classmethod
    def from_answers(cls, answers: Constraints) -> Seeds:
        """The kinds that the answers tell apart, in the order in which they came up."""
        kinds = answers.kinds
        if not kinds:
            return cls(np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp), 0)
        labels = np.repeat(np.arange(len(kinds)), [len(kind) for kind in kinds])
        return cls(np.concatenate(kinds), labels, len(kinds))

    @classmethod
    def from_groups(cls, labels: Ints) -> Seeds:
        """Every row in its group."""
        found, index = np.unique(labels, return_inverse=True)
        return cls(np.arange(len(labels)), index.astype(np.intp), len(found), everywhere=True)

    @classmethod
    def from_middles(cls, Z: Floats, groups: Ints, left_out: Ints) -> Seeds:
        """The items in the middle of each group; those `left_out` are never taken."""
        rows: list[Ints] = [np.empty(0, dtype=np.intp)]
        labels: list[Ints] = [np.empty(0, dtype=np.intp)]
        count = 0
        for group in np.unique(groups):
            members = np.setdiff1d(np.flatnonzero(groups == group), left_out)
            if not len(members):
                continue
            distances = ((Z[members] - Z[members].mean(axis=0)) ** 2).sum(axis=1)
            middle = members[np.argsort(distances, kind="stable")[:MIDDLE_ITEMS]]
            rows.append(middle)
            labels.append(np.full(len(middle), count))
            count += 1
        return cls(np.concatenate(rows), np.concatenate(labels), count)

    def completed(self, Z: Floats, groups: Ints, answered: Ints) -> Seeds:
        """With the middle of each group (of a plain clustering) that no kind has reached yet.

        Also where one kind has, and has few items: one of them, perhaps at the border, would speak
        for a whole group. Answered items are left out of the middles: they are placed as whole
        components later.
        """
        if not self.n_kinds:
            return Seeds.from_groups(groups)
        few = np.bincount(self.labels, minlength=self.n_kinds) < MIDDLE_ITEMS
        kinds = [np.unique(self.labels[groups[self.rows] == g]) for g in range(groups.max() + 1)]
        full = np.array([len(found) > 1 or not few[found].all() for found in kinds])
        left_out = np.union1d(answered, np.flatnonzero(full[groups]))
        middles = Seeds.from_middles(Z, groups, left_out)
        rows, labels, count = [self.rows], [self.labels], self.n_kinds
        for group in range(middles.n_kinds):
            middle = middles.rows[middles.labels == group]
            known = kinds[groups[middle[0]]]
            rows.append(middle)
            labels.append(np.full(len(middle), known[0] if len(known) else count))
            count += not len(known)
        return Seeds(np.concatenate(rows), np.concatenate(labels), count)

    def placed(self, strength: Floats, answers: Constraints) -> Seeds:
        """With every other answered component, each in the best group that the answers allow.

        Larger components choose first. One that no group may take opens a group of its own, so that
        every answer is honoured.
        """
        components = answers.components
        home: dict[int, int] = dict(
            zip(components[self.rows].tolist(), self.labels.tolist(), strict=True)
        )
        different: dict[int, set[int]] = {}
        for a, b in answers.component_links().tolist():
            different.setdefault(a, set()).add(b)
            different.setdefault(b, set()).add(a)
        waiting: dict[int, list[int]] = {}
        for row in answers.touched.tolist():
            if (component := int(components[row])) not in home:
                waiting.setdefault(component, []).append(row)
        count = max(self.n_kinds, strength.shape[1])  # plain groups have no seeds of their own
        rows, labels = [self.rows], [self.labels]
        by_size = sorted(waiting.items(), key=lambda entry: (-len(entry[1]), entry[0]))
        for component, members in by_size:
            score = np.log(strength[members] + 1e-9).sum(axis=0)
            taken = {home[other] for other in different.get(component, ()) if other in home}
            allowed = [k for k in range(strength.shape[1]) if k not in taken]
            if allowed:
                home[component] = allowed[int(np.argmax(score[allowed]))]
            else:
                home[component], count = count, count + 1
            rows.append(np.array(members))
            labels.append(np.full(len(members), home[component]))
        return Seeds(np.concatenate(rows), np.concatenate(labels), count)


def restricted(known: Constraints, rows: Ints) -> Constraints:
    """The same knowledge about some rows only (ascending, every answered item among them)."""
    if len(rows) == known.n_items and not known.n_gone:
        return known
    touched = known.touched
    at = dict(zip(touched.tolist(), np.searchsorted(rows, touched).tolist(), strict=True))
    first: dict[int, int] = {}
    links: list[tuple[int, int, bool]] = []
    for item in touched.tolist():
        component = int(known.components[item])
        if component in first:
            links.append((first[component], at[item], True))
        first.setdefault(component, at[item])
    order = {int(known.components[kind[0]]): k for k, kind in enumerate(known.kinds)}
    pairs = sorted(
        known.component_links().tolist(),
        key=lambda pair: (max(order.get(c, len(order)) for c in pair), pair),
    )
    links.extend((first[a], first[b], False) for a, b in pairs)
    return Constraints.from_links(len(rows), links)


def reference_rows(
    n: int, touched: Ints, size: int, rng: np.random.Generator, n_picked: int = 0
) -> Ints:
    """All items, or a random sample of this size that holds every answered one; ascending.

    `n_picked` of the answered items do not count: the person picked them, and they stand for no
    others.
    """
    if n <= size:
        return np.arange(n)
    drawn = rng.choice(n, size=size, replace=False)
    return np.union1d(touched, drawn[: max(0, size - (len(touched) - n_picked))])


def moved_together(Z: Floats, n_neighbors: int) -> Floats:
    """Principal components Z (m, p) of which each row has moved towards its neighbours.

    What lies close together gathers, so that gaps between groups open. Unlike on the graph alone,
    rows that are connected to few others still stay near what they resemble.
    """
    import scipy.sparse as sp

    graph = neighbour_graph(np.asarray(Z, dtype=np.float32), n_neighbors)
    walk = sp.diags(1 / np.asarray(graph.sum(axis=1)).ravel()) @ graph
    for _ in range(SMOOTHING_STEPS):
        Z = 0.5 * (Z + walk @ Z)
    return Z


def plain_groups(
    moved: Floats, n_groups: int, seed: int, answers: Constraints | None = None
) -> Ints:
    """(m,) groups by k-means of rows that have :func:`moved_together`, by the answers if given."""
    points = _directions(moved)
    if answers is not None and len(answers.touched):
        return np.asarray(
            KMeans(n_groups, random_state=seed).fit(points, constraints=answers).labels_
        )
    from sklearn.cluster import KMeans as Unconstrained  # three times as fast

    points = np.asarray(points, dtype=np.float32)
    n_groups = min(n_groups, len(np.unique(points, axis=0)))
    return np.asarray(Unconstrained(n_groups, n_init=4, random_state=seed).fit_predict(points))


def plain_count(Z: Floats, seed: int) -> int:
    """Guess how many plain groups there are, from some items and the first components.

    It ignores the answers: it must not jump with each of them. As it comes out the same at every
    refit, the last guesses are cached.
    """
    return _counted(np.asarray(Z, dtype=np.float64).tobytes(), Z.shape[1], seed)


@lru_cache(maxsize=4)
def _counted(items: bytes, width: int, seed: int) -> int:
    Z, rng = np.frombuffer(items).reshape(-1, width), np.random.default_rng(seed)
    rows = np.sort(rng.permutation(len(Z))[:COUNTED_ITEMS])
    some = np.ascontiguousarray(_directions(Z)[rows, :COUNTED_COMPONENTS])
    return guessed_count(some, Blocks.from_constraints(some, None), rng)


def _directions(Z: Floats) -> Floats:
    """Rows as seen from their mean, all of length one."""
    centred = Z - Z.mean(axis=0)
    return np.asarray(centred / np.maximum(np.linalg.norm(centred, axis=1, keepdims=True), 1e-12))


@dataclass(frozen=True, eq=False)
class Plain:
    """Groups of a plain clustering as a belief that answers can overrule, one place at a time.

    Parameters
    ----------
    source : (m, k) how strongly each row stands for each group before it is asked about. The first
        columns are the kinds that the answers tell apart, the others plain groups that are none of
        them.
    unseen : share of the items whose kind has probably not come up yet.
    kind : (groups,) the column that each plain group stands for; -1: none.
    worth : (groups,) answers that each is worth.
    """

    source: Floats
    unseen: float
    kind: Ints
    worth: Floats

    @classmethod
    def of(cls, groups: Ints, seeds: Seeds, unseen: float, *, closed: bool = False) -> Plain:
        """From plain groups (found without the answers) and the placed items.

        A group is taken for a kind that has most of its placed items there, or that at least two of
        them, and most of those in the group, belong to: one answer, perhaps a wrong one, does not
        merge two groups. Groups taken for a kind are worth less the less answers within one group
        agree. The others are worth as much as groups turned out to be kinds of their own, and more
        while kinds are still unseen; nothing if the number of kinds is `closed`.
        """
        n_groups = int(groups.max()) + 1
        votes = np.zeros((n_groups, seeds.n_kinds))
        np.add.at(votes, (groups[seeds.rows], seeds.labels), 1.0)
        kind = _kinds_of_groups(votes)
        reached = votes.sum(axis=1) > 0
        own = 2 * len(np.unique(votes.argmax(axis=0))) / max(int(reached.sum()), 1) - 1
        # Below one half, a group that no answer has reached is rather a part of a known kind.
        worth = np.where(kind >= 0, agreement(votes), 0.0 if closed else max(own, 0.0) + unseen)
        worth *= WORTH * max(0.0, 1 - len(seeds.rows) / (FADED * n_groups))
        nameless = np.flatnonzero((kind < 0) & (worth > 0))
        kind[nameless] = seeds.n_kinds + np.arange(len(nameless))
        source = np.zeros((len(groups), seeds.n_kinds + len(nameless)))
        each = worth / np.maximum(np.bincount(groups, minlength=n_groups), 1)
        rows = np.flatnonzero(kind[groups] >= 0)
        source[rows, kind[groups[rows]]] = each[groups[rows]]
        return cls(source, unseen, kind, worth)


def _kinds_of_groups(votes: Floats) -> Ints:
    """(groups,) the kind that each plain group is taken for; -1: none."""
    home = votes.argmax(axis=0)  # (kinds,)
    at_home = (home == np.arange(len(votes))[:, None]) & (votes > 0)
    best = (votes + 0.5 * at_home).argmax(axis=1)
    here = np.arange(len(votes)), best
    mostly = (votes[here] >= 2) & (votes[here] > votes.sum(axis=1) / 2)
    return np.asarray(np.where(at_home[here] | mostly, best, -1), dtype=np.intp)


def agreement(votes: Floats) -> float:
    """How much more often placed items of one plain group are of one kind than any two are.

    1: always. 0: no more often, so that the person looks for something that cuts across the groups.

    >>> agreement(np.array([[9.0, 0.0], [0.0, 9.0]]))
    1.0
    >>> agreement(np.array([[50.0, 50.0], [50.0, 50.0]])) < 0.01
    True
    """
    here, kind, total = votes.sum(axis=1), votes.sum(axis=0), votes.sum()
    overall = (kind * (kind - 1)).sum() / max(total * (total - 1), 1.0)
    if overall >= 1:
        return 0.0
    agreeing = (votes * (votes - 1)).sum() / 2 + PRIOR_AGREEMENTS
    alike = agreeing / ((here * (here - 1)).sum() / 2 + PRIOR_AGREEMENTS)
    return float(np.clip((alike - overall) / (1 - overall), 0.0, 1.0))


PLACED_PER_GROUP = 1.5
"""Placed items per plain group before the share of unseen kinds is estimated from them alone."""


def unseen_share(seeds: Seeds, n_plain: int = 0) -> float:
    """Share of items whose kind has probably not come up yet (Good-Turing).

    The share of placed items that are still alone in their kind. Questions look for what is new, so
    it errs on the high side; it falls to zero as kinds come up again. With few placed items for
    each of `n_plain` plain groups it is not relied on: while some kind has one item, it falls no
    faster than these groups are filled.
    """
    if not len(seeds.rows):
        return 1.0
    alone = int((np.bincount(seeds.labels, minlength=seeds.n_kinds) == 1).sum())
    share = (alone + 1) / (len(seeds.rows) + 1)
    if not alone or share <= 0.05:
        return 0.0
    return max(share, 1 - len(seeds.rows) / (PLACED_PER_GROUP * n_plain) if n_plain else 0.0)
