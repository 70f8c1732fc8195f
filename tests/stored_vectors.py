"""A small store of vectors with planted groups, and an orientation file that fits it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa

from piles import clouds
from samekind.bulk.labels import Labels, create_labels, schema
from samekind.bulk.manifest import Manifest
from samekind.bulk.vector_store import VectorStore
from samekind.exports.orientation_file import OrientationFile
from samekind.session import Session
from samekind.simulation.loop import run
from samekind.simulation.people import Truth
from samekind.workspace.orientation import orientation_of
from samekind.workspace.pile import open_pile


def learnt_orientation(folder: Path, name: str = "columns", answers: int = 15) -> OrientationFile:
    """Answer questions about 120 points of `clouds` in a .npy file; returns what was learnt."""
    X, kinds = clouds(120)
    np.save(folder / f"{name}.npy", X)
    pile = open_pile(folder / f"{name}.npy")
    session = Session(pile.collection, pile.X, name=name)
    run(session, Truth(kinds), answers)
    session.refit()
    session.rename(session.clustering.numbers[0], "left")
    return orientation_of(pile, session)


def new_store(path: Path, file: OrientationFile, X: np.ndarray, *, source: str = "") -> VectorStore:
    """A store whose vectors have the encoder of the file, with the first rows of X in two parts."""
    manifest = Manifest(
        source, file.kind, file.encoder, file.fingerprint, X.shape[1], columns=file.columns,
        date=path.name, encoder_state=file.encoder_state,
    )  # fmt: skip
    store = VectorStore.create(path, manifest)
    add_rows(store, X[: len(X) // 3])
    add_rows(store, X[len(X) // 3 :])
    return store


def add_rows(store: VectorStore, X: np.ndarray) -> None:
    """Append rows; their ids are ``row-0``, ``row-1``, ... as those of a .npy file."""
    first = len(store)
    ids = [f"row-{i}" for i in range(first, first + len(X))]
    store.commit(store.write_fragment(ids, ids, ["1"] * len(X), X))


def drawn_labels(
    folder: Path,
    group: np.ndarray,
    *,
    confidence: np.ndarray | None = None,
    distance: np.ndarray | None = None,
    fits: np.ndarray | None = None,
    parts: int = 2,
    texts: Path | None = None,
) -> Labels:
    """Labels as a prediction would write them, of a store with one number per vector.

    Parameters
    ----------
    texts : a folder for the items, each a text that says its row and group; None: there are none.
    """
    n = len(group)
    source, kind = ("nowhere", "row") if texts is None else (str(texts), "text")
    manifest = Manifest(source, kind, "vectors", "vectors", 1)
    store = VectorStore.create(folder / "drawn.lance", manifest)
    ids = [f"row-{i}" for i in range(n)]
    if texts is not None:
        texts.mkdir()
        for i in range(n):
            (texts / f"row-{i}.txt").write_text(f"text {i} in {group[i]}", encoding="utf-8")
        ids = [f"row-{i}.txt" for i in range(n)]
    X = np.arange(n, dtype=np.float32)[:, None]
    store.commit(store.write_fragment(ids, [f"{source}/{id}" for id in ids], ["1"] * n, X))
    facts = {
        "orientation": "drawn", "orientation_digest": "a", "vectors_digest": "b",
        "vectors": store.path, "tolerance": 1.0, "samekind": "",
        "groups": [[int(number), f"kind {number}"] for number in np.unique(group)],
    }  # fmt: skip
    labels = create_labels(folder / "drawn.parquet", facts)
    columns = {
        "row": np.arange(n, dtype=np.int64),
        "id": ids,
        "group": group.astype(np.int32),
        "name": [f"kind {number}" for number in group],
        "confidence": np.ones(n, np.float32) if confidence is None else confidence,
        "fits": np.ones(n, bool) if fits is None else fits,
        "strangeness": np.zeros(n, np.float32),
        "distance": np.zeros(n, np.float32) if distance is None else distance,
    }
    table = pa.table(columns, schema=schema())
    for part in np.array_split(np.arange(n), parts):
        labels.write(int(part[0]), table.slice(int(part[0]), len(part)))
    return labels
