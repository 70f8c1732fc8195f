"""Objects on photos, as far as the classes of the frozen network name them.

They follow from the stored features of a pile when somebody first asks, and are kept as long as
the pile is open. Photos without stored features, and piles that another encoder read, have none.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from samekind.encoders.cached_items import cache_of
from samekind.encoders.encoding import Encoded
from samekind.encoders.frozen.classes import classify, concepts_of_classes
from samekind.encoders.frozen.efficientnet import FEATURES, EfficientNetLite2
from samekind.protocols import Encoder

if TYPE_CHECKING:
    from samekind.workspace.pile import Pile

CHUNK = 4096
"""Photos at a time, so that the features of many are never in memory at once."""


@dataclass(frozen=True, eq=False)
class Objects:
    """How probable the likeliest classes of each photo are.

    Parameters
    ----------
    classes : (n, 1000) sparse; the row of a photo that is not known is empty.
    """

    classes: csr_array

    @cached_property
    def concepts(self) -> csr_array:
        """(n, concepts) how probably a photo shows what a word means, such as any dog."""
        return csr_array(self.classes @ concepts_of_classes())

    @cached_property
    def known(self) -> NDArray[np.bool_]:
        """(n,) whether anything is known of a photo."""
        return np.asarray(self.classes.sum(axis=1)).ravel() > 0


_found: WeakKeyDictionary[Encoded, Objects | None] = WeakKeyDictionary()
_finding = threading.Lock()


def objects_of(pile: Pile | None) -> Objects | None:
    """Return the objects on the photos of a pile; None if no network with classes read them."""
    if pile is None:
        return None
    with _finding:
        if pile.encoded not in _found:
            _found[pile.encoded] = _find(pile)
        return _found[pile.encoded]


def _find(pile: Pile) -> Objects | None:
    from samekind.workspace.locations import cache_folder

    network = _network(pile.encoded.encoder)
    if network is None or network.width is None:
        return None
    store = cache_of(pile.collection, network, network.width, cache_folder())
    parts = []
    for start in range(0, len(pile.collection), CHUNK):
        items = pile.collection[start : start + CHUNK]
        features = np.full((len(items), FEATURES), np.nan, dtype=np.float32)
        for row, item in zip(features, items, strict=True):
            stored = store.get(item.id, item.stamp)
            if stored is not None:
                row[:] = stored[:FEATURES]
        parts.append(classify(features, network.weights))
    found = Objects(csr_array(vstack(parts)))
    return found if found.known.any() else None


def _network(encoder: Encoder) -> EfficientNetLite2 | None:
    """The part of an encoder whose stored features begin with those of the network."""
    parts: Sequence[Encoder] = getattr(encoder, "parts", ()) or (encoder,)
    return next((part for part in parts if isinstance(part, EfficientNetLite2)), None)
