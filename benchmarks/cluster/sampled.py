"""Compare a sampled session with one that holds all items, find a rare kind, measure memory.

    python -m benchmarks.cluster.sampled quality --vectors FILE.npz --json
    python -m benchmarks.cluster.sampled rare --vectors FILE.npz --json
    python -m benchmarks.cluster.sampled memory --items 1000000 --json

The file holds int8 vectors ``q`` times ``scale``, ``label`` and ``names`` of the classes.
"""

from __future__ import annotations

import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.gaussians import _pieces
from benchmarks.measuring import arguments, emit
from samekind.bulk.index import VectorIndex, index_folder
from samekind.bulk.manifest import Manifest
from samekind.bulk.more import MAX_LIKE, find_more
from samekind.bulk.reference import import_faiss, reference_of
from samekind.bulk.sampled_pile import SampledCollection, open_sampled
from samekind.bulk.vector_store import VectorStore
from samekind.evaluation import acc, ari
from samekind.session import Session, acts
from samekind.simulation.loop import run
from samekind.simulation.people import Truth
from samekind.simulation.provenance import PeakMemory
from samekind.sources import RowCollection, Rows, class_maps

RESULTS = Path(__file__).with_name("sampled.jsonl")
POINTS = (50, 100, 150)
"""Answers after which the groups are scored."""
ROUNDS, MORE_QUESTIONS = 3, 50
"""Times that more items like a rare one are looked for, and questions after that."""
Floats = NDArray[np.float32]
Labels = NDArray[np.intp]


def main() -> None:
    """Run one of the three measurements."""
    parser = arguments(__doc__ or "", RESULTS)
    parser.add_argument("what", choices=("quality", "rare", "memory"))
    parser.add_argument("--vectors", type=Path, help="frozen vectors with labels (.npz)")
    parser.add_argument("--orientation", default="class", help="or a map of CIFAR10-2")
    parser.add_argument("--seeds", type=int, nargs="*", default=(0, 1, 2))
    parser.add_argument("--size", type=int, default=10_000, help="reference items")
    parser.add_argument("--items", type=int, default=1_000_000)
    parser.add_argument("--width", type=int, default=128)
    wanted = parser.parse_args()
    with TemporaryDirectory(prefix="samekind-") as folder:
        place = Path(folder) / "vectors.lance"
        if wanted.what == "memory":
            emit(memory(place, wanted.items, wanted.width, wanted.size), wanted.json)
            return
        X, kinds = open_vectors(wanted.vectors, wanted.orientation)
        if wanted.what == "rare":
            X, kinds = with_rare_kind(X, kinds)
        for seed in wanted.seeds:
            place = Path(folder) / f"vectors-{seed}.lance"  # what is added stays in a store
            write_store(place, X)
            measure = quality if wanted.what == "quality" else rare
            row = measure(place, X, kinds, seed, wanted.size)
            about = {"set": wanted.vectors.stem, "orientation": wanted.orientation, "seed": seed}
            emit({"what": wanted.what, **about, "reference": wanted.size, **row}, wanted.json)


def open_vectors(file: Path, orientation: str) -> tuple[Floats, Labels]:
    """Read vectors and the kind of each."""
    with np.load(file, allow_pickle=False) as kept:
        X = kept["q"].astype(np.float32) * kept["scale"]
        label, names = kept["label"], kept["names"]
    if orientation == "class":
        return X, label.astype(np.intp)
    maps = class_maps("cifar10-2")
    of = dict(zip(maps["classes"], maps["orientations"][orientation], strict=True))
    return X, np.array([of[str(name)] for name in names], dtype=np.intp)[label]


def with_rare_kind(X: Floats, kinds: Labels) -> tuple[Floats, Labels]:
    """Leave out most items of the last kind, so that it makes up a thousandth of the rest."""
    last = kinds.max()
    members = np.random.default_rng(0).permutation(np.flatnonzero(kinds == last))
    n_rare = round((len(kinds) - len(members)) / 999)
    kept = np.sort(np.concatenate([np.flatnonzero(kinds != last), members[:n_rare]]))
    return X[kept], kinds[kept]


def write_store(place: Path, X: Floats) -> VectorStore:
    """Write vectors as they would come from `samekind embed`."""
    manifest = Manifest("nowhere", "row", "vectors", "vectors/v1", X.shape[1])
    store = VectorStore.create(place, manifest)
    for start in range(0, len(X), 10_000):
        append(store, start, X[start : start + 10_000])
    return store


def append(store: VectorStore, start: int, X: Floats) -> None:
    """Append vectors as one fragment; their ids are row numbers."""
    ids = [f"row-{row}" for row in range(start, start + len(X))]
    store.commit(store.write_fragment(ids, ids, ["1"] * len(X), X))


def quality(place: Path, X: Floats, kinds: Labels, seed: int, size: int) -> dict[str, Any]:
    """Score predictions for all items, by a session that holds them all and by a sampled one."""
    started = time.perf_counter()
    items = open_sampled(place, size=size, seed=seed)
    chosen = time.perf_counter() - started
    everything = RowCollection("all", Rows(X), ready=True)
    found: dict[str, Any] = {"items": len(X), "choose_seconds": round(chosen, 2)}
    for name, collection, vectors in (
        ("full", everything, X),
        ("sampled", items, items.vectors),
    ):
        rows = items.rows if name == "sampled" else np.arange(len(X))
        session, curve, started = Session(collection, vectors, seed=seed), {}, time.perf_counter()
        before = 0
        for point in POINTS:
            run(session, Truth(kinds[rows]), point - before)
            session.refit()
            before, labels = point, predicted(session, X, rows)
            curve[point] = {
                "acc": round(acc(kinds, labels), 4),
                "ari": round(ari(kinds, labels), 4),
            }
        seconds = time.perf_counter() - started
        found[name] = {"curve": curve, "seconds": round(seconds, 1)}
    found["acc_difference"] = {
        point: round(
            found["sampled"]["curve"][point]["acc"] - found["full"]["curve"][point]["acc"], 4
        )
        for point in POINTS
    }
    return found


def predicted(session: Session, X: Floats, rows: NDArray[Any]) -> Labels:
    """(n,) the group of each item: of those in the session theirs, of the others as predicted."""
    labels = session.predict(X)
    labels[rows] = session.clustering.labels
    return labels


def rare(place: Path, X: Floats, kinds: Labels, seed: int, size: int) -> dict[str, Any]:
    """Look for a kind that makes up a thousandth: by questions, then by finding more like one."""
    members = np.flatnonzero(kinds == kinds.max())
    items = open_sampled(place, size=size, seed=seed)
    session = Session(items, items.vectors, seed=seed)
    run(session, Truth(kinds[items.rows]), POINTS[-1])
    asked = np.unique(items.rows[session.constraints.touched])
    row: dict[str, Any] = {
        "items": len(X),
        "rare_items": len(members),
        "rare_in_reference": int(np.isin(members, items.rows).sum()),
        "rare_asked_about": int(np.isin(members, asked).sum()),
        "by_questions": refitted(session, X, kinds, items),
    }
    like = [items.id(int(np.flatnonzero(np.isin(items.rows, members))[0]))]
    row["rare_known"], looked_at = [1], []
    for _ in range(ROUNDS):  # the person picks those of the kind, and looks for more like them
        found = find_more(place, like[:MAX_LIKE], 50)
        looked_at += found.ids
        like += [id for id, at in zip(found.ids, found.rows, strict=True) if at in members]
        row["rare_known"].append(len(like))
    grown = open_sampled(place, size=size, seed=seed)
    again = Session(grown, grown.vectors, store=session.store, seed=seed)
    split_off(again, [grown.position(id) for id in like])
    row["by_find_more"] = refitted(again, X, kinds, grown)
    for act in sorted_by_hand(again, kinds[grown.rows], looked_at):
        acts.perform(again, act)
    row["and_others_sorted"] = refitted(again, X, kinds, grown)
    run(again, Truth(kinds[grown.rows]), MORE_QUESTIONS)
    row[f"and_{MORE_QUESTIONS}_more_questions"] = refitted(again, X, kinds, grown)
    return row | {"rare_in_session_then": int(np.isin(members, grown.rows).sum())}


def split_off(session: Session, items: list[int]) -> None:
    """Make items a group of their own: split off the group that most are in, and put together."""
    labels = session.clustering.labels[items]
    group = int(np.bincount(labels).argmax())
    there = [item for item, label in zip(items, labels, strict=True) if label == group]
    acts.perform(session, acts.split(session, group, there))
    acts.perform(session, acts.together(session, items))


def sorted_by_hand(session: Session, kinds: Labels, ids: list[str]) -> list[acts.Act]:
    """Put the items that were looked at to an item of their kind that was asked about."""
    at = np.array([session.collection.position(id) for id in ids])
    asked = session.constraints.touched
    found = []
    for kind in np.unique(kinds[at]):
        known = asked[kinds[asked] == kind][:1]
        members = [*known.tolist(), *at[kinds[at] == kind].tolist()]
        if kind != kinds.max() and len(known):
            found.append(acts.together(session, members))
    return found


def refitted(
    session: Session, X: Floats, kinds: Labels, items: SampledCollection
) -> dict[str, float]:
    """Score the groups of all items after a refit, and the one that fits the rare kind best."""
    session.refit()
    labels = predicted(session, X, items.rows)
    rare_ones = np.flatnonzero(kinds == kinds.max())
    return f1_of(labels, rare_ones) | {"acc": round(acc(kinds, labels), 4)}


def f1_of(labels: Labels, members: Labels) -> dict[str, float]:
    """Precision, recall and F1 of the group that matches a kind best."""
    best = {"f1": 0.0, "precision": 0.0, "recall": 0.0}
    for group in np.unique(labels[members]):
        hits = int((labels[members] == group).sum())
        precision, recall = hits / int((labels == group).sum()), hits / len(members)
        f1 = 2 * precision * recall / (precision + recall)
        if f1 > best["f1"]:
            found = {"f1": f1, "precision": precision, "recall": recall}
            best = {name: round(value, 4) for name, value in found.items()}
    return best


def memory(place: Path, items: int, width: int, size: int) -> dict[str, Any]:
    """Measure time and peak memory of choosing reference items, indexing and searching."""
    manifest = Manifest("nowhere", "row", "vectors", "vectors/v1", width)
    store = VectorStore.create(place, manifest)
    for start, X, _ in _pieces(items, width, 50, 0):
        append(store, start, X)
    row: dict[str, Any] = {"what": "memory", "items": items, "width": width, "reference": size}
    import_faiss()
    row["before_peak_mib"] = PeakMemory().mib()
    steps = {
        "choose": lambda: reference_of(store, size),
        "open": lambda: SampledCollection.of(store, reference_of(store, size).rows).vectors,
        "index": lambda: VectorIndex.open(store),
        "search": lambda: VectorIndex.open(store).nearest(store.vectors([0, items - 1]), 50),
    }
    for name, step in steps.items():
        peak, started = PeakMemory(), time.perf_counter()
        step()
        row[f"{name}_seconds"] = round(time.perf_counter() - started, 3)
        row[f"{name}_peak_mib"] = peak.mib()
    n_bytes = sum(file.stat().st_size for file in index_folder(store).iterdir())
    return row | {"index_bytes_per_item": round(n_bytes / items, 1)}


if __name__ == "__main__":
    main()
