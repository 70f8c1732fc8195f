"""Groupings on which settings of the live learner are chosen; no suite is measured on them.

Vectors that come with the package are cut and grouped anew: ten superclasses of CIFAR-100 (items
that the suites do not use), merged digits, tables of scikit-learn, drawn tiles of another seed,
drawn mixtures and drawn topics. Pictures of playing cards are added where a file is given.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samekind.simulation.datasets import Dataset, encoded_dataset, open_dataset
from samekind.sources import LabelledSet, vectors_collection

Floats = NDArray[Any]
Ints = NDArray[np.intp]
UNUSED_FROM = 2000
"""The suites use the first so many items of the frozen vectors of CIFAR."""
MAX_ITEMS = 1000
"""Items of each grouping, drawn from all."""
TILES_SEED = 11


def groupings(cards: Path | None = None) -> dict[str, Callable[[], tuple[Floats, Ints]]]:
    """Vectors and kinds of each grouping, by its name; cheap until one is called."""
    found: dict[str, Callable[[], tuple[Floats, Ints]]] = {
        "superclasses-a": lambda: superclasses(0),
        "superclasses-b": lambda: superclasses(1),
        "superclasses-halves": lambda: halves(0),
        "classes-12": lambda: classes(12, 3),
        "classes-20": lambda: classes(20, 4),
        "digits": lambda: digits(None),
        "digits-merged": lambda: digits(3),
        "tiles-shape": lambda: tiles("shape"),
        "tiles-pattern": lambda: tiles("pattern"),
        "tiles-count": lambda: tiles("count"),
        "wine": lambda: table("wine"),
        "tumours": lambda: table("breast_cancer"),
        "mixture-strong": lambda: mixture(5, 1),
        "mixture-weak": lambda: mixture(6, 2),
        "mixture-many": lambda: mixture(7, 3),
        "topics": lambda: topics(8),
    }
    if cards is not None:
        found |= {f"cards-{of}": lambda of=of: kept(cards, of) for of in ("colour", "suit")}
    return found


def superclasses(seed: int) -> tuple[Floats, Ints]:
    """Items of ten superclasses of CIFAR-100."""
    X, _, coarse = _cifar100()
    rng = np.random.default_rng((20, seed))
    rows = np.flatnonzero(np.isin(coarse, rng.permutation(20)[:10]))
    return X[rows], codes(coarse[rows])


def halves(seed: int) -> tuple[Floats, Ints]:
    """The same items in two kinds, each of five superclasses."""
    X, kinds = superclasses(seed)
    return X, np.random.default_rng((21, seed)).permutation(np.arange(10) % 2)[kinds]


def classes(count: int, seed: int) -> tuple[Floats, Ints]:
    """All items of some classes of CIFAR-100, each of another superclass."""
    X, fine, coarse = _cifar100()
    rng = np.random.default_rng((22, seed))
    taken = [rng.choice(np.unique(fine[coarse == c])) for c in rng.permutation(20)[:count]]
    rows = np.flatnonzero(np.isin(fine, taken))
    return X[rows], codes(fine[rows])


def digits(merged: int | None) -> tuple[Floats, Ints]:
    """Handwritten digits, or so many kinds of several digits each."""
    dataset = open_dataset("digits", None, False)
    kinds = dataset.truth("digit")[0]
    if merged is None:
        return dataset.X, kinds
    return dataset.X, np.random.default_rng(23).permutation(np.arange(10) % merged)[kinds]


def tiles(orientation: str) -> tuple[Floats, Ints]:
    """Drawn tiles of another seed than the demo's."""
    from samekind.sources.sets.tiles import tiles as drawn

    dataset = _encoded(drawn)
    return dataset.X, dataset.truth(orientation)[0]


def table(name: str) -> tuple[Floats, Ints]:
    """A table of scikit-learn, its columns scaled alike."""
    import sklearn.datasets

    X, kinds = getattr(sklearn.datasets, f"load_{name}")(return_X_y=True)
    return ((X - X.mean(axis=0)) / X.std(axis=0)).astype(np.float32), codes(kinds)


def mixture(seed: int, style: int) -> tuple[Floats, Ints]:
    """Drawn vectors with two independent attributes, of which the second is meant.

    `style` 1: it is the stronger one. 2: the weaker one, of three kinds. 3: sixteen kinds of
    unequal size and no other attribute.
    """
    rng = np.random.default_rng((24, seed))
    n, d = 1200, 40
    scale = 1 / np.sqrt(1 + np.arange(d) / 4)
    X = rng.normal(size=(n, d)) * scale
    counts, strength = {1: ((3, 5), (0.5, 0.6)), 2: ((6, 3), (1.0, 0.5)), 3: ((1, 16), (0.0, 0.6))}[
        style
    ]
    kinds = np.zeros(n, dtype=np.intp)
    for count, distance in zip(counts, strength, strict=True):
        share = rng.dirichlet(np.full(count, 4.0))
        kinds = rng.choice(count, n, p=share)
        X += distance * rng.normal(size=(count, d))[kinds] * scale
    return X.astype(np.float32), codes(kinds)


def topics(count: int) -> tuple[Floats, Ints]:
    """Drawn texts of so many topics, which share most words, as principal components of tf-idf."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfTransformer

    rng = np.random.default_rng(25)
    common = rng.dirichlet(np.full(800, 0.2))
    own = rng.dirichlet(np.full(800, 0.05), size=count)
    kinds = rng.integers(0, count, 1000)
    words = np.stack([rng.multinomial(25, 0.65 * common + 0.35 * own[k]) for k in kinds])
    X = TruncatedSVD(64, random_state=0).fit_transform(TfidfTransformer().fit_transform(words))
    return (X / np.linalg.norm(X, axis=1, keepdims=True)).astype(np.float32), codes(kinds)


def kept(file: Path, orientation: str) -> tuple[Floats, Ints]:
    """Vectors X of a .npz file, and one of its other columns."""
    with np.load(file, allow_pickle=False) as found:
        return found["X"], codes(found[orientation])


def dataset_of(name: str, X: Floats, kinds: Ints) -> Dataset:
    """Some of the vectors and kinds as a set with the orientation "kind"."""
    rows = np.sort(np.random.default_rng(26).permutation(len(X))[:MAX_ITEMS])
    X, kinds = np.asarray(X, dtype=np.float32)[rows], codes(kinds[rows])
    labelled = LabelledSet(name, vectors_collection(name, X, name), {"kind": kinds})
    return Dataset(labelled, X, None, "vectors", "chosen for development")


def codes(kinds: Any) -> Ints:
    """Kinds numbered from 0."""
    return np.unique(kinds, return_inverse=True)[1].astype(np.intp)


@lru_cache(maxsize=1)
def _cifar100() -> tuple[Floats, Ints, Ints]:
    dataset = open_dataset("cifar20-frozen", None, False)
    rest = slice(UNUSED_FROM, None)
    fine, coarse = (dataset.truth(name)[0][rest] for name in ("fine", "coarse"))
    return dataset.X[rest], fine, coarse


@lru_cache(maxsize=1)
def _encoded(drawn: Callable[[int], LabelledSet]) -> Dataset:
    return encoded_dataset(drawn(TILES_SEED))
