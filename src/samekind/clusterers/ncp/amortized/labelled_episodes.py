"""Episodes from labelled items: N images (or frozen vectors) of K classes, drawn at random.

A network that has seen five classes has learnt five classes, not what a class is. Turned, mirrored
and inverted images are classes of their own here, so that a few classes give many; of vectors,
classes that are moved towards others. Distortions make many images of few.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from samekind.clusterers.ncp.amortized.distortions import Distortion
from samekind.clusterers.ncp.amortized.generators import (
    Episode,
    checked_points,
    draw_grouping,
    of_group,
)
from samekind.clusterers.ncp.amortized.priors import CRP, Prior
from samekind.errors import InputError

N_STRIDES = 64
"""Ways to walk through the members of a class."""
View = Literal["turn", "mirror", "invert"]
"""Ways to make a new class from another: quarter turns, a mirror, inverted brightness."""


class LabelledEpisodes:
    """Data sets made of labelled items: each group is one class, drawn at random.

    Within a data set the classes are different, and no item comes twice unless a group has more
    members than its class. Train on some classes and test on others by handing over their items.

    Parameters
    ----------
    items : (M, channels, height, width) images, uint8 or float, or (M, d) vectors.
    classes : (M,) class of each.
    prior, points : of the grouping.
    max_groups : None: as many as there are classes that can be told apart in one data set.
    views : images as new classes: each class is taken in every combination of these. Turns need
        square images.
    look_alikes : whether two views of one class may be two groups of one data set when they differ
        by a mirror or a half turn only. An 0 cannot be told from itself upside down, so by default
        each data set has one of such views, at random.
    mean, std : uint8 images are divided by 255 and then normalised by these.
    distort : of uint8 images, applied to each before they are normalised.
    moved : of vectors: each group is moved towards (or away from) another class by up to this part
        of the distance between their means, so that no two data sets have quite the same classes.
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
        views: Sequence[View] = (),
        look_alikes: bool = False,
        mean: float = 0.5,
        std: float = 0.25,
        distort: Distortion | None = None,
        moved: float = 0.0,
        device: str | torch.device = "cpu",
    ) -> None:
        self.items = torch.as_tensor(items, device=device)
        names, number = np.unique(np.asarray(classes), return_inverse=True)
        if len(number) != len(self.items):
            raise InputError(
                f"Expected one class for each of {len(self.items)} items, got {len(number)}."
            )
        self.prior = prior or CRP(0.7)
        self.points = checked_points(points, points)
        self._views = _view_table(views, look_alikes).to(self.items.device)
        self._pixels = _pixel_table(self.items, views)
        families = len(names) * len(self._views)
        self.max_groups = min(max_groups or families, families)
        self.mean, self.std, self.distort, self.moved = mean, std, distort, moved
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
        if moved and self.items.ndim != 2:
            raise InputError(
                f"Expected vectors (M, d) whose classes are moved, got items of shape "
                f"{tuple(self.items.shape)}. Omit moved for images."
            )
        self._means = torch.stack(
            [self.items[torch.from_numpy(mine)].float().mean(0) for mine in members]
        ) if moved else None  # (C, d)  # fmt: skip

    def draw(
        self, batch: int, generator: torch.Generator, points: tuple[int, int] | None = None
    ) -> Episode:
        """A batch; see :class:`~samekind.clusterers.ncp.amortized.generators.Generator`."""
        sizes = checked_points(points, self.points)
        labels, mask = draw_grouping(self.prior, batch, sizes, self.max_groups, generator)
        device, (F, T) = generator.device, self._views.shape
        C = len(self._sizes) * F

        def uniform() -> Tensor:
            return torch.rand(batch, C, generator=generator, device=device)

        drawn = uniform().argsort(1)  # (B, C): a different class, or family of views, per group
        group_class, family = drawn // F, drawn % F
        view = self._views[family, (uniform() * T).long().clamp_max(T - 1)]  # (B, C)
        stride = (uniform() * N_STRIDES).long()
        start = (uniform() * self._sizes[group_class]).long()
        kind = group_class.gather(1, labels)  # (B, N)
        slots = torch.arange(self.max_groups, device=device)
        inside = (labels[..., None] == slots).cumsum(1)
        rank = inside.gather(2, labels[..., None])[..., 0] - 1  # among the members of its group
        step = self._strides[kind, stride.gather(1, labels)]
        index = (start.gather(1, labels) + rank * step) % self._sizes[kind]
        found = self._values(self._members[kind, index], view.gather(1, labels), generator)
        if self._means is not None:
            part = self.moved * (2 * uniform() - 1)  # (B, C)
            other = self._means[group_class.roll(1, 1)] - self._means[group_class]  # (B, C, d)
            found = found + of_group(part[..., None] * other, labels)
        return Episode(found, labels, mask)

    def _values(self, index: Tensor, view: Tensor, generator: torch.Generator) -> Tensor:
        found = self.items[index]
        if self._pixels is not None:
            flat = found.flatten(3)  # (B, N, channels, pixels)
            where = self._pixels[view % 8][:, :, None].expand_as(flat)
            found = flat.gather(3, where).view_as(found)
        if found.dtype != torch.uint8:
            return found.float()
        if self._pixels is not None:
            found = torch.where((view >= 8)[..., None, None, None], 255 - found, found)
        found = found.float() / 255
        if self.distort is not None:
            found = self.distort(found.flatten(0, 1), generator).view_as(found)
        return (found - self.mean) / self.std


def _view_table(views: Sequence[View], look_alikes: bool) -> Tensor:
    """(families, members) numbers of views: quarter turns, + 4 mirrored, + 8 inverted.

    Views of one family are hard to tell apart; a data set has at most one of them per class.
    """
    odd = sorted(set(views) - {"turn", "mirror", "invert"})
    if odd:
        raise InputError(f"Expected views among turn, mirror and invert, got {odd[0]!r}.")
    turns = [[0, 2], [1, 3]] if "turn" in views else [[0]]
    mirrors = [0, 4] if "mirror" in views else [0]
    inverts = [0, 8] if "invert" in views else [0]
    table = [[t + m + i for t in alike for m in mirrors] for alike in turns for i in inverts]
    if look_alikes:
        table = [[view] for family in table for view in family]
    return torch.tensor(table)


def _pixel_table(items: Tensor, views: Sequence[View]) -> Tensor | None:
    """(8, pixels) where each pixel of a turned or mirrored image comes from; None: no views."""
    if not views:
        return None
    if items.ndim != 4:
        raise InputError(
            f"Expected images (M, channels, height, width) to make views of, got items of shape "
            f"{tuple(items.shape)}. Omit views for vectors."
        )
    height, width = items.shape[2:]
    if "turn" in views and height != width:
        raise InputError(
            f"Expected square images to turn, got {height} x {width} pixels. Omit 'turn'."
        )
    if "invert" in views and items.dtype != torch.uint8:
        raise InputError(f"Expected uint8 images to invert, got {items.dtype}. Omit 'invert'.")
    place = torch.arange(height * width).view(height, width)
    turns = range(4) if height == width else [0] * 4
    looks = [torch.rot90(p, k) for p in (place, place.flip(1)) for k in turns]
    return torch.stack([look.flatten() for look in looks]).to(items.device)
