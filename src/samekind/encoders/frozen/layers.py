"""Layers: what a frozen network sees at two depths, and the colours, in one pass.

The last layer recognises objects and forgets where things are. A layer in the middle, averaged over
a grid of 4 x 4 places, still knows shapes, poses and directions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from samekind.encoders.blocks import Block, side_by_side
from samekind.encoders.colour import WIDTH as COLOURS
from samekind.encoders.frozen.efficientnet import (
    FEATURES,
    LITE2,
    EfficientNetLite2,
    Weights,
    middle_width,
    open_network,
)
from samekind.encoders.reduction import Reduction
from samekind.items import Item

SHAPE_COMPONENTS, COLOUR_COMPONENTS = 96, 48
"""Dimensions that are kept of the middle layer and of the colours."""
SEEN = FEATURES + COLOURS
"""Numbers that the plain encoder reads, which come first."""


class Layers(EfficientNetLite2):
    """Blocks of EfficientNet-Lite: objects (as in the plain encoder), shapes and colours.

    Parameters
    ----------
    weights : of the network.

    Other parameters: see :class:`~samekind.encoders.frozen.efficientnet.EfficientNetLite2`.
    """

    name = "layers"

    def __init__(self, weights: Weights = LITE2, **settings: Any) -> None:
        self.weights = weights
        super().__init__(**settings)
        self.width = SEEN + middle_width(self.weights)

    @property
    def fingerprint(self) -> str:
        """That of the plain encoder, and which layer is read besides."""
        own, _, rest = super().fingerprint.partition("/")
        return f"{self.weights.network}-{own}/{rest}-middle4x4-v1"

    def read(self, items: Sequence[Item]) -> NDArray[np.float32]:
        """Features (n, 1280 + 125 + 16 places) of last layer, colours and middle layer."""
        if not items:
            return np.empty((0, self.width or 0), dtype=np.float32)
        if self._network is None:
            self._network = open_network(self.weights, self.models, middle=True)
        images = [self.prepare(item.load()) for item in items]
        both = self._network(np.stack([np.asarray(image) for image in images]))
        return np.hstack([both[:, :FEATURES], self.colours_of(images), both[:, FEATURES:]])

    def fit(self, raw: Any) -> Self:
        """Learn the mean and the principal axes of each block."""
        blocks = ((FEATURES, 1.0), (COLOURS, self.colour))
        self._reductions = (
            Reduction(components=self.components, blocks=blocks).fit(raw[:, :SEEN]),
            Reduction(components=SHAPE_COMPONENTS).fit(raw[:, SEEN:]),
            Reduction(components=COLOUR_COMPONENTS).fit(raw[:, FEATURES:SEEN]),
        )
        return self

    def transform(self, raw: Any) -> NDArray[np.float32]:
        """Blocks side by side, each centred and projected."""
        columns = (slice(0, SEEN), slice(SEEN, None), slice(FEATURES, SEEN))
        each = zip(self._reductions, columns, strict=True)
        return np.hstack([reduction.transform(raw[:, own]) for reduction, own in each])

    @property
    def blocks(self) -> tuple[Block, ...]:
        """Objects, shapes and colours."""
        names = ("objects", "shapes", "colours")
        return side_by_side([(n, r.n_out) for n, r in zip(names, self._reductions, strict=True)])

    def outside(self, raw: Any) -> NDArray[np.float64]:
        """(n,) how much of each picture its objects miss."""
        return self._reductions[0].outside(raw[:, :SEEN])

    def state(self) -> dict[str, Any]:
        """The learnt parameters of all blocks."""
        return {
            f"{place}/{name}": value
            for place, reduction in enumerate(self._reductions)
            for name, value in reduction.state().items()
        }

    def restored(self, state: Mapping[str, Any]) -> Self:
        """This encoder with the parameters of a state."""
        found = []
        for place, width in enumerate((SEEN, (self.width or 0) - SEEN, COLOURS)):
            start = f"{place}/"
            mine = {k.removeprefix(start): v for k, v in state.items() if k.startswith(start)}
            found.append(Reduction.from_state(mine))
            if len(found[-1].mean_) != width:
                raise ValueError(f"{len(found[-1].mean_)} numbers per item, not {width}")
        self._reductions = (found[0], found[1], found[2])
        return self
