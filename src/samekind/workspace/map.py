"""Maps: all items in the plane, sketched at once and then refined in the background.

The first chart is a sketch. A layout by neighbours follows, and another one whenever somebody looks
at the map after a refit. It starts from the previous layout, so that items are seen to move.
"""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from samekind.workspace.refitter import EventBus

if TYPE_CHECKING:
    from samekind.clustering import Clustering
    from samekind.session import Session

log = logging.getLogger("samekind")

Stage = Literal["pca", "neighbours"]
"""A sketch along the two main axes, or a layout that puts similar items together."""
KEPT_VERSIONS = 3
"""Versions that can still be requested: a page may be behind by one or two."""
MAX_LAYOUT_ITEMS = 300_000
"""Items up to which a layout by neighbours is computed; larger piles keep the sketch."""


@dataclass(frozen=True, eq=False)
class Chart:
    """One version of a map.

    Parameters
    ----------
    places : (n, 2) coordinates from -1 to 1.
    index : (n,) position of each item's group in `numbers`.
    labels, space : what the chart was made from, to see whether it is up to date.
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
        """Return n x 2 float32, then n x uint16, all little-endian."""
        return self.places.astype("<f4").tobytes() + self.index.astype("<u2").tobytes()

    def event(self) -> dict[str, Any]:
        """Return what pages are told about it."""
        return {"version": self.version, "stage": self.stage}

    def with_groups(self, clustering: Clustering) -> Chart:
        """Return the next version: the same places with other groups."""
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
    """The charts of all orientations; layouts are computed one at a time."""

    def __init__(self, event_bus: EventBus) -> None:
        self._event_bus = event_bus
        self._lock = threading.Lock()
        self._charts: dict[str, list[Chart]] = {}
        self._waiting: dict[str, Session] = {}
        self._thread: threading.Thread | None = None
        self._closed = False

    def known(self, name: str) -> Chart | None:
        """Return the newest chart of an orientation; None before the first request."""
        with self._lock:
            charts = self._charts.get(name)
            return charts[-1] if charts else None

    def version(self, name: str, version: int) -> Chart | None:
        """Return a recent version of a chart."""
        with self._lock:
            found = (c for c in self._charts.get(name, ()) if c.version == version)
            return next(found, None)

    def current(self, session: Session) -> Chart:
        """Return the chart with the current groups; a layout is started where it is missing."""
        from samekind.workspace.layout import sketch

        clustering = session.clustering
        first = None if self.known(session.name) else sketch(clustering.space)
        with self._lock:
            charts = self._charts.setdefault(session.name, [])
            if not charts and first is not None:
                charts.append(_first_chart(first, clustering))
            elif charts[-1].labels is not clustering.labels:
                self._add(session.name, charts[-1].with_groups(clustering))
            chart = self._charts[session.name][-1]
            if chart.space is not clustering.space and len(chart.places) <= MAX_LAYOUT_ITEMS:
                self._request(session)
        return chart

    def wait(self, timeout: float = 300.0) -> bool:
        """Wait until no layout is being computed; False after `timeout` seconds."""
        with self._lock:
            thread = self._thread
        if thread is not None:
            thread.join(timeout)
        return thread is None or not thread.is_alive()

    def close(self) -> None:
        """Start no more layouts, and stop the running one at its next step."""
        with self._lock:
            self._closed = True
            self._waiting.clear()

    def _request(self, session: Session) -> None:
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
                self._lay_out(session)
            except Exception:  # the sketch stays; nothing else depends on it
                log.exception("The map could not be laid out")

    def _lay_out(self, session: Session) -> None:
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
            latest = self._charts[session.name][-1]  # its groups may have changed meanwhile
            chart = replace(latest, stage="neighbours", places=places, space=clustering.space)
            self._add(session.name, chart.with_groups(session.clustering))

    def _add(self, name: str, chart: Chart) -> None:
        self._charts[name] = [*self._charts[name], chart][-KEPT_VERSIONS:]
        self._event_bus.publish("map", chart.event(), session=name)


def _first_chart(places: NDArray[np.float32], clustering: Clustering) -> Chart:
    empty = np.zeros(0, dtype=np.uint16)
    bare = Chart(0, "pca", clustering.snapshot, places, empty, (), clustering.labels, None)
    return bare.with_groups(clustering)
