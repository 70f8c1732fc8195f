"""What is in the vectors of each named set: k-means against nearest neighbours, as a table.

    python -m benchmarks.sets.table                      # all sets that need no files
    python -m benchmarks.sets.table cards fruits --data FOLDER --most 2000

Vectors come from the encoder that the package takes by default. k-means knows the number of groups
(scikit-learn, 10 starts, seed 0) and is scored by ACC. The five nearest neighbours vote for each
held-out item, or in five folds where none are held out. Where neighbours know an orientation
that k-means does not find, questions can find it. Prints Markdown.
"""

from __future__ import annotations

import argparse

import numpy as np
from numpy.typing import NDArray

from samekind.encoders import default_encoder, encode, encode_more
from samekind.evaluation import acc
from samekind.items import Collection
from samekind.sources import SETS, LabelledSet, open_set
from samekind.sources.sets.named import FROM_FILES
from samekind.workspace.locations import cache_folder

Kinds = NDArray[np.intp]
HEAD = "| set | items | vectors | orientation | kinds | sizes | k-means ACC | kNN |"


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure what is in the vectors of named sets.")
    parser.add_argument(
        "names", nargs="*", default=[name for name in SETS if name not in FROM_FILES]
    )
    parser.add_argument("--data", help="folder with the files; default: SAMEKIND_DATA")
    parser.add_argument("--most", type=int, help="measure at most so many items of each part")
    wanted = parser.parse_args()
    print(HEAD, "|---|---|---|---|---|---|---|---|", sep="\n", flush=True)
    for name in wanted.names:
        for line in rows(open_set(name, data=wanted.data), wanted.most):
            print(line, flush=True)


def rows(known: LabelledSet, most: int | None) -> list[str]:
    """One line of the table for each orientation."""
    inside, outside = some(known.collection, most), some(known.held_out or (), most)
    encoder, _ = default_encoder(known.collection.take(inside.tolist()))
    encoded = encode(known.collection.take(inside.tolist()), encoder, cache=cache_folder())
    X, apart = encoded.X, None
    if known.held_out is not None:
        held_out = known.held_out.take(outside.tolist())
        apart = encode_more(encoded, held_out, cache=cache_folder()).X
    sizes = f"{len(known.collection):,}"
    if known.held_out is not None:
        sizes += f" + {len(known.held_out):,}"
    if most is not None and most < len(known.collection):
        sizes += f" (measured: {len(inside):,}{f' + {len(outside):,}' if len(outside) else ''})"
    lines = []
    for orientation in known.orientations:
        kinds, kinds_apart = known.truth(orientation)
        kinds = kinds[inside]
        counts = np.bincount(kinds)[np.unique(kinds)]
        plain = acc(kinds, k_means(X, len(counts)))
        near = neighbours(X, kinds, apart, None if kinds_apart is None else kinds_apart[outside])
        lines.append(
            f"| {known.name} | {sizes} | {encoder.name}, {X.shape[1]} | {orientation} | "
            f"{len(counts)} | {counts.min():,}-{counts.max():,} | {plain:.3f} | {near:.3f} |"
        )
    return lines


def some(items: Collection | tuple[()], most: int | None) -> NDArray[np.intp]:
    """Positions of all items, or of a fixed draw of them."""
    if most is None or most >= len(items):
        return np.arange(len(items))
    return np.sort(np.random.default_rng(0).choice(len(items), most, replace=False))


def k_means(X: NDArray[np.float32], n_groups: int) -> Kinds:
    from sklearn.cluster import KMeans

    return np.asarray(KMeans(n_groups, n_init=10, random_state=0).fit_predict(X), dtype=np.intp)


def neighbours(
    X: NDArray[np.float32],
    kinds: Kinds,
    apart: NDArray[np.float32] | None,
    kinds_apart: Kinds | None,
) -> float:
    """The share of items whose five nearest neighbours vote for the right kind."""
    from sklearn.neighbors import KNeighborsClassifier

    if apart is not None and kinds_apart is not None:
        return float(KNeighborsClassifier(5).fit(X, kinds).score(apart, kinds_apart))
    fold = np.random.default_rng(0).permutation(len(X)) % 5
    return float(
        np.mean(
            [
                KNeighborsClassifier(5)
                .fit(X[fold != part], kinds[fold != part])
                .score(X[fold == part], kinds[fold == part])
                for part in range(5)
            ]
        )
    )


if __name__ == "__main__":
    main()
