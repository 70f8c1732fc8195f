"""Piles for the measurements of quality statements: drawn ones of many sorts, and those of sklearn.

A drawn pile has items with several attributes; the person groups them by one of them. Its vectors
are a random nonlinear map of the attributes with noise, so that the wish may be easy to see, hidden
among other differences, or hardly there at all. Kinds may be of very different sizes. Small piles
are asked about to the end.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.intp]
Floats = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Pile:
    """Items as vectors (n, d), and the kind that the person has in mind of each."""

    name: str
    X: Floats
    kinds: Ints


def drawn(seed: int) -> Pile:
    """Draw a pile: 2 to 12 kinds, 300 to 1,200 items, one to three attributes."""
    rng = np.random.default_rng((seed, 20261116))
    n, width = int(rng.integers(300, 1201)), int(rng.integers(8, 65))
    sizes = [int(rng.integers(2, 13)), *rng.integers(2, 7, size=int(rng.integers(0, 3))).tolist()]
    uneven = float(rng.choice([0.0, 0.0, 0.7, 1.2]))
    attributes = [_attribute(rng, n, size, uneven) for size in sizes]
    distances = np.array([rng.uniform(3.0, 8.0), *rng.uniform(1.0, 8.0, size=len(sizes) - 1)])
    strength = distances / np.sqrt(2 * width)  # distance between two kinds, in units of the noise
    hidden = np.zeros((n, width))
    for values, size, much in zip(attributes, sizes, strength, strict=True):
        hidden += much * rng.normal(size=(size, width))[values]
    hidden += rng.normal(size=(n, width))
    if rng.random() < 0.5:  # bend the space, as a network would
        hidden = np.tanh(hidden @ rng.normal(size=(width, width)) / np.sqrt(width))
    return Pile(f"drawn-{seed}", hidden.astype(np.float32), attributes[0])


def small(seed: int) -> Pile:
    """Draw a pile of 12 to 60 items, which can be asked about until nothing is left.

    There are 2 to 6 kinds. In every second pile they cannot be seen in the vectors at all.
    """
    rng = np.random.default_rng((seed, 20261119))
    n, width, n_kinds = (int(rng.integers(*ends)) for ends in ((12, 61), (2, 33), (2, 7)))
    kinds = _attribute(rng, n, n_kinds, float(rng.choice([0.0, 0.7])))
    distance = 0.0 if seed % 2 else rng.uniform(1.0, 8.0)
    hidden = distance / np.sqrt(2 * width) * rng.normal(size=(n_kinds, width))[kinds]
    hidden += rng.normal(size=(n, width))
    return Pile(f"small-{seed}", hidden.astype(np.float32), kinds)


def _attribute(rng: np.random.Generator, n: int, size: int, uneven: float) -> Ints:
    """(n,) values of an attribute; those of the first values are the commonest."""
    share = 1.0 / np.arange(1, size + 1) ** uneven
    values: Ints = rng.choice(size, n, p=share / share.sum()).astype(np.intp)
    return values


def shipped(name: str) -> Pile:
    """A pile of scikit-learn, with standardised columns."""
    from sklearn import datasets

    load: dict[str, Callable[..., Any]] = {
        "iris": datasets.load_iris,
        "wine": datasets.load_wine,
        "cancer": datasets.load_breast_cancer,
        "digits": datasets.load_digits,
        "parity": datasets.load_digits,
    }
    X, y = load[name](return_X_y=True)
    if name == "parity":
        y = y % 2
    if name not in ("digits", "parity"):
        X = (X - X.mean(axis=0)) / X.std(axis=0)
    return Pile(name, X.astype(np.float32), y.astype(np.intp))


SHIPPED = ("iris", "wine", "cancer", "digits", "parity")


def pile_named(name: str) -> Pile:
    """A pile by its name: ``drawn-7``, ``small-7``, ``wine``."""
    sort, _, number = name.partition("-")
    draw = {"drawn": drawn, "small": small}.get(sort)
    return shipped(name) if draw is None else draw(int(number))
