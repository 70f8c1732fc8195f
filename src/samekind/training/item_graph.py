"""A graph of all items by their moving averages, and batches that bring neighbours along (GCC)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from samekind.errors import InputError
from samekind.neighbours import nearest_by_cosine
from samekind.training.loop import Trainer


class ItemGraph(nn.Module):
    """The last vectors of each item, and its nearest neighbours by their means.

    Parameters
    ----------
    n, out : items, and width of the vectors.
    k : neighbours of each item, at most n - 1.
    kept : vectors of each item that are averaged.
    batch, drawn : items of a step, and how many of their neighbours come along with each.
    """

    ring: Tensor  # (n, kept, out) unit vectors; zeros where there is none yet
    visits: Tensor  # (n,) how often an item was seen
    table: Tensor  # (n, k) neighbours
    weight: Tensor  # (n,) of an item where it is somebody's neighbour
    chosen: Tensor  # (batch, drawn) neighbours in this step

    def __init__(
        self, n: int, out: int, *, k: int = 5, kept: int = 4, batch: int, drawn: int = 3
    ) -> None:
        super().__init__()
        if not 1 <= drawn <= k < n:
            raise InputError(
                f"{drawn} of {k} neighbours among {n} items cannot be had. Take 1 to k of them, "
                "and fewer than there are items."
            )
        self.k, self.drawn = k, drawn
        self.register_buffer("ring", torch.zeros(n, kept, out))
        self.register_buffer("visits", torch.zeros(n, dtype=torch.long))
        self.register_buffer("table", torch.zeros(n, k, dtype=torch.long))
        self.register_buffer("weight", torch.ones(n))
        self.register_buffer("chosen", torch.zeros(batch, drawn, dtype=torch.long))

    @torch.no_grad()
    def remember(self, z: Tensor, items: Tensor) -> None:
        """Keep vectors z (B, out) of items (B,), all different, in place of their oldest ones."""
        seen = self.visits[items]
        self.ring[items, seen % self.ring.shape[1]] = z.detach().to(self.ring.dtype)
        self.visits.index_copy_(0, items, seen + 1)

    @property
    def unseen(self) -> Tensor:
        """Items (some,) of which nothing is known; asking waits for the device."""
        return torch.nonzero(self.visits == 0)[:, 0]

    @property
    def means(self) -> Tensor:
        """Mean of the last vectors of each item (n, out)."""
        seen = self.visits.clamp(1, self.ring.shape[1])
        return self.ring.sum(dim=1) / seen[:, None]

    @torch.no_grad()
    def rebuild(self) -> None:
        """Look up all neighbours anew; everything stays in its place."""
        self.table.copy_(nearest_by_cosine(self.means, self.k))
        self.weight.copy_((3 / (1 + degrees(self.table))).sqrt())

    @torch.no_grad()
    def choose(self, items: Tensor, chance: torch.Generator) -> Tensor:
        """Draw so many different neighbours of each item (B,), as (drawn, B)."""
        order = torch.rand(len(items), self.k, generator=chance, device=items.device).argsort(dim=1)
        chosen = self.table[items].gather(1, order[:, : self.drawn])
        self.chosen.copy_(chosen)
        return chosen.T


def degrees(table: Tensor) -> Tensor:
    """Neighbours (n,) that items have in either direction, by those of each (n, k).

    >>> degrees(torch.tensor([[1], [0], [1]])).tolist()
    [1, 2, 1]
    """
    n = len(table)
    mine = torch.arange(n, device=table.device)[:, None, None]
    mutual = (table[table] == mine).any(dim=2).sum(dim=1)  # (n, k, k) -> (n,)
    chosen = torch.bincount(table.flatten(), minlength=n)
    return table.shape[1] + chosen - mutual


class GraphTrainer(Trainer):
    """A :class:`Trainer` whose views get each item twice, and then neighbours of all of them.

    They make one view of each row. Set `graph` before the first step of a stage.
    """

    graph: ItemGraph | None = None
    """None: items come without neighbours."""

    def _mine(self, items: Tensor) -> Tensor:
        mine = super()._mine(items)
        if self.graph is None:
            return torch.cat([mine, mine])
        return torch.cat([mine, mine, self.graph.choose(mine, self._chance).flatten()])
