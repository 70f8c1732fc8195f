"""One kind: groups that no answer has told apart, and that hold items of one kind, are one group.

Someone who answers "same" again and again wants one group. A learner that has heard nothing but
"same" knows nothing about borders, and would keep its first guesses for all items that it was not
told about.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samekind.clustering import Clustering
from samekind.constraints import Constraints
from samekind.session.members import mean_of

MIN_TIED = 5
"""Items that must be known to be one kind before groups are joined."""
MIN_ALL = 40
"""Items known to be one kind, and none of another, from which on all groups are joined.

Then any other kind has less than 7 % of the items, with a probability of 95 %. The first answer
that names one brings groups back.
"""
MAX_TIED = 1_000
"""Items of the kind that are compared with the groups."""


def joined_by_answers(clustering: Clustering, constraints: Constraints) -> Clustering:
    """Join the groups around the items of one kind, where no kinds have been told apart."""
    asked = np.setdiff1d(constraints.touched, constraints.picked)
    if len(asked) < MIN_TIED:
        return clustering
    components = constraints.components[asked]
    largest = asked[components == np.bincount(components).argmax()]
    if len(largest) < MIN_TIED:
        return clustering
    everything = len(largest) >= MIN_ALL and len(largest) == len(asked)
    joined = np.unique(clustering.labels) if everything else _around(clustering, largest)
    return _with_one(clustering, joined) if len(joined) > 1 else clustering


def _around(clustering: Clustering, kind: NDArray[np.intp]) -> NDArray[np.intp]:
    """The groups that hold items of a kind, or that these would be in by themselves.

    An item that is nearer to the middle of its kind than to any group would be in none of them.
    """
    labels = clustering.labels.copy()
    held = np.unique(labels[kind])
    labels[kind] = 0
    numbers = np.array([number for number in np.unique(labels) if number > 0], dtype=np.intp)
    if not len(numbers):
        return held
    others = [mean_of(clustering, np.flatnonzero(labels == k)) for k in numbers]
    centres = np.stack([*others, mean_of(clustering, kind)])
    some = kind[:: max(1, len(kind) // MAX_TIED)]
    rows = clustering.space[some].reshape(len(some), -1)
    apart = (centres**2).sum(axis=1) - 2 * rows @ centres.T  # (t, k)
    nearest = np.unique(apart.argmin(axis=1))
    return np.union1d(held, numbers[nearest[nearest < len(numbers)]])


def _with_one(clustering: Clustering, joined: NDArray[np.intp]) -> Clustering:
    """The clustering with some groups as one, which has the number of the largest."""
    sizes = clustering.sizes()
    first = max(joined.tolist(), key=lambda number: (sizes[number], -number))
    membership = clustering.membership
    if membership is not None:
        numbers = np.array(clustering.numbers)
        inside = np.isin(numbers, joined)
        summed: NDArray[Any] = membership.copy()
        summed[:, numbers == first] = membership[:, inside].sum(axis=1, keepdims=True)
        membership = summed[:, ~inside | (numbers == first)]
    labels = np.where(np.isin(clustering.labels, joined), first, clustering.labels)
    return replace(clustering, labels=labels, membership=membership)
