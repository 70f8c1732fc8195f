"""The operations of strong views on whole batches, each image its own.

In every round an image is moved, mixed or mapped, never two of these. Moving is one look-up of
pixels for all images, with an affine map that is the identity where nothing moves; mixing is one
blend with the image in gray or smoothed; all that is left is a table from 256 levels to 256
levels for each image and channel, and one look-up in it. Images are whole numbers before and
after, and pixels are taken from the nearest, as in the published programs.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn.functional import interpolate

OPERATIONS: dict[str, tuple[float, float]] = {
    "identity": (0, 0),
    "autocontrast": (0, 0),
    "equalize": (0, 0),
    "rotate": (-30, 30),  # degrees, against the clock
    "solarize": (0, 256),  # levels from here on are inverted
    "colour": (0.05, 0.95),  # share of the image; the rest is gray
    "contrast": (0.05, 0.95),
    "brightness": (0.05, 0.95),
    "sharpness": (0.05, 0.95),
    "shear-x": (-0.1, 0.1),
    "shear-y": (-0.1, 0.1),
    "translate-x": (-0.1, 0.1),  # share of the size
    "translate-y": (-0.1, 0.1),
    "posterize": (4, 8),  # bits, rounded down
}
"""Operations, and the bounds between which their strength is drawn uniformly (IDC, program)."""
MIRRORED = ("rotate", "shear-x", "shear-y", "translate-x", "translate-y")
"""Operations whose sign is drawn besides."""
NUMBER = {name: number for number, name in enumerate(OPERATIONS)}


def operated(x: Tensor, operation: Tensor, value: Tensor) -> Tensor:
    """One operation on each image of x (n, 3, S, S), whole numbers 0..255 in float32.

    Parameters
    ----------
    operation : (n,) numbers in :data:`OPERATIONS`. value : (n,) how much of it.
    """
    gray = _gray(x)  # (n, 1, S, S)
    mixed = _mixed(x, gray, operation, value)
    mapped = _looked_up(mixed, _tables(x, gray, operation, value))
    # Three kinds of operation, one after the other; each leaves the images of the others alone.
    return _moved(mapped, operation, value)


def _is(operation: Tensor, *names: str) -> Tensor:
    """Which images (n, 1, 1, 1) have one of these operations."""
    found = operation == NUMBER[names[0]]
    for name in names[1:]:
        found = found | (operation == NUMBER[name])
    return found.view(-1, 1, 1, 1)


def resized(images: Tensor, size: int) -> Tensor:
    """The images (n, 3, size, size) in whole numbers 0..255, float32, by a bicubic filter."""
    x = images.float()
    if images.shape[2:] == (size, size):
        return x
    x = interpolate(x, (size, size), mode="bicubic", antialias=True)
    return x.round().clamp(0, 255)


def _gray(x: Tensor) -> Tensor:
    """Gray level (n, 1, S, S) in whole numbers, to the digit that image libraries give."""
    red, green, blue = x[:, :1], x[:, 1:2], x[:, 2:]
    # All sums stay below 2**24 and are exact.
    return ((red * 19595 + green * 38470 + blue * 7471 + 32768) / 65536).floor()


def _mixed(x: Tensor, gray: Tensor, operation: Tensor, value: Tensor) -> Tensor:
    """Less colour or less sharpness: the image blended with its gray or its smoothed self."""
    other = torch.where(_is(operation, "sharpness"), _smooth(x), gray)
    blend = other + value.view(-1, 1, 1, 1) * (x - other)
    return torch.where(_is(operation, "colour", "sharpness"), blend.floor(), x)


def _smooth(x: Tensor) -> Tensor:
    """Weights 1 around 5 over 13, rounded; the outer pixels stay as they are."""
    lines = x[:, :, :-2] + x[:, :, 1:-1] + x[:, :, 2:]
    box = lines[..., :-2] + lines[..., 1:-1] + lines[..., 2:]  # (n, 3, S - 2, S - 2)
    inner = ((box + 4 * x[:, :, 1:-1, 1:-1]) / 13 + 0.5).floor()
    smooth = x.clone()
    smooth[:, :, 1:-1, 1:-1] = inner
    return smooth


def _tables(x: Tensor, gray: Tensor, operation: Tensor, value: Tensor) -> Tensor:
    """Lookup table of each level, for each image and channel: (n, 3, 256)."""
    level = torch.arange(256, device=x.device)
    much = value.view(-1, 1, 1)

    def when(*names: str) -> Tensor:
        return _is(operation, *names)[..., 0]  # (n, 1, 1)

    table = level.float().expand(len(x), 3, 256)
    table = torch.where(when("solarize") & (level >= much), 255 - table, table)
    step = (8 - much.floor()).exp2().clamp(min=1)
    table = torch.where(when("posterize"), (level / step).floor() * step, table)
    # Brightness is a blend with black, contrast with the mean gray level.
    mean = (gray.mean(dim=(2, 3)) + 0.5).floor()[..., None] * when("contrast")  # (n, 1, 1)
    faded = (mean + much * (level - mean)).floor()
    table = torch.where(when("brightness", "contrast"), faded, table)
    count = torch.zeros((len(x), 3, 256), dtype=torch.int32, device=x.device)
    pixel = x.flatten(2).long()
    count.scatter_add_(2, pixel, torch.ones_like(pixel, dtype=torch.int32))
    table = torch.where(when("autocontrast"), _stretched(count, level).float(), table)
    return torch.where(when("equalize"), _equalized(count, level).float(), table)


def _stretched(count: Tensor, level: Tensor) -> Tensor:
    """Tables (n, 3, 256) that spread the levels in use, from lowest to highest, over all."""
    used = count > 0
    highest = (level * used).amax(dim=2, keepdim=True)
    lowest = 255 - ((255 - level) * used).amax(dim=2, keepdim=True)
    span = highest - lowest
    spread = (level - lowest) * 255 // span.clamp(min=1)
    return torch.where(span > 0, spread, level).clamp(0, 255)


def _equalized(count: Tensor, level: Tensor) -> Tensor:
    """Tables (n, 3, 256) after which all levels are used equally often, as far as can be."""
    highest = (level * (count > 0)).amax(dim=2, keepdim=True)
    total = count.cumsum(dim=2)
    step = (total[..., -1:] - count.gather(2, highest)) // 255
    flat = (total - count + step // 2) // step.clamp(min=1)
    return torch.where(step > 0, flat, level).clamp(0, 255)


def _looked_up(x: Tensor, table: Tensor) -> Tensor:
    """Every level of x (n, 3, S, S) replaced by what stands in its table (n, 3, 256)."""
    return table.gather(2, x.flatten(2).long()).view_as(x)


def _moved(x: Tensor, operation: Tensor, value: Tensor) -> Tensor:
    """Turn, shear or shift each image; what comes from outside is black."""
    size, middle = x.shape[3], x.shape[3] / 2

    def when(name: str) -> Tensor:
        return (operation == NUMBER[name]) * value  # (n,), 0 for all others

    turn = when("rotate") * (math.pi / 180)
    cos, sin = turn.cos(), turn.sin()
    # Where a pixel comes from: column a x + b y + c, row d x + e y + f, with pixels' middles.
    a, b, c = cos, when("shear-x") - sin, when("translate-x") * size
    d, e, f = when("shear-y") + sin, cos, when("translate-y") * size
    c = c + middle * (1 - cos + sin)
    f = f + middle * (1 - cos - sin)
    a, b, c, d, e, f = (part.view(-1, 1, 1) for part in (a, b, c, d, e, f))
    centre = torch.arange(size, device=x.device) + 0.5
    column = (a * centre + b * centre[:, None] + c).floor()  # (n, S, S)
    row = (d * centre + e * centre[:, None] + f).floor()
    inside = (column >= 0) & (column < size) & (row >= 0) & (row < size)
    source = row.clamp(0, size - 1) * size + column.clamp(0, size - 1)
    index = source.long().flatten(1)[:, None].expand(-1, 3, -1)
    return x.flatten(2).gather(2, index).view_as(x) * inside[:, None]
