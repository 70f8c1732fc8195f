"""Data that a program gives to a session: opened as items, and turned into vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from samekind.encoders import encode_more
from samekind.errors import InputError, SourceError
from samekind.items import Collection
from samekind.sources import open_data, open_like
from samekind.workspace.locations import cache_folder
from samekind.workspace.pile import encoded_pile

if TYPE_CHECKING:
    from samekind.clustering import Vectors
    from samekind.encoders import Encoded
    from samekind.session import Session


def opened(data: Any, X: Any = None, *, mixed: bool = True) -> tuple[Collection, Any, Any]:
    """Open data as items with vectors, those given or those of the default encoder.

    Returns the items, the vectors and, unless they were given, what encoded them. Every item has a
    vector: one that cannot be read is an error. A path or the name of a set is refused here.
    """
    if isinstance(data, str):
        raise InputError(
            f"Expected data, got the text {data!r}. For a path or the name of a set: "
            f"Session(open_pile({data!r}))"
        )
    collection = open_data(data)
    if X is not None:
        return collection, X, None
    pile = encoded_pile(collection, mixed=mixed)
    _check_all_read(pile.encoded)
    return pile.collection, pile.X, pile.encoded


def vectors_like(session: Session, data: Any) -> Vectors:
    """Turn further data into vectors, in the way of the items of a session."""
    kind = session.collection.kind
    items = open_like(session.collection, data)
    if items.kind != kind:
        raise InputError(
            f"Expected {kind} items, as in {session.collection.name!r}, got {items.kind} items."
        )
    found = encode_more(session.encoded, items, cache=cache_folder())
    _check_all_read(found)
    return found.X


def _check_all_read(encoded: Encoded) -> None:
    if encoded.failed:
        first = encoded.failed[0]
        raise SourceError(
            f"{len(encoded.failed)} of the items cannot be read, the first is {first.id!r}: "
            f"{first.reason} Leave them out, so that every item has a group."
        )
