"""person_named: any simulated or recorded person by its name, for command lines and suites."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samekind.errors import InputError, UnknownName
from samekind.protocols import Oracle
from samekind.questions import Answer
from samekind.simulation.people.boundary import Boundary
from samekind.simulation.people.changing import Drifting, Two, changed_kinds, check_lengths
from samekind.simulation.people.erring import OVERLOOKED_SHARE, Noisy, Overlooking, Unsure
from samekind.simulation.people.knowing import Matched, Truth
from samekind.simulation.people.recorded import Recorded

Ints = NDArray[np.intp]

PERSONS: dict[str, str] = {
    "shown": "Knows the kinds, and looks only at the items shown.",
    "overlooking": "Like 'shown', but overlooks some of the items to name in grids.",
    "matched": "Follows the published IDC protocol, which knows all labels; for comparison only.",
    "boundary": "Mistakes items between two kinds; the noise is the mean rate.",
    "drifting": "Changes their mind gradually, from the orientation to a second one.",
    "two": "Two people with different orientations, who take turns or share the questions.",
    "replay": "Answers what follows from a recorded session, and nothing else.",
}
"""The kinds of people, each with a description."""

PARAMETERS: dict[str, tuple[str, ...]] = {
    "shown": ("overlook",),
    "overlooking": ("overlook",),
    "matched": (),
    "boundary": ("neighbours", "most", "overlook"),
    "drifting": ("start", "over", "change", "overlook"),
    "two": ("share", "change", "overlook"),
    "replay": ("otherwise",),
}
"""Parameters of each besides `noise` and `unsure`."""


def person_named(
    kind: str,
    truth: Any,
    *,
    seed: int = 0,
    X: Any = None,
    second: Any = None,
    answers: Iterable[Answer] | None = None,
    clusters: Any = None,
    noise: float = 0.0,
    unsure: float = 0.0,
    **parameters: Any,
) -> Oracle:
    """The person of that name. The same seed gives the same answers to the same questions.

    Parameters
    ----------
    kind : one of :data:`PERSONS`.
    truth : (n,) the kind of each item; negative: not known.
    X : (n, d) vectors, for "boundary" and for a `change`.
    second : (n,) the other orientation of "drifting" and "two". Alternatively, `change` makes one
        of `truth`: "merge" or "split".
    answers : recorded answers, for "replay". clusters : (n,) the first groups, for "matched".
    noise : share of wrong answers; for "boundary" the mean rate over the items; the people of
        "two" err independently. unsure : share of "unsure" answers.
    parameters : see :data:`PARAMETERS`. `overlook` is the share of the items to name in a grid
        that the person overlooks: :data:`OVERLOOKED_SHARE` for "overlooking", otherwise 0.

    >>> from samekind.questions import SamePair
    >>> person_named("shown", [0, 0, 1], noise=0.0).answer(SamePair(0, 1))
    'same'
    """
    if kind not in PERSONS:
        raise UnknownName("person", kind, PERSONS)
    for name in parameters:
        if name not in PARAMETERS[kind]:
            raise UnknownName(f"parameter of the person {kind!r}:", name, _allowed(kind))
    labels = np.asarray(truth, dtype=np.intp)
    missed = parameters.pop("overlook", OVERLOOKED_SHARE if kind == "overlooking" else 0.0)

    def wrapped(person: Oracle, at: int = seed, rate: float = noise) -> Oracle:
        person = Noisy(person, rate, at) if rate else person
        person = Overlooking(person, missed, at) if missed else person
        return Unsure(person, unsure, at) if unsure else person

    if kind in ("shown", "overlooking"):
        return wrapped(Truth(labels))
    if kind == "matched":
        first = _needed(clusters, kind, "clusters", "the first groups")
        return wrapped(Matched(labels, np.asarray(first)))
    if kind == "boundary":
        rows = _needed(X, kind, "X", "vectors")
        return wrapped(Boundary(labels, rows, noise, seed, **parameters), rate=0.0)
    if kind == "replay":
        recorded = _needed(answers, kind, "answers", "a recorded session")
        return wrapped(Recorded(len(labels), recorded, **parameters))
    other = _second(kind, labels, second, parameters.pop("change", None), X)
    if kind == "drifting":
        return wrapped(Drifting(labels, other, seed=seed, **parameters))
    return _two(labels, other, wrapped, seed, parameters)


def judged_labels(person: Oracle) -> Ints | None:
    """The kinds that this person has in mind at the end, to score against.

    Of two people those of the first; None for a recorded person.
    """
    for inside in ("oracle", "first"):
        if hasattr(person, inside):
            return judged_labels(getattr(person, inside))
    return getattr(person, "labels", None)


def other_labels(person: Oracle) -> Ints | None:
    """The kinds of the other orientation: those of the second person, or before a drift."""
    if hasattr(person, "oracle"):
        return other_labels(person.oracle)
    if isinstance(person, Two):
        return judged_labels(person.second)
    return person.before if isinstance(person, Drifting) else None


def _two(
    labels: Ints,
    other: Ints,
    wrapped: Callable[..., Oracle],
    seed: int,
    parameters: dict[str, Any],
) -> Oracle:
    """Two people who err independently."""
    return Two(
        wrapped(Truth(labels)), wrapped(Truth(other), seed + 1_000_003), seed=seed, **parameters
    )


def _second(kind: str, labels: Ints, second: Any, change: str | None, X: Any) -> Ints:
    """The second orientation, given or made of the first."""
    if second is None:
        if change is None:
            raise InputError(
                f"The person {kind!r} needs a second orientation. Give its labels as 'second', or "
                "change='merge' or 'split'."
            )
        return changed_kinds(labels, change, _needed(X, kind, "X", "vectors"))
    if change is not None:
        raise InputError("Give a second orientation or a change of the first, not both.")
    other = np.asarray(second, dtype=np.intp)
    check_lengths(labels, other)
    return other


def _needed(value: Any, kind: str, name: str, what: str) -> Any:
    if value is None:
        raise InputError(f"The person {kind!r} needs {what}, got none. Give {name!r}.")
    return value


def _allowed(kind: str) -> tuple[str, ...]:
    return (*PARAMETERS[kind], "noise", "unsure")
