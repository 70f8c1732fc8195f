"""Sets that are drawn from a seed: Gaussian mixtures and the nodes of random graphs.

Both have an obvious grouping and a fainter one that crosses it, so that k-means does not find what
every person means.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from samekind.sources.files.columns import SPLIT
from samekind.sources.files.rows import RowCollection, Rows
from samekind.sources.sets.labelled import LabelledSet, split_labelled

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


@dataclass(frozen=True)
class Mixture:
    """A mixture of `obvious` x `faint` Gaussian groups in `axes` + `axes` dimensions.

    Parameters
    ----------
    obvious, faint : number of groups in the two crossed groupings.
    apart : distance of the centres from the origin, for the obvious and the faint grouping, in
        units of the mean standard deviation within a group.
    uneven : 0: spherical groups of the same size; 1: each has its own lengths and directions.
    concentration : of the Dirichlet distribution of group sizes; smaller is more unequal.
    n, held_out : number of items to ask about, and of held-out items.
    """

    obvious: int = 4
    faint: int = 3
    axes: int = 8
    apart: tuple[float, float] = (5.0, 3.2)
    uneven: float = 0.5
    concentration: float = 20.0
    n: int = 1500
    held_out: int = 500


def gaussian_mixtures(seed: int = 0) -> LabelledSet:
    """1,500 + 500 random points, clear groups: coarse (4), crossed (3), fine (12 = 4 x 3)."""
    return draw_mixture("gaussian-mixtures", Mixture(), seed)


def gaussian_mixtures_close(seed: int = 0) -> LabelledSet:
    """1,500 + 500 random points, overlapping groups: coarse (4), crossed (3), fine (12)."""
    return draw_mixture("gaussian-mixtures-close", Mixture(apart=(3.2, 2.4)), seed)


def gaussian_mixtures_unequal(seed: int = 0) -> LabelledSet:
    """1,500 + 500 random points, groups of unequal size and form: coarse (4), crossed (3), fine."""
    setting = Mixture(uneven=1.0, concentration=2.0)
    return draw_mixture("gaussian-mixtures-unequal", setting, seed)


def draw_mixture(name: str, setting: Mixture, seed: int) -> LabelledSet:
    """Draw the points of a mixture with two crossed groupings, rotated at random.

    >>> known = draw_mixture("demo", Mixture(n=50, held_out=10), seed=0)
    >>> known.collection.matrix.shape, sorted(known.orientations)
    ((50, 16), ['coarse', 'crossed', 'fine'])
    """
    rng = np.random.default_rng([seed, 7])
    n, d = setting.n + setting.held_out, 2 * setting.axes
    sizes = (setting.obvious, setting.faint)
    shares = [rng.dirichlet(np.full(size, setting.concentration)) for size in sizes]
    coarse, crossed = (
        _at_least_one(rng.choice(size, n, p=share), size, rng)
        for size, share in zip(sizes, shares, strict=True)
    )
    centres = [
        _centres(size, setting.axes, distance, rng)
        for size, distance in zip(sizes, setting.apart, strict=True)
    ]
    fine = coarse * setting.faint + crossed
    X = np.concatenate([centres[0][coarse], centres[1][crossed]], axis=1)  # (n, 2 axes)
    for group in range(setting.obvious * setting.faint):
        members = np.flatnonzero(fine == group)
        lengths = np.exp(setting.uneven * rng.normal(0.0, 0.5, d))
        lengths /= np.sqrt((lengths**2).mean())
        X[members] += (rng.normal(size=(len(members), d)) * lengths) @ _rotation(d, rng)
    X = X @ _rotation(d, rng)
    kinds = {"coarse": coarse, "crossed": crossed, "fine": fine}
    return _labelled(name, X, kinds, "point", setting.n)


@dataclass(frozen=True)
class Graph:
    """A stochastic block model with two crossed groupings of the nodes.

    Parameters
    ----------
    communities, second : number of groups in the two groupings.
    inside, across : probability of an edge within and between communities.
    factor : (second, second) factor of that probability by the second groups of both ends.
    axes : dimensions of the spectral embedding.
    """

    communities: int
    second: int
    inside: float
    across: float
    factor: tuple[tuple[float, ...], ...]
    n: int = 600
    axes: int = 12


ROLES = Graph(4, 2, 0.16, 0.03, ((1.8, 0.9), (0.9, 0.45)), axes=6)
"""Four communities, and across them a dense core and a sparse rim."""
CROSSED = Graph(
    4, 3, 0.2, 0.05, tuple(tuple(1.6 if a == b else 0.6 for b in range(3)) for a in range(3))
)
"""Two similar groupings: people meet within their department and within their town."""


def sbm_graphs(seed: int = 0) -> LabelledSet:
    """600 nodes of a random graph as ready vectors: community (4), role (core or rim)."""
    return draw_graph("sbm-graphs", ROLES, ("community", "role"), seed)


def sbm_crossed(seed: int = 0) -> LabelledSet:
    """600 nodes of a random graph as ready vectors: department (4), town (3), crossed."""
    return draw_graph("sbm-crossed", CROSSED, ("department", "town"), seed)


def draw_graph(name: str, setting: Graph, columns: tuple[str, str], seed: int) -> LabelledSet:
    """Draw a random graph; its nodes are described by their edges alone."""
    rng = np.random.default_rng([seed, 11])
    sizes = (setting.communities, setting.second)
    first, second = (rng.permutation(np.arange(setting.n) % size) for size in sizes)
    chance = np.where(first[:, None] == first, setting.inside, setting.across)
    chance = chance * np.asarray(setting.factor)[second[:, None], second]  # (n, n)
    upper = np.triu(rng.random((setting.n, setting.n)) < chance, 1)
    edges = (upper | upper.T).astype(np.float64)
    kinds = {columns[0]: first, columns[1]: second}
    return _labelled(name, node_vectors(edges, setting.axes), kinds, "node", setting.n)


def node_vectors(edges: Floats, axes: int) -> Floats:
    """(n, axes + 3) features of each node, standardised.

    The main axes of the normalised adjacency matrix without the trivial one, the logarithm of the
    degree, the mean degree of the neighbours, and the clustering coefficient.
    """
    degree = edges.sum(axis=1)
    weight = 1.0 / np.sqrt(np.maximum(degree, 1.0))
    values, vectors = np.linalg.eigh(edges * weight[:, None] * weight)
    main = vectors[:, np.argsort(-np.abs(values))[1 : axes + 1]] * weight[:, None]
    # The sign of an axis is arbitrary: fix it, so that a seed always gives the same vectors.
    main = main * np.sign(main[np.abs(main).argmax(axis=0), np.arange(main.shape[1])])
    triangles = ((edges @ edges) * edges).sum(axis=1)
    pairs = np.maximum(degree * (degree - 1.0), 1.0)
    around = (edges @ degree) / np.maximum(degree, 1.0)
    features = np.column_stack([main, np.log1p(degree), around, triangles / pairs])
    spread = features.std(axis=0)
    return np.asarray((features - features.mean(axis=0)) / np.where(spread > 0, spread, 1.0))


def _labelled(
    name: str, X: Floats, kinds: dict[str, Ints], word: str, n_inside: int
) -> LabelledSet:
    """Ready vectors as items; those from `n_inside` on are held out."""
    rows = Rows(X.astype(np.float32), keys=[f"{word}-{number:04d}" for number in range(len(X))])
    collection = RowCollection(name, rows, location=name, ready=True)
    return split_labelled(collection, {**kinds, SPLIT: np.arange(len(X)) >= n_inside})


def _at_least_one(groups: Ints, size: int, rng: np.random.Generator) -> Ints:
    """The same groups, with one item moved to each empty group."""
    absent = np.setdiff1d(np.arange(size), groups)
    groups[rng.choice(len(groups), len(absent), replace=False)] = absent
    return groups.astype(np.intp)


def _centres(size: int, d: int, distance: float, rng: np.random.Generator) -> Floats:
    """(size, d) centres at one distance from the origin, orthogonal as far as possible."""
    directions = np.concatenate([_rotation(d, rng) for _ in range(-(-size // d))])[:size]
    return np.asarray(distance * directions)


def _rotation(d: int, rng: np.random.Generator) -> Floats:
    """A random rotation (d, d)."""
    turned, upper = np.linalg.qr(rng.normal(size=(d, d)))
    return np.asarray(turned * np.sign(np.diag(upper)))
