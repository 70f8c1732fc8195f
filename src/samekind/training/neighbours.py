"""Batches that bring a neighbour of each item along, and predictions for all items."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from samekind.compute import quick_kernels
from samekind.objectives.similarity import full_precision
from samekind.training.bank import in_use
from samekind.training.loop import Trainer
from samekind.training.steps import autocast

READ = 512
"""Items that are read at a time."""


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
