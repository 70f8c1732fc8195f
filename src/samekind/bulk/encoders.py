"""Encoders of a store: fitted on a sample of a source, kept in its manifest, and restored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from samekind.bulk.manifest import Manifest
from samekind.bulk.readers import Entry, Reader
from samekind.encoders import Encoded, encode_more
from samekind.encoders.blocks import joined_features, some_features
from samekind.encoders.restoring import restored_encoder
from samekind.errors import InputError, SamekindError, SourceError
from samekind.items import Collection, Item, Skipped
from samekind.protocols import Encoder, Progress
from samekind.questions.wording import plural

ITEMS_IN_MEMORY = 256
"""Items whose content is held at a time."""


@dataclass(frozen=True, eq=False)
class Vectors:
    """Items that were encoded, X (n, d) their vectors, and items that could not be read."""

    X: NDArray[np.float32]
    entries: list[Entry]
    broken: tuple[Skipped, ...]


@dataclass(frozen=True, eq=False)
class Fitted:
    """An encoder fitted on a sample.

    Parameters
    ----------
    encoder : fitted.
    entries : the items of the sample that could be read; X : (n, d) their vectors.
    broken : those that could not.
    outside : how much of an item its vector may miss; None if unknown.
    """

    encoder: Encoder
    entries: list[Entry]
    X: NDArray[np.float32]
    broken: tuple[Skipped, ...]
    outside: float | None = None

    @property
    def state(self) -> dict[str, Any]:
        """The learnt parameters for a manifest."""
        return saved_state(self.encoder)


def encoder_of(manifest: Manifest, wanted: str | None = None) -> Encoder:
    """Return the encoder of a store as it was fitted; any other is an error.

    Code that is not part of samekind is only run if the person names it in `wanted`.
    """
    where = f"the vectors of {manifest.source!r}"
    found: Encoder = restored_encoder(manifest, where, wanted, remedy="embed into another store")
    return found


def fit_on_sample(
    reader: Reader,
    encoder: Encoder,
    entries: Sequence[Entry],
    *,
    batch: int = 16,
    progress: Progress | None = None,
) -> Fitted:
    """Fit an encoder on some items of a source.

    Parameters
    ----------
    entries : the sample; it should be spread over the whole source.
    """
    check_savable(encoder)
    features: list[Any] = []
    kept: list[Entry] = []
    broken: list[Skipped] = []
    for start in range(0, len(entries), ITEMS_IN_MEMORY):
        step = entries[start : start + ITEMS_IN_MEMORY]
        read = read_features(reader, encoder, step, batch=batch)
        features += [read.features] if len(read.entries) else []
        kept += read.entries
        broken += read.broken
        if progress is not None:
            progress(start + len(step), len(entries))
    if not kept:
        raise SourceError(nothing_readable(reader.source, len(entries), broken))
    raw = joined_features(features)
    fitted = encoder.fit(raw)
    limit = _outside_limit(fitted, reader, raw)
    return Fitted(fitted, kept, fitted.transform(raw), tuple(broken), limit)


def _outside_limit(encoder: Encoder, reader: Reader, raw: Any) -> float | None:
    """Return how much of an item like those that were read its vector usually misses."""
    from samekind.encoders.encoding import outside_limit

    known = cast(Collection, _ReadAlready(reader.source, reader.kind, raw))
    return outside_limit(as_fitted(encoder, 0), known)


@dataclass(frozen=True, eq=False)
class _ReadAlready:
    """A collection of which only the raw features are known."""

    name: str
    kind: str
    matrix: Any

    def __len__(self) -> int:
        return len(self.matrix)

    def take(self, positions: Sequence[int]) -> _ReadAlready:
        return _ReadAlready(self.name, self.kind, some_features(self.matrix, positions))


@dataclass(frozen=True, eq=False)
class Features:
    """What an encoder read of some items before it was fitted."""

    features: Any
    entries: list[Entry]
    broken: tuple[Skipped, ...]


def read_features(
    reader: Reader, encoder: Encoder, entries: Sequence[Entry], *, batch: int = 16
) -> Features:
    """Load some items and read their raw features."""
    found = vectors_of(
        reader, as_fitted(cast(Encoder, _Unfitted(encoder)), 0), entries, batch=batch
    )
    return Features(found.X, found.entries, found.broken)


def vectors_of(
    reader: Reader, encoded: Encoded, entries: Sequence[Entry], *, batch: int = 16
) -> Vectors:
    """Load some items and encode them."""
    return encode_items(encoded, entries, reader.items(entries), batch=batch)


def encode_items(
    encoded: Encoded,
    entries: Sequence[Entry],
    items: Sequence[Item | Skipped],
    *,
    batch: int = 16,
    progress: Progress | None = None,
) -> Vectors:
    """Encode loaded items with a fitted encoder.

    If the encoder fails, it is tried on each item by itself, so that one bad item costs only
    itself. If it fails on all of them, the encoder is to blame, and its error is raised.
    """
    pairs = list(zip(entries, items, strict=True))
    good = [(entry, item) for entry, item in pairs if isinstance(item, Item)]
    broken = [item for _, item in pairs if isinstance(item, Skipped)]
    try:
        found = _encoded(encoded, good, batch, progress)
    except (SamekindError, ValueError, ArithmeticError, RuntimeError, OSError):
        found = _one_by_one(encoded, good)
        if not found.entries:
            raise
    return Vectors(found.X, found.entries, (*broken, *found.broken))


def _encoded(
    encoded: Encoded,
    good: Sequence[tuple[Entry, Item]],
    batch: int,
    progress: Progress | None = None,
) -> Vectors:
    items = Collection("items", [item for _, item in good])
    more = encode_more(encoded, items, batch=batch, progress=progress)
    kept = [good[int(position)][0] for position in more.positions]
    return Vectors(more.X, kept, more.failed)


def _one_by_one(encoded: Encoded, good: Sequence[tuple[Entry, Item]]) -> Vectors:
    parts: list[Vectors] = []
    for entry, item in good:
        try:
            parts.append(_encoded(encoded, [(entry, item)], 1))
        except (SamekindError, ValueError, ArithmeticError, RuntimeError, OSError) as problem:
            parts.append(Vectors(encoded.X, [], (Skipped(entry.id, str(problem)),)))
    filled = [part.X for part in parts if part.entries]
    return Vectors(
        joined_features(filled) if filled else encoded.X,
        [entry for part in parts for entry in part.entries],
        tuple(skipped for part in parts for skipped in part.broken),
    )


def check_savable(encoder: Encoder) -> None:
    """Raise unless the fitted encoder can be kept and restored elsewhere."""
    if not (hasattr(encoder, "state") and hasattr(encoder, "restored")):
        raise InputError(
            f"The encoder {encoder.name!r} cannot be used for a store: other processes have to "
            "restore it, and it has no methods `state` and `restored`. Choose another encoder."
        )


def saved_state(encoder: Encoder) -> dict[str, Any]:
    """Return the learnt parameters of an encoder."""
    state: dict[str, Any] = encoder.state()  # type: ignore[attr-defined]
    return state


def nothing_readable(source: str, n: int, broken: Sequence[Skipped]) -> str:
    """Return the message for a source of which nothing can be used."""
    first = f" The first one, {broken[0].id!r}: {broken[0].reason.rstrip('.')}." if broken else ""
    return f"None of {plural(n, 'item')} of {source!r} could be read.{first}"


def as_fitted(encoder: Encoder, width: int) -> Encoded:
    """Return a fitted encoder in the form that :func:`samekind.encoders.encode_more` takes."""
    return Encoded(np.empty((0, width), np.float32), encoder, (), np.empty(0, dtype=np.intp))


class _Unfitted:
    """An encoder without its second step: the vectors are the raw features."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder

    def __getattr__(self, name: str) -> Any:
        return getattr(self._encoder, name)

    def transform(self, raw: Any) -> Any:
        return raw
