"""The bank: the output of a trained network for all items, each item by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from samekind.compute import Compute, quick_kernels
from samekind.objectives.similarity import full_precision
from samekind.training.loop import Trainer, TwoViews
from samekind.training.network import Network, Output
from samekind.training.recorded_network import RecordedNetwork
from samekind.training.steps import NoMemory, autocast, memory_is_enough

Floats = NDArray[np.float32]
REFERENCE = 256
"""Items that stand for the batch when others are placed; more only make the estimate steadier."""
READ_ITEMS = 512
"""Items that are read at a time."""
SMALLEST = 8
"""Items at a time below which reading does not go when memory is short."""


@dataclass(frozen=True, eq=False)
class Bank:
    """Features h (n, width), unit vectors z (n, M) and memberships p (n, K) of n items."""

    h: Floats
    z: Floats
    p: Floats


@dataclass(frozen=True, eq=False)
class Reader:
    """A trained network in use: the result of an item does not depend on any other.

    Parameters
    ----------
    network : in any mode; it is left in that mode.
    prepare : from raw items to what the network takes, without chance.
    compute : where, and in which number format.
    reference : (R, width) features that items look at in place of a batch; None without attention.
    peers : items of a training batch less one.
    recorded : the same network, recorded for batches of one size, or None.
    """

    network: Network
    prepare: Callable[[Tensor], Tensor]
    compute: Compute
    reference: Tensor | None = None
    peers: int | None = None
    recorded: RecordedNetwork | None = None

    @classmethod
    def of(
        cls,
        network: Network,
        data: Tensor,
        prepare: Callable[[Tensor], Tensor],
        compute: Compute,
        *,
        peers: int,
        seed: int,
        recorded: RecordedNetwork | None = None,
    ) -> Reader:
        """A reader whose reference set is drawn from the items by a seed."""
        if network.attention is None:
            return cls(network, prepare, compute, recorded=recorded)
        rows = np.sort(np.random.default_rng((seed, 7)).permutation(len(data))[:REFERENCE])
        chosen = data[torch.from_numpy(rows).to(data.device)]
        with autocast(compute):
            parts = (prepare(part) for part in torch.split(chosen, 64))
            reference = network.reference_features(parts)
        reference = reference.to(torch.promote_types(reference.dtype, torch.float32))
        return cls(network, prepare, compute, reference, max(peers, 0), recorded)

    def __getstate__(self) -> dict[str, Any]:
        """All but the recording, which belongs to this process."""
        return {**self.__dict__, "recorded": None}

    def bank(self, data: Tensor, *, chunk: int = READ_ITEMS) -> Bank:
        """Read items (n, ...) into arrays on the host."""
        while True:
            try:
                return self._bank(data, chunk)
            except NoMemory:
                if chunk <= SMALLEST:
                    raise
            chunk //= 4  # the result does not depend on it

    def _bank(self, data: Tensor, chunk: int) -> Bank:
        parts = [self(part) for part in self._split(data, chunk)]
        h, z, p = (
            torch.cat([part[k] for part in parts])[: len(data)].float().cpu().numpy()
            for k in range(3)
        )
        return Bank(h, z, p)

    def _split(self, data: Tensor, chunk: int) -> Iterator[Tensor]:
        """Batches of items; for a recorded network all of one size, the last one filled up."""
        for part in torch.split(data, chunk):
            missing = chunk - len(part)
            if self.recorded is None or not missing:
                yield part
            else:
                yield torch.cat([part, part[:1].expand(missing, *part.shape[1:])])

    def views_bank(
        self,
        data: Tensor,
        views: TwoViews,
        pick: Callable[[Output], Tensor],
        *,
        seed: int,
        chunk: int = READ_ITEMS,
    ) -> Floats:
        """(2, n, M) vectors of two random views of each item; `pick` says which vectors."""
        dtype = next(self.network.parameters()).dtype
        chance = torch.Generator(data.device).manual_seed(seed)
        parts = [
            torch.unflatten(
                pick(self._run(views(part, chance).to(dtype))).float().cpu(), 0, (2, -1)
            )
            for part in torch.split(data, chunk)
        ]
        found: Floats = torch.cat(parts, dim=1).numpy()
        return found

    @torch.no_grad()
    def __call__(self, items: Tensor) -> Output:
        """Return the output of the network for some items."""
        with memory_is_enough(len(items)):
            rows = self.prepare(items.to(self.compute.device))
        return self._run(rows)

    @torch.no_grad()
    def _run(self, rows: Tensor) -> Output:
        run: Callable[..., Output] = self.network if self.recorded is None else self.recorded
        with (
            in_use(self.network),
            memory_is_enough(len(rows)),
            quick_kernels(),
            autocast(self.compute),
        ):
            return run(rows, self.reference, 1, peers=self.peers)


@contextmanager
def in_use(network: nn.Module) -> Iterator[None]:
    """The network with its learnt averages in place of those of a batch."""
    modes = {module: module.training for module in network.modules()}
    network.eval()
    try:
        yield
    finally:
        for module, mode in modes.items():
            module.training = mode


@torch.no_grad()
def predict_all(trainer: Trainer, run: Callable[[Tensor], Tensor]) -> Tensor:
    """Apply `run` to the plain views of all items of a trainer, on its device.

    Batch norms run with their learnt averages, so no item depends on another.
    """
    found = []
    with in_use(trainer.network), quick_kernels(), autocast(trainer.compute):
        for some in torch.split(trainer.data, READ_ITEMS):
            found.append(full_precision(run(trainer.views.plain(some))))
    return torch.cat(found)
