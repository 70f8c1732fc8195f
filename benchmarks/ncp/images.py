"""Kinds of images that no network has seen: the clustering process against k-means with true K.

    python -m benchmarks.ncp.images --weights glyphs --set digits mnist --data DIR
    python -m benchmarks.ncp.images --weights photos --set cifar100 --data DIR

Sets: `digits` are scikit-learn's, `mnist` is DIR/mnist-14k.parquet (columns image and label), and
`cifar100` the 20 classes of DIR/cifar100-test.parquet that are in no training file (see
image_data.py). Each episode draws K classes and N images of them, about as many of each. The
process is told nothing; k-means is told the true K, on the same features: what the weights read
(pixels, or vectors of the frozen network, centred and of unit length), and on the points that they
make of it. Each cell is written as soon as it is done, and a cell that is in the file is kept.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.measuring import provenance
from benchmarks.ncp.image_data import cifar100, encoded_rows, frozen_vectors, read
from benchmarks.ncp.summaries import FILE_OF, digest
from samekind.clusterers.ncp.estimator import NCP
from samekind.clusterers.ncp.readers import fitted_sign
from samekind.clusterers.ncp.weights import Trained, network_of, weights_file
from samekind.simulation.rows import append_row

CELLS = {
    "digits": ((50, 5), (100, 10), (200, 10)),
    "mnist": ((50, 5), (100, 3), (100, 10), (200, 10)),
    "cifar100": ((50, 5), (100, 3), (100, 10), (200, 20)),
}
"""Numbers of images and of classes."""
MNIST = "mnist-14k"
Row = dict[str, Any]
Method = Callable[[NDArray[np.intp], int, int], NDArray[Any]]
"""From rows of a set, the true number of groups and a seed to labels."""


class Items(NamedTuple):
    """What the weights read (M, ...), what k-means sees of it (M, d), points, and labels (M,)."""

    given: NDArray[Any]
    features: NDArray[Any]
    points: NDArray[Any]
    labels: NDArray[Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    add = parser.add_argument
    add("--weights", required=True, help="glyphs, photos, or a file")
    add("--set", nargs="+", required=True, choices=list(CELLS))
    add("--data", default=".", help="folder with the Parquet files")
    add("--vectors", default=None, help="file that keeps the vectors of the frozen network")
    add("--episodes", type=int, default=100)
    add("--samples", type=int, default=128)
    add("--seed", type=int, default=0)
    add("--json", default=str(FILE_OF["images"]))
    wanted = parser.parse_args()
    path = Path(wanted.json)
    before = [json.loads(line) for line in path.open()] if path.exists() else []
    trained = network_of(wanted.weights, "cpu")
    sha = digest(str(weights_file(wanted.weights)))
    for name in wanted.set:
        items = items_of(name, trained, wanted)
        for n, k in CELLS[name]:
            cell = {
                "set": name,
                "N": n,
                "K": k,
                "weights": Path(wanted.weights).stem,
                "sha256": sha,
            }
            if any(cell.items() <= row.items() for row in before):
                continue
            found = [{**cell, **row} for row in measured(items, n, k, wanted)]
            show(cell, found)
            for row in found:
                append_row(path, {**row, "seed": wanted.seed, **provenance()})


def items_of(name: str, trained: Trained, wanted: argparse.Namespace) -> Items:
    """The images of a set, as the weights read them."""
    images, labels = SETS[name](Path(wanted.data))
    reader = trained.reader
    if reader is None:
        raise SystemExit(f"{wanted.weights} are weights for general vectors: give others.")
    if reader.takes_pictures:
        return Items(images, pixels(images), reader(images), labels)
    kept = None if wanted.vectors is None else Path(wanted.vectors)
    if kept is not None and kept.exists():
        vectors = np.load(kept)
    else:
        vectors = frozen_vectors(images)
        if kept is not None:
            np.save(kept, vectors)
    centred = vectors - vectors.mean(0)
    unit = centred / np.linalg.norm(centred, axis=1, keepdims=True)
    return Items(vectors, unit, reader(vectors), labels)


def digits(folder: Path) -> tuple[NDArray[np.uint8], NDArray[Any]]:
    """Scikit-learn's digits, 8 x 8."""
    from sklearn.datasets import load_digits

    found = load_digits()
    return np.rint(found.images * (255 / 16)).astype(np.uint8), found.target


def mnist(folder: Path) -> tuple[NDArray[np.uint8], NDArray[Any]]:
    """14,000 digits, 28 x 28."""
    found = [
        (read(image, "L"), label)
        for image, label in encoded_rows(folder / f"{MNIST}.parquet", "label")
    ]
    return np.stack([image for image, _ in found]), np.array([label for _, label in found])


SETS: dict[str, Callable[[Path], tuple[NDArray[np.uint8], NDArray[Any]]]] = {
    "digits": digits,
    "mnist": mnist,
    "cifar100": lambda folder: cifar100(folder, 100, unseen=True),
}


def pixels(images: NDArray[np.uint8]) -> NDArray[np.float32]:
    """(M, pixels) signs fitted to one size, as the weights see them; photographs as they are."""
    if images.ndim == 4:
        return (images.reshape(len(images), -1) / 255).astype(np.float32)
    signs = [fitted_sign(one.astype(np.float32) / 255, 28, 20).ravel() for one in images]
    return np.stack(signs)


def measured(items: Items, n: int, k: int, wanted: argparse.Namespace) -> Iterator[Row]:
    """Scores of each method over the same episodes."""
    from sklearn.metrics import adjusted_mutual_info_score, adjusted_rand_score

    drawn = list(episodes(items.labels, n, k, wanted.episodes, wanted.seed))
    scores: dict[str, list[tuple[float, ...]]] = {}
    for name, method in methods_of(items, wanted).items():
        for number, (rows, truth) in enumerate(drawn):
            began = time.process_time()
            labels = method(rows, k, number)
            seconds = time.process_time() - began
            scores.setdefault(name, []).append((
                adjusted_mutual_info_score(truth, labels), adjusted_rand_score(truth, labels),
                len(np.unique(labels)) - len(np.unique(truth)), seconds,
            ))  # fmt: skip
    ours = np.array(scores["ncp"])
    for name, found in scores.items():
        values = np.array(found)
        ahead = ours[:, :2] - values[:, :2]
        yield {
            "method": name, "episodes": len(values), **interval("AMI", values[:, 0]),
            **interval("ARI", values[:, 1]), "K - true": values[:, 2].mean(),
            **interval("ncp ahead, AMI", ahead[:, 0]), **interval("ncp ahead, ARI", ahead[:, 1]),
            "processor seconds": values[:, 3].mean(),
        }  # fmt: skip


def interval(name: str, values: NDArray[Any]) -> dict[str, float]:
    """The mean and half of its 95 % interval."""
    error = 1.96 * values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return {name: float(values.mean()), f"{name} +-": float(error)}


def episodes(
    labels: NDArray[Any], n: int, k: int, count: int, seed: int
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Rows and classes: n different images of k classes, each class about as often."""
    names = np.unique(labels)
    members = {name: np.flatnonzero(labels == name) for name in names}
    for number in range(count):
        rng = np.random.default_rng((seed, n, k, number))
        chosen = rng.choice(names, k, replace=False)
        truth = np.sort(np.concatenate([np.arange(k), rng.integers(k, size=n - k)]))
        rows = [rng.choice(members[chosen[g]], int((truth == g).sum()), replace=False)
                for g in range(k)]  # fmt: skip
        order = rng.permutation(n)
        yield np.concatenate(rows)[order], truth[order]


def methods_of(items: Items, wanted: argparse.Namespace) -> dict[str, Method]:
    """What is compared, by name."""
    from sklearn.cluster import KMeans

    def process(rows: NDArray[np.intp], k: int, seed: int) -> NDArray[Any]:
        model = NCP(weights=wanted.weights, n_samples=wanted.samples, random_state=seed)
        return model.fit(items.given[rows]).labels_

    def kmeans(values: NDArray[Any]) -> Method:
        return lambda rows, k, seed: KMeans(k, n_init=10, random_state=seed).fit_predict(
            values[rows]
        )

    return {
        "ncp": process, "k-means, features, true K": kmeans(items.features),
        "k-means, points, true K": kmeans(items.points),
    }  # fmt: skip


def show(cell: Row, rows: list[Row]) -> None:
    print("\n" + ", ".join(f"{name} {value}" for name, value in cell.items()))
    names = ("AMI", "AMI +-", "ARI", "ARI +-", "K - true", "ncp ahead, ARI", "ncp ahead, ARI +-")
    print(f"{'':28}" + "".join(f"{name:>18}" for name in names))
    for row in rows:
        print(f"{row['method']:28}" + "".join(f"{row[name]:18.3f}" for name in names), flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore", UserWarning)
    main()
