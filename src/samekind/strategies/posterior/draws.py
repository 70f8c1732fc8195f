"""Draws of whole groupings, and their weights given the answers."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from samekind.clustering import Clustering
from samekind.constraints import Constraints
from samekind.protocols import View
from samekind.strategies.exemplars import soft

Floats = NDArray[Any]
Ints = NDArray[np.intp]

MAX_ITEMS = 600
"""Items that are considered; of more, a random part that includes all answered ones."""
MAX_DRAWS = 256
"""Draws that are considered; of more, those of largest weight."""
MIN_EFFECTIVE_DRAWS = 16.0
"""With fewer effective draws, those that contradict few answers are kept as well."""
PENALTY = 2.0
"""Then each contradicted answer lowers the log weight of a draw by this."""


class Draws(NamedTuple):
    """Draws of groupings of some items.

    Parameters
    ----------
    items : (m,) ascending. labels : (S, m) groups in each draw. weight : (S,) summing to one.
    exact : whether the method made them; else they were drawn from its memberships.
    """

    items: Ints
    labels: NDArray[np.int16]
    weight: NDArray[np.float64]
    exact: bool

    def places(self, items: Ints) -> Ints:
        """Columns of some items; -1 for those that are not considered."""
        at = np.searchsorted(self.items, items).clip(0, len(self.items) - 1)
        return np.where(self.items[at] == items, at, -1)

    def contradictions(self, known: Constraints) -> Ints:
        """(S,) number of links that each draw contradicts."""
        links = known.links()
        a, b = self.places(links.a), self.places(links.b)
        here = (a >= 0) & (b >= 0)
        wrong = (self.labels[:, a[here]] == self.labels[:, b[here]]) != links.same[here]
        return np.asarray(wrong.sum(axis=1), dtype=np.intp)

    def given(self, known: Constraints) -> NDArray[np.float64]:
        """(S,) weights given all answers, including those after the draws were made.

        Draws that contradict an answer are dropped. If hardly any would be left, those with few
        contradictions stay until the next refit draws again.
        """
        count = self.contradictions(known)
        if not count.any():
            return self.weight
        strict = np.where(count == 0, self.weight, 0.0)
        if n_effective(strict) >= MIN_EFFECTIVE_DRAWS:
            return np.asarray(strict / strict.sum())
        tolerant = self.weight * np.exp(-PENALTY * (count - count.min()))
        return np.asarray(tolerant / tolerant.sum())


def softened(draws: Draws, known: Constraints) -> tuple[NDArray[np.float64], bool]:
    """(S,) weights given all answers, and whether enough draws honour them all.

    If not, each contradicted answer lowers a weight as much as leaves enough effective draws, so
    that a few draws that happen to fit are not mistaken for certainty.
    """
    count = draws.contradictions(known)
    strict = np.where(count == 0, draws.weight, 0.0)
    least = min(MIN_EFFECTIVE_DRAWS, n_effective(draws.weight))
    if n_effective(strict) >= least - 1e-9:
        return np.asarray(strict / strict.sum()), True
    low, high = 0.0, PENALTY
    for _ in range(20):
        middle = (low + high) / 2
        enough = n_effective(draws.weight * np.exp(-middle * (count - count.min()))) >= least
        low, high = (middle, high) if enough else (low, middle)
    weight = draws.weight * np.exp(-low * (count - count.min()))
    return np.asarray(weight / weight.sum()), False


def n_effective(weight: NDArray[np.float64]) -> float:
    """The effective number of draws.

    >>> n_effective(np.array([0.5, 0.5, 0.0]))
    2.0
    """
    total = float(weight.sum())
    return total**2 / float(np.square(weight).sum()) if total > 0 else 0.0


def draws_of(view: View, n_draws: int) -> Draws:
    """The draws of a snapshot: the method's own, or independent ones from its memberships."""
    return view.clustering.memo(("drawn", n_draws, *items_key(view)), lambda: _draw(view, n_draws))


def items_key(view: View) -> tuple[int, bytes]:
    """What the choice of items depends on, so that questions do not depend on when it was made."""
    given = view.clustering.draws
    candidates = len(view.clustering.labels) if given is None else len(given[0])
    all_of_them = candidates <= MAX_ITEMS
    return view.seed, b"" if all_of_them else view.constraints.touched.tobytes()


def _draw(view: View, n_draws: int) -> Draws:
    rng = np.random.default_rng((view.seed, view.clustering.snapshot))
    given = view.clustering.draws
    if given is None:
        items = _some(np.arange(len(view.clustering.labels)), view.constraints.touched, rng)
        belief = soft(view.clustering, items)  # (m, k)
        bars = (belief / belief.sum(axis=1, keepdims=True)).cumsum(axis=1)[:, :-1]
        chance = rng.random((n_draws, len(items), 1))
        labels = (chance > bars).sum(axis=2).astype(np.int16)
        return Draws(items, labels, np.full(n_draws, 1 / n_draws), False)
    return _part(given, view.constraints, rng, max(n_draws, MAX_DRAWS))


def all_draws(clustering: Clustering) -> Draws | None:
    """All draws that the method made; None if it makes none."""
    if clustering.draws is None:
        return None
    items, labels, weight = clustering.draws
    share = np.asarray(weight, dtype=np.float64)
    return Draws(items, labels, share / share.sum(), True)


def some_draws(clustering: Clustering, known: Constraints, seed: int) -> Draws | None:
    """At most `MAX_DRAWS` of them, about at most `MAX_ITEMS` items; None if there are none."""
    if clustering.draws is None:
        return None
    rng = np.random.default_rng((seed, clustering.snapshot))
    return _part(clustering.draws, known, rng, MAX_DRAWS)


def _part(given: Any, known: Constraints, rng: np.random.Generator, n_draws: int) -> Draws:
    """The draws of largest weight, about some of the items, the answered ones among them."""
    items, labels, weight = given
    kept = np.sort(np.argsort(-weight, kind="stable")[:n_draws])
    some = _some(items, np.intersect1d(items, known.touched), rng)
    columns = np.searchsorted(items, some)
    share = np.asarray(weight, dtype=np.float64)[kept]
    return Draws(some, labels[np.ix_(kept, columns)], share / share.sum(), True)


def _some(items: Ints, must: Ints, rng: np.random.Generator) -> Ints:
    """All items, or `MAX_ITEMS` of them, including those in `must`."""
    if len(items) <= MAX_ITEMS:
        return items
    room = max(0, MAX_ITEMS - len(must))
    others = rng.choice(np.setdiff1d(items, must), min(room, len(items) - len(must)), replace=False)
    return np.union1d(must, others)
