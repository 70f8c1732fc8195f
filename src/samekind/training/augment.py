"""Two random views of each image, made for a whole batch at once on the device it lies on.

Every image has its own chances. They are drawn first (:meth:`Views.draw`) and applied afterwards
(:meth:`Views.render`), which holds no chance, no loop over images and no wait for the device, so
it can be compiled and repeated.

What is done, in the order of the published programs: random crop brought to one size, flip,
brightness / contrast / saturation / hue in an order that is random for each image, grayscale,
blur, normalisation. Against the usual one-image-at-a-time transforms it differs in one point:
colours are not rounded to 256 levels between two steps.

Cropping, resizing and flipping together are one matrix per axis and image, and so is blurring:
``rows @ image @ columns.T``. Batched matrix products are faster than sampling at points, and
resizing is then the usual one for images also where it shrinks (the filter widens with the
factor, so nothing flickers) and never looks at pixels beyond the crop.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import torch
from torch import Tensor, nn

from samekind.errors import InputError, UnknownName

Triple = tuple[float, float, float]

LUMA: Triple = (0.299, 0.587, 0.114)
TRIES = 10  # crops drawn per view, of which the first that fits is taken
CHANCES = 2 * TRIES + 15  # uniform numbers per view


@dataclass(frozen=True)
class Family:
    """Kinds and strengths of random changes to an image.

    Parameters
    ----------
    size : side of the views in pixels.
    scale, ratio : share of the area that a crop keeps, and its width by its height.
    flip_p, gray_p, jitter_p, blur_p : how often each is done.
    jitter : strength of brightness, contrast, saturation and hue. The first three are factors
        from 1 - strength to 1 + strength, hue is a turn of at most that share of the circle.
    blur_sigma, blur_radius : width of the blur in pixels, and where it is cut off.
    mean, std : subtracted and divided by at the end; None: views stay between 0 and 1.
    """

    size: int
    scale: tuple[float, float] = (0.08, 1.0)
    ratio: tuple[float, float] = (3 / 4, 4 / 3)
    flip_p: float = 0.5
    jitter: tuple[float, float, float, float] = (0.4, 0.4, 0.4, 0.1)
    jitter_p: float = 0.8
    gray_p: float = 0.2
    blur_p: float = 0.0
    blur_sigma: tuple[float, float] = (0.1, 2.0)
    blur_radius: int = 11
    mean: Triple | None = None
    std: Triple | None = None

    def at(self, size: int) -> Self:
        """The same family for views of another size; the blur grows and shrinks with them."""
        factor = size / self.size
        low, high = self.blur_sigma
        return replace(
            self,
            size=size,
            blur_sigma=(low * factor, high * factor),
            blur_radius=max(1, round(self.blur_radius * factor)),
        )


_CC = Family(224, jitter=(0.4, 0.4, 0.4, 0.1))
FAMILIES: dict[str, Family] = {
    "pcl": Family(128, mean=(0.485, 0.456, 0.406), std=(0.229, 0.224, 0.225)),
    "cc": _CC,
    "cc-imagenet": replace(_CC, jitter=(0.8, 0.8, 0.8, 0.2), blur_p=0.5),
    "cc-small": _CC.at(32),
}
"""Published families: PCL; CC and OCC for CIFAR and for ImageNet subsets; CC at 32 pixels."""


def family_named(name: str) -> Family:
    """The published family of that name."""
    if name not in FAMILIES:
        raise UnknownName("family of views", name, FAMILIES)
    return FAMILIES[name]


class Draw(NamedTuple):
    """The random choices for n views. All (n,), but `order` (n, 4): when each colour step runs."""

    top: Tensor
    left: Tensor
    height: Tensor
    width: Tensor
    flip: Tensor
    brightness: Tensor
    contrast: Tensor
    saturation: Tensor
    hue: Tensor  # in turns of the colour circle
    order: Tensor  # (n, 4) places 0..3 of brightness, contrast, saturation, hue
    gray: Tensor
    sigma: Tensor  # 0: not blurred

    @classmethod
    def nothing(cls, n: int, height: int, width: int, device: torch.device | str) -> Draw:
        """The whole image, unchanged."""
        zero, one = torch.zeros(n, device=device), torch.ones(n, device=device)
        order = torch.arange(4, device=device).expand(n, 4)
        whole = (zero, zero, zero + height, zero + width)
        return cls(*whole, zero > 0, one, one, one, zero, order, zero > 0, zero)

    @classmethod
    def of(cls, chances: Tensor, family: Family, height: int, width: int) -> Draw:
        """Turn uniform numbers (n, CHANCES) into what happens to images of `height` x `width`."""
        area, ratio = chances[:, :TRIES], chances[:, TRIES : 2 * TRIES]
        place = chances[:, 2 * TRIES :]
        jittered = place[:, 3] < family.jitter_p

        def factor(strength: float, chance: Tensor) -> Tensor:
            drawn = _between(max(0.0, 1 - strength), 1 + strength, chance)
            return 1 + jittered * (drawn - 1)

        most = family.jitter[3]
        sigma = _between(*family.blur_sigma, place[:, 14])
        top, left, down, across = _crops(area, ratio, place[:, :2], family, height, width)
        return cls(
            top,
            left,
            down,
            across,
            flip=place[:, 2] < family.flip_p,
            brightness=factor(family.jitter[0], place[:, 4]),
            contrast=factor(family.jitter[1], place[:, 5]),
            saturation=factor(family.jitter[2], place[:, 6]),
            hue=jittered * _between(-most, most, place[:, 7]),
            order=place[:, 8:12].argsort(dim=1),
            gray=place[:, 12] < family.gray_p,
            sigma=(place[:, 13] < family.blur_p) * sigma,
        )


class Views(nn.Module):
    """Two random views of every image, in one batched pass.

    Parameters
    ----------
    family : what may happen.
    dtype : of the views; inside it is always float32, whatever autocast says.
    compiled : compile the random pass for each shape that comes; pays on a GPU in training.

    >>> views = Views(FAMILIES["cc-small"])
    >>> images = torch.randint(256, (5, 3, 40, 50), dtype=torch.uint8)
    >>> views(images, torch.Generator().manual_seed(0)).shape
    torch.Size([10, 3, 32, 32])
    """

    mean: Tensor | None
    scaling: Tensor | None

    def __init__(
        self, family: Family, *, dtype: torch.dtype = torch.float32, compiled: bool = False
    ) -> None:
        super().__init__()
        self.family = family
        self.dtype = dtype
        self._random: Callable[[Tensor, Tensor], Tensor] = self._both
        if compiled:
            self._random = torch.compile(self._both, dynamic=False)
        normalised = family.mean is not None and family.std is not None
        mean = torch.tensor(family.mean).view(3, 1) if normalised else None
        scaling = torch.tensor(family.std).view(3, 1).reciprocal() if normalised else None
        self.register_buffer("mean", mean, persistent=False)
        self.register_buffer("scaling", scaling, persistent=False)

    @torch.no_grad()
    def forward(self, images: Tensor, generator: torch.Generator | None = None) -> Tensor:
        """Views (2B, 3, S, S), channels last, of uint8 images (B, 3, H, W).

        Rows 0..B-1 are the first view, B..2B-1 the second. A generator on the device of the images
        avoids a wait; one on the CPU gives the same views on every device.
        """
        _check(images)
        return self._random(images, self.chances(2 * len(images), images.device, generator))

    @torch.no_grad()
    def plain(self, images: Tensor) -> Tensor:
        """The images (B, 3, S, S) without any chance: resized to the square and normalised."""
        _check(images)
        n, _, height, width = images.shape
        return self.render(images, Draw.nothing(n, height, width, images.device))

    def draw(
        self,
        n: int,
        height: int,
        width: int,
        device: torch.device | str = "cpu",
        generator: torch.Generator | None = None,
    ) -> Draw:
        """Draw the changes of n views of images of `height` x `width`."""
        return Draw.of(self.chances(n, device, generator), self.family, height, width)

    @staticmethod
    def chances(
        n: int, device: torch.device | str, generator: torch.Generator | None = None
    ) -> Tensor:
        """Uniform numbers (n, CHANCES) for n views."""
        source = device if generator is None else generator.device
        return torch.rand((n, CHANCES), generator=generator, device=source).to(device)

    def _both(self, images: Tensor, chances: Tensor) -> Tensor:
        drawn = Draw.of(chances, self.family, *images.shape[2:])
        return self.render(images.repeat(2, 1, 1, 1), drawn)

    def render(self, images: Tensor, drawn: Draw) -> Tensor:
        """Apply what was drawn to uint8 images (n, 3, H, W), each its own row of `drawn`."""
        family, size = self.family, self.family.size
        with torch.autocast(images.device.type, enabled=False):
            x = images.permute(0, 2, 1, 3).float() / 255  # (n, H, 3, W): both products are views
            level = torch.zeros_like(drawn.flip)
            rows = _resizing(drawn.top, drawn.height, level, x.shape[1], size)
            columns = _resizing(drawn.left, drawn.width, drawn.flip, x.shape[3], size)
            x = _sandwich(rows, x, columns)  # (n, S, 3, S)
            if family.jitter_p > 0 and any(family.jitter):
                x = _jittered(x, drawn, family.jitter)
            if family.gray_p > 0:
                x = torch.where(drawn.gray.view(-1, 1, 1, 1), _luma(x)[:, :, None], x)
            if family.blur_p > 0:
                blur = _blurring(drawn.sigma, min(family.blur_radius, size - 1), size)
                x = _sandwich(blur, x, blur)
            if self.mean is not None and self.scaling is not None:
                x = (x - self.mean).mul_(self.scaling)
            x = x.permute(0, 2, 1, 3)
            return x.to(self.dtype).contiguous(memory_format=torch.channels_last)


def plain(images: Tensor, family: Family) -> Tensor:
    """Images (B, 3, S, S) as a network trained on `family` wants them, without any chance.

    >>> plain(torch.full((1, 3, 4, 4), 255, dtype=torch.uint8), FAMILIES["cc-small"]).mean().item()
    1.0
    """
    return Views(family).to(images.device).plain(images)


def _check(images: Tensor) -> None:
    if images.dtype != torch.uint8 or images.ndim != 4 or images.shape[1] != 3:
        raise InputError(
            "Views are made of uint8 images of shape (B, 3, H, W); these are "
            f"{str(images.dtype).removeprefix('torch.')} of shape {tuple(images.shape)}. "
            "Repeat a single channel three times and drop an alpha channel."
        )


def _between(low: float, high: float, chance: Tensor) -> Tensor:
    return low + (high - low) * chance


def _crops(
    area: Tensor, ratio: Tensor, place: Tensor, family: Family, height: int, width: int
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Top, left, height and width of one crop per row: the first of the tries that fits.

    Where none does: the largest crop of an allowed ratio, from the middle.
    """
    pixels = height * width * _between(*family.scale, area)  # (n, TRIES)
    shapes = torch.exp(_between(math.log(family.ratio[0]), math.log(family.ratio[1]), ratio))
    across = (pixels * shapes).sqrt().round()
    down = (pixels / shapes).sqrt().round()
    fits = (across >= 1) & (across <= width) & (down >= 1) & (down <= height)
    first = fits.int().argmax(dim=1, keepdim=True)
    some = fits.any(dim=1)
    w_most = min(width, max(1, round(height * family.ratio[1])))
    h_most = min(height, max(1, round(width / family.ratio[0])))

    def unless_none(chosen: Tensor, otherwise: int) -> Tensor:
        # Not torch.where: a plain number in it makes the host wait for the device.
        return otherwise + some * (chosen - otherwise)

    w = unless_none(across.gather(1, first)[:, 0], w_most)
    h = unless_none(down.gather(1, first)[:, 0], h_most)
    # The product may round up to the bound itself, one place too far.
    top = torch.minimum((place[:, 0] * (height - h + 1)).floor(), height - h)
    left = torch.minimum((place[:, 1] * (width - w + 1)).floor(), width - w)
    top = unless_none(top, (height - h_most) // 2)
    left = unless_none(left, (width - w_most) // 2)
    return top, left, h, w


def _resizing(start: Tensor, extent: Tensor, flip: Tensor, n_in: int, n_out: int) -> Tensor:
    """Weights (n, n_out, n_in) that bring pixels start..start+extent of a line to n_out pixels.

    The triangle filter of image libraries: as wide as two pixels of the coarser of the two lines,
    cut off at the ends of the crop.
    """
    start, step = start[:, None], extent[:, None] / n_out
    out = torch.arange(n_out, device=start.device).float()  # (n_out,)
    out = torch.where(flip[:, None], n_out - 1 - out, out)  # (n, n_out)
    centre = start + (out + 0.5) * step
    pixel = torch.arange(n_in, device=start.device) + 0.5  # (n_in,)
    inside = (pixel > start) & (pixel < start + extent[:, None])  # (n, n_in)
    distance = (pixel - centre[..., None]).abs() / step.clamp(min=1)[..., None]
    weight = (1 - distance).clamp(min=0) * inside[:, None]  # (n, n_out, n_in)
    return weight / weight.sum(dim=2, keepdim=True)


def _blurring(sigma: Tensor, radius: int, size: int) -> Tensor:
    """Gaussian weights (n, size, size) along a line that is mirrored at its outer pixels."""
    spread = sigma.clamp(min=1e-3).view(-1, 1, 1)  # so narrow that it changes nothing

    def bell(distance: Tensor) -> Tensor:
        near = distance.abs() <= radius
        return torch.exp(-0.5 * (distance / spread) ** 2) * near  # (n, size, size)

    i = torch.arange(size, device=sigma.device)
    out = i[:, None]
    weight = bell(out - i) + bell(out + i) * (i > 0)
    weight = weight + bell(2 * (size - 1) - i - out) * (i < size - 1)
    return weight / weight.sum(dim=2, keepdim=True)


def _sandwich(rows: Tensor, x: Tensor, columns: Tensor) -> Tensor:
    """`rows @ x @ columns.T` for every channel of x (n, H, 3, W): (n, S, 3, S)."""
    n, height, channels, width = x.shape
    size = rows.shape[1]
    down = torch.bmm(rows, x.reshape(n, height, channels * width))  # (n, S, 3W)
    across = torch.bmm(down.view(n, size * channels, width), columns.transpose(1, 2))
    return across.view(n, size, channels, size)


def _luma(x: Tensor) -> Tensor:
    """Gray value (n, S, S) of x (n, S, 3, S)."""
    red, green, blue = x.unbind(dim=2)
    return (red * LUMA[0]).add_(green, alpha=LUMA[1]).add_(blue, alpha=LUMA[2])


def _jittered(x: Tensor, drawn: Draw, strength: tuple[float, float, float, float]) -> Tensor:
    """Brightness, contrast, saturation and hue, in each row's own order.

    The first three are blends ``a x + b gray(x) + c mean(gray(x))``. Hue runs once, with three
    places for blends before it and three after; what is not in a row's order there is (1, 0, 0).
    """
    zero = torch.zeros_like(drawn.brightness)
    blends = (
        (drawn.brightness - 1, zero, zero),
        (drawn.contrast - 1, zero, 1 - drawn.contrast),
        (drawn.saturation - 1, 1 - drawn.saturation, zero),
    )
    turned = strength[3] > 0
    later = drawn.order[:, :3] > drawn.order[:, 3:]  # (n, 3) blends that follow the hue
    places = drawn.order[:, :3] + (2 if turned else -1) * later
    n_places = 6 if turned else 3
    at = places[:, :, None] == torch.arange(n_places, device=x.device)  # (n, 3, n_places)
    change = torch.stack([torch.stack(blend, dim=1) for blend in blends], dim=1)  # (n, 3, 3)
    table = torch.einsum("nbp,nbc->npc", at.to(change.dtype), change)  # (n, n_places, 3)
    for place in range(n_places):
        if place == 3:
            x = _turned(x, drawn.hue)
        x = _blended(x, table[:, place], averaged=strength[1] > 0)
    return x


def _blended(x: Tensor, change: Tensor, *, averaged: bool) -> Tensor:
    """``(1 + a) x + b gray(x) + c mean(gray(x))`` with (a, b, c) = `change` (n, 3), in [0, 1]."""
    a, b, c = change.view(-1, 3, 1, 1).unbind(dim=1)  # (n, 1, 1) each
    gray = _luma(x)
    shift = gray.mean(dim=(1, 2), keepdim=True) * c if averaged else c
    shift = torch.addcmul(shift, gray, b)
    return torch.addcmul(shift[:, :, None], x, 1 + a[..., None]).clamp_(0, 1)


def _turned(x: Tensor, turns: Tensor) -> Tensor:
    """Turn the hue (of hue, saturation, value) of x (n, S, 3, S) by a share of the circle."""
    red, green, blue = x.unbind(dim=2)
    value = x.amax(dim=2)
    chroma = value - x.amin(dim=2)  # (n, S, S)
    is_red, is_green = value == red, value == green
    ahead = torch.where(is_green, blue - red, red - green)
    sector = torch.where(is_red, green - blue, ahead) / chroma.clamp(min=1e-8)
    corner = (4.0 - 2.0 * is_green) * ~is_red  # 0, 2, 4 where red, green, blue is the largest
    hue = (sector + corner) / 6 + turns.view(-1, 1, 1)  # (n, S, S) in turns
    corners = torch.arange(5, 0, -2, device=x.device).view(3, 1) / 6
    shifted = hue[:, :, None] + corners  # (n, S, 3, S)
    shifted.sub_(shifted.floor())  # in place: on a CPU fresh memory costs more than the sums
    missing = shifted.mul_(6).sub_(2).abs_().neg_().add_(2).clamp_(0, 1)  # share of chroma
    return torch.addcmul(value[:, :, None], chroma[:, :, None], missing, value=-1)
