"""Pile: items with their vectors, opened from a path, and where its ledger is stored."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

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

if TYPE_CHECKING:
    from samekind.encoders.learned.weights import Kept
    from samekind.workspace.jobs import JobContext

LEARN_MINUTES = 10.0
"""How long an encoder learns from the pictures by default."""


@dataclass(frozen=True)
class Pile:
    """A collection, its vectors, and why this encoder was chosen."""

    collection: Collection
    encoded: Encoded
    reason: str

    @property
    def X(self) -> Vectors:  # noqa: N802
        """(n, d) one vector per item of the collection."""
        return self.encoded.X

    def vectors_of(self, items: Collection, progress: Progress | None = None) -> Encoded:
        """Encode other items in the same way."""
        return encode_more(self.encoded, items, cache=cache_folder(), progress=progress)


def open_pile(
    source: str | Path,
    *,
    encoder: str | None = None,
    exclude: Sequence[str] = (),
    progress: Progress | None = None,
) -> Pile:
    """Open a path or a named set and encode its items (from the cache if possible)."""
    return encoded_pile(open_source(source, exclude=exclude), encoder=encoder, progress=progress)


def encoded_pile(
    collection: Collection, *, encoder: str | None = None, progress: Progress | None = None
) -> Pile:
    """Encode items; those that turn out to be unreadable are skipped."""
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


def learn_encoder(
    name: str, collection: Collection, minutes: float, context: JobContext, *, end: float
) -> Kept:
    """Train an encoder on the pictures; a training that was interrupted goes on."""
    from samekind.encoders.learned.training import Learning
    from samekind.training.progress import Monitor, TrainingReport

    report: list[Callable[[TrainingReport], None]] = [lambda told: context.check()]
    monitor = Monitor(report=lambda told: report[0](told), stop=context.stop, every=2)
    reading = context.progress("Read", "pictures", end=end * 0.1)
    learning = Learning.of(name, collection, watch=monitor, progress=reading)
    context.tell(end * 0.1, "Measuring how fast this machine learns …")
    target = learning.target(minutes=minutes)

    def tell(told: TrainingReport) -> None:
        done = learning.begun
        share = end * (0.1 + 0.9 * done / max(target.epochs, 1e-9))
        context.tell(share, f"Learning from your pictures: epoch {done:.1f} of {target.epochs:.1f}")

    report[0] = tell
    return learning.run(target)


def cache_folder() -> Path:
    """Folder of cached vectors; safe to delete."""
    return default_cache() / "vectors"


def ledger_file(source: str | Path) -> Path:
    """Default ledger of a path: one file for all orientations, in the user's data folder."""
    text = str(source)
    place = text if is_set(text) else str(Path(text).expanduser().resolve())
    name = re.sub(r"[^\w.-]+", "-", Path(place).name).strip("-.") or "pile"
    key = hashlib.sha256(place.encode()).hexdigest()[:8]
    return data_folder() / f"{name}-{key}.samekind"


def data_folder() -> Path:
    """Folder of ledgers, which hold the person's answers; nothing deletes them."""
    from os import environ

    if environ.get("SAMEKIND_HOME"):
        return Path(environ["SAMEKIND_HOME"]) / "sessions"
    try:
        from platformdirs import user_data_path
    except ImportError:
        return Path.home() / ".local" / "share" / "samekind"
    return user_data_path("samekind", appauthor=False)
