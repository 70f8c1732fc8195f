"""Pile: from a path to items with vectors, and to the place of the ledger, for every door."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from samekind.clustering import Vectors
from samekind.encoders import (
    Encoded,
    default_cache,
    default_encoder,
    encode,
    encode_more,
    named_encoder,
)
from samekind.items import Collection
from samekind.protocols import Progress
from samekind.sources import is_set, open_source


@dataclass(frozen=True)
class Pile:
    """A collection, its vectors, and why they were made by this encoder."""

    collection: Collection
    encoded: Encoded
    reason: str

    @property
    def X(self) -> Vectors:  # noqa: N802
        """(n, d) one vector per item of the collection."""
        return self.encoded.X

    def vectors_of(self, items: Collection, progress: Progress | None = None) -> Encoded:
        """Vectors of other items, made in the same way."""
        return encode_more(self.encoded, items, cache=cache_folder(), progress=progress)


def open_pile(
    source: str | Path,
    *,
    encoder: str | None = None,
    exclude: Sequence[str] = (),
    progress: Progress | None = None,
) -> Pile:
    """Open a path or a named set and turn its items into vectors (from the cache if possible)."""
    return encoded_pile(open_source(source, exclude=exclude), encoder=encoder, progress=progress)


def encoded_pile(
    collection: Collection, *, encoder: str | None = None, progress: Progress | None = None
) -> Pile:
    """Turn items into vectors; those that cannot be read after all are skipped."""
    if encoder is None:
        chosen, reason = default_encoder(collection)
    else:
        chosen, reason = named_encoder(encoder, collection)
    encoded = encode(collection, chosen, cache=cache_folder(), progress=progress)
    if encoded.failed:
        collection = collection.take(encoded.positions.tolist())
        collection = replace(collection, skipped=(*collection.skipped, *encoded.failed))
        encoded = replace(encoded, positions=np.arange(len(collection)))
    return Pile(collection, encoded, reason)


def cache_folder() -> Path:
    """Where vectors are kept; safe to delete."""
    return default_cache() / "vectors"


def ledger_file(source: str | Path) -> Path:
    """The default ledger of a path: one file for all orientations, in the user's data folder."""
    text = str(source)
    place = text if is_set(text) else str(Path(text).expanduser().resolve())
    name = re.sub(r"[^\w.-]+", "-", Path(place).name).strip("-.") or "pile"
    key = hashlib.sha256(place.encode()).hexdigest()[:8]
    return data_folder() / f"{name}-{key}.samekind"


def data_folder() -> Path:
    """Where ledgers are kept; these are the person's answers, and nothing deletes them."""
    from os import environ

    if environ.get("SAMEKIND_HOME"):
        return Path(environ["SAMEKIND_HOME"]) / "sessions"
    try:
        from platformdirs import user_data_path
    except ImportError:
        return Path.home() / ".local" / "share" / "samekind"
    return user_data_path("samekind", appauthor=False)
