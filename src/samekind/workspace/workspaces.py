"""Hall: the piles that are open, the long work under way, and what was opened before."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from samekind.workspace.jobs import Jobs
from samekind.workspace.recent import Recent, state_folder

if TYPE_CHECKING:
    from samekind.workspace.pile import Pile
    from samekind.workspace.workspace import Workspace

MOST_OPEN = 3
"""Piles that stay in memory; the one not looked at for longest makes room."""


@dataclass(frozen=True, eq=False)
class OpenWorkspace:
    """A pile on a desk.

    Parameters
    ----------
    key : its name in addresses; empty for a desk that was set up by a program.
    pile : items, vectors and the encoder; None where only the desk is known.
    encoder : the name that was asked for; empty: left to us.
    """

    key: str
    workspace: Workspace
    pile: Pile | None = None
    encoder: str = ""


class Workspaces:
    """All desks of one server.

    Parameters
    ----------
    jobs : the worker. recent : the piles opened before.
    paths : whether who uses the page may name files and folders of this machine: only where
        nobody else can reach it.
    """

    def __init__(
        self, *, jobs: Jobs | None = None, recent: Recent | None = None, paths: bool = False
    ) -> None:
        self.jobs = Jobs() if jobs is None else jobs
        self.recent = Recent(None) if recent is None else recent
        self.paths = paths
        self.first: str | None = None
        self._open: dict[str, OpenWorkspace] = {}
        self._lock = threading.Lock()

    @classmethod
    def at_home(cls, *, paths: bool = True) -> Workspaces:
        """A hall that remembers, in the user's state folder."""
        folder = state_folder()
        recent = Recent(folder / "recent.json")
        return cls(jobs=Jobs(folder / "jobs"), recent=recent, paths=paths)

    @classmethod
    def around(cls, workspace: Workspace) -> Workspaces:
        """A hall with one desk that a program set up; it reads and writes no paths."""
        workspaces = cls()
        workspaces.add(OpenWorkspace("", workspace), first=True)
        return workspaces

    def add(self, opened: OpenWorkspace, *, first: bool = False) -> None:
        """Put a pile up; one of the same name is replaced, and the oldest may have to go."""
        with self._lock:
            before = self._open.pop(opened.key, None)
            self._open[opened.key] = opened
            if first:
                self.first = opened.key
            opened.workspace.key = "" if opened.key == self.first else opened.key
            spare = [key for key in self._open if key not in (self.first, opened.key)]
            going = {job.pile for job in self.jobs.all() if job.going}
            old = [key for key in spare if key not in going][: max(0, len(spare) + 1 - MOST_OPEN)]
            leaving = [self._open.pop(key) for key in old]
        for one in (*leaving, *([before] if before else [])):
            one.workspace.close()

    def find(self, key: str | None) -> OpenWorkspace | None:
        """An open pile by its name in addresses; None leads to the first one."""
        with self._lock:
            key = self.first if key is None else key
            if key is None or key not in self._open:
                return None
            self._open[key] = self._open.pop(key)  # the one looked at last stands last
            return self._open[key]

    def has(self, key: str) -> bool:
        """Whether a pile is open; does not count as a look at it."""
        with self._lock:
            return key in self._open

    def of(self, workspace: Workspace) -> OpenWorkspace:
        """The pile on a desk."""
        with self._lock:
            found = (one for one in self._open.values() if one.workspace is workspace)
            return next(found, OpenWorkspace("", workspace))

    def hush(self) -> None:
        """End the streams of news: the server stops, and must not wait for pages that listen."""
        with self._lock:
            opened = list(self._open.values())
        for one in opened:
            one.workspace.event_bus.close()

    def close(self) -> None:
        """Let what is under way come to an end."""
        self.jobs.close()
        with self._lock:
            opened = list(self._open.values())
        for one in opened:
            one.workspace.close()
