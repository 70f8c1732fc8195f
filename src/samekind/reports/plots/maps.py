"""Maps: learnt vectors laid out in the plane, so that one map can be followed into the next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samekind.workspace.layout import procrustes

Plane = NDArray[np.float64]
FEWEST = 8
"""Below so many items neighbourhoods mean nothing, and the two main axes are drawn."""
WIDEST = 50
"""Components that t-SNE looks at; more cost time and change little."""


def maps(spaces: Sequence[NDArray[Any]], *, seed: int = 0) -> list[Plane]:
    """One map (n, 2) per space by t-SNE, all in the same square.

    The first begins at the two main axes, and the others where the first ended. Each is then
    turned and mirrored, which no distance notices, to lie on the first as well as it can.
    """
    found: list[Plane] = []
    for space in spaces:
        plane = _neighbourhoods(space, found[0] if found else None, seed)
        found.append(procrustes(plane, found[0]) if found else plane)
    return [_in_square(plane) for plane in found]


def _neighbourhoods(space: NDArray[Any], start: Plane | None, seed: int) -> Plane:
    from sklearn.manifold import TSNE

    reduced = _main_axes(space, WIDEST)
    first = _main_axes(space, 2) if start is None else start
    if len(space) < FEWEST or not reduced.any():
        return _centred(first)
    # A tiny start keeps its directions, but leaves t-SNE free to tear the layout where it must.
    tiny = first / max(float(first[:, 0].std()), 1e-12) * 1e-4
    perplexity = min(30.0, (len(space) - 1) / 3)
    model = TSNE(perplexity=perplexity, init=tiny.astype(np.float32), random_state=seed)
    return _centred(model.fit_transform(reduced.astype(np.float32)))


def _main_axes(space: NDArray[Any], most: int) -> Plane:
    """Coordinates along the axes of largest variance; always at least two columns."""
    from sklearn.decomposition import PCA

    centred = _centred(space)
    wide = min(most, *centred.shape)
    found = PCA(wide, svd_solver="full").fit_transform(centred) if centred.any() else centred[:, :2]
    return np.pad(found, ((0, 0), (0, max(0, 2 - found.shape[1]))))


def _centred(space: NDArray[Any]) -> Plane:
    wide = np.asarray(space, dtype=np.float64)
    return np.asarray(wide - wide.mean(axis=0))


def _in_square(plane: Plane) -> Plane:
    """As large as the square from -1 to 1 allows, with the same scale along both axes."""
    low, high = plane.min(axis=0), plane.max(axis=0)
    half = float((high - low).max()) / 2
    return np.asarray((plane - (low + high) / 2) / half) if half else plane
