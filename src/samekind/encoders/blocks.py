"""Blocks: vectors of several kinds side by side, and raw features of several encoders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Block:
    """Columns of the vectors that belong together, such as those that hold the colours.

    Parameters
    ----------
    name : what the columns hold, in a word. start, stop : the columns, `stop` excluded.
    """

    name: str
    start: int
    stop: int


def blocks_of(encoder: Any, width: int) -> tuple[Block, ...]:
    """The blocks of a fitted encoder: one, unless it says otherwise.

    The first block is the one that groups items before there are answers.

    >>> from types import SimpleNamespace
    >>> blocks_of(SimpleNamespace(name="pixels"), 8)
    (Block(name='pixels', start=0, stop=8),)
    """
    found: tuple[Block, ...] | None = getattr(encoder, "blocks", None)
    name = getattr(encoder, "block_name", encoder.name)
    return (Block(str(name), 0, width),) if found is None else found


def side_by_side(parts: Sequence[tuple[str, int]]) -> tuple[Block, ...]:
    """Blocks by their names and widths.

    >>> side_by_side([("objects", 2), ("colours", 3)])[1]
    Block(name='colours', start=2, stop=5)
    """
    stops = np.cumsum([width for _, width in parts]).tolist()
    return tuple(
        Block(name, stop - width, stop) for (name, width), stop in zip(parts, stops, strict=True)
    )


def saved_blocks(state: Mapping[str, Any]) -> tuple[Block, ...]:
    """The blocks as the state of an encoder keeps them, by names and stops."""
    names, stops = [str(name) for name in state["names"]], [int(stop) for stop in state["stops"]]
    widths = np.diff([0, *stops]).tolist()
    if min(widths) < 1:
        raise ValueError("the blocks do not follow each other")
    return side_by_side(list(zip(names, widths, strict=True)))


@dataclass(frozen=True, eq=False)
class SideBySide:
    """Raw features of the same items by several encoders, each an array or a list of texts.

    >>> both = SideBySide((np.arange(3), ["a", "b", "c"]))
    >>> len(both), both[np.array([True, False, True])].parts[1]
    (3, ['a', 'c'])
    """

    parts: tuple[Any, ...]

    def __len__(self) -> int:
        return len(self.parts[0])

    def __getitem__(self, rows: Any) -> SideBySide:
        return SideBySide(tuple(some_features(part, rows) for part in self.parts))


def some_features(features: Any, rows: Any) -> Any:
    """The features of some items; `rows` as numpy takes them."""
    if isinstance(features, list):
        return [features[i] for i in np.arange(len(features))[rows].tolist()]
    return features[rows]


def joined_features(parts: Sequence[Any]) -> Any:
    """Features of several batches as those of one."""
    if isinstance(parts[0], SideBySide):
        each = zip(*(part.parts for part in parts), strict=True)
        return SideBySide(tuple(joined_features(own) for own in each))
    if isinstance(parts[0], list):
        return [feature for part in parts for feature in part]
    return np.concatenate(parts)
