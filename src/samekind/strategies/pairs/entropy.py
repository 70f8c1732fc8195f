"""Entropy: pairs that the groups cannot decide about, and OCC's entropy-based rival."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from samekind.clustering import Clustering
from samekind.errors import InputError
from samekind.protocols import View
from samekind.questions import Question
from samekind.strategies.exemplars import same_chance, soft
from samekind.strategies.pairs.candidates import Candidates, Floats, Ints
from samekind.strategies.pairs.choice import DECIMALS, best_pairs

SPARE_PARTNERS = 16
"""Partners of an item that are tried in a large set, since some are taken or known."""


@dataclass(frozen=True)
class Entropy:
    """Pairs that the groups cannot decide about: largest entropy of the memberships.

    It is the entropy of "same or different", where the probability of "same" is the inner product
    of the two memberships: highest at a half. OCC compares its strategy with another rule of this
    name: :class:`OCCEntropy`.

    Parameters
    ----------
    of : "pair", or "items": the sum of the entropies of the two memberships, which asks about two
        items that are both between groups, whether or not they are related.
    pairs : how candidates are drawn.
    """

    of: str = "pair"
    pairs: Candidates = field(default_factory=Candidates)

    def __post_init__(self) -> None:
        if self.of not in ("pair", "items"):
            raise InputError(f"Expected entropy of 'pair' or 'items', got {self.of!r}.")

    def propose(self, view: View, n: int = 1) -> Sequence[Question]:
        """The `n` pairs with the largest entropy among the candidates."""
        clustering, pool = view.clustering, self.pairs.pool(view)
        rule = pair_entropy if self.of == "pair" else items_entropy
        key = ("entropy", self, view.seed)
        score = clustering.memo(key, lambda: rule(clustering, pool.a, pool.b))
        why = "It is unclear whether these two belong together."
        return best_pairs(view, pool.a, pool.b, score, n, lambda k: why)


@dataclass(frozen=True)
class OCCEntropy:
    """The items between groups, each with an item that is neither like nor unlike it (OCC, Fig. 3).

    "The entropy-based query strategy selects the instance with the maximum entropy and paired it
    with another medium similar one" is all that the paper says. Read here as: items by falling
    entropy of their memberships; each is paired with the item whose similarity to it is nearest to
    the median of its similarities to all others, in a large set to a random part of them.

    Parameters
    ----------
    pairs : how similarity is measured. By default the cosine is that of the paper, not centred.
    partners : items among which a partner is sought in a large set.
    """

    pairs: Candidates = field(default_factory=lambda: Candidates(centred=False))
    partners: int = 2048

    def propose(self, view: View, n: int = 1) -> Sequence[Question]:
        """Pairs of the `n` items with the largest entropy for which a partner is found."""
        points = self.pairs.bank(view.clustering)
        each = view.clustering.memo(
            "entropy of items", lambda: entropy(soft(view.clustering, np.arange(len(points))))
        )
        order = view.rng.permutation(len(points))  # ties are broken at random
        first = order[np.argsort(-np.round(each[order], DECIMALS), kind="stable")]
        small = len(points) <= self.pairs.all_below
        anchors = first if small else first[: 64 + 2 * n]
        others = order if small else order[: self.partners]
        b = medium_similar(points, anchors, others, len(points) if small else SPARE_PARTNERS)
        a = np.repeat(anchors, b.shape[1])
        why = "It is unclear where one of these two belongs."
        # Pairs in order: each item with its best partner, or else with the next best.
        return best_pairs(view, a, b.ravel(), np.zeros(b.size), n, lambda k: why)


def medium_similar(points: Floats, anchors: Ints, others: Ints, count: int) -> Ints:
    """(a, c) for each anchor the items among `others` of medium similarity to it, nearest first.

    An anchor among `others` is left out of its own median, and comes last.
    """
    alike = points[anchors] @ points[others].T  # (a, o)
    alike[anchors[:, None] == others] = np.nan
    away = np.round(np.abs(alike - np.nanmedian(alike, axis=1, keepdims=True)), DECIMALS)
    near = np.tile(np.arange(len(others)), (len(anchors), 1))
    if count < len(others):
        near = np.argpartition(away, count - 1, axis=1)[:, :count]
    order = np.argsort(np.take_along_axis(away, near, axis=1), axis=1, kind="stable")
    return others[np.take_along_axis(near, order, axis=1)]


def pair_entropy(clustering: Clustering, a: Ints, b: Ints) -> Floats:
    """(m,) entropy, in nats, of whether the two items are the same kind."""
    chance = np.clip(same_chance(clustering, a, b), 0.0, 1.0)
    return entropy(np.stack([chance, 1 - chance], axis=1))


def items_entropy(clustering: Clustering, a: Ints, b: Ints) -> Floats:
    """(m,) sum of the entropies of the two memberships."""
    each = entropy(soft(clustering, np.arange(len(clustering.labels))))
    return np.asarray(each[a] + each[b])


def entropy(chances: Floats) -> Floats:
    """(m,) entropy of rows of probabilities, in nats.

    >>> entropy(np.array([[0.5, 0.5], [1.0, 0.0]])).round(4).tolist()
    [0.6931, 0.0]
    """
    chances = np.asarray(chances, dtype=np.float64)
    return np.asarray(-(chances * np.log(np.maximum(chances, 1e-12))).sum(axis=1) + 0.0)
