"""Groups to begin from: those that fit the answered pairs and the structure of the items.

The structure has two parts. Items are looked at through the mean of their nearest neighbours, so
that few pairs say something about many items. And the groups of k-means are kept as long as the
pairs do not speak against them.
"""

from __future__ import annotations

import math
from copy import deepcopy
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from torch import Tensor
from torch.nn.functional import normalize

from samekind.clusterers.kmeans.constrained import KMeans
from samekind.constraints import Constraints
from samekind.training.answered import to_device
from samekind.training.frozen import (
    LinearHead,
    fit_labels,
    fit_pairs,
    fit_pairs_around,
)

Ints = NDArray[np.intp]
MAX_ROWS = 4000
"""Items, besides the answered ones, that are looked at."""
MAX_REFERENCE = 8000
"""Items among which neighbours are looked for."""
NEIGHBOURS = 20
"""Items, itself among them, whose mean an item is looked at through."""
PRIORS = (10.0, 30.0)
"""Penalties on the weights of the head, in units of the likelihood of one answer."""
TRUSTED = (1.0, 0.95, 0.8, 0.5, 0.2, 0.0)
"""Shares of a prediction, the rest is chance, at which beginnings are compared: how sure a head is
says little about how right it is."""
MARGIN = 0.005
"""Log-likelihood per answer by which pairs alone must predict better than k-means: in a tie they
may have found nothing but chance."""
FOLDS = 3
"""Parts of the answers, each of which is predicted from the others."""
MAX_COMPARED = 2000
"""Answers up to which k-means is compared with the pairs alone; with more, pairs alone suffice."""


@dataclass(frozen=True, eq=False)
class PairStart:
    """Memberships p (m, k) of the items `rows` (m,) to begin from.

    Parameters
    ----------
    from_kmeans : whether the groups of k-means are where the fit to the pairs began.
    scores : log-likelihood per answer held out, of each beginning; empty if not compared.
    """

    rows: Ints
    p: Tensor
    from_kmeans: bool
    scores: dict[str, float]

    @property
    def sizes(self) -> Tensor:
        """Shares (k,) of the groups, none of them 0."""
        share = self.p.mean(dim=0).clamp_min(1e-3)
        return share / share.sum()


def start_from_pairs(features: Tensor, known: Constraints, k: int, seed: int) -> PairStart:
    """Find groups of the items from their features (n, width) and the answers.

    A linear head on the means of neighbours is fitted to the likelihood of the pairs: from random
    beginnings with a weak and a strong penalty, and from the groups of k-means with a penalty on
    leaving them. The one that predicts answers held out best is taken.
    """
    drawn = np.random.default_rng((seed, 9)).permutation(len(features))[:MAX_ROWS]
    rows = np.union1d(known.touched, drawn).astype(np.intp)
    x = neighbour_means(features[to_device(rows.astype(np.int64), features.device)], seed)
    around = _kmeans_head(x, k, seed)
    links = known.links()
    places = [np.searchsorted(rows, side) for side in (links.a, links.b)]
    pairs = to_device(np.stack(places, axis=1).astype(np.int64), x.device)
    task = _Task(x, pairs, to_device(links.same, x.device), k, seed)
    scores: dict[str, float] = {}
    if k < 2 or len(links.a) < 1:
        head, from_kmeans = around, True
    else:
        begun: dict[str, tuple[LinearHead | None, float]] = {"kmeans": (around, PRIORS[0])}
        begun |= {f"pairs-{prior:g}": (None, prior) for prior in PRIORS}
        best = "kmeans" if len(links.a) < FOLDS else f"pairs-{PRIORS[0]:g}"
        if FOLDS <= len(links.a) <= MAX_COMPARED:
            scores = {name: task.predicted(*each) for name, each in begun.items()}
            best = max(scores, key=lambda name: scores[name] + MARGIN * (name == "kmeans"))
        from_kmeans = best == "kmeans"
        head = task.fitted(*begun[best], np.ones(len(links.a), dtype=bool))
    with torch.no_grad():
        return PairStart(rows, head(x), from_kmeans, scores)


def neighbour_means(x: Tensor, seed: int = 0, *, count: int = NEIGHBOURS) -> Tensor:
    """Replace each row of x (m, width) by the mean of the rows most similar to it.

    Similarity is the cosine after centring; in large sets neighbours are looked for among some.
    """
    units = normalize(x - x.mean(dim=0))
    if len(x) > MAX_REFERENCE:
        some = np.random.default_rng((seed, 10)).permutation(len(x))[:MAX_REFERENCE]
        there = to_device(some.astype(np.int64), x.device)
        among, values = units[there], x[there]
    else:
        among, values = units, x
    count = min(count, len(values))
    means = [
        values[(part @ among.T).topk(count, dim=1).indices].mean(dim=1)
        for part in torch.split(units, 1000)
    ]
    return torch.cat(means)


@dataclass(frozen=True, eq=False)
class _Task:
    """Pairs (P, 2) of rows of x (m, width), whether each is the same kind, and k groups."""

    x: Tensor
    pairs: Tensor
    same: Tensor
    k: int
    seed: int

    def fitted(
        self,
        around: LinearHead | None,
        prior: float,
        used: NDArray[np.bool_],
        *,
        tries: int = 6,
        steps: int = 60,
    ) -> LinearHead:
        """Fit a head to the pairs `used` (P,), from a head or from random beginnings."""
        chosen = to_device(used, self.x.device)
        same, different = self.pairs[chosen & self.same], self.pairs[chosen & ~self.same]
        decay = prior / max(int(used.sum()), 1)
        if around is not None:
            head = deepcopy(around)
            fit_pairs_around(head, self.x, same, different, decay=decay, steps=steps)
        else:
            head = LinearHead(self.x, self.k)
            fit_pairs(head, self.x, same, different, decay=decay, tries=tries, seed=self.seed)
        return head

    def predicted(self, around: LinearHead | None, prior: float) -> float:
        """Log-likelihood per answer, each predicted by a head that was fitted to the others.

        The prediction is mixed with the share of "same" answers, in the best proportion.
        """
        fold = np.random.default_rng((self.seed, 11)).permutation(len(self.pairs)) % FOLDS
        together = torch.zeros(len(self.pairs), device=self.x.device)
        for part in range(FOLDS):
            head = self.fitted(around, prior, fold != part, tries=2, steps=40)
            out = to_device(fold == part, self.x.device)
            with torch.no_grad():
                p = head(self.x)
                together[out] = (p[self.pairs[out, 0]] * p[self.pairs[out, 1]]).sum(dim=1)
        chance = self.same.float().mean().clamp(0.02, 0.98)
        best = -math.inf
        for share in TRUSTED:
            q = (share * together + (1 - share) * chance).clamp(0.01, 0.99)
            found = torch.where(self.same, q.log(), (1 - q).log()).mean()
            best = max(best, round(float(found), 6))
        return best


def _kmeans_head(x: Tensor, k: int, seed: int) -> LinearHead:
    """A head that gives the groups of k-means on x (m, width), which knows no answers."""
    if len(x) > MAX_ROWS:
        some = np.random.default_rng((seed, 12)).permutation(len(x))[:MAX_ROWS]
        x = x[to_device(some.astype(np.int64), x.device)]
    units = normalize(x - x.mean(dim=0)).cpu().numpy()
    labels = KMeans(k, n_init=3, random_state=seed).fit(units).labels_
    head = LinearHead(x, k)
    fit_labels(head, x, to_device(labels.astype(np.int64), x.device), decay=1e-2)
    return head


def closed_for_two(known: Constraints) -> Constraints:
    """Add what follows if there are only two kinds: different from different is the same.

    Answers that contradict each other under this assumption stay as they are.

    >>> known = Constraints.from_links(3, [(0, 1, False), (1, 2, False)])
    >>> known.same(0, 2), closed_for_two(known).same(0, 2)
    (None, True)
    """
    links, n = known.links(), known.n_items
    if not len(links.a):
        return known
    # Each item stands twice: as itself, and as one of the other kind.
    other = n * ~links.same
    ends = np.concatenate([links.a, links.a + n]), np.concatenate([links.b + other, links.b])
    ends[1][len(links.a) :] += n * links.same
    _, part = connected_components(coo_array((np.ones(len(ends[0])), ends), shape=(2 * n, 2 * n)))
    as_it_is, as_other = part[:n], part[n:]
    touched = known.touched[as_it_is[known.touched] != as_other[known.touched]]
    # Items that stand in one part as themselves are of one kind.
    _, place, index = np.unique(as_it_is[touched], return_index=True, return_inverse=True)
    first = touched[place][index]
    more = [(int(a), int(b), True) for a, b in zip(first, touched, strict=True) if a != b]
    given = zip(links.a.tolist(), links.b.tolist(), links.same.tolist(), strict=True)
    return Constraints.from_links(n, [*given, *more])
