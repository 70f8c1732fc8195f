"""Places of groups: numbers from 0 that give a group its key, its colour and its position."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import count

PLACES_WITH_KEYS = 9
"""Places that can be chosen with one key."""


def free_places(taken: Iterable[int], used: Iterable[int] = ()) -> Iterator[int]:
    """Places for new groups: first those with a key that no group ever had.

    >>> free = free_places({0, 2}, used={1})
    >>> [next(free) for _ in range(8)]
    [3, 4, 5, 6, 7, 8, 1, 9]
    """
    held = set(taken)
    fresh = [place for place in range(PLACES_WITH_KEYS) if place not in held.union(used)]
    yield from fresh
    yield from (place for place in count() if place not in held and place not in fresh)


def following_places(
    before: Mapping[int, int],
    numbers: Iterable[int],
    used: Iterable[int] = (),
    wanted: Mapping[int, int] | None = None,
) -> dict[int, int]:
    """The places of groups: as before, or as wanted if that is free, or else new ones.

    Parameters
    ----------
    before, wanted : places by group number. used : all places that any group ever had.
    numbers : the groups.

    >>> following_places({1: 0, 2: 1}, (1, 5, 7), used=(0, 1), wanted={7: 4})
    {1: 0, 7: 4, 5: 2}
    """
    listed = sorted(numbers)
    found = {number: before[number] for number in listed if number in before}
    for number in listed:
        place = (wanted or {}).get(number)
        if number not in found and place is not None and place not in found.values():
            found[number] = place
    free = free_places(found.values(), used)
    return found | {number: next(free) for number in listed if number not in found}
