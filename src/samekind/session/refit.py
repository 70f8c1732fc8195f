"""Refits: from vectors and answers to a snapshot, and from a ledger back to the same one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from samekind.clustering import Clustering, Labels, Vectors
from samekind.constraints import Constraints
from samekind.errors import VectorError
from samekind.items import Collection
from samekind.ledger.fold import Refitted
from samekind.questions import Answer
from samekind.session.quality import FEWEST, Quality, checks_of, without

LOOKED_AT = 12_000
"""Items from which the quality is estimated; more would take longer and say the same."""
MARKS = 8
"""Items per group that a ledger keeps to recognise the group after reopening."""


def fitted(
    clusterer: Any, X: NDArray[Any], constraints: Constraints, seed: int, previous: Any = None
) -> Any:
    """The clusterer, fitted on the answers; chance comes from the session's seed alone.

    A fresh copy each time, so that the result depends on nothing but vectors, answers and seed;
    only a clusterer with ``warm_start=True`` goes on from the model before.
    """
    from sklearn.base import clone

    if previous is not None and previous.get_params().get("warm_start"):
        return previous.fit(X, constraints=constraints)
    model = clone(clusterer)
    if "random_state" in model.get_params() and model.get_params()["random_state"] is None:
        model.set_params(random_state=seed)
    return model.fit(X, constraints=constraints)


def cross_checked(
    clusterer: Any, X: NDArray[Any], constraints: Constraints, seed: int
) -> Quality | None:
    """How well groups fit that were learnt without the random checks, by these checks.

    Learnt from a random part of a large pile, with all items that answers speak of: where a few
    items belong does not depend on how many others there are. None while there are too few checks,
    for clusterers that train for long, and when items that were answered about are gone.
    """
    checks = checks_of(constraints.answers)
    long = clusterer.get_params().get("warm_start")
    if len(checks) < FEWEST or long or constraints.n_gone:
        return None
    rows = _some_rows(constraints, checks, seed)
    known = without(constraints, [answer.question.items()[0] for answer in checks], rows)
    some = X if len(rows) == len(X) else X[rows]
    labels = np.zeros(len(X), dtype=np.intp)
    labels[rows] = fitted(clusterer, some, known, seed).labels_
    return Quality.of(checks, labels)


def _some_rows(constraints: Constraints, checks: Sequence[Answer], seed: int) -> NDArray[np.intp]:
    """All items, or a random sample with those that answers and checks speak of; ascending."""
    n = constraints.n_items
    if n <= LOOKED_AT:
        return np.arange(n)
    drawn = np.random.default_rng((seed, n)).choice(n, LOOKED_AT, replace=False)
    shown = [item for answer in checks for item in answer.question.items()]
    return np.union1d(np.union1d(drawn, constraints.touched), np.array(shown, dtype=np.intp))


class Estimate:
    """The quality by the latest random checks; renewed only when their answers have changed."""

    def __init__(self) -> None:
        self.quality: Quality | None = None
        self._told: tuple[tuple[int, str], ...] = ()
        self._busy = Lock()

    def renew(self, clusterer: Any, X: NDArray[Any], constraints: Constraints, seed: int) -> None:
        """Estimate anew, unless nothing has changed or another thread is at it already."""
        if not self._busy.acquire(blocking=False):
            return
        try:
            told = tuple((a.number, a.choice) for a in checks_of(constraints.answers))
            if told != self._told:
                self.quality = cross_checked(clusterer, X, constraints, seed)
                self._told = told
        finally:
            self._busy.release()


class Groups(NamedTuple):
    """What a fitted clusterer says: raw labels, the space they were found in, soft membership."""

    labels: Labels
    space: Vectors
    membership: NDArray[np.floating[Any]] | None
    views: Vectors | None
    draws: Any = None

    @classmethod
    def of(cls, model: Any, X: NDArray[Any]) -> Groups:
        """Read them off a model; without a space of its own the vectors are the space."""
        space = getattr(model, "space_", X)
        views = getattr(model, "views_", None)
        # The snapshot keeps the membership, in the order of its numbers; the model need not.
        membership = model.__dict__.pop("membership_", None)
        return cls(model.labels_, space, membership, views, getattr(model, "draws_", None))


class Ready(NamedTuple):
    """A snapshot with all that takes time to derive from it, ready to be put in place."""

    clustering: Clustering
    number_of: dict[int, int]
    """The group number of each raw label."""
    marks: dict[str, list[str]]

    @classmethod
    def of(
        cls,
        clustering: Clustering,
        groups: Groups,
        constraints: Constraints,
        collection: Collection,
    ) -> Ready:
        """From a snapshot, the groups that it was made of, and the answers known to them."""
        raw, first = np.unique(groups.labels, return_index=True)
        numbers = clustering.labels[first]
        number_of = dict(zip(raw.tolist(), numbers.tolist(), strict=True))
        return cls(clustering, number_of, marked(clustering, constraints, collection))


def with_names(clustering: Clustering, names: Mapping[int, str]) -> Clustering:
    """The snapshot with these names, by group number; an empty one takes a name away."""
    for number, name in names.items():
        if number in clustering.numbers and clustering.names.get(number, "") != name:
            clustering = clustering.named(number, name)
    return clustering


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
    groups: Groups,
    refit: Refitted,
    position: Callable[[str], int],
) -> Clustering:
    """The snapshot with the group numbers that the ledger remembers by the marks of its groups."""
    n = len(groups.labels)
    numbers = np.zeros(n, dtype=np.intp)
    weight = np.zeros(n)
    for number, ids in refit.marks.items():
        for place in (position(id) for id in ids):
            if place < n:
                numbers[place], weight[place] = number, 1.0
    before = refit.snapshot - 1
    unmarked = Clustering(numbers, groups.space, snapshot=before, last_number=refit.last)
    return replace(unmarked.followed_by(*groups, weight=weight), lineage={})


def answered_weight(constraints: Constraints) -> NDArray[np.float64]:
    """Items that the person placed decide together as much as all others about group numbers.

    Those picked by hand count like any other: what is split off a group does not take its name.
    """
    weight = np.ones(constraints.n_items)
    touched = np.setdiff1d(constraints.touched, constraints.picked)
    if len(touched):
        weight[touched] += constraints.n_items / len(touched)
    return weight


def checked_vectors(X: Any, n: int) -> NDArray[Any]:
    """The vectors of `n` items, float32 and finite; pictures may stay uint8, of any shape."""
    vectors = np.asarray(X)
    if vectors.dtype != np.uint8:
        vectors = np.asarray(vectors, dtype=np.float32)
    if vectors.ndim < 2 or 0 in vectors.shape[1:] or len(vectors) != n:
        raise VectorError(f"One vector per item is needed: {n} items, array of {vectors.shape}.")
    if vectors.dtype == np.uint8:
        return vectors
    for start in range(0, n, 65536):  # in pieces: no second copy of a million vectors
        part = vectors[start : start + 65536].reshape(min(65536, n - start), -1)
        bad = ~np.isfinite(part).all(axis=1)
        if bad.any():
            raise VectorError(
                f"The vector of item {start + int(np.flatnonzero(bad)[0])} holds NaN or infinity. "
                "Remove the item or encode it again."
            )
    return vectors
