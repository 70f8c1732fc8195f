"""A small store of vectors with planted groups, and an orientation file that fits it."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from piles import clouds
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
