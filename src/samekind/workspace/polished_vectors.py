"""Polished vectors: the vectors of a network that was trained on the answers, stored on disk.

A polished orientation is grouped by the same method as before, on these vectors instead of those
of the encoder. The ledger says which (``settings.polish``), so every interface finds the same
groups. They are a safetensors file and a JSON file beside it, with digests instead of item names.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from samekind.atomic_files import draft_name
from samekind.errors import InputError, StoreError

if TYPE_CHECKING:
    from samekind.items import Collection
    from samekind.protocols import Store

FORMAT = "samekind-polished-1"
_ID = re.compile(r"[0-9a-f]{16}")


def polished_folder() -> Path:
    """Folder of polished vectors: beside the ledgers, since accepted groups depend on them."""
    from samekind.workspace.locations import data_folder

    return data_folder() / "polished"


def keep(id: str, collection: Collection, vectors: NDArray[Any], facts: Mapping[str, Any]) -> None:
    """Write the vectors (n, d) of a collection atomically, then the facts."""
    from safetensors.numpy import save

    arrays: dict[str, NDArray[Any]] = {
        "items": _digests(collection),
        "vectors": np.ascontiguousarray(vectors, dtype=np.float32),
    }
    try:
        polished_folder().mkdir(parents=True, exist_ok=True)
        _put(_file(id, "safetensors"), save(arrays, {"format": FORMAT}))
        _put(_file(id, "json"), json.dumps(dict(facts)).encode())
    except OSError as problem:
        with suppress(OSError):  # vectors without facts are of no use
            _file(id, "safetensors").unlink(missing_ok=True)
        raise StoreError(
            f"The polished groups cannot be saved: {problem.strerror or problem}. Free some space."
        ) from problem


def facts_of(id: str) -> dict[str, Any] | None:
    """Read the facts beside the vectors; None: missing or damaged."""
    try:
        found = json.loads(_file(id, "json").read_text(encoding="utf-8"))
    except (OSError, ValueError, InputError):
        return None
    return found if isinstance(found, dict) else None


def rewrite(id: str, facts: Mapping[str, Any]) -> None:
    """Replace the facts."""
    _put(_file(id, "json"), json.dumps(dict(facts)).encode())


def vectors_of(id: str, collection: Collection) -> NDArray[np.float32] | None:
    """Return the vectors of these items, in their order; None if any is missing."""
    from safetensors import SafetensorError
    from safetensors.numpy import load

    try:
        arrays = load(_file(id, "safetensors").read_bytes())
        known, vectors = arrays["items"], arrays["vectors"]
    except (OSError, SafetensorError, KeyError, InputError):
        return None
    if known.ndim != 1 or vectors.ndim != 2 or len(known) != len(vectors) or not len(known):
        return None
    order = np.argsort(known)
    wanted = _digests(collection)
    at = np.minimum(np.searchsorted(known[order], wanted), len(known) - 1)
    rows = order[at]
    if not np.array_equal(known[rows], wanted) or not np.isfinite(vectors).all():
        return None
    return np.asarray(vectors[rows], dtype=np.float32)


def chosen(store: Store, name: str) -> str:
    """Return which polished vectors an orientation uses; empty: none."""
    from samekind.ledger.fold import last_header

    return str(last_header(store, name).get("settings", {}).get("polish") or "")


def choose(store: Store, name: str, id: str) -> None:
    """Write into the ledger which polished vectors an orientation uses; empty: none."""
    from samekind.ledger.fold import last_header
    from samekind.protocols import Event

    header = last_header(store, name)
    if not header:
        raise InputError(f"There is no grouping {name!r} yet. Answer a question first.")
    settings = {k: v for k, v in header.get("settings", {}).items() if k != "polish"}
    settings |= {"polish": id} if id else {}
    store.append(name, Event("opened", {**header, "settings": settings}, time.time()))


def _digests(collection: Collection) -> NDArray[np.uint64]:
    """(n,) eight bytes per item, which change with its name and its content."""
    whole = (
        hashlib.blake2b(f"{item.id}\0{item.stamp}".encode(errors="replace"), digest_size=8).digest()
        for item in collection
    )
    return np.frombuffer(b"".join(whole), dtype="<u8").astype(np.uint64)


def _file(id: str, suffix: str) -> Path:
    if not _ID.fullmatch(id):  # it becomes part of a path
        raise InputError(f"{id[:40]!r} does not name polished groups.")
    return polished_folder() / f"{id}.{suffix}"


def _put(final: Path, data: bytes) -> None:
    draft = draft_name(final)
    try:
        draft.write_bytes(data)
        draft.replace(final)
    finally:
        draft.unlink(missing_ok=True)
