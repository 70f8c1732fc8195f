"""Names of groups of photos: objects that the network sees on them, and less on other photos."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from samekind.encoders.frozen.classes import concepts, concepts_of_classes
from samekind.workspace.objects import Objects

MIN_SEEN = 0.08
"""Mean probability in the group that a name needs."""
MIN_LIFT = 2.0
"""How much more probable it must be in the group than elsewhere."""
USUAL = 0.002
"""Probability that is added elsewhere: an object may be missing there by chance."""
WIDTH_PENALTY = 0.05
"""How much less a name counts that stands for e times as many classes: narrow names say more."""


def telling_objects(
    objects: Objects, inside: NDArray[np.intp], outside: NDArray[np.intp]
) -> list[tuple[str, float]]:
    """Names of objects in a group, the most telling first, with their mean probability in it."""
    here, there = _seen(objects, inside), _seen(objects, outside)
    lift = here / (there + USUAL)
    fits = (here >= MIN_SEEN) & (lift >= MIN_LIFT) & spoken()
    telling = here * np.log(np.maximum(lift, 1.0)) / (1 + WIDTH_PENALTY * np.log(n_classes()))
    scores = np.where(fits, telling, 0.0)
    order = np.argsort(-scores, kind="stable")
    return [(concepts()[k], float(here[k])) for k in order[: int(fits.sum())]]


def _seen(objects: Objects, positions: NDArray[np.intp]) -> NDArray[np.float64]:
    """(concepts,) the mean probability of each concept on the photos of which anything is known."""
    known = positions[objects.known[positions]]
    if not len(known):
        return np.zeros(len(concepts()))
    return np.asarray(objects.concepts[known].sum(axis=0), dtype=np.float64).ravel() / len(known)


@cache
def n_classes() -> NDArray[np.float64]:
    """(concepts,) how many classes a word stands for."""
    return np.asarray(concepts_of_classes().sum(axis=0), dtype=np.float64).ravel()


@cache
def spoken() -> NDArray[np.bool_]:
    """(concepts,) False for a name beside a wider word for the same classes, which is safer."""
    matrix = concepts_of_classes().T.tocsr()
    of = [
        tuple(matrix.indices[a:b]) for a, b in zip(matrix.indptr, matrix.indptr[1:], strict=False)
    ]
    last = {classes: place for place, classes in enumerate(of)}
    return np.array([last[classes] == place for place, classes in enumerate(of)])
