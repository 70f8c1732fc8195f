"""Readers: pictures, or vectors of a frozen network, as the points that some weights group.

Most weights take any vectors. Weights that were trained on pictures hold a small network that looks
at each picture by itself; weights that were trained on the vectors of one frozen network hold the
axes along which those differ between kinds. Both turn into points before anything is grouped.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from samekind.clusterers.deep.pictures import pictures_of
from samekind.clusterers.ncp.amortized.network import NCPNetwork, Sizes
from samekind.clusterers.ncp.amortized.weights import fill, read_tensors, write_tensors
from samekind.errors import InputError, VectorError

Floats = NDArray[np.float32]
PREFIX = "reader."
CHUNK = 256
"""Pictures that are encoded at a time."""
INK = 0.2
"""Brightness, as a part of the largest, from which a pixel belongs to a sign."""


class Reader(Protocol):
    """Makes points of what a user has."""

    @property
    def takes_pictures(self) -> bool:
        """Whether X is pictures, else vectors."""
        ...

    @property
    def width(self) -> int:
        """Numbers per point."""
        ...

    def __call__(self, X: Any) -> Floats:
        """(n, width) points; InputError if X is something else than the weights were trained on."""
        ...


@dataclass
class VectorReader:
    """Vectors of a frozen network, along the axes in which kinds differ.

    Parameters
    ----------
    features : name of the encoder whose vectors these are.
    mean : (D,) that is subtracted before vectors are brought to unit length.
    axes : (D, d) onto which they are projected.
    """

    takes_pictures: ClassVar[bool] = False
    features: str
    mean: Floats
    axes: Floats

    @property
    def width(self) -> int:
        """Numbers per point."""
        return int(self.axes.shape[1])

    def __call__(self, X: Any) -> Floats:
        """(n, D) vectors to points."""
        rows = np.asarray(X)
        if rows.ndim != 2 or rows.shape[1] != len(self.mean) or rows.dtype.kind not in "fiu":
            raise VectorError(
                f"Expected vectors (n, {len(self.mean)}) of the encoder {self.features!r}, on "
                f"which these weights were trained, got an array of shape {rows.shape} "
                f"({rows.dtype}). Encode with {self.features!r}, or give other weights."
            )
        return self.along(_unit(rows.astype(np.float32) - self.mean))

    def along(self, rows: Floats) -> Floats:
        """Centred rows of unit length, projected and again of one length: the root of d."""
        found = _unit(rows @ self.axes) * np.sqrt(self.width)
        return np.asarray(found, dtype=np.float32)


@dataclass
class PictureReader:
    """Pictures, by a small network that was trained with the process.

    Parameters
    ----------
    encoder : maps (M, channels, side, side) to (M, width).
    side, channels : of the pictures that it looks at; one channel is gray.
    mean, std : of its training pictures.
    fitted : pixels that the longer side of a sign fills after cropping, light on dark; None: the
        whole picture is used as it is.
    """

    takes_pictures: ClassVar[bool] = True
    encoder: Any
    width: int
    side: int
    channels: int
    mean: float
    std: float
    fitted: int | None = None
    _last: tuple[bytes, Floats] | None = field(default=None, repr=False)

    def __call__(self, X: Any) -> Floats:
        """Pictures, in any layout of :func:`pictures_of`, to points."""
        pictures = pictures_of(X)
        if pictures is None:
            shape = getattr(X, "shape", None)
            given = type(X).__name__ if shape is None else f"an array of shape {shape}"
            raise VectorError(
                "Expected pictures (n, height, width, channels) of one byte per colour, on which "
                f"these weights were trained, got {given}. "
                "Give pictures (on the command line: --encoder images), or other weights."
            )
        # A session fits the same pile after every few answers.
        digest = hashlib.blake2b(pictures.tobytes(), digest_size=16).digest() + bytes(
            str(pictures.shape), "ascii"
        )
        if self._last is None or self._last[0] != digest:
            self._last = (digest, self._encoded(pictures))
        return self._last[1]

    @torch.no_grad()
    def _encoded(self, pictures: NDArray[np.uint8]) -> Floats:
        device = next(self.encoder.parameters()).device
        found = []
        for start in range(0, len(pictures), CHUNK):
            seen = self.prepared(pictures[start : start + CHUNK]).to(device)
            found.append(self.encoder.each((seen - self.mean) / self.std).cpu().numpy())
        return np.concatenate(found).astype(np.float32)

    def prepared(self, pictures: NDArray[np.uint8]) -> Tensor:
        """(n, 3, height, width) bytes to (n, channels, side, side) from 0 to 1."""
        if self.fitted is not None:
            signs = [fitted_sign(one, self.side, self.fitted) for one in _gray(pictures)]
            return torch.from_numpy(np.stack(signs))[:, None]
        images = torch.from_numpy(pictures).float() / 255
        if self.channels == 1:
            images = images.mean(1, keepdim=True)
        if images.shape[2:] != (self.side, self.side):
            images = nn.functional.interpolate(
                images, size=(self.side, self.side), mode="bilinear", antialias=True
            )
        return images.clamp(0, 1)


def _gray(pictures: NDArray[np.uint8]) -> Floats:
    """(n, height, width) from 0 to 1."""
    return np.asarray(pictures.mean(axis=1) / 255, dtype=np.float32)


def fitted_sign(picture: Floats, side: int, filled: int) -> Floats:
    """(side, side) a drawn sign, light on dark, its longer side `filled` pixels, in the middle.

    Dark signs on a light ground, as on paper, are inverted. The ground is what the border shows.
    """
    from PIL import Image

    border = np.concatenate([picture[0], picture[-1], picture[:, 0], picture[:, -1]])
    ground = float(np.median(border))
    sign = np.abs(picture - ground) if 0.25 < ground < 0.75 else (
        picture - ground if ground <= 0.5 else ground - picture
    )  # fmt: skip
    sign = np.clip(sign, 0, None)
    largest = float(sign.max())
    if largest < 1 / 255:
        return np.zeros((side, side), dtype=np.float32)
    rows, columns = (np.flatnonzero((sign > INK * largest).any(axis)) for axis in (1, 0))
    sign = sign[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1] / largest
    scale = filled / max(sign.shape)
    height, width = (max(1, round(length * scale)) for length in sign.shape)
    small = Image.fromarray(sign).resize((width, height), Image.Resampling.BILINEAR)
    page = np.zeros((side, side), dtype=np.float32)
    top, left = (side - height) // 2, (side - width) // 2
    page[top : top + height, left : left + width] = np.asarray(small)
    return page


def kind_axes(
    rows: Floats, labels: NDArray[Any], count: int, shrinkage: float = 2.0
) -> NDArray[np.float64]:
    """(D, count) axes along which kinds differ most, compared with their members.

    Linear discriminant analysis. The covariance within kinds is drawn towards a sphere by
    `shrinkage` times its mean variance, because few kinds say little about others.
    """
    names, number = np.unique(labels, return_inverse=True)
    if count >= len(names):
        raise InputError(
            f"Expected fewer axes than kinds, got {count} axes for {len(names)} kinds. Ask for "
            "fewer axes, or give rows of more kinds."
        )
    means = np.stack([rows[number == k].mean(0, dtype=np.float64) for k in range(len(names))])
    inside = rows - means[number]
    spread = inside.T @ inside / len(rows)
    spread += shrinkage * np.trace(spread) / len(spread) * np.eye(len(spread))
    values, vectors = np.linalg.eigh(spread)
    whiten = vectors / np.sqrt(values)
    _, _, axes = np.linalg.svd((means - means.mean(0)) @ whiten, full_matrices=False)
    return np.asarray(whiten @ axes[:count].T)


def reader_of(
    network: NCPNetwork, tensors: Mapping[str, Tensor], facts: Mapping[str, Any]
) -> Reader | None:
    """The reader of some weights, which takes the encoder of pictures out of the network."""
    told = facts.get("reader")
    if told is None:
        return None
    if told["kind"] == "vectors":
        mean, axes = (tensors[PREFIX + name].float().numpy() for name in ("mean", "axes"))
        return VectorReader(str(told["features"]), mean, axes)
    encoder, network.encoder = network.encoder, None
    return PictureReader(
        encoder, network.sizes.features, told["side"], told["channels"], told["mean"],
        told["std"], told["fitted"],
    )  # fmt: skip


def load_with_reader(
    path: str | Path, *, device: str = "cpu"
) -> tuple[NCPNetwork, Reader | None, dict[str, Any]]:
    """The process in a file, what it reads, and the facts about it."""
    tensors, facts = read_tensors(path)
    network = NCPNetwork(Sizes.from_json(facts.pop("sizes")))
    own = {name: value for name, value in tensors.items() if not name.startswith(PREFIX)}
    fill(network, own, path)
    network = network.to(device).eval()
    return network, reader_of(network, tensors, facts), facts


def save_with_reader(
    path: str | Path, network: NCPNetwork, reader: Mapping[str, Any], facts: Mapping[str, Any]
) -> None:
    """Write a process and what it reads, in 16 bits.

    Parameters
    ----------
    reader : ``kind`` (``vectors`` or ``pictures``) and what that reader needs. Arrays (`mean` and
        `axes` of vectors) become tensors, other values facts.
    """
    arrays = {k: v for k, v in reader.items() if isinstance(v, np.ndarray)}
    tensors = {PREFIX + name: torch.from_numpy(value) for name, value in arrays.items()}
    tensors |= network.state_dict()
    half = {k: v.half() if v.is_floating_point() else v for k, v in tensors.items()}
    odd = [name for name, value in half.items() if not bool(torch.isfinite(value).all())]
    if odd:
        raise InputError(
            f"Expected weights that fit into 16 bits, got others in {odd[0]!r}. Train again with a "
            "smaller learning rate."
        )
    told = {k: v for k, v in reader.items() if k not in arrays}
    write_tensors(path, half, {"sizes": network.sizes.as_json(), "reader": told, **facts})


def _unit(rows: Floats) -> Floats:
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True).clip(1e-12))
