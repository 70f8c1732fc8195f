"""Which items of a collection have cached features, so that they need not be read again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from samekind.encoders.feature_cache import FeatureCache
from samekind.items import Collection
from samekind.protocols import Encoder


def cache_of(collection: Collection, encoder: Encoder, width: int, cache: Path) -> FeatureCache:
    """The cached features of a collection by an encoder whose features have this width."""
    place = collection.location or collection.name
    return FeatureCache.at(cache, place, fingerprint=encoder.fingerprint, width=width)


def cached_positions(collection: Collection, encoder: Encoder, cache: Path) -> list[int] | None:
    """Positions of the items whose features are all cached, so that they need not be read.

    None: nothing is cached, because reading takes no time.
    """
    if getattr(collection, "matrix", None) is not None:
        return None
    parts: Sequence[Encoder] = getattr(encoder, "parts", ()) or (encoder,)
    slow = [(part, part.width) for part in parts if part.width is not None]
    if not slow:
        return None
    found = set(range(len(collection)))
    for part, width in slow:
        store = cache_of(collection, part, width, cache)
        found &= {i for i, item in enumerate(collection) if store.find(item.id, item.stamp)}
        store.close()
    return sorted(found)
