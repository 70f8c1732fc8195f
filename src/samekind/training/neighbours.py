"""Neighbours of all items on the device, and batches that bring a neighbour of each item along."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.functional import normalize

from samekind.compute import quick_kernels
from samekind.errors import InputError
from samekind.objectives.similarity import full_precision
from samekind.training.bank import in_use
from samekind.training.loop import Trainer
from samekind.training.steps import autocast

PIECE = 2**26
"""Numbers of one table (items of a piece x all items) at a time."""
READ = 512
"""Items that are read at a time."""


@torch.no_grad()
def nearest(x: Tensor, k: int, *, piece: int = PIECE) -> Tensor:
    """The k nearest other vectors (n, k) of each of x (n, d) by cosine, nearest first, exactly.

    It runs where the vectors lie, in pieces: the table of all pairs never stands in memory.

    Parameters
    ----------
    k : at most n - 1. The item itself is never among them.
    piece : cosines that may stand in memory at a time.

    >>> nearest(torch.tensor([[1.0, 0.0], [4.0, 1.0], [0.0, 2.0]]), 1).tolist()
    [[1], [0], [1]]
    """
    if x.ndim != 2 or not 1 <= k < len(x):
        raise InputError(
            f"{k} neighbours cannot be found among vectors of shape {tuple(x.shape)}. Give (n, d) "
            "vectors and a number from 1 to n - 1."
        )
    rows = max(1, piece // len(x))
    found = []
    with torch.autocast(x.device.type, enabled=False):
        x = normalize(full_precision(x), dim=1)
        for start in range(0, len(x), rows):
            cosine = x[start : start + rows] @ x.T  # (rows, n)
            cosine.diagonal(offset=start).fill_(-math.inf)
            found.append(cosine.topk(k, dim=1).indices)
    return torch.cat(found)


@torch.no_grad()
def said_of_all(trainer: Trainer, run: Callable[[Tensor], Tensor], *, chunk: int = READ) -> Tensor:
    """What `run` says (n, ...) of the plain views of all items of a trainer, on its device.

    Batch norms run with their learnt averages, so no item depends on another.
    """
    found = []
    with in_use(trainer.network), quick_kernels(), autocast(trainer.compute):
        for some in torch.split(trainer.data, chunk):
            found.append(full_precision(run(trainer.views.plain(some))))
    return torch.cat(found)


class NeighbourTrainer(Trainer):
    """A :class:`Trainer` that appends one random neighbour of each item to a batch (SCAN).

    Once `table` is there, views get 2B items, a batch and then its neighbours, and make one view
    of each. Set it before the first step of a stage.
    """

    table: Tensor | None = None
    """(n, k) neighbours of each item; None: batches are as usual."""

    def _mine(self, items: Tensor) -> Tensor:
        mine = super()._mine(items)
        if self.table is None:
            return mine
        # Drawn on the device: a recorded step draws anew each time.
        column = torch.randint(
            self.table.shape[1], mine.shape, generator=self._chance, device=self.device
        )
        return torch.cat([mine, self.table[mine, column]])
