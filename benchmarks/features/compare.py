"""Which vectors hold what a person means: each block alone, and all of them weighed by the answers.

    python -m benchmarks.features.compare figures tiles small-talk --json
    python -m benchmarks.features.compare cards fruits colored-digits cifar20 --data FOLDER --json

For every grouping of a set, a person who never errs answers the questions of the default strategy.
A row holds ARI after 0, 10, 20 and 50 answers, for one block or for the mix, and one seed. Runs
that the file holds already are left out. ``figures`` are drawn by ``figures.py``.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score

from benchmarks.features.figures import GROUPINGS, draw_figures
from benchmarks.measuring import arguments, emit
from samekind.clusterers.live.estimator import Live
from samekind.encoders import Encoded, default_encoder, encode
from samekind.items import Collection
from samekind.session import Session
from samekind.simulation.loop import run
from samekind.simulation.people import Truth
from samekind.sources import open_source
from samekind.sources.sets.named import open_set
from samekind.workspace.locations import cache_folder

RESULTS = Path(__file__).with_name("features.jsonl")
AT = (0, 10, 20, 50)
MAX_KINDS = 20


def groupings(name: str, data: str | None, n: int) -> tuple[Collection, dict[str, NDArray[Any]]]:
    """A set with at most `n` items, chosen at random, and its labels by grouping."""
    if name == "figures":
        return drawn(n)
    labelled = open_set(name, data=data)
    some = np.sort(np.random.default_rng(0).permutation(len(labelled.collection))[:n])
    if "language" in labelled.orientations:  # the language network reads English
        some = np.flatnonzero(labelled.orientations["language"] == "english")[:n]
    columns = {key: np.asarray(of)[some] for key, of in labelled.orientations.items()}
    return labelled.collection.take(some.tolist()), columns


def drawn(n: int) -> tuple[Collection, dict[str, NDArray[Any]]]:
    """Figures as files, so that they are read like any pictures."""
    pictures, figures = draw_figures(n)
    folder = Path(tempfile.gettempdir()) / f"samekind-figures-{n}"
    folder.mkdir(exist_ok=True)
    for number, picture in enumerate(pictures):
        if not (place := folder / f"{number:05d}.png").exists():
            picture.save(place)
    columns = {key: np.array([getattr(f, key) for f in figures]) for key in GROUPINGS}
    return open_source(str(folder)), columns


def contenders(encoded: Encoded) -> Iterator[tuple[str, NDArray[Any], list[tuple[int, int]]]]:
    """Each block alone, and all of them: name, vectors, blocks."""
    for block in encoded.blocks:
        yield block.name, np.ascontiguousarray(encoded.X[:, block.start : block.stop]), []
    if len(encoded.blocks) > 1:
        yield "mixed", encoded.X, [(block.start, block.stop) for block in encoded.blocks]


def measured(
    collection: Collection,
    X: NDArray[Any],
    blocks: list[tuple[int, int]],
    truth: NDArray[np.intp],
    seed: int,
) -> dict[str, Any]:
    """ARI after some numbers of answers, the weights of the blocks, and seconds per refit."""
    session = Session(collection, X, clusterer=Live(blocks=blocks or None), seed=seed)
    known = truth >= 0
    scores: dict[int, float] = {}
    shares: dict[int, list[float]] = {}

    def record(now: Session, n: int) -> None:
        scores[n] = float(adjusted_rand_score(truth[known], now.clustering.labels[known]))
        if now.model.block_weights_ is not None:
            shares[n] = [round(float(share), 3) for share in now.model.block_weights_.share]

    record(session, 0)
    log = run(session, Truth(truth), AT[-1], on_refit=record)
    reached = {n: scores[max(k for k in scores if k <= n)] for n in AT}
    return {
        "ari": {str(n): round(score, 4) for n, score in reached.items()},
        "shares": {str(n): shares[n] for n in AT if n in shares},
        "refit_seconds": round(float(np.median(log.refit_seconds)), 3),
    }


def main() -> None:
    """Measure every grouping of the named sets."""
    parser = arguments(__doc__ or "", RESULTS)
    parser.add_argument("sets", nargs="+")
    parser.add_argument("--data", help="folder with the files of sets that do not ship")
    parser.add_argument("--items", type=int, default=600)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--groupings", nargs="*", default=[])
    parser.add_argument("--vectors", nargs="*", default=[], help="only these blocks, or mixed")
    given = parser.parse_args()
    done = set()
    if given.json and given.json.exists():
        lines = [json.loads(line) for line in given.json.read_text().splitlines()]
        done = {(r["set"], r["grouping"], r["vectors"], r["seed"]) for r in lines}
    for name in given.sets:
        collection, columns = groupings(name, given.data, given.items)
        encoder, _ = default_encoder(collection)
        started = time.monotonic()
        encoded = encode(collection, encoder, cache=cache_folder())
        print(name, len(collection), encoder.name, f"{time.monotonic() - started:.0f} s")
        for grouping, labels in columns.items():
            kinds, truth = np.unique(labels, return_inverse=True)
            if not 2 <= len(kinds) <= MAX_KINDS or (
                given.groupings and grouping not in given.groupings
            ):
                continue
            for vectors, X, blocks in contenders(encoded):
                if given.vectors and vectors not in given.vectors:
                    continue
                for seed in range(given.seeds):
                    facts = {"set": name, "grouping": grouping, "vectors": vectors, "seed": seed}
                    if tuple(facts.values()) in done:
                        continue
                    found = measured(collection, X, blocks, truth.astype(np.intp), seed)
                    emit({**facts, "items": len(X), "kinds": len(kinds), **found}, given.json)


if __name__ == "__main__":
    main()
