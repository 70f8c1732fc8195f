"""Gaussian kinds: vectors whose grouping is known, in memory or streamed to a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

CHUNK = 16_384


def gaussian_kinds(
    items: int, width: int, kinds: int, seed: int
) -> tuple[NDArray[np.float32], NDArray[np.intp]]:
    """Vectors (items, width) around `kinds` random centres, and the kind of each."""
    X = np.empty((items, width), dtype=np.float32)
    labels = np.empty(items, dtype=np.intp)
    for start, rows, of in _pieces(items, width, kinds, seed):
        X[start : start + len(rows)] = rows
        labels[start : start + len(rows)] = of
    return X, labels


def write_kinds(path: Path, items: int, width: int, kinds: int, seed: int) -> NDArray[np.int8]:
    """The same vectors as a .npy file, written piece by piece; their kinds are returned."""
    labels = np.empty(items, dtype=np.int8)
    with path.open("wb") as file:
        header = {"descr": "<f4", "fortran_order": False, "shape": (items, width)}
        np.lib.format.write_array_header_1_0(file, header)
        for start, rows, of in _pieces(items, width, kinds, seed):
            file.write(rows.tobytes())
            labels[start : start + len(rows)] = of
    return labels


def _pieces(items: int, width: int, kinds: int, seed: int) -> Any:
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((kinds, width), dtype=np.float32)
    for start in range(0, items, CHUNK):
        of = rng.integers(0, kinds, min(CHUNK, items - start))
        yield start, centres[of] + rng.standard_normal((len(of), width), dtype=np.float32), of
