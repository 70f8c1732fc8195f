"""Nearest neighbours of every item: exact, or by cells where comparing all with all takes long.

Only the cosines are kept, not who the neighbours are: that is all that Eq. 3 of IDC needs.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from samekind.compute import best_device

if TYPE_CHECKING:
    from torch import Tensor

Floats = NDArray[Any]

EXACT_BELOW = 12_000
"""Up to so many items all are compared with all on a CPU too; that takes two seconds."""
PROBES = 15
"""Cells that an item looks into besides its own: more find more true neighbours and take longer."""
PER_CELL = 200
"""Items of an ordinary cell: many small cells take long to choose from, large ones to look into."""
QUICK = 20_000
"""Up to so many items one thread computes: on busy cores threads wait longer than they work."""
BUCKET = 64
ROWS, TILE = {True: 512, False: 8_192}, {True: 8_192, False: 65_536}
"""Items that look for neighbours at a time, and items that they look at, on a CPU and elsewhere."""


def nearest_cosines(
    z: Floats, k: int, *, exact: bool | None = None, device: str | None = None
) -> Floats:
    """(n, k) cosines of each unit row to its `k` nearest other rows, nearest first.

    Parameters
    ----------
    exact : compare all with all. None: on a GPU always, on a CPU in sets of up to 12,000 items.
        Otherwise each item looks into its cell (of k-means) and the 15 nearest other ones.
    device : where to compute; None takes the best there is.
    """
    rows = as_tensor(z, device)
    if exact is None:
        exact = rows.device.type != "cpu" or len(z) <= EXACT_BELOW
    with one_thread(not exact or len(z) <= QUICK):  # the products of cells are small
        found = neighbour_tensor(rows, k, exact=exact)
    return np.asarray(found.cpu().numpy())


@contextmanager
def one_thread(wanted: bool = True) -> Iterator[None]:
    """Within this context torch keeps to one thread, where that is wanted."""
    import torch

    before = torch.get_num_threads()
    try:
        if wanted:
            torch.set_num_threads(1)
        yield
    finally:
        torch.set_num_threads(before)


def neighbour_tensor(z: Tensor, k: int, *, exact: bool) -> Tensor:
    """The same for rows that lie on their device already."""
    k = min(k, len(z) - 1)
    if k < 1:
        return z.new_zeros((len(z), 0))
    return _exact(z, k) if exact else _by_cells(z, k)


def as_tensor(z: Floats, device: str | None = None) -> Tensor:
    """Rows as a tensor on the device, without a copy where that is possible; halves as singles."""
    import torch

    rows = np.asarray(z)
    if rows.dtype not in (np.float32, np.float64):
        rows = rows.astype(np.float32)
    if not rows.flags.writeable:  # torch warns about memory that it must not write to
        rows = rows.copy()
    where = best_device(device).device
    if where.startswith("mps"):  # it has no double precision
        rows = rows.astype(np.float32, copy=False)
    return torch.from_numpy(np.ascontiguousarray(rows)).to(where)


def _exact(z: Tensor, k: int) -> Tensor:
    """All with all, in tiles: memory stays that of one tile."""
    found = z.new_empty((len(z), k))
    rows, tile = (sizes[z.device.type == "cpu"] for sizes in (ROWS, TILE))
    for start in range(0, len(z), rows):
        some = z[start : start + rows]
        best = some.new_full((len(some), 0), 0.0)
        for first in range(0, len(z), tile):
            alike = some @ z[first : first + tile].T  # (rows, tile)
            if first < start + rows and start < first + tile:
                low, high = max(start, first), min(start + len(some), first + alike.shape[1])
                alike[low - start : high - start, low - first : high - first].fill_diagonal_(-9.0)
            best = _merged(best, alike, k)
        found[start : start + rows] = best
    return found


def _by_cells(z: Tensor, k: int) -> Tensor:
    """Each item among those of the cells nearest to it (an inverted file)."""
    import torch

    centres, cell = _cells(z)
    members = _listed(cell, len(centres))
    found = z.new_full((len(z), k), -9.0)
    for inside in members:
        rows = z[inside]
        for start in range(0, len(inside), 512):
            alike = rows[start : start + 512] @ rows.T
            alike[:, start:].fill_diagonal_(-9.0)
            some = inside[start : start + 512]
            found[some] = _merged(found[some], alike, k)
    if len(centres) < 2:
        return found.clamp_(min=-1.0)
    others = _other_cells(z, centres, cell)  # (n, p)
    lookers = _listed(others.flatten(), len(centres))
    for inside, places in zip(members, lookers, strict=True):
        if not len(inside):
            continue
        rows = z[inside]
        for some in torch.split(places // others.shape[1], 2048):
            alike = z[some] @ rows.T
            better = (alike.amax(dim=1) > found[some, -1]).nonzero().flatten()
            who = some[better]
            found[who] = _merged(found[who], alike[better], k)
    return found.clamp_(min=-1.0)  # who finds fewer than k in all its cells is very much alone


def _listed(number: Tensor, count: int) -> list[Tensor]:
    """For each of `count` numbers the places that have it, ascending."""
    import torch

    sizes = torch.bincount(number, minlength=count).tolist()
    return list(torch.split(torch.argsort(number, stable=True), sizes))


def _merged(best: Tensor, alike: Tensor, k: int) -> Tensor:
    """The `k` largest of what was found so far and of new cosines, largest first."""
    import torch

    wide = alike.shape[1] // BUCKET * BUCKET
    if wide > 2 * k * BUCKET:
        # The k largest lie in the k buckets with the largest maxima: sort those, not all.
        buckets = alike[:, :wide].view(len(alike), -1, BUCKET)  # (rows, buckets, 64)
        top = buckets.amax(dim=2).topk(k, dim=1, sorted=False).indices
        inside = buckets.gather(1, top[:, :, None].expand(-1, -1, BUCKET)).flatten(1)
        alike = torch.cat([inside, alike[:, wide:]], dim=1)
    together = torch.cat([best, alike], dim=1)
    return together.topk(min(k, together.shape[1]), dim=1).values


def _cells(z: Tensor) -> tuple[Tensor, Tensor]:
    """Centres of cells (c, d), and the cell of each item (n,); no cell is much larger than others.

    Few rounds of k-means on a sample are enough: cells need not be good groups.
    """
    import torch

    chance = torch.Generator().manual_seed(0)
    count = max(1, len(z) // PER_CELL)
    if count > 2_048:  # choosing among more cells would cost more than looking into larger ones
        count = 2_048
    some = z[torch.randperm(len(z), generator=chance)[: 32 * count].to(z.device)]
    centres = some[:count].clone()
    for _ in range(6):
        near = _assigned(some, centres)
        sums = torch.zeros_like(centres).index_add_(0, near, some)
        there = torch.bincount(near, minlength=count)[:, None] > 0
        centres = torch.where(there, torch.nn.functional.normalize(sums), centres)
    return _cut(z, centres, _assigned(z, centres))


def _cut(z: Tensor, centres: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
    """Cut cells that are much too large across the coordinate that varies most in them."""
    import torch

    most = 4 * max(1, len(z) // len(centres))
    sizes = torch.bincount(cell, minlength=len(centres))
    added: list[Tensor] = []
    for number in torch.nonzero(sizes > most).flatten().tolist():
        members = torch.nonzero(cell == number).flatten()
        rows = z[members]
        members = members[rows[:, rows.var(dim=0).argmax()].argsort(stable=True)]
        for piece, part in enumerate(torch.split(members, most)):
            middle = torch.nn.functional.normalize(z[part].mean(dim=0), dim=0)
            if piece:
                cell[part] = len(centres) + len(added)
                added.append(middle)
            else:
                centres[number] = middle
    return (torch.cat([centres, torch.stack(added)]) if added else centres), cell


def _assigned(rows: Tensor, centres: Tensor) -> Tensor:
    import torch

    parts = [(part @ centres.T).argmax(dim=1) for part in torch.split(rows, 4096)]
    return torch.cat(parts)


def _other_cells(z: Tensor, centres: Tensor, cell: Tensor) -> Tensor:
    """(n, p) the cells to look into besides an item's own: those whose centres are nearest."""
    import torch

    found = []
    for rows, own in zip(torch.split(z, 4096), torch.split(cell, 4096), strict=True):
        alike = rows @ centres.T
        alike.scatter_(1, own[:, None], -9.0)
        found.append(alike.topk(min(PROBES, len(centres) - 1), dim=1).indices)
    return torch.cat(found)
