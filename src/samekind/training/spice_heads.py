"""SPICE's parts: several heads on features that stand still, their examples, reliable items."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Self

import torch
from torch import Tensor, nn
from torch.nn.functional import one_hot

from samekind.neighbours import nearest_by_cosine
from samekind.objectives.links import LinkMasks
from samekind.objectives.spice import smooth_nll
from samekind.training.heads import ClusterHead
from samekind.training.network import Output
from samekind.training.steps import SchedulePoint

RECENT = 0.05
"""Weight of a step in the running loss of each head."""
FEWEST = 0.02
"""Share of an even group that is taken as its most reliable items, however few are reliable."""


class Still(nn.Module):
    """A backbone that is not trained; its batch norms keep their averages. `inner` is the backbone.

    >>> still = Still(nn.Sequential(nn.BatchNorm1d(2)), 2).train()
    >>> still.training, still.inner.training
    (True, False)
    """

    def __init__(self, inner: nn.Module, width: int) -> None:
        super().__init__()
        self.inner, self.width = inner.eval().requires_grad_(False), width

    def train(self, mode: bool = True) -> Self:
        """Only this module itself: what is inside stays in use."""
        self.training = mode
        return self

    @torch.no_grad()
    def forward(self, images: Tensor) -> Tensor:
        """Features (B, width)."""
        features: Tensor = self.inner(images)
        return features

    def released(self) -> nn.Module:
        """The backbone, ready to be trained again."""
        return self.inner.requires_grad_(True).train()


class Heads(nn.Module):
    """Several cluster heads side by side: shares (heads, B, k).

    >>> Heads([ClusterHead(8, 3), ClusterHead(8, 3)])(torch.ones(5, 8)).shape
    torch.Size([2, 5, 3])
    """

    def __init__(self, heads: Iterable[ClusterHead]) -> None:
        super().__init__()
        self.all = nn.ModuleList(heads)

    def __len__(self) -> int:
        return len(self.all)

    @property
    def k(self) -> int:
        """Groups that each head tells apart."""
        return self[0].k

    def __getitem__(self, place: int) -> ClusterHead:
        head = self.all[place]
        assert isinstance(head, ClusterHead)
        return head

    def forward(self, x: Tensor) -> Tensor:
        """Shares of features (B, width) by each head."""
        return torch.stack([head(x) for head in self.all])


class ExamplesLoss(nn.Module):
    """Each head learns from its own examples; how well it does is remembered.

    Parameters
    ----------
    heads, n, k : heads, items and groups. Somebody else fills `chosen`, in place.
    """

    chosen: Tensor
    recent: Tensor

    def __init__(self, heads: int, n: int, k: int) -> None:
        super().__init__()
        self.register_buffer("chosen", torch.zeros(heads, n, k, dtype=torch.bool))
        self.register_buffer("recent", torch.zeros(heads))

    def of_items(
        self, out: Output, items: Tensor, links: LinkMasks, moment: SchedulePoint
    ) -> dict[str, Tensor]:
        """The one part of the loss of a batch: the mean over the heads."""
        losses = smooth_nll(out.p, self.chosen[:, items])  # (heads,)
        with torch.no_grad():
            self.recent.lerp_(losses.detach().to(self.recent.dtype), RECENT)
        return {"examples": losses.mean()}

    def best(self) -> int:
        """The head whose loss was lowest of late. Labels have no say in it."""
        return int(self.recent.argmin())


@torch.no_grad()
def reliable_items(
    h: Tensor, p: Tensor, *, neighbours: int = 100, agreement: float = 0.9, sure: float = 0.99
) -> tuple[Tensor, Tensor]:
    """Items whose group can be relied on, and these groups: equally many of each group.

    An item is reliable if its membership is above `sure` and at least so many of its neighbours
    (a share) have its group. All groups give as many as the one with the fewest reliable items has,
    but 2 % of an even group at least: where reliable ones are lacking, the next best.

    Parameters
    ----------
    h : (n, width) features. p : (n, k) memberships.
    neighbours : 100 as published; in small sets at most half of an even group.

    >>> h = torch.tensor([[1.0, 0.0], [1.0, 0.1], [0.0, 1.0], [0.1, 1.0]])
    >>> p = torch.tensor([[1.0, 0.0], [0.7, 0.3], [0.0, 1.0], [0.0, 1.0]])
    >>> [part.tolist() for part in reliable_items(h, p)]
    [[0, 2], [0, 1]]
    """
    n, k = p.shape
    top, group = p.max(dim=1)
    table = nearest_by_cosine(h, min(neighbours, max(1, n // (2 * k)), n - 1))
    agree = (group[table] == group[:, None]).float().mean(dim=1)
    good = (agree >= agreement) & (top > sure)
    mine = one_hot(group, k).bool()  # (n, k)
    sizes = mine.sum(dim=0)
    there = sizes > 0
    each = max(int((mine & good[:, None]).sum(dim=0)[there].min()), math.ceil(FEWEST * n / k), 1)
    order = (10 * good + agree + top).argsort(descending=True, stable=True)
    rank = mine[order].long().cumsum(dim=0)  # (n, k)
    kept = (mine[order] & (rank <= each)).any(dim=1)
    rows = order[kept].sort().values
    return rows, group[rows]
