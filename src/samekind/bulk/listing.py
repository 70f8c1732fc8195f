"""List a source: leave out what is embedded already, and draw a random sample on the way."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from samekind.bulk.readers import Entry
from samekind.bulk.vector_store import key_of

Keys = NDArray[np.uint64]
AT_A_TIME = 4096


class Sampler:
    """A random sample of runs of entries, drawn while they pass by (reservoir sampling).

    Parameters
    ----------
    size : entries of the sample; fewer if there are fewer.
    run : entries in a row that are drawn together, as reading one of them reads all.

    >>> sampler = Sampler(3, seed=0)
    >>> for i in range(3):
    ...     sampler.see(Entry(str(i), "", ""))
    >>> [entry.id for entry in sampler.sample()]
    ['0', '1', '2']
    """

    def __init__(self, size: int, *, run: int = 1, seed: int = 0) -> None:
        self.size = size
        self.run = max(1, min(run, size // 64))
        self._places = max(1, size // self.run)
        self._rng = np.random.default_rng(seed)
        self._kept: dict[int, list[Entry]] = {}
        self._order: list[int] = []
        self._passing: list[Entry] = []
        self._n_runs = 0

    def see(self, entry: Entry) -> None:
        """Take in the next entry."""
        self._passing.append(entry)
        if len(self._passing) == self.run:
            self._close_run()

    def sample(self) -> list[Entry]:
        """Return the sample in the order of the listing; call it once, at the end."""
        if self._passing:
            self._close_run()
        return [entry for number in sorted(self._kept) for entry in self._kept[number]]

    def _close_run(self) -> None:
        number, self._n_runs = self._n_runs, self._n_runs + 1
        run, self._passing = self._passing, []
        if len(self._order) < self._places:
            self._order.append(number)
        else:
            place = int(self._rng.integers(self._n_runs))
            if place >= self._places:
                return
            del self._kept[self._order[place]]
            self._order[place] = number
        self._kept[number] = run


@dataclass
class Missing:
    """The entries of a listing that are not among known keys.

    Parameters
    ----------
    stored : sorted keys of what is embedded. broken : sorted keys of what could not be read.
    sampler : sees every entry that is missing; None: no sample is drawn.
    """

    stored: Keys
    broken: Keys
    sampler: Sampler | None = None
    n_listed: int = 0
    n_known: int = field(default=0, init=False)

    def among(self, entries: Iterator[Entry]) -> Iterator[Entry]:
        """Iterate over the missing entries."""
        waiting: list[Entry] = []
        for entry in entries:
            waiting.append(entry)
            if len(waiting) == AT_A_TIME:
                yield from self._missing(waiting)
                waiting = []
        yield from self._missing(waiting)

    @property
    def n_outdated(self) -> int:
        """Vectors of items that have changed or are gone; known after the listing."""
        return len(self.stored) - self.n_known

    def _missing(self, entries: list[Entry]) -> Iterator[Entry]:
        self.n_listed += len(entries)
        keys = np.array([key_of(entry.id, entry.stamp) for entry in entries], dtype=np.uint64)
        known = contains(self.stored, keys)
        self.n_known += int(known.sum())
        for entry, skip in zip(entries, known | contains(self.broken, keys), strict=True):
            if not skip:
                if self.sampler is not None:
                    self.sampler.see(entry)
                yield entry


def contains(sorted_keys: Keys, keys: Keys) -> NDArray[np.bool_]:
    """Whether each key is among the sorted ones.

    >>> contains(np.array([2, 5], dtype=np.uint64), np.array([5, 3, 9], dtype=np.uint64)).tolist()
    [True, False, False]
    """
    if not len(sorted_keys):
        return np.zeros(len(keys), dtype=bool)
    places = np.minimum(np.searchsorted(sorted_keys, keys), len(sorted_keys) - 1)
    return np.asarray(sorted_keys[places] == keys)
