"""Which nodes of a graph a network sees and places, and where the others belong."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from samekind.clusterers.ncp.amortized.samples import Samples
    from samekind.clusterers.ncp.graph_posterior import GraphPosterior

Floats = NDArray[Any]
Ints = NDArray[np.intp]


class SeenNodes(NamedTuple):
    """What a network sees of a graph of n nodes.

    Nodes without edges and answers are not seen: they are groups of their own.
    """

    n: int
    nodes: Ints
    """Nodes that are seen."""
    rows: Ints
    """Those of them that are placed one by one."""
    posterior: GraphPosterior | None
    """None if there is only one node, without edges."""
    space: NDArray[np.float32]

    @property
    def items(self) -> Ints:
        """Nodes that each draw has groups for: the placed ones, and those that are not seen."""
        return np.union1d(self.rows, np.setdiff1d(np.arange(self.n), self.nodes))

    @property
    def rest(self) -> Ints:
        """Nodes that join a group after the others were placed."""
        return np.setdiff1d(self.nodes, self.rows)

    @property
    def rest_rows(self) -> Ints:
        """The same, by position among the nodes that are seen."""
        return np.searchsorted(self.nodes, self.rest)

    def all_labels(self, labels: Any) -> Any:
        """Labels (..., m) of placed nodes as labels of all `items`, in order of appearance."""
        is_row = np.isin(self.items, self.rows)
        groups = np.asarray(labels)
        full = np.empty((*groups.shape[:-1], len(is_row)), dtype=np.int64)
        full[..., is_row] = groups
        full[..., ~is_row] = len(self.rows) + np.arange(int((~is_row).sum()))
        named = [np.unique(row, return_index=True, return_inverse=True)[1:] for row in
                 full.reshape(-1, len(is_row))]  # fmt: skip
        ranked = [first.argsort().argsort()[inverse] for first, inverse in named]
        return np.asarray(ranked, dtype=np.intp).reshape(full.shape)

    def with_singles(self, drawn: Samples) -> Samples:
        """Draws of the placed nodes as draws of all `items`."""
        if len(self.items) == len(self.rows):
            return drawn
        import torch

        labels = torch.from_numpy(self.all_labels(drawn.labels.cpu().numpy()).astype(np.int64))
        return replace(drawn, labels=labels.to(drawn.labels.device))


class Profile(NamedTuple):
    """How edges of a member of each group are spread over the groups."""

    log_share: Floats
    """(K, K) logarithm of the share of each group (column) in the edges of each (row)."""
    log_size: Floats
    """(K,) logarithm of the number of members."""

    @classmethod
    def of(cls, table: Any, labels: Ints, K: int) -> Profile:
        """From the edges (n, n) among nodes with these groups; each share has a half edge more."""
        member = np.eye(K)[labels]
        edges = member.T @ (table @ member) + 0.5
        return cls(np.log(edges / edges.sum(axis=1, keepdims=True)), np.log(member.sum(axis=0)))

    def placed(self, links: Any, labels: Ints) -> Ints:
        """(m,) the group whose members have edges most like those (m, n) of other nodes.

        How many edges a node has does not matter, so hubs join the groups of their neighbours.
        """
        edges = np.asarray(links @ np.eye(len(self.log_size))[labels])  # (m, K)
        return np.asarray((edges @ self.log_share.T + self.log_size).argmax(axis=1), dtype=np.intp)


def single_node() -> Samples:
    """The only draw of a single node."""
    import torch

    from samekind.clusterers.ncp.amortized.samples import Samples

    one = torch.ones(1, dtype=torch.long)
    return Samples(0 * one[None], torch.zeros(1), one, torch.zeros(1))
