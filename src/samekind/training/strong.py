"""Strong views: random operations on each image and a hole, for a whole batch at once.

The operations are those of RandAugment, four of them as TCL and IDC use them, or two as FixMatch
does. Without operations and hole the views are the weak ones of FixMatch. Every image has its own
chances. They are drawn first (:meth:`Strong.draw`) and applied afterwards (:meth:`Strong.render`),
which holds no chance, no loop over images and no wait for the device.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import torch
from torch import Tensor, nn

from samekind.errors import InputError
from samekind.training.augment import Draw, Family, Triple, Views
from samekind.training.operations import MIRRORED, OPERATIONS, operated, resized

TCL = Family(224, scale=(0.2, 1.0), jitter=(0.4, 0.4, 0.2, 0.1))
"""TCL's weak view for CIFAR: jitter .8 s, .8 s, .4 s, .2 s with s = .5. IDC's program crops from
.08 on; a network must be used with the views that it was trained with."""
TCL_IMAGENET = replace(TCL, jitter=(0.8, 0.8, 0.4, 0.2), blur_p=1.0)
"""The same for larger images: s = 1, always blurred."""


@dataclass(frozen=True)
class StrongFamily:
    """How strong the strong views are.

    Parameters
    ----------
    size : side of the views in pixels.
    n_ops : operations on each image, drawn with replacement; 0: none.
    flip_p : how often an image is mirrored before.
    cutout : largest side of the hole as a share of the size; its side is drawn from 1 pixel to
        this, its middle anywhere, so that part of it may lie outside. 0: no hole.
    mean, std : subtracted and divided by at the end, but the hole is 0; None: views stay between
        0 and 1.
    shift : largest shift along each axis before the operations, as a share of the size; the image
        is reflected at its edges. 0: none.
    reach : largest shear, and largest translation as a share of the size.
    skip_p : how often an operation is left out.
    whole_hole : the hole always has its largest side.
    hole_level : level of the hole between 0 and 1 before `mean` is subtracted; None: 0 after it.
    """

    size: int
    n_ops: int = 4
    flip_p: float = 0.5
    cutout: float = 75 / 224
    mean: Triple | None = None
    std: Triple | None = None
    shift: float = 0.0
    reach: float = 0.1
    skip_p: float = 0.0
    whole_hole: bool = False
    hole_level: float | None = None

    def at(self, size: int) -> Self:
        """The same family for views of another size."""
        return replace(self, size=size)

    @property
    def hole(self) -> int:
        """Largest side of the hole in pixels."""
        return max(1, round(self.cutout * self.size)) if self.cutout > 0 else 0

    @property
    def steps(self) -> int:
        """Largest shift in pixels; less than the size, so that reflecting once is enough."""
        return min(round(self.shift * self.size), self.size - 1)


FIXMATCH_WEAK = StrongFamily(32, n_ops=0, cutout=0.0, shift=0.125)
"""FixMatch's weak view: flipped in half of the cases and shifted by up to an eighth, reflected."""
FIXMATCH_STRONG = replace(
    FIXMATCH_WEAK, n_ops=2, cutout=0.5, reach=0.3, skip_p=0.5, whole_hole=True, hole_level=0.5
)
"""FixMatch's strong view, on top of the weak one: two operations within the bounds that the paper
prints, each left out half of the time and a gray hole of half the side, both as in its program."""


class StrongDraw(NamedTuple):
    """The random choices for n views; the hole is all pixels of both its rows and its columns."""

    operation: Tensor  # (n, n_ops) numbers in OPERATIONS
    value: Tensor  # (n, n_ops) how much, with its sign
    flip: Tensor  # (n,)
    top: Tensor  # (n,) first row of the hole
    left: Tensor  # (n,) its first column
    side: Tensor  # (n,) its side; 0: none
    down: Tensor  # (n,) pixels by which rows are shifted
    across: Tensor  # (n,) and columns

    @classmethod
    def nothing(cls, n: int, n_ops: int, device: torch.device | str) -> StrongDraw:
        """The whole image, unchanged."""
        zero = torch.zeros(n, device=device)
        rounds = torch.zeros(n, n_ops, device=device)
        return cls(rounds.long(), rounds, zero > 0, zero, zero, zero, zero.long(), zero.long())


class Strong(nn.Module):
    """One strong view of every image, in one batched pass.

    Parameters
    ----------
    family : how strong.
    dtype : of the views; inside it is always float32, whatever autocast says.
    compiled : compile the pass for each shape that comes; pays on a GPU.

    >>> strong = Strong(StrongFamily(32))
    >>> images = torch.randint(256, (5, 3, 40, 50), dtype=torch.uint8)
    >>> strong(images, torch.Generator().manual_seed(0)).shape
    torch.Size([5, 3, 32, 32])
    """

    low: Tensor
    span: Tensor
    mirrored: Tensor
    mean: Tensor | None
    scaling: Tensor | None

    def __init__(
        self,
        family: StrongFamily,
        *,
        dtype: torch.dtype = torch.float32,
        compiled: bool = False,
    ) -> None:
        super().__init__()
        if family.size < 4 or family.n_ops < 0:
            raise InputError(
                "Expected strong views of at least 4 pixels per side and 0 or more operations, got "
                f"size={family.size} and n_ops={family.n_ops}."
            )
        self.family, self.dtype = family, dtype
        self._pass: Callable[[Tensor, Tensor], Tensor] = self.of_chances
        if compiled:
            self._pass = torch.compile(self.of_chances, dynamic=False)
        # Buffers, because a table made in the pass would have to be sent to the device.
        bounds = torch.tensor(list(OPERATIONS.values()), dtype=torch.float32)  # (14, 2)
        reaching = [name.startswith(("shear", "translate")) for name in OPERATIONS]
        bounds[torch.tensor(reaching)] = torch.tensor([-family.reach, family.reach])
        both = family.mean is not None and family.std is not None  # as in Views
        tables = {
            "low": bounds[:, 0],
            "span": bounds[:, 1] - bounds[:, 0],
            "mirrored": torch.tensor([name in MIRRORED for name in OPERATIONS]),
            "mean": torch.tensor(family.mean).view(3, 1, 1) if both else None,
            "scaling": 1 / torch.tensor(family.std).view(3, 1, 1) if both else None,
        }
        for name, table in tables.items():
            self.register_buffer(name, table, persistent=False)

    @torch.no_grad()
    def forward(self, images: Tensor, generator: torch.Generator | None = None) -> Tensor:
        """Views (B, 3, S, S), channels last, of uint8 images (B, 3, H, W).

        A generator on the device of the images avoids a wait; one on the CPU gives the same views
        on every device.
        """
        _check(images)
        return self._pass(images, self.chances(len(images), images.device, generator))

    def chances(
        self, n: int, device: torch.device | str, generator: torch.Generator | None = None
    ) -> Tensor:
        """Uniform numbers for n views: (n, 3 n_ops + 4), more for shifts and skipped operations."""
        source, family = device if generator is None else generator.device, self.family
        more = (2 if family.shift > 0 else 0) + (family.n_ops if family.skip_p > 0 else 0)
        shape = (n, 3 * family.n_ops + 4 + more)
        return torch.rand(shape, generator=generator, device=source).to(device)

    def draw(self, chances: Tensor) -> StrongDraw:
        """Turn uniform numbers, see :meth:`chances`, into what happens to each view."""
        family = self.family
        last = 4 + 3 * family.n_ops
        per_round = chances[:, 4:last].reshape(len(chances), 3, family.n_ops)
        which, much, sign = per_round.unbind(dim=1)  # (n, n_ops) each
        operation = (which * len(OPERATIONS)).long().clamp(max=len(OPERATIONS) - 1)
        value = self.low[operation] + self.span[operation] * much
        value = value * (1 - 2.0 * (self.mirrored[operation] & (sign < 0.5)))
        if family.skip_p > 0:
            done = chances[:, -family.n_ops :] >= family.skip_p
            operation, value = operation * done, value * done  # 0 is the identity
        side = ((chances[:, 1] * family.hole).floor() + 1).clamp(max=family.hole)
        if family.whole_hole:
            side = torch.full_like(side, family.hole)
        middle = (chances[:, 2:4] * family.size).floor().clamp(max=family.size - 1)  # (n, 2)
        top, left = (middle - (side / 2).floor()[:, None]).unbind(dim=1)
        down = across = torch.zeros_like(side).long()
        if family.shift > 0:
            most = family.steps
            places = (chances[:, last : last + 2] * (2 * most + 1)).floor().clamp(max=2 * most)
            down, across = (places.long() - most).unbind(dim=1)
        flip = chances[:, 0] < family.flip_p
        return StrongDraw(operation, value, flip, top, left, side, down, across)

    def of_chances(self, images: Tensor, chances: Tensor) -> Tensor:
        """Views of uint8 images (n, 3, H, W) by uniform numbers, see :meth:`chances`."""
        return self.render(images, self.draw(chances))

    def render(self, images: Tensor, drawn: StrongDraw) -> Tensor:
        """Apply what was drawn to uint8 images (n, 3, H, W), each its own row of `drawn`."""
        with torch.autocast(images.device.type, enabled=False):
            x = resized(images, self.family.size)
            x = torch.where(drawn.flip.view(-1, 1, 1, 1), x.flip(3), x)
            if self.family.shift > 0:
                x = _shifted(x, drawn.down, drawn.across)
            for n in range(self.family.n_ops):
                x = operated(x, drawn.operation[:, n], drawn.value[:, n])
            x, hole = x / 255, _hole(drawn, self.family.size)
            level = self.family.hole_level
            if level is not None:
                x = x + hole * (level - x)
            if self.mean is not None and self.scaling is not None:
                x = (x - self.mean) * self.scaling
            if level is None:
                x = x * ~hole
            return x.to(self.dtype).contiguous(memory_format=torch.channels_last)


class WeakStrong(nn.Module):
    """A weak and a strong view of every image: TCL's two views, in place of two weak ones.

    Parameters
    ----------
    weak, strong : what may happen in either. Their sizes and their mean and std must be the same.
    dtype, compiled : as in :class:`Strong`.

    >>> views = WeakStrong(TCL.at(32), StrongFamily(32))
    >>> images = torch.randint(256, (5, 3, 32, 32), dtype=torch.uint8)
    >>> views(images, torch.Generator().manual_seed(0)).shape
    torch.Size([10, 3, 32, 32])
    """

    def __init__(
        self,
        weak: Family,
        strong: StrongFamily,
        *,
        dtype: torch.dtype = torch.float32,
        compiled: bool = False,
    ) -> None:
        super().__init__()
        if (weak.size, weak.mean, weak.std) != (strong.size, strong.mean, strong.std):
            raise InputError(
                "Expected weak and strong views of one size, mean and std, got "
                f"{weak.size}, {weak.mean}, {weak.std} and {strong.size}, {strong.mean}, "
                f"{strong.std}."
            )
        self.weak = Views(weak, dtype=dtype, compiled=compiled)
        self.strong = Strong(strong, dtype=dtype)
        self._pass: Callable[[Tensor, Tensor, Tensor], Tensor] = self._both
        if compiled:
            self._pass = torch.compile(self._both, dynamic=False)

    @torch.no_grad()
    def forward(self, images: Tensor, generator: torch.Generator | None = None) -> Tensor:
        """Views (2B, 3, S, S) of uint8 images (B, 3, H, W): weak ones, then strong ones."""
        _check(images)
        n, device = len(images), images.device
        weak = self.weak.chances(n, device, generator)
        return self._pass(images, weak, self.strong.chances(n, device, generator))

    def plain(self, images: Tensor) -> Tensor:
        """The images (B, 3, S, S) without any chance: resized to the square and normalised."""
        return self.weak.plain(images)

    def _both(self, images: Tensor, weak: Tensor, strong: Tensor) -> Tensor:
        drawn = Draw.of(weak, self.weak.family, *images.shape[2:])
        views = [self.weak.render(images, drawn), self.strong.of_chances(images, strong)]
        return torch.cat(views)


class StrongOnly(nn.Module):
    """One strong view of each picture; `mild` adds the plain picture before it.

    Parameters
    ----------
    family : how plain pictures are brought to the network.
    strong : what may happen to the others; of the same size, mean and std.
    mild : also give the plain pictures, all of them before the strong views.
    dtype, compiled : as in :class:`Strong`.

    >>> views = StrongOnly(Family(16), StrongFamily(16), mild=True)
    >>> images = torch.randint(256, (5, 3, 20, 20), dtype=torch.uint8)
    >>> views(images, torch.Generator().manual_seed(0)).shape
    torch.Size([10, 3, 16, 16])
    """

    def __init__(
        self,
        family: Family,
        strong: StrongFamily,
        *,
        mild: bool = False,
        dtype: torch.dtype = torch.float32,
        compiled: bool = False,
    ) -> None:
        super().__init__()
        self.mild = mild
        self._plain = Views(family, dtype=dtype, compiled=compiled)
        self._strong = Strong(strong, dtype=dtype, compiled=compiled)

    @torch.no_grad()
    def forward(self, images: Tensor, generator: torch.Generator | None = None) -> Tensor:
        """Views (B, 3, S, S) of uint8 images (B, 3, H, W), or (2B, 3, S, S) with mild ones."""
        strong: Tensor = self._strong(images, generator)
        return torch.cat([self.plain(images), strong]) if self.mild else strong

    def plain(self, images: Tensor) -> Tensor:
        """The images (B, 3, S, S) without any chance."""
        return self._plain.plain(images)


def _check(images: Tensor) -> None:
    if images.dtype != torch.uint8 or images.ndim != 4 or images.shape[1] != 3:
        raise InputError(
            "Strong views are made of uint8 images of shape (B, 3, H, W); these are "
            f"{str(images.dtype).removeprefix('torch.')} of shape {tuple(images.shape)}. "
            "Repeat a single channel three times and drop an alpha channel."
        )


def _hole(drawn: StrongDraw, size: int) -> Tensor:
    """The pixels of the hole (n, 1, S, S)."""
    pixel = torch.arange(size, device=drawn.side.device)

    def within(start: Tensor) -> Tensor:
        return (pixel >= start[:, None]) & (pixel < (start + drawn.side)[:, None])  # (n, S)

    return (within(drawn.top)[:, :, None] & within(drawn.left)[:, None])[:, None]


def _shifted(x: Tensor, down: Tensor, across: Tensor) -> Tensor:
    """Images (n, 3, S, S) shifted by whole pixels, reflected at the middles of the outer ones."""
    n, _, size, _ = x.shape
    place = torch.arange(size, device=x.device)

    def source(by: Tensor) -> Tensor:
        at = (place + by[:, None]).abs()  # (n, S)
        return torch.minimum(at, 2 * (size - 1) - at)

    index = source(down)[:, :, None] * size + source(across)[:, None]  # (n, S, S)
    return x.flatten(2).gather(2, index.view(n, 1, -1).expand(-1, 3, -1)).view_as(x)
