"""Known links of the items of a batch, looked up in arrays without a loop over pairs."""

from __future__ import annotations

import math
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

    Both papers extend the answers "after a number of iterations", without numbers: OCC "by pseudo
    labeling the instances similar to annotated ones with a high confidence", PCL "by labeling
    similar pairs with high confidence". Two rules are made of that:

    * :meth:`most_certain`, the papers' words: the most certain share of each group, and of them the
      most similar pairs with an answered item. The other item is then linked to all that the
      answers call the same kind as that one. It always finds some, once there are answers.
    * :meth:`above`, PCL's program: memberships and cosine above .9999. A network that is not yet
      sure to four digits finds none.

    Guesses are looked up like answers, and never contradict them. They do not go through the
    closure, so that one wrong guess cannot spread.

    Parameters
    ----------
    group : (n,) the group of each item that is certain; -1 for all others.
    z : (n, M) unit vectors.
    alike : least cosine of a guessed pair. most : guessed pairs per batch, the most alike first.
    near_answers : whether an answer must be known about one of the two items. The other one is then
        linked to the whole component of that item, as far as it is in the batch.
    """

    group: Ints
    z: NDArray[np.float32]
    alike: float = 0.9999
    most: int = 64
    near_answers: bool = False

    @classmethod
    def above(cls, z: Any, p: Any, *, certain: float = 0.9999, most: int = 64) -> Self:
        """Guess from vectors z (n, M) and memberships p (n, K), both above a threshold."""
        group = np.where(p.max(axis=1) > certain, p.argmax(axis=1), -1)
        return cls(group.astype(np.intp), _unit(z), min(certain, 0.9999), most)

    @classmethod
    def most_certain(cls, z: Any, p: Any, *, share: float, most: int = 64) -> Self:
        """Guess from the `share` of each group that has the largest memberships p (n, K).

        Items that are as certain as the last of the share belong to it.
        """
        group, certainty = p.argmax(axis=1), p.max(axis=1)
        for each in np.unique(group):
            members = np.flatnonzero(group == each)
            count = math.ceil(share * len(members))
            if count < len(members):
                least = np.partition(certainty[members], -count)[-count] if count else np.inf
                group[members[certainty[members] < least]] = -1
        return cls(group.astype(np.intp), _unit(z), -1.0, most, near_answers=True)

    def pairs(self, items: Ints, known: Answered) -> Ints:
        """Places (G, 2) in `items` that are guessed to be alike and of which nothing is known."""
        places = np.flatnonzero(self.group[items] >= 0)
        if len(places) < 2:
            return _NO_PAIRS
        best = places[self._most_alike(items[places], known)]
        if not self.near_answers:
            return best
        home = known.component[items]
        found = [best]
        for near, other in (best.T, best.T[::-1]):
            also = (home[near][:, None] == home) & (near[:, None] != np.arange(len(items)))
            row, place = np.nonzero(also)
            found.append(np.stack([other[row], place], axis=1))
        return np.concatenate(found)

    def _most_alike(self, items: Ints, known: Answered) -> Ints:
        """Places (G, 2) of open pairs of one group, at most so many, the most alike first."""
        group, home, z = self.group[items], known.component[items], self.z[items]
        open_pair = np.triu((group[:, None] == group) & (home[:, None] != home), 1)
        if self.near_answers:
            open_pair &= known.touched[items][:, None] | known.touched[items]
        a, b = known.pairs(items)[1].T
        open_pair[np.minimum(a, b), np.maximum(a, b)] = False
        cosine = np.where(open_pair, z @ z.T, -np.inf).ravel()  # (m * m,)
        found = np.flatnonzero(cosine > self.alike)
        if len(found) > self.most:
            found = found[np.argpartition(-cosine[found], self.most - 1)[: self.most]]
        best = found[np.argsort(-cosine[found], kind="stable")]
        return np.stack(np.divmod(best, len(items)), axis=1)


def _unit(z: Any) -> NDArray[np.float32]:
    length = np.linalg.norm(z, axis=1, keepdims=True)
    return np.asarray(z / np.maximum(length, 1e-12), dtype=np.float32)


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
