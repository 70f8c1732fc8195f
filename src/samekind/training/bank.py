"""The bank: what the trained network says of all items, in pieces, each item by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from samekind.compute import Compute
from samekind.training.loop import TwoViews
from samekind.training.network import Network, Output
from samekind.training.steps import autocast, memory_is_enough

Floats = NDArray[np.float32]
REFERENCE = 256
"""Items that stand for the batch when others are placed; more only make the estimate steadier."""


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
    """

    network: Network
    prepare: Callable[[Tensor], Tensor]
    compute: Compute
    reference: Tensor | None = None
    peers: int | None = None

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
    ) -> Reader:
        """A reader whose reference set is drawn from the items by a seed."""
        if network.attention is None:
            return cls(network, prepare, compute)
        rows = np.sort(np.random.default_rng((seed, 7)).permutation(len(data))[:REFERENCE])
        chosen = data[torch.from_numpy(rows).to(data.device)]
        with autocast(compute):
            parts = (prepare(part) for part in torch.split(chosen, 64))
            reference = network.reference_features(parts)
        reference = reference.to(torch.promote_types(reference.dtype, torch.float32))
        return cls(network, prepare, compute, reference, max(peers, 0))

    def bank(self, data: Tensor, *, chunk: int = 512) -> Bank:
        """What the network says of items (n, ...), as arrays on the host."""
        parts = [self(part) for part in torch.split(data, chunk)]
        h, z, p = (torch.cat([part[k] for part in parts]).float().cpu().numpy() for k in range(3))
        return Bank(h, z, p)

    def views_bank(
        self,
        data: Tensor,
        views: TwoViews,
        pick: Callable[[Output], Tensor],
        *,
        seed: int,
        chunk: int = 512,
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
        """What the network says of some items."""
        return self._run(self.prepare(items.to(self.compute.device)))

    @torch.no_grad()
    def _run(self, rows: Tensor) -> Output:
        with in_use(self.network), memory_is_enough(len(rows)), autocast(self.compute):
            return self.network(rows, self.reference, 1, peers=self.peers)  # type: ignore[no-any-return]


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
