"""Quality curves: how good the groups were after 5, 10, ... answers, recomputed in the background.

The past is not stored but computed: the first k answers in force, the vectors and the seed give
the groups as they were. So answers that were changed or taken back leave no trace, and a curve is
the same after a restart. Each point costs one fit, which is cached.
"""

from __future__ import annotations

import hashlib
import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from samekind.constraints import Constraints
from samekind.evaluation import acc
from samekind.session.quality import Statement, statement
from samekind.session.refit import fit_clusterer

if TYPE_CHECKING:
    from samekind.questions import Answer
    from samekind.session import Session

log = logging.getLogger("samekind")

MAX_POINTS = 12
"""Points of a curve after its first one."""
MAX_IDLE = 15.0
"""Seconds without a request after which no further point is computed."""
TOO_SLOW = "This method takes long to train, so earlier groups are not recomputed."
GONE = "Items of earlier questions are missing, so earlier groups cannot be recomputed."
NO_ANSWERS = "The curve starts with your first answers."

Key = tuple[str, str]
"""The orientation, and a digest of the method and the answers."""


@dataclass(frozen=True)
class CurvePoint:
    """The groups that the first `answers` answers give.

    Parameters
    ----------
    settled : share of the items that are already in the group in which they are now.
    quality : what could be stated then.
    """

    answers: int
    settled: float
    quality: Statement


@dataclass(frozen=True)
class Curve:
    """The points computed so far, how many are still missing, or why there is no curve."""

    points: tuple[CurvePoint, ...] = ()
    pending: int = 0
    message: str = ""


def milestones(n: int, most: int = MAX_POINTS) -> list[int]:
    """Return the numbers of answers at which a curve has points: round ones, and the last.

    >>> milestones(23), milestones(0)
    ([0, 5, 10, 15, 20, 23], [0])
    """
    sizes = (base * 10**power for power in range(12) for base in (5, 10, 20))
    step = next(size for size in sizes if n / size <= most)
    return sorted({*range(0, n + 1, step), n})


class Curves:
    """The curves of all orientations of a workspace, computed in one thread.

    Parameters
    ----------
    busy : whether a refit of an orientation is running; refits go first.
    """

    def __init__(self, busy: Callable[[str], bool]) -> None:
        self._busy = busy
        self._lock = threading.Lock()
        self._labels: dict[Key, NDArray[np.intp] | None] = {}
        self._thread: threading.Thread | None = None
        self._requested = 0.0

    def of(self, session: Session) -> Curve:
        """Return the points known so far, and start computing the others."""
        self._requested = time.monotonic()
        answers, gone = session.answers, len(session.positions.gone)
        message = _why_not(session, answers, gone)
        if message:
            return Curve(message=message)
        keys = {
            k: (session.name, _digest(session.clusterer, answers[:k]))
            for k in milestones(len(answers))
        }
        missing = self._begin(session, answers, keys)
        with self._lock:
            known = {k: self._labels.get(key) for k, key in keys.items()}
        now = session.clustering.labels
        points = (
            _point(answers, k, labels, now) for k, labels in known.items() if labels is not None
        )
        return Curve(tuple(points), missing)

    def wait(self, timeout: float = 300.0) -> None:
        """Wait until no point is being computed."""
        with self._lock:
            thread = self._thread
        if thread is not None:
            thread.join(timeout)

    def _begin(self, session: Session, answers: Sequence[Answer], keys: dict[int, Key]) -> int:
        """Start the thread if points are missing; return how many are."""
        with self._lock:
            for key in [k for k in self._labels if k[0] == session.name]:
                if key not in keys.values():
                    del self._labels[key]
            missing = [k for k, key in keys.items() if key not in self._labels]
            if missing and self._thread is None:
                todo = [(k, keys[k]) for k in _ends_first(missing)]
                self._thread = threading.Thread(
                    target=self._work, args=(session, answers, todo), name="curve", daemon=True
                )
                self._thread.start()
            return len(missing)

    def _work(
        self, session: Session, answers: Sequence[Answer], todo: Sequence[tuple[int, Key]]
    ) -> None:
        try:
            for k, key in todo:
                while self._busy(session.name):
                    time.sleep(0.1)
                if time.monotonic() - self._requested > MAX_IDLE:
                    return
                labels = _attempt(session, answers[:k])
                with self._lock:
                    self._labels[key] = labels
        finally:
            with self._lock:
                self._thread = None


def _why_not(session: Session, answers: Sequence[Answer], gone: int) -> str:
    if not answers:
        return NO_ANSWERS
    clusterer: Any = session.clusterer
    if clusterer.get_params().get("warm_start"):
        return TOO_SLOW
    return GONE if gone else ""


def _digest(clusterer: Any, answers: Sequence[Answer]) -> str:
    told = ";".join(f"{answer.number}={answer.choice}" for answer in answers)
    return hashlib.blake2b(f"{clusterer!r} {told}".encode(), digest_size=12).hexdigest()


def _ends_first(numbers: Sequence[int]) -> list[int]:
    """Order points: the last, the first, then the middle of the widest gap."""
    left = sorted(numbers)
    order = [left.pop()]
    if left:
        order.append(left.pop(0))
    while left:
        best = max(left, key=lambda k: min(abs(k - done) for done in order))
        left.remove(best)
        order.append(best)
    return order


def _attempt(session: Session, answers: Sequence[Answer]) -> NDArray[np.intp] | None:
    """Fit these answers."""
    try:
        known = Constraints.from_answers(len(session.collection), answers)
        model = fit_clusterer(session.clusterer, session.X, known, session.seed)
        return np.asarray(model.labels_, dtype=np.intp)
    except Exception:
        log.exception("A point of the curve could not be computed")
        return None


def _point(
    answers: Sequence[Answer], k: int, labels: NDArray[np.intp], now: NDArray[np.intp]
) -> CurvePoint:
    """The groups after k answers compared with those of now, and what was stated then."""
    return CurvePoint(k, round(acc(now, labels), 4), statement(answers[:k], len(labels)))
