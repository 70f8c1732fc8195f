"""Layers of graph encoders: one step from each node to others."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from samekind.clusterers.ncp.amortized.layers import masked_softmax
from samekind.errors import InputError

N_PAIR_FEATURES = 3


def pair_features(adjacency: Tensor) -> Tensor:
    """(B, 3, N, N) the edge of two nodes, how special it is to them, and common neighbours."""
    degree = adjacency.sum(2, keepdim=True)
    scale = torch.where(degree > 0, degree, 1.0).rsqrt()
    special = adjacency * scale * scale.mT  # (B, N, N)
    common = (adjacency @ adjacency) * scale * scale.mT
    return torch.stack([adjacency, 4 * special, common], dim=1)


class AttentionLayer(nn.Module):
    """A node, the mean of its neighbours, and what it sees of all others.

    How much it looks at another follows from how alike both are, and from the pair: an edge, an
    edge among few, common neighbours. Nodes of one group that are no neighbours find each other so.
    """

    def __init__(self, width: int, heads: int = 4) -> None:
        super().__init__()
        if heads < 1 or width % heads:
            raise InputError(f"Expected a width that is a multiple of {heads} heads, got {width}.")
        self.heads = heads
        self.own, self.near = nn.Linear(width, width), nn.Linear(width, width, bias=False)
        self.look = nn.Linear(width, 3 * width, bias=False)
        self.seen = nn.Linear(width, width, bias=False)
        self.sharpness = nn.Parameter(torch.full((heads, 1, 1), 4.0))
        self.pair = nn.Parameter(torch.zeros(heads, N_PAIR_FEATURES))
        self.norm = nn.LayerNorm(width)

    def forward(
        self, h: Tensor, pairs: Tensor | None, adjacency: Tensor, mask: Tensor
    ) -> tuple[Tensor, Tensor | None]:
        """Features (B, N, width) after one step; `pairs` (B, 3, N, N) stay as they are."""
        assert pairs is not None
        q, k, v = (self._split(part) for part in self.look(h).chunk(3, dim=2))
        alike = normalize(q, dim=3) @ normalize(k, dim=3).mT  # (B, heads, N, N) cosines
        scores = self.sharpness * alike + torch.einsum("hp,bpij->bhij", self.pair, pairs)
        seen = (masked_softmax(scores, mask[:, None, None]) @ v).transpose(1, 2).flatten(2)
        mean = neighbour_mean(adjacency, self.near(h))
        return h + self.norm(self.own(h) + mean + self.seen(seen)).relu(), pairs

    def _split(self, values: Tensor) -> Tensor:
        B, N, _ = values.shape
        return values.view(B, N, self.heads, -1).transpose(1, 2)


class SageLayer(nn.Module):
    """A node and the mean of its neighbours. The layer norm takes the place of unit length."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.own, self.near = nn.Linear(width, width), nn.Linear(width, width, bias=False)
        self.norm = nn.LayerNorm(width)

    def forward(
        self, h: Tensor, pairs: Tensor | None, adjacency: Tensor, mask: Tensor
    ) -> tuple[Tensor, Tensor | None]:
        """Features (B, N, width) after one step to the neighbours."""
        mean = neighbour_mean(adjacency, self.near(h))
        return h + self.norm(self.own(h) + mean).relu(), pairs


class GatedLayer(nn.Module):
    """Neighbours by gates that follow from both ends and from what the edge was before."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.own, self.near = nn.Linear(width, width), nn.Linear(width, width)
        self.edge, self.here, self.there = (nn.Linear(width, width) for _ in range(3))
        self.norm = nn.LayerNorm(width)

    def forward(
        self, h: Tensor, pairs: Tensor | None, adjacency: Tensor, mask: Tensor
    ) -> tuple[Tensor, Tensor | None]:
        """Features (B, N, width) of nodes and (B, N, N, width) of pairs after one step."""
        assert pairs is not None
        pairs = self.edge(pairs) + self.there(h)[:, None] + self.here(h)[:, :, None]
        gate = pairs.sigmoid() * adjacency[..., None]
        total = torch.einsum("bijw,bjw->biw", gate, self.near(h))
        mean = total / (gate.sum(2) + 1e-6)
        return h + self.norm(self.own(h) + mean).relu(), pairs


def neighbour_mean(adjacency: Tensor, values: Tensor) -> Tensor:
    """(B, N, d) mean of the neighbours' values, by the weights of edges; zero without any."""
    return (adjacency @ values) / adjacency.sum(2, keepdim=True).clamp_min(1e-6)
