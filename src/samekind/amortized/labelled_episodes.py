"""Episodes from labelled items: N images (or frozen vectors) of K classes, by chance."""

from __future__ import annotations

import math

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from samekind.amortized.generators import Episode, checked_points, draw_grouping
from samekind.amortized.priors import CRP, Prior
from samekind.errors import InputError

N_STRIDES = 64
"""Ways to walk through the members of a class."""


class LabelledEpisodes:
    """Data sets made of labelled items: each group is one class, drawn by chance.

    Within a data set the classes are different, and no item comes twice unless a group has more
    members than its class. Train on some classes and test on others by handing over their items.

    Parameters
    ----------
    items : (M, channels, height, width) images, uint8 or float, or (M, d) vectors.
    classes : (M,) class of each.
    prior, points : of the grouping.
    max_groups : None: as many as there are classes.
    mean, std : uint8 images are divided by 255 and then normalised by these.
    device : where the items lie.
    """

    def __init__(
        self,
        items: NDArray[np.generic] | Tensor,
        classes: NDArray[np.integer] | Tensor,
        *,
        prior: Prior | None = None,
        points: tuple[int, int] = (5, 99),
        max_groups: int | None = None,
        mean: float = 0.5,
        std: float = 0.25,
        device: str | torch.device = "cpu",
    ) -> None:
        self.items = torch.as_tensor(items, device=device)
        names, number = np.unique(np.asarray(classes), return_inverse=True)
        if len(number) != len(self.items):
            raise InputError(
                f"There are {len(self.items)} items but {len(number)} classes. Give one for each."
            )
        self.prior = prior or CRP(0.7)
        self.points = checked_points(points, points)
        self.max_groups = min(max_groups or len(names), len(names))
        self.mean, self.std = mean, std
        members = [np.flatnonzero(number == k) for k in range(len(names))]
        rng = np.random.default_rng(0)
        table = np.zeros((len(names), max(map(len, members))), dtype=np.int64)
        strides = np.ones((len(names), N_STRIDES), dtype=np.int64)
        for k, mine in enumerate(members):
            table[k, : len(mine)] = rng.permutation(mine)
            # A stride without a common divisor visits every member before it repeats one.
            good = [s for s in range(1, len(mine)) if math.gcd(s, len(mine)) == 1] or [1]
            strides[k] = rng.choice(good, N_STRIDES)
        self._members = torch.from_numpy(table).to(self.items.device)
        self._strides = torch.from_numpy(strides).to(self.items.device)
        sizes = np.array([len(mine) for mine in members])
        self._sizes = torch.from_numpy(sizes).to(self.items.device)

    def draw(
        self, batch: int, generator: torch.Generator, points: tuple[int, int] | None = None
    ) -> Episode:
        """A batch; see :class:`~samekind.amortized.generators.Generator`."""
        sizes = checked_points(points, self.points)
        labels, mask = draw_grouping(self.prior, batch, sizes, self.max_groups, generator)
        device, C = generator.device, len(self._sizes)

        def chance() -> Tensor:
            return torch.rand(batch, C, generator=generator, device=device)

        group_class = chance().argsort(1)  # (B, C): a different class for each group
        stride = (chance() * N_STRIDES).long()
        start = (chance() * self._sizes[group_class]).long()
        kind = group_class.gather(1, labels)  # (B, N)
        slots = torch.arange(self.max_groups, device=device)
        inside = (labels[..., None] == slots).cumsum(1)
        rank = inside.gather(2, labels[..., None])[..., 0] - 1  # among the members of its group
        step = self._strides[kind, stride.gather(1, labels)]
        index = (start.gather(1, labels) + rank * step) % self._sizes[kind]
        return Episode(self._values(self._members[kind, index]), labels, mask)

    def _values(self, index: Tensor) -> Tensor:
        found = self.items[index]
        if found.dtype == torch.uint8:
            return (found.float() / 255 - self.mean) / self.std
        return found.float()
