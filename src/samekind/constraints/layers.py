"""Layers: a dict and a tuple that grow by small copies which share what they have in common.

Every answer makes new constraints, and the old ones stay as they are. With fifty thousand answers
a copy of everything would take milliseconds.
"""

from __future__ import annotations

import math
from typing import Any, Generic, TypeVar

T = TypeVar("T")

_GONE: Any = object()
_MISSING: Any = object()
MIN_OWN = 64
"""Entries that a copy may have of its own, however little is shared."""


class LayeredDict(Generic[T]):
    """A dict by item whose copies share most entries: a shared part and changes to it.

    Changes are joined with the shared part once there are more than the square root of it, which
    is rare enough, and keeps copies small.

    >>> before = LayeredDict[str]()
    >>> before[3] = "a"
    >>> after = before.copy()
    >>> after[4] = after.pop(3)
    >>> before.joined(), after.joined()
    ({3: 'a'}, {4: 'a'})
    """

    __slots__ = ("_own", "_shared")

    def __init__(self) -> None:
        self._shared: dict[int, T] = {}  # never changed
        self._own: dict[int, T] = {}  # `_GONE` where the shared entry is no longer there

    def copy(self) -> LayeredDict[T]:
        """An independent copy; this one must not be changed from now on."""
        if _is_large(len(self._own), len(self._shared)):
            # In this order, so that readers in other threads always see all entries.
            self._shared = self.joined()
            self._own = {}
        other: LayeredDict[T] = LayeredDict()
        other._shared, other._own = self._shared, dict(self._own)
        return other

    def joined(self) -> dict[int, T]:
        """A plain dict; a changed entry keeps its place."""
        whole = dict(self._shared)
        for key, value in self._own.items():
            if value is _GONE:
                whole.pop(key, None)
            else:
                whole[key] = value
        return whole

    def get(self, key: int, default: Any = None) -> Any:
        """The entry at `key`, or the default."""
        found = self._own.get(key, _MISSING)
        if found is _MISSING:
            return self._shared.get(key, default)
        return default if found is _GONE else found

    def pop(self, key: int, default: Any = _MISSING) -> Any:
        """Remove and return the entry at `key`."""
        found = self.get(key, default)
        if found is _MISSING:
            raise KeyError(key)
        if key in self._shared:
            self._own[key] = _GONE
        else:
            self._own.pop(key, None)
        return found

    def __getitem__(self, key: int) -> T:
        found: T = self.get(key, _MISSING)
        if found is _MISSING:
            raise KeyError(key)
        return found

    def __setitem__(self, key: int, value: T) -> None:
        self._own[key] = value

    def __contains__(self, key: int) -> bool:
        return self.get(key, _MISSING) is not _MISSING


class LayeredTuple(Generic[T]):
    """A tuple that grows at its end; longer ones share what they have in common.

    >>> (LayeredTuple[int]() + (1, 2) + (3,)).joined()
    (1, 2, 3)
    """

    __slots__ = ("_own", "_shared")

    def __init__(self, shared: tuple[T, ...] = (), own: tuple[T, ...] = ()) -> None:
        if _is_large(len(own), len(shared)):
            shared, own = shared + own, ()
        self._shared, self._own = shared, own

    def joined(self) -> tuple[T, ...]:
        """A plain tuple."""
        return self._shared + self._own

    def __add__(self, more: tuple[T, ...]) -> LayeredTuple[T]:
        return LayeredTuple(self._shared, self._own + more)

    def __getitem__(self, place: int) -> T:
        own = place - len(self._shared)
        return self._own[own] if own >= 0 else self._shared[place]

    def __len__(self) -> int:
        return len(self._shared) + len(self._own)


def _is_large(own: int, shared: int) -> bool:
    return own > max(MIN_OWN, math.isqrt(shared))
