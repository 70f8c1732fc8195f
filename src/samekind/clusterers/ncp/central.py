"""The grouping in the centre of a posterior: the one that agrees best with all draws.

Either the one that is wrong about the fewest pairs (Binder's loss), or, for items placed one by
one, that of the largest adjusted Rand index on average over the draws (Fritsch & Ickstadt 2009,
without their approximation). Wrong pairs leave many small groups: where it is uncertain to which
large group a few items belong, leaving them alone costs the fewest pairs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from samekind.clusterers.ncp.amortized.likelihood import relabel

if TYPE_CHECKING:
    from samekind.clusterers.ncp.amortized.samples import Samples
    from samekind.constraints import Constraints

Floats = NDArray[Any]

MAX_COMPARED = 200_000
"""Labels of draws with which a grouping is compared: 400 draws of 500 items."""
MIN_COMPARED_DRAWS = 25
SHORTLIST = 24
"""Groupings that are compared with all draws, besides those by linkage."""


def most_central(candidates: Tensor, cuts: Tensor, drawn: Samples, together: Tensor) -> Tensor:
    """(1, N) the grouping that agrees best with the draws.

    Parameters
    ----------
    candidates : (C, N) of which those with the fewest wrong pairs are compared. cuts : all of which
        are. together : (N, N) probability that two items are in one group.
    """
    order = central_costs(candidates, together).argsort()[:SHORTLIST]
    found = torch.cat([candidates[order], cuts])
    return found[int(agreement(found, drawn).argmax())][None]


def agreement(candidates: Tensor, drawn: Samples) -> Tensor:
    """(C,) adjusted Rand index of each candidate (C, N), averaged over the draws by weight."""
    n = candidates.shape[1]
    most = max(MIN_COMPARED_DRAWS, MAX_COMPARED // n)
    weights, which = drawn.weights.sort(descending=True)
    labels, weights = drawn.labels[which[:most]], weights[:most] / weights[:most].sum()
    size = int(labels.max()) + 1
    inside = torch.nn.functional.one_hot(labels, size).to(weights.dtype)  # (P, N, K)
    own = _pairs(inside.sum(1))  # (P,) pairs within groups
    flat = inside.transpose(0, 1).reshape(n, -1)  # (N, P K)
    found, total = [], n * (n - 1) / 2
    for row in candidates:
        chosen = torch.nn.functional.one_hot(row).to(weights.dtype).T  # (J, N)
        both = _pairs((chosen @ flat).T.reshape(len(labels), -1))
        pairs = _pairs(chosen.sum(1))
        expected = own * pairs / max(total, 1.0)
        room = (own + pairs) / 2 - expected
        index = torch.where(room > 0, (both - expected) / room.clamp_min(1e-12), 1.0)
        found.append((index * weights).sum())
    return torch.stack(found)


def _pairs(counts: Tensor) -> Tensor:
    """Pairs among so many items, added up over the last axis."""
    return (counts * (counts - 1)).sum(-1) / 2


def central_costs(candidates: Tensor, together: Tensor) -> Tensor:
    """(C,) expected number of wrong pairs of each candidate (C, N), up to a shared constant.

    Binder's loss: `together` (N, N) is the probability that two items are in one group.
    """
    lean = 1 - 2 * together  # cost of putting two items together
    cost = lean.new_zeros(len(candidates))
    for k in range(int(candidates.max()) + 1):
        inside = (candidates == k).to(lean.dtype)
        cost += ((inside @ lean) * inside).sum(1)
    return cost


def linkage_cuts(drawn: Samples, together: Tensor, known: Constraints | None) -> Tensor:
    """(C, N) groupings by average linkage of the probabilities that items are together.

    One for each number of groups up to the largest that was drawn, as far as they honour the
    answers. A draw is random wherever something is uncertain; these are not.
    """
    from scipy.cluster.hierarchy import cut_tree, linkage
    from scipy.spatial.distance import squareform

    n = len(together)
    if n < 3:
        return drawn.labels[:0]
    apart = 1.0 - together.double().cpu().numpy()
    np.fill_diagonal(apart, 0.0)
    tree = linkage(squareform(apart.clip(0.0), checks=False), "average")
    most = min(n, int(drawn.labels.max()) + 1)
    cuts = cut_tree(tree, n_clusters=list(range(1, most + 1))).T  # (C, N)
    if known is not None:
        links = known.links(implied=True)
        honest = ((cuts[:, links.a] == cuts[:, links.b]) == links.same).all(axis=1)
        cuts = cuts[honest]
    found = torch.from_numpy(np.ascontiguousarray(cuts, dtype=np.int64))
    return relabel(found.to(drawn.labels.device)) if len(found) else drawn.labels[:0]
