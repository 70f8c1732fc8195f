"""Known links of the items of a batch, looked up in arrays without a loop over pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from samekind.constraints import Constraints
from samekind.objectives.links import BatchLinks

Ints = NDArray[np.intp]
_NO_PAIRS = np.empty((0, 2), dtype=np.intp)


@dataclass(frozen=True, eq=False)
class Answered:
    """The closure of the answers as arrays. Memory follows items and answers, never their square.

    Parameters
    ----------
    component : (n,) number of the component of each item; most components are single items.
    members, first : items sorted by component; component c has ``members[first[c]:first[c + 1]]``.
    foes, first_foe : likewise for each component those that are known to be different.
    touched : (n,) whether an item has a partner of either sort.

    >>> known = Answered.from_constraints(Constraints.from_links(4, [(0, 1, True), (1, 3, False)]))
    >>> same, different = known.pairs(np.array([3, 1, 0]))
    >>> same.tolist(), different.tolist()
    ([[1, 2]], [[0, 1], [0, 2]])
    """

    component: Ints
    members: Ints
    first: Ints
    foes: Ints
    first_foe: Ints
    touched: NDArray[np.bool_]

    @classmethod
    def from_constraints(cls, constraints: Constraints) -> Self:
        """The arrays of a closure."""
        component = constraints.components
        count = int(component.max(initial=-1)) + 1
        sizes = np.bincount(component, minlength=count)
        members = np.argsort(component, kind="stable").astype(np.intp)
        pairs = constraints.component_links()
        ends = np.concatenate([pairs, pairs[:, ::-1]])
        ends = ends[np.lexsort((ends[:, 1], ends[:, 0]))]
        n_foes = np.bincount(ends[:, 0], minlength=count)
        touched = (sizes + n_foes > 1)[component]
        return cls(component, members, _starts(sizes), ends[:, 1], _starts(n_foes), touched)

    @property
    def any(self) -> bool:
        """Whether anything is known at all."""
        return bool(self.touched.any())

    def pairs(self, items: Ints) -> tuple[Ints, Ints]:
        """Places (P, 2) in `items` known to be the same kind, and (C, 2) known to be different."""
        places = np.flatnonzero(self.touched[items])
        if len(places) < 2:
            return _NO_PAIRS, _NO_PAIRS
        found, index = np.unique(self.component[items[places]], return_inverse=True)
        apart = np.zeros((len(found), len(found)), dtype=bool)
        foes, owner = self._foes_of(found)
        at = np.minimum(np.searchsorted(found, foes), len(found) - 1)
        hit = found[at] == foes
        apart[owner[hit], at[hit]] = True
        together = index[:, None] == index[None, :]
        return _upper(places, together), _upper(places, apart[index[:, None], index[None, :]])

    def partners(self, items: Ints, count: int, rng: np.random.Generator) -> Ints:
        """At most `count` other items that some answer links to one of `items`, at random."""
        linked = items[self.touched[items]]
        if not len(linked) or count < 1:
            return np.empty(0, dtype=np.intp)
        # Twice as many as wanted are drawn, because some will be in the batch already.
        home = self.component[rng.choice(linked, 2 * count)]
        u, v, coin = rng.random((3, len(home)))
        n_foes = self.first_foe[home + 1] - self.first_foe[home]
        alone = self.first[home + 1] - self.first[home] == 1
        across = (n_foes > 0) & (alone | (coin < 0.5))
        if len(self.foes):
            place = self.first_foe[home] + (u * n_foes).astype(np.intp)
            home = np.where(across, self.foes[np.minimum(place, len(self.foes) - 1)], home)
        size = self.first[home + 1] - self.first[home]
        drawn = self.members[self.first[home] + (v * size).astype(np.intp)]
        fresh = drawn[~np.isin(drawn, items)]
        _, order = np.unique(fresh, return_index=True)
        return np.asarray(fresh[np.sort(order)][:count], dtype=np.intp)

    def _foes_of(self, components: Ints) -> tuple[Ints, Ints]:
        """All foes of some components, and for each the place of its owner."""
        counts = self.first_foe[components + 1] - self.first_foe[components]
        owner = np.repeat(np.arange(len(components)), counts)
        within = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
        return self.foes[self.first_foe[components][owner] + within], owner


@dataclass(frozen=True, eq=False)
class Guesses:
    """Links that the method itself takes for granted (label extension); never kept as answers.

    PCL, section on extension, and OCC: two items of one group, both placed there with near
    certainty, and alike. They are looked up like answers, but never go through the closure, so
    that one wrong guess cannot spread.

    Parameters
    ----------
    group : (n,) the group of each item that is certain; -1 for all others.
    z : (n, M) unit vectors.
    alike : least cosine of a guessed pair. most : guessed pairs per batch, the most alike first.
    """

    group: Ints
    z: NDArray[np.float32]
    alike: float = 0.9999
    most: int = 64

    @classmethod
    def of(cls, z: Any, p: Any, *, certain: float = 0.9999, most: int = 64) -> Self:
        """Guesses from the vectors z (n, M) and memberships p (n, K) of all items."""
        group = np.where(p.max(axis=1) > certain, p.argmax(axis=1), -1)
        length = np.linalg.norm(z, axis=1, keepdims=True)
        unit = np.asarray(z / np.maximum(length, 1e-12), dtype=np.float32)
        return cls(group.astype(np.intp), unit, min(certain, 0.9999), most)

    def pairs(self, items: Ints, known: Answered) -> Ints:
        """Places (G, 2) in `items` that are guessed to be alike and of which nothing is known."""
        places = np.flatnonzero(self.group[items] >= 0)
        if len(places) < 2:
            return _NO_PAIRS
        group, z = self.group[items[places]], self.z[items[places]]
        cosine = z @ z.T  # (m, m)
        home = known.component[items[places]]
        open_pair = (group[:, None] == group) & (home[:, None] != home) & (cosine > self.alike)
        a, b = np.nonzero(np.triu(open_pair, 1))
        best = np.argsort(-cosine[a, b], kind="stable")[: self.most]
        return np.stack([places[a[best]], places[b[best]]], axis=1)


def batch_links(
    items: Ints,
    known: Answered | Constraints,
    guesses: Guesses | None = None,
    *,
    device: torch.device | str = "cpu",
) -> BatchLinks:
    """All that is known or guessed about the items of a batch, ready for a loss.

    It is looked up on the host, where the batch was drawn, and sent without waiting. Lengths are
    filled up to powers of two with pairs of an item and itself, which a loss ignores, so that only
    few different shapes ever occur.
    """
    if isinstance(known, Constraints):
        known = Answered.from_constraints(known)
    same, different = known.pairs(items)
    guessed = _NO_PAIRS if guesses is None else guesses.pairs(items, known)
    return BatchLinks(*(to_device(_filled(pairs), device) for pairs in (same, different, guessed)))


def to_device(array: NDArray[Any], device: torch.device | str) -> Tensor:
    """An array on the device, copied without waiting for it where that is possible."""
    tensor = torch.from_numpy(np.ascontiguousarray(array))
    if torch.device(device).type == "cpu":
        return tensor
    return tensor.pin_memory().to(device, non_blocking=True)


def _filled(pairs: Ints) -> NDArray[np.int64]:
    if not len(pairs):
        return pairs.astype(np.int64)
    length = 1 << (len(pairs) - 1).bit_length()
    filled = np.zeros((length, 2), dtype=np.int64)
    filled[: len(pairs)] = pairs
    return filled


def _upper(places: Ints, mask: NDArray[np.bool_]) -> Ints:
    a, b = np.nonzero(np.triu(mask, 1))
    return np.stack([places[a], places[b]], axis=1)


def _starts(sizes: Ints) -> Ints:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp)
