"""Entropy: pairs that the groups cannot decide about (OCC's baseline)."""

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
from samekind.strategies.pairs.choice import best_pairs


@dataclass(frozen=True)
class Entropy:
    """Pairs that the groups cannot decide about: largest entropy of the memberships.

    OCC's Figure 3 names this rule without a formula. Here it is the entropy of "same or different",
    where the probability of "same" is the inner product of the two memberships: highest at a half.

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
