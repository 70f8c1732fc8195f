"""Sets that are drawn from a seed: Gaussian mixtures and the nodes of random graphs.

In both an obvious grouping and a fainter one cross each other, so that what k-means finds is not
what every person means.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from samekind.sources.files.rows import RowCollection, Rows
from samekind.sources.sets.labelled import LabelledSet

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


@dataclass(frozen=True)
class Mixture:
    """How Gaussian groups are drawn: `obvious` x `faint` groups in `axes` + `axes` dimensions.

    Parameters
    ----------
    obvious, faint : groups of the two crossed groupings.
    apart : distance of the middles from the origin, for the obvious and the faint grouping, in
        units of the mean spread within a group.
    uneven : 0: round groups of one spread; 1: each has its own lengths and directions.
    concentration : of the shares of groups; smaller ones are more unequal (Dirichlet).
    n, held_out : items to ask about, and items apart.
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
    """1,500 + 500 drawn points, clear groups: coarse (4), crossed (3), fine (12 = 4 x 3)."""
    return draw_mixture("gaussian-mixtures", Mixture(), seed)


def gaussian_mixtures_close(seed: int = 0) -> LabelledSet:
    """1,500 + 500 drawn points, groups that overlap: coarse (4), crossed (3), fine (12)."""
    return draw_mixture("gaussian-mixtures-close", Mixture(apart=(3.2, 2.4)), seed)


def gaussian_mixtures_unequal(seed: int = 0) -> LabelledSet:
    """1,500 + 500 drawn points, groups of unequal size and form: coarse (4), crossed (3), fine."""
    setting = Mixture(uneven=1.0, concentration=2.0)
    return draw_mixture("gaussian-mixtures-unequal", setting, seed)


def draw_mixture(name: str, setting: Mixture, seed: int) -> LabelledSet:
    """Points of a mixture in which two groupings cross, turned at random.

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
    middles = [
        _apart(size, setting.axes, distance, rng)
        for size, distance in zip(sizes, setting.apart, strict=True)
    ]
    fine = coarse * setting.faint + crossed
    X = np.concatenate([middles[0][coarse], middles[1][crossed]], axis=1)  # (n, 2 axes)
    for group in range(setting.obvious * setting.faint):
        members = np.flatnonzero(fine == group)
        lengths = np.exp(setting.uneven * rng.normal(0.0, 0.5, d))
        lengths /= np.sqrt((lengths**2).mean())
        X[members] += (rng.normal(size=(len(members), d)) * lengths) @ _turn(d, rng)
    X = X @ _turn(d, rng)
    kinds = {"coarse": coarse, "crossed": crossed, "fine": fine}
    return _labelled(name, X, kinds, "point", setting.n)


@dataclass(frozen=True)
class Graph:
    """A stochastic block model in which two groupings of the nodes cross.

    Parameters
    ----------
    communities, second : groups of the two groupings.
    inside, across : chance of an edge within and between communities.
    factor : (second, second) what the second groups of both ends multiply it by.
    axes : numbers per node of the spectral embedding.
    """

    communities: int
    second: int
    inside: float
    across: float
    factor: tuple[tuple[float, ...], ...]
    n: int = 600
    axes: int = 12


ROLES = Graph(4, 2, 0.16, 0.03, ((1.8, 0.9), (0.9, 0.45)), axes=6)
"""Four communities, and across them a busy core and a quiet rim."""
CROSSED = Graph(
    4, 3, 0.2, 0.05, tuple(tuple(1.6 if a == b else 0.6 for b in range(3)) for a in range(3))
)
"""Two groupings of the same sort: people meet within their department and within their town."""


def sbm_graphs(seed: int = 0) -> LabelledSet:
    """600 nodes of a drawn graph as ready vectors: community (4), role (core or rim)."""
    return draw_graph("sbm-graphs", ROLES, ("community", "role"), seed)


def sbm_crossed(seed: int = 0) -> LabelledSet:
    """600 nodes of a drawn graph as ready vectors: department (4), town (3), crossed."""
    return draw_graph("sbm-crossed", CROSSED, ("department", "town"), seed)


def draw_graph(name: str, setting: Graph, columns: tuple[str, str], seed: int) -> LabelledSet:
    """The nodes of a random graph by what their edges tell; the groups are only kept beside."""
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
    """(n, axes + 3) what the edges tell about each node, each number on one scale.

    The main axes of the normalised adjacency, without the trivial one; then the number of
    neighbours (as a logarithm), the mean number that these have, and the share of pairs of
    neighbours that are neighbours themselves.
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
    told = np.column_stack([main, np.log1p(degree), around, triangles / pairs])
    spread = told.std(axis=0)
    return np.asarray((told - told.mean(axis=0)) / np.where(spread > 0, spread, 1.0))


def _labelled(
    name: str, X: Floats, kinds: dict[str, Ints], word: str, n_inside: int
) -> LabelledSet:
    """Ready vectors as items; those from `n_inside` on are held out."""
    rows = Rows(X.astype(np.float32), keys=[f"{word}-{number:04d}" for number in range(len(X))])
    inside, outside = np.arange(n_inside), np.arange(n_inside, len(X))

    def part(chosen: Ints) -> RowCollection:
        return RowCollection(name, rows.take(chosen), location=name, ready=True)

    return LabelledSet(
        name,
        part(inside),
        {kind: groups[inside] for kind, groups in kinds.items()},
        part(outside) if len(outside) else None,
        {kind: groups[outside] for kind, groups in kinds.items()} if len(outside) else {},
    )


def _at_least_one(groups: Ints, size: int, rng: np.random.Generator) -> Ints:
    """The same groups, with one item for each group that came out empty."""
    absent = np.setdiff1d(np.arange(size), groups)
    groups[rng.choice(len(groups), len(absent), replace=False)] = absent
    return groups.astype(np.intp)


def _apart(size: int, d: int, distance: float, rng: np.random.Generator) -> Floats:
    """(size, d) middles at one distance from the origin, at right angles while there is room."""
    directions = np.concatenate([_turn(d, rng) for _ in range(-(-size // d))])[:size]
    return np.asarray(distance * directions)


def _turn(d: int, rng: np.random.Generator) -> Floats:
    """A random rotation (d, d)."""
    turned, upper = np.linalg.qr(rng.normal(size=(d, d)))
    return np.asarray(turned * np.sign(np.diag(upper)))
