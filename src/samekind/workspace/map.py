"""Maps: a chart of the plane for each orientation, sketched at once and drawn better meanwhile.

The first chart is a sketch. A chart by neighbours follows, and another one whenever somebody looks
after the groups have been learnt again: it begins where the one before ended, so that items are
seen to move.
"""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from samekind.workspace.event_bus import EventBus

if TYPE_CHECKING:
    from samekind.clustering import Clustering
    from samekind.session import Session

log = logging.getLogger("samekind.web")

Stage = Literal["pca", "neighbours"]
"""A sketch along the two main axes, or a layout that puts similar items together."""
KEPT = 3
"""Versions that can still be asked for: a page may be behind by one or two."""
LARGEST = 300_000
"""Items up to which neighbours are looked for; larger piles keep the sketch."""


@dataclass(frozen=True, eq=False)
class Chart:
    """One version of a map.

    Parameters
    ----------
    places : (n, 2) from -1 to 1. index : (n,) place of each item's group in `numbers`.
    labels, space : what it was made from, to see whether it is still the newest.
    """

    version: int
    stage: Stage
    snapshot: int
    places: NDArray[np.float32]
    index: NDArray[np.uint16]
    numbers: tuple[int, ...]
    labels: NDArray[np.intp]
    space: NDArray[np.float32] | None

    def as_bytes(self) -> bytes:
        """n x 2 float32, then n x uint16, all little-endian."""
        return self.places.astype("<f4").tobytes() + self.index.astype("<u2").tobytes()

    def news(self) -> dict[str, Any]:
        """What pages are told about it."""
        return {"version": self.version, "stage": self.stage}

    def coloured(self, clustering: Clustering) -> Chart:
        """The same places with other groups, as the next version."""
        numbers = clustering.numbers
        index = np.minimum(np.searchsorted(numbers, clustering.labels), 65_535)
        return replace(
            self,
            version=self.version + 1,
            snapshot=clustering.snapshot,
            index=index.astype(np.uint16),
            numbers=numbers,
            labels=clustering.labels,
        )


class Maps:
    """The charts of all orientations of a pile; better ones are drawn one at a time."""

    def __init__(self, event_bus: EventBus) -> None:
        self._bulletin = event_bus
        self._lock = threading.Lock()
        self._charts: dict[str, list[Chart]] = {}
        self._waiting: dict[str, Session] = {}
        self._thread: threading.Thread | None = None
        self._closed = False

    def known(self, name: str) -> Chart | None:
        """The newest chart of an orientation, if anybody has asked for one."""
        with self._lock:
            charts = self._charts.get(name)
            return charts[-1] if charts else None

    def version(self, name: str, version: int) -> Chart | None:
        """A chart that was handed out a moment ago."""
        with self._lock:
            found = (c for c in self._charts.get(name, ()) if c.version == version)
            return next(found, None)

    def current(self, session: Session) -> Chart:
        """The chart with the groups as they stand; a better one is begun where there is none."""
        from samekind.workspace.layout import sketch

        clustering = session.clustering
        first = None if self.known(session.name) else sketch(clustering.space)
        with self._lock:
            charts = self._charts.setdefault(session.name, [])
            if not charts and first is not None:
                charts.append(_drawn(first, clustering))
            elif charts[-1].labels is not clustering.labels:
                self._add(session.name, charts[-1].coloured(clustering))
            chart = self._charts[session.name][-1]
            if chart.space is not clustering.space and len(chart.places) <= LARGEST:
                self._want(session)
        return chart

    def wait(self, patience: float = 60.0) -> bool:
        """Wait until nothing is being drawn; False when that took too long."""
        with self._lock:
            thread = self._thread
        if thread is not None:
            thread.join(patience)
        return thread is None or not thread.is_alive()

    def close(self) -> None:
        """Draw nothing more; what is being drawn stops at its next step."""
        with self._lock:
            self._closed = True
            self._waiting.clear()

    def _want(self, session: Session) -> None:
        if self._closed:
            return
        self._waiting[session.name] = session
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="map", daemon=True)
            self._thread.start()

    def _work(self) -> None:
        while True:
            with self._lock:
                if not self._waiting:
                    self._thread = None
                    return
                name = next(iter(self._waiting))
                session = self._waiting.pop(name)
            try:
                self._draw(session)
            except Exception:  # the sketch stays; nothing else depends on it
                log.exception("The map could not be drawn")

    def _draw(self, session: Session) -> None:
        from samekind.workspace.layout import aligned, by_neighbours

        before, clustering = self.known(session.name), session.clustering
        if before is None or before.space is clustering.space:
            return
        start = before.places if before.stage == "neighbours" else None
        found = by_neighbours(
            clustering.space, start=start, seed=session.seed, go_on=lambda: not self._closed
        )
        places = aligned(found, before.places)
        with self._lock:
            if self._closed:
                return
            latest = self._charts[session.name][-1]  # it may have got other colours meanwhile
            chart = replace(latest, stage="neighbours", places=places, space=clustering.space)
            self._add(session.name, chart.coloured(session.clustering))

    def _add(self, name: str, chart: Chart) -> None:
        self._charts[name] = [*self._charts[name], chart][-KEPT:]
        self._bulletin.publish("map", chart.news(), session=name)


def _drawn(places: NDArray[np.float32], clustering: Clustering) -> Chart:
    nobody = np.zeros(0, dtype=np.uint16)
    bare = Chart(0, "pca", clustering.snapshot, places, nobody, (), clustering.labels, None)
    return bare.coloured(clustering)
