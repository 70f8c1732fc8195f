"""Mixed encoders: several vectors per item side by side, so that the answers choose among them.

What a person means may be in the objects, the shapes, the layout or the colours of pictures, in the
words or in the meaning of texts. No single vector holds all of it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from copy import copy
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from samekind.encoders.blocks import Block, SideBySide, blocks_of, saved_blocks, side_by_side
from samekind.encoders.feature_cache import default_cache
from samekind.encoders.frozen.efficientnet import LITE0
from samekind.encoders.frozen.layers import Layers
from samekind.encoders.frozen.minilm import Sentences
from samekind.encoders.pixels import Pixels
from samekind.encoders.reduction import CHUNK
from samekind.encoders.row_file import RowFile
from samekind.encoders.simple import TfIdf
from samekind.items import Item
from samekind.protocols import Encoder

LESS = 0.5
"""Mean length of every block but the first, relative to it, for methods that weigh no blocks."""


class Mixed(ABC):
    """An encoder made of several, whose vectors stand side by side.

    The first block of the first part groups items before there are answers. Each part is cached by
    itself, as if it were used alone.
    """

    name: str
    kinds: tuple[str, ...]
    width: int | None = None

    @abstractmethod
    def made_of(self) -> tuple[Encoder, ...]:
        """Make the parts, the slowest first."""

    @cached_property
    def parts(self) -> tuple[Encoder, ...]:
        """The encoders that it is made of."""
        return self.made_of()

    def __copy__(self) -> Self:
        """A copy that can be fitted by itself: its parts are copies as well."""
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__)
        made.__dict__["parts"] = tuple(copy(part) for part in self.parts)
        return made

    @property
    def fingerprint(self) -> str:
        """Those of all parts."""
        return "+".join([self.name, *(part.fingerprint for part in self.parts)])

    def read(self, items: Sequence[Item]) -> SideBySide:
        """The raw features of each part."""
        return SideBySide(tuple(part.read(items) for part in self.parts))

    def fit(self, raw: Any) -> Self:
        """Fit each part, and learn how long its vectors are."""
        found: list[tuple[str, int]] = []
        lengths: list[float] = []
        for part, own in zip(self.parts, raw.parts, strict=True):
            X = part.fit(own).transform(own)
            for block in blocks_of(part, X.shape[1]):
                found.append((block.name, block.stop - block.start))
                columns = X[:, block.start : block.stop]
                squares = [(columns[k : k + CHUNK] ** 2).sum() for k in range(0, len(X), CHUNK)]
                lengths.append(float(np.sqrt(np.sum(squares, dtype=np.float64) / len(X))))
        self._blocks = side_by_side(found)
        factors = [1.0, *(LESS * lengths[0] / max(length, 1e-12) for length in lengths[1:])]
        self._factors: NDArray[np.float32] = np.array(factors, dtype=np.float32)
        return self

    def transform(self, raw: Any) -> NDArray[np.float32]:
        """The vectors of all parts side by side; in a mapped file if they are many."""
        widths = [block.stop - block.start for block in self._blocks]
        scale = np.repeat(self._factors, widths)
        out = RowFile(sum(widths), np.dtype(np.float32), folder=default_cache() / "scratch")
        for start in range(0, len(raw), CHUNK):
            some = raw[start : start + CHUNK].parts
            each = [part.transform(own) for part, own in zip(self.parts, some, strict=True)]
            out.append(np.hstack(each) * scale)
        return out.array()

    @property
    def blocks(self) -> tuple[Block, ...]:
        """Which columns belong together."""
        return self._blocks

    def outside(self, raw: Any) -> NDArray[np.float64]:
        """(n,) how much of each item the vectors of the first part miss."""
        missed: NDArray[np.float64] = self.parts[0].outside(raw.parts[0])  # type: ignore[attr-defined]
        return missed

    def state(self) -> dict[str, Any]:
        """The learnt parameters of all parts."""
        known: dict[str, Any] = {
            "names": [block.name for block in self._blocks],
            "stops": [block.stop for block in self._blocks],
            "factors": self._factors,
        }
        for place, part in enumerate(self.parts):
            own: Mapping[str, Any] = part.state()  # type: ignore[attr-defined]
            known |= {f"part {place}/{name}": value for name, value in own.items()}
        return known

    def restored(self, state: Mapping[str, Any]) -> Self:
        """This encoder with the parameters of a state."""
        blocks = saved_blocks(state)
        factors = np.asarray(state["factors"], dtype=np.float32)
        if factors.shape != (len(blocks),):
            raise ValueError("the blocks do not fit their factors")
        for place, part in enumerate(self.parts):
            start = f"part {place}/"
            mine = {k.removeprefix(start): v for k, v in state.items() if k.startswith(start)}
            part.restored(mine)  # type: ignore[attr-defined]
        self._blocks, self._factors = blocks, factors
        return self


class MixedImages(Mixed):
    """Objects, shapes, colours and layout of pictures: the answers decide which of them count."""

    name = "mixed-images"
    kinds: tuple[str, ...] = ("image",)

    def made_of(self) -> tuple[Encoder, ...]:
        return (Layers(), Pixels(components=64))


class FastMixedImages(MixedImages):
    """The same four as mixed-images by a smaller network, about twice as fast."""

    name = "mixed-images-fast"

    def made_of(self) -> tuple[Encoder, ...]:
        return (Layers(LITE0), Pixels(components=64))


class MixedTexts(Mixed):
    """Meaning and words of texts: the answers decide which of them count."""

    name = "mixed-texts"
    kinds: tuple[str, ...] = ("text",)

    def made_of(self) -> tuple[Encoder, ...]:
        return (Sentences(), TfIdf())
