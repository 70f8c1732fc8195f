"""Greedy selection by a value whose diversity part shrinks with every pick (IDC, Eq. 4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from samekind.errors import InputError

if TYPE_CHECKING:
    from torch import Tensor

FLOOR = 1e-12
"""Smallest argument of a logarithm: rounding may make it zero or negative."""
MAX_HOT_ITEMS = 4_096
"""Items whose values are updated after each pick; the others wait until they matter."""
TOLERANCE = 1e-5
"""Values this close count as equal, and the first item is taken, so that the order in which
products are computed does not matter."""


class Greedy:
    """Pick the item of largest value, again and again.

    After each pick, one product of all vectors with the picked one updates the distance of every
    item to its nearest pick. Diversity only falls, so an outdated value is an upper bound: on a CPU
    only the most valuable items are updated at once, and the others for all picks together when one
    of them might be the best. The picks are the same.

    Parameters
    ----------
    z : (n, d) unit rows on their device. base : (n,) the value without diversity.
    diversity : its weight; 0 ignores it.
    """

    def __init__(self, z: Tensor, base: NDArray[Any], *, diversity: float = 1.0) -> None:
        import torch

        if diversity < 0:
            raise InputError(f"Expected a weight of diversity from 0 up, got {diversity}.")
        self.z, self.diversity = z, diversity
        # NaN must never win: such an item is worth nothing.
        clean = np.nan_to_num(base, nan=-1e9, posinf=1e9, neginf=-1e9)
        kind = torch.float32 if z.device.type == "mps" else torch.float64
        self.base = torch.tensor(clean, dtype=kind, device=z.device)
        self.apart = torch.full_like(self.base, torch.inf)
        """1 - cosine to the nearest pick, without the waiting picks."""
        self.waiting: list[int] = []
        self.taken = 0
        self._hot: _Hot | None = None

    def best(self) -> tuple[int, float] | None:
        """The item of largest value, with the value; None if no item is left."""
        if self._hot is not None:
            found = self._hot.best(self.diversity if self.taken else 0.0)
            if found is not None:
                return found
            if self._hot.items is None:
                return None
        self._hot = self._refreshed()
        return self._hot.best(self.diversity if self.taken else 0.0)

    def take(self, item: int) -> None:
        """Count an item as picked: it is excluded, and similar items lose value."""
        self.leave_out(item)
        self.taken += 1
        if self.diversity:
            self.waiting.append(item)
            if self.taken == 1:  # without diversity before: values may rise (reading I7)
                self._hot = None
            elif self._hot is not None:
                self._hot.away_from(self.z[item])

    def leave_out(self, item: int) -> None:
        """Exclude an item without counting it as picked."""
        self.base[item] = -np.inf
        if self._hot is not None:
            self._hot.leave_out(item)

    def copy(self) -> Greedy:
        """A copy of the state, to look ahead."""
        twin = object.__new__(Greedy)
        twin.__dict__.update(self.__dict__)
        twin.base, twin.waiting = self.base.clone(), list(self.waiting)
        twin._hot = self._hot and self._hot.copy()
        return twin

    def _refreshed(self) -> _Hot:
        """Update all values, and choose the items that are updated from now on."""
        import torch

        for start in range(0, len(self.waiting), 64):
            picked = self.z[self.waiting[start : start + 64]]  # (m, d)
            nearest = [(rows @ picked.T).amax(dim=1) for rows in torch.split(self.z, 65_536)]
            self.apart = self.apart.minimum((1 - torch.cat(nearest)).to(self.apart.dtype))
        self.waiting = []
        whole = _Hot(None, self.z, self.base.clone(), self.apart, -np.inf)
        if self.z.device.type != "cpu" or len(self.z) <= 2 * MAX_HOT_ITEMS:
            return whole
        values = whole.values(self.diversity if self.taken else 0.0)
        bound = float(values.topk(MAX_HOT_ITEMS + 1, sorted=False).values.min())
        if float(values.max()) <= bound + TOLERANCE:  # too many ties
            return whole
        items = torch.nonzero(values > bound).flatten()
        return _Hot(items, self.z[items], self.base[items], self.apart[items], bound)


class _Hot:
    """Items whose values are current (None: all), and a bound on the values of the others."""

    def __init__(
        self, items: Tensor | None, rows: Tensor, base: Tensor, apart: Tensor, bound: float
    ) -> None:
        self.items, self.rows, self.base, self.apart = items, rows, base, apart
        self.bound = bound

    def values(self, diversity: float) -> Tensor:
        """Eq. 1 for these items; without diversity before the first pick."""
        if not diversity:
            return self.base
        return self.base + diversity * self.apart.clamp(min=FLOOR).log()

    def best(self, diversity: float) -> tuple[int, float] | None:
        """The best item; None if one of the others might be better, or none is left."""
        values = self.values(diversity)
        most = float(values.max())
        if most == -np.inf or most <= self.bound + TOLERANCE:
            return None
        place = int((values >= most - TOLERANCE).nonzero()[0])
        return (place if self.items is None else int(self.items[place])), float(values[place])

    def away_from(self, row: Tensor) -> None:
        """Update the distances after a pick."""
        self.apart = self.apart.minimum((1 - self.rows @ row).to(self.apart.dtype))

    def leave_out(self, item: int) -> None:
        """Exclude an item."""
        import torch

        if self.items is None:
            self.base[item] = -np.inf
            return
        place = int(torch.searchsorted(self.items, item))
        if place < len(self.items) and int(self.items[place]) == item:
            self.base[place] = -np.inf

    def copy(self) -> _Hot:
        """An independent copy."""
        return _Hot(self.items, self.rows, self.base.clone(), self.apart, self.bound)
