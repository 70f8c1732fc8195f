"""Pace: how long an item takes, by the latest steps of a job, to tell how much time is left."""

from __future__ import annotations

from collections import deque

MAX_STEPS = 8
"""Latest steps that count."""
MIN_STEPS = 2
"""Steps before anything is said."""
MIN_SECONDS = 0.5
"""Shorter steps are taken together."""


class Pace:
    """The median time per item over the latest steps: a pause of the machine hardly changes it.

    >>> pace = Pace()
    >>> for now, done in ((0, 0), (9, 16), (11, 32), (13, 48), (31, 64), (33, 80)):
    ...     pace.step(now, done)
    >>> pace.seconds_per_item  # neither the 9 s to load a network nor the pause of 18 s count
    0.125
    """

    def __init__(self) -> None:
        self._steps: deque[tuple[float, int]] = deque(maxlen=MAX_STEPS)
        self._marks = 0
        self._last = (0.0, 0)

    def restart(self) -> None:
        """Begin another pass over items, whose first step loads a network again."""
        self._marks = 0

    def step(self, now: float, done: int) -> None:
        """Note that so many items are done; what is repeated does not count."""
        at, before = self._last
        if self._marks and (done <= before or (self._marks >= 2 and now - at < MIN_SECONDS)):
            return
        if self._marks >= 2:
            self._steps.append(((now - at) / (done - before), done - before))
        self._marks += 1
        self._last = (now, done)

    @property
    def seconds_per_item(self) -> float | None:
        """Half of the latest items took at most this long; None: too little is known."""
        if len(self._steps) < MIN_STEPS:
            return None
        half, seen = sum(n for _, n in self._steps) / 2, 0
        for seconds, n in sorted(self._steps):
            seen += n
            if seen >= half:
                return seconds
        return None
