"""Refits: from vectors and answers to a snapshot, and from a ledger back to the same one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samekind.clustering import Clustering, Labels, Vectors
from samekind.constraints import Constraints
from samekind.items import Collection
from samekind.ledger import Refitted

MARKS = 8
"""Items per group that a ledger keeps to recognise the group after reopening."""


def fitted(clusterer: Any, X: Vectors, constraints: Constraints, seed: int) -> Any:
    """A fresh copy of the clusterer, fitted; chance comes from the session's seed alone."""
    from sklearn.base import clone

    model = clone(clusterer)
    if "random_state" in model.get_params() and model.get_params()["random_state"] is None:
        model.set_params(random_state=seed)
    return model.fit(X, constraints=constraints)


def groups_from(model: Any, X: Vectors) -> tuple[Labels, Vectors, NDArray[np.floating[Any]] | None]:
    """Labels, the space in which they were found, and soft membership where there is one."""
    return model.labels_, getattr(model, "space_", X), getattr(model, "membership_", None)


def marked(
    clustering: Clustering, constraints: Constraints, collection: Collection
) -> dict[str, list[str]]:
    """A few item ids per group: those that the person placed first, then evenly spread ones."""
    answered = np.zeros(len(clustering.labels), dtype=bool)
    answered[constraints.touched] = True
    marks = {}
    for number in clustering.numbers:
        members = clustering.members(number)
        placed = members[answered[members]][: MARKS // 2]
        spread = members[np.linspace(0, len(members) - 1, MARKS - len(placed)).astype(int)]
        chosen = dict.fromkeys((*placed.tolist(), *spread.tolist()))
        marks[str(number)] = [collection.id(i) for i in chosen]
    return marks


def recognised(
    labels: Labels,
    space: Vectors,
    membership: NDArray[np.floating[Any]] | None,
    refit: Refitted,
    position: Callable[[str], int],
    last_number: int,
) -> Clustering:
    """The snapshot with the group numbers that the ledger remembers by the marks of its groups."""
    numbers = np.zeros(len(labels), dtype=np.intp)
    weight = np.zeros(len(labels))
    for number, ids in refit.marks.items():
        for place in (position(id) for id in ids):
            if place < len(labels):
                numbers[place], weight[place] = number, 1.0
    unmarked = Clustering(numbers, space, snapshot=refit.snapshot - 1, last_number=last_number)
    return replace(unmarked.followed_by(labels, space, membership, weight=weight), lineage={})
