"""The grouping in the centre of a posterior: the one that is wrong about the fewest pairs."""

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
