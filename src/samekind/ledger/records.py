"""Records of a ledger: for whom a question is reserved, and what a refit made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Reservation:
    """An open question that was shown to a person at a time (UTC seconds).

    Parameters
    ----------
    by : the person; None: nobody in particular, because people are not told apart.
    """

    by: str | None
    at: float


@dataclass(frozen=True, slots=True)
class Refitted:
    """A refit: the snapshot that it made, and the last event that it learnt from.

    `marks` lists a few item ids per group number, by which the groups are recognised again. `last`
    is the highest group number used so far. `answers` counts those that it learnt from. `moved` is
    the share of items that changed their group; None: not known, or the groups began anew.
    `places` holds the place of each group, by number; empty for guesses."""

    snapshot: int
    after: int
    last: int
    marks: Mapping[int, Sequence[str]]
    answers: int = 0
    moved: float | None = None
    places: Mapping[int, int] = field(default_factory=dict)
