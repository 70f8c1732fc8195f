"""Stores of drawn vectors for tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samekind.bulk.manifest import Manifest
from samekind.bulk.vector_store import VectorStore

Floats = NDArray[np.float32]


def manifest_of(width: int, **facts: Any) -> Manifest:
    plain = {"source": "nowhere", "kind": "row", "encoder": "vectors", "fingerprint": "vectors/v1"}
    return Manifest(**{**plain, **facts}, width=width)


def new_store(path: Path, X: Floats, *, fragments: int = 1, **facts: Any) -> VectorStore:
    store = VectorStore.create(path, manifest_of(X.shape[1], **facts))
    for part in np.array_split(X, fragments):
        append(store, part)
    return store


def append(store: VectorStore, X: Floats) -> None:
    n = len(store.latest())
    ids = [f"item-{i}" for i in range(n, n + len(X))]
    store.commit(store.write_fragment(ids, [f"at-{id}" for id in ids], ["1"] * len(X), X))


def blobs(n: int, kinds: int = 10, width: int = 16, seed: int = 0) -> tuple[Floats, Any]:
    """(n, width) vectors of kinds that lie apart, and (n,) the kind of each."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(kinds, width)) * 2
    kind = rng.integers(kinds, size=n)
    X = centres[kind] + rng.normal(size=(n, width))
    return X.astype(np.float32), kind
