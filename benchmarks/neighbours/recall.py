"""Recall and CPU seconds of the nearest-neighbour searches in `samekind.neighbours`.

    python -m benchmarks.neighbours.recall [--vectors FILE] [--items 30000] [--neighbours 15]

FILE is a .npy file (n, d), or an .npz file with `q` (n, d) and `scale` (d,) whose product is taken.
Without it, vectors are drawn: 100 Gaussian groups of 128 numbers. faiss is left out where it is not
installed (pip install 'samekind[ann]').
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samekind.neighbours import Neighbours, exact_neighbours, find_neighbours


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--vectors", type=Path)
    parser.add_argument("--items", type=int, default=30_000)
    parser.add_argument("--neighbours", type=int, default=15)
    wanted = parser.parse_args()
    points = vectors(wanted.vectors, wanted.items)
    k = wanted.neighbours
    true, seconds = timed(lambda: exact_neighbours(points, k))
    print(f"{len(points)} x {points.shape[1]}, {k} neighbours\n\nsearch   recall  CPU seconds")
    print(f"exact    1.000   {seconds:.1f}")
    for name, use_faiss in (("cells", False), ("faiss", True)):
        if use_faiss and find_spec("faiss") is None:
            print("faiss    not installed")
            continue
        found, seconds = timed(lambda use=use_faiss: find_neighbours(points, k, use_faiss=use))
        print(f"{name}    {recall(found, true):.3f}   {seconds:.1f}")


def vectors(path: Path | None, items: int) -> NDArray[np.float32]:
    if path is None:
        rng = np.random.default_rng(0)
        centres = rng.normal(size=(100, 128))[rng.integers(100, size=items)]
        return (centres + rng.normal(size=centres.shape)).astype(np.float32)
    stored: Any = np.load(path, allow_pickle=False)
    rows = stored if path.suffix == ".npy" else stored["q"] * stored["scale"]
    return np.ascontiguousarray(rows[:items], dtype=np.float32)


def timed(search: Callable[[], Neighbours]) -> tuple[Neighbours, float]:
    import sklearn.neighbors  # noqa: F401
    import torch  # noqa: F401 - imported beforehand, so that loading them is not measured

    began = time.process_time()
    return search(), time.process_time() - began


def recall(found: Neighbours, true: Neighbours) -> float:
    shared = [len(np.intersect1d(a, b)) for a, b in zip(found.rows, true.rows, strict=True)]
    return float(np.mean(shared)) / true.rows.shape[1]


if __name__ == "__main__":
    main()
