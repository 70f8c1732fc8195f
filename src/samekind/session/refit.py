"""Make a snapshot from vectors and answers, and recognise its groups when a ledger is reopened."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from samekind.clustering import Clustering, Labels, Vectors
from samekind.constraints import Constraints
from samekind.errors import VectorError
from samekind.items import Collection as Items
from samekind.ledger.records import Refitted
from samekind.session.one_kind import joined_by_answers

if TYPE_CHECKING:
    from samekind.session.places import Places

MARKS_PER_GROUP = 8
"""Items per group that a ledger keeps to recognise the group after reopening."""
CHUNK = 65_536
"""Vectors that are checked at a time, so that a million of them are never copied as a whole."""


def fit_clusterer(
    clusterer: Any, X: NDArray[Any], constraints: Constraints, seed: int, previous: Any = None
) -> Any:
    """Fit a clusterer on the answers; all randomness comes from the session's seed.

    A fresh copy each time, so that the result depends on vectors, answers and seed alone. Only a
    clusterer with ``warm_start=True`` continues from the previous model.
    """
    from sklearn.base import clone

    if previous is not None and previous.get_params().get("warm_start"):
        return previous.fit(X, constraints=constraints)
    model = clone(clusterer)
    if "random_state" in model.get_params() and model.get_params()["random_state"] is None:
        model.set_params(random_state=seed)
    return model.fit(X, constraints=constraints)


class FittedGroups(NamedTuple):
    """The result of a fitted clusterer: raw labels, their space, soft membership."""

    labels: Labels
    space: Vectors
    membership: NDArray[np.floating[Any]] | None
    views: Vectors | None
    draws: Any = None

    @classmethod
    def of(cls, model: Any, X: NDArray[Any]) -> FittedGroups:
        """Read the result from a model; one without a space of its own uses the vectors."""
        space = getattr(model, "space_", X)
        views = getattr(model, "views_", None)
        # The snapshot keeps the membership, in the order of its numbers; the model need not.
        membership = model.__dict__.pop("membership_", None)
        return cls(model.labels_, space, membership, views, getattr(model, "draws_", None))

    def joined(self, constraints: Constraints) -> FittedGroups:
        """The groups with those as one that hold items of one kind, while no kinds are told apart.

        They are joined before they get numbers. So what numbers are inherited by, earlier groups
        or the marks in a ledger, always meets the groups that the person sees.
        """
        if constraints.kinds:
            return self
        found = joined_by_answers(Clustering.first(*self), constraints)
        return self._replace(labels=found.labels, space=found.space, membership=found.membership)


class Snapshot(NamedTuple):
    """A clustering with everything that is slow to derive from it, ready to be installed."""

    clustering: Clustering
    number_of: dict[int, int]
    """The group number of each raw label."""
    marks: dict[str, list[str]]
    learnt_from: Constraints

    @classmethod
    def of(
        cls,
        clustering: Clustering,
        groups: FittedGroups,
        constraints: Constraints,
        collection: Items,
    ) -> Snapshot:
        """Derive it from a clustering, the fitted groups, and the answers they were fitted on."""
        raw, first = np.unique(groups.labels, return_index=True)
        numbers = clustering.labels[first]
        number_of = dict(zip(raw.tolist(), numbers.tolist(), strict=True))
        marks = group_marks(clustering, constraints, collection)
        return cls(clustering, number_of, marks, constraints)

    def event_data(self, after: int, places: Mapping[int, int]) -> dict[str, Any]:
        """The data of a ``refitted`` event that learnt from everything up to event `after`."""
        now = self.clustering
        return {
            "snapshot": now.snapshot,
            "after": after,
            "last": now.last_number,
            "marks": self.marks,
            "moved": share_moved(now),
            "places": {str(number): place for number, place in places.items()},
        }

    def after(self, previous: Clustering) -> Snapshot:
        """The same with the lineage of its groups from those of `previous`."""
        pairs = np.stack([self.clustering.labels, previous.labels])
        lineage: dict[int, dict[int, int]] = {}
        found, counts = np.unique(pairs, axis=1, return_counts=True)
        for (new, old), count in zip(found.T, counts, strict=True):
            lineage.setdefault(int(new), {})[int(old)] = int(count)
        return self._replace(clustering=replace(self.clustering, lineage=lineage))


def following_groups(
    previous: Clustering,
    groups: FittedGroups,
    constraints: Constraints,
    keep_numbers: object,
    places: Places,
) -> Clustering:
    """The groups of the next snapshot, with the numbers of the previous ones if these count.

    A new group is numbered by its place where that number is free: "Group 3" has the key 3.
    """
    groups = groups.joined(constraints)
    if keep_numbers:
        found = previous.followed_by(*groups, weight=answered_weight(constraints))
    else:
        found = Clustering.first(*groups, snapshot=previous.snapshot + 1)
    wanted = places.following(found, constraints, keep=bool(keep_numbers))
    kept = previous.numbers if keep_numbers else ()
    return renumbered(found, wanted, kept, previous.last_number if keep_numbers else 0)


def renumbered(
    clustering: Clustering, places: Mapping[int, int], kept: Collection[int], last: int
) -> Clustering:
    """The clustering with new groups numbered by their places.

    Parameters
    ----------
    kept : numbers of groups that are not new. last : the highest number used before.
    """
    new = [number for number in clustering.numbers if number not in kept]
    wanted = {number: places[number] + 1 for number in new if number in places}
    if not wanted or any(number <= last for number in wanted.values()) or len(wanted) < len(new):
        return clustering
    number_of = {number: wanted.get(number, number) for number in clustering.numbers}
    old = np.array(clustering.numbers)
    mapped = np.array([number_of[int(number)] for number in old])
    membership = clustering.membership
    return replace(
        clustering,
        labels=mapped[np.searchsorted(old, clustering.labels)],
        membership=None if membership is None else membership[:, np.argsort(mapped)],
        names={number_of[n]: name for n, name in clustering.names.items()},
        last_number=max(last, int(mapped.max())),
        lineage={number_of.get(n, n): before for n, before in clustering.lineage.items()},
    )


def with_names(clustering: Clustering, names: Mapping[int, str]) -> Clustering:
    """The clustering with these names, by group number, and no others."""
    for number in clustering.numbers:
        if clustering.names.get(number, "") != names.get(number, ""):
            clustering = clustering.named(number, names.get(number, ""))
    return clustering


def group_marks(
    clustering: Clustering, constraints: Constraints, collection: Items
) -> dict[str, list[str]]:
    """A few item ids per group: first items that the person placed, then evenly spread ones."""
    answered = np.zeros(len(clustering.labels), dtype=bool)
    answered[constraints.touched] = True
    marks = {}
    for number in clustering.numbers:
        members = clustering.members(number)
        placed = members[answered[members]][: MARKS_PER_GROUP // 2]
        n_spread = MARKS_PER_GROUP - len(placed)
        spread = members[np.linspace(0, len(members) - 1, n_spread).astype(int)]
        chosen = dict.fromkeys((*placed.tolist(), *spread.tolist()))
        marks[str(number)] = [collection.id(i) for i in chosen]
    return marks


def recognise_groups(
    groups: FittedGroups,
    refit: Refitted,
    position: Callable[[str], int],
    constraints: Constraints,
) -> Clustering:
    """Give groups the numbers that the ledger remembers by their marks."""
    n = len(groups.labels)
    numbers = np.zeros(n, dtype=np.intp)
    weight = np.zeros(n)
    for number, ids in refit.marks.items():
        for place in (position(id) for id in ids):
            if place < n:
                numbers[place], weight[place] = number, 1.0
    before = refit.snapshot - 1
    unmarked = Clustering(numbers, groups.space, snapshot=before, last_number=refit.last)
    joined = groups.joined(constraints)
    return replace(unmarked.followed_by(*joined, weight=weight), lineage={})


def share_moved(clustering: Clustering) -> float | None:
    """Share of items that the last refit moved to another group; None before the first refit."""
    if not clustering.lineage:
        return None
    stayed = sum(sources.get(number, 0) for number, sources in clustering.lineage.items())
    return 1 - stayed / max(len(clustering.labels), 1)


def answered_weight(constraints: Constraints) -> NDArray[np.float64]:
    """Weights by which a new group inherits a number: placed items count as much as all others.

    Items picked by hand weigh like any other, so that items split off a group do not take its name.
    """
    weight = np.ones(constraints.n_items)
    touched = np.setdiff1d(constraints.touched, constraints.picked)
    if len(touched):
        weight[touched] += constraints.n_items / len(touched)
    return weight


def check_vectors(X: Any, n: int) -> NDArray[Any]:
    """Check the vectors of `n` items: float32 and finite; pictures may stay uint8, of any shape."""
    try:
        masked = np.ma.is_masked(X)  # what is under the mask is not a number that was given
        vectors = np.ma.filled(X.astype(np.float32), np.nan) if masked else np.asarray(X)
        if vectors.dtype != np.uint8:
            vectors = np.asarray(vectors, dtype=np.float32)
    except (TypeError, ValueError):
        raise VectorError(
            f"Expected vectors of numbers, got {X!r:.100}. Give an array of {n} rows."
        ) from None
    if vectors.ndim < 2 or 0 in vectors.shape[1:] or len(vectors) != n:
        raise VectorError(
            f"Expected one vector for each of {n} items, got an array of shape {vectors.shape}. "
            "Encode the same items again."
        )
    if vectors.dtype == np.uint8:
        return vectors
    for start in range(0, n, CHUNK):
        part = vectors[start : start + CHUNK].reshape(min(CHUNK, n - start), -1)
        bad = ~np.isfinite(part).all(axis=1)
        if bad.any():
            raise VectorError(
                f"Expected finite vectors, got NaN or infinity for item "
                f"{start + int(np.flatnonzero(bad)[0])}. Remove the item or encode it again."
            )
    return vectors


def check_like(X: NDArray[Any], known: NDArray[Any], name: str, where: str = "") -> None:
    """Check that vectors of further items are as wide as those of the items of a session.

    Parameters
    ----------
    name : of the collection. where : a few words on where the further items are.
    """
    if X.shape[1:] != known.shape[1:]:
        want, given = ("x".join(map(str, each.shape[1:])) for each in (known, X))
        raise VectorError(
            f"Expected vectors with {want} numbers, as in {name!r}, got {given}{where}. Give "
            "vectors made in the same way."
        )
