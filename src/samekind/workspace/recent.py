"""Recent piles: a small file in the user's state folder, so that none has to be typed twice."""

from __future__ import annotations

import json
import logging
import os
import threading
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from samekind.atomic_files import beside

log = logging.getLogger("samekind.web")

MOST = 12


@dataclass(frozen=True)
class RecentPile:
    """A pile that was opened before.

    Parameters
    ----------
    pile : its name in addresses; it does not tell the path.
    path : as the person gave it.
    encoder : as the person chose it; empty: left to us.
    finished : whether its vectors were ready.
    """

    pile: str
    path: str
    name: str
    kind: str
    items: int
    encoder: str = ""
    minutes: float | None = None
    at: float = 0.0
    finished: bool = False


class Recent:
    """The file. One that is damaged counts as empty; one that cannot be written is only told.

    Parameters
    ----------
    file : where it is; None keeps the list in memory.
    """

    def __init__(self, file: Path | None) -> None:
        self.file = file
        self._lock = threading.Lock()
        self._held: list[RecentPile] = []

    def all(self) -> list[RecentPile]:
        """The piles, the one opened last first."""
        if self.file is None:
            return list(self._held)
        try:
            forms = json.loads(self.file.read_text(encoding="utf-8"))["piles"]
            return [RecentPile(**form) for form in forms][:MOST]
        except (OSError, ValueError, TypeError, KeyError):
            return []

    def find(self, pile: str) -> RecentPile | None:
        """The pile with this name in addresses."""
        return next((known for known in self.all() if known.pile == pile), None)

    def note(self, known: RecentPile) -> None:
        """Put a pile on top of the list."""
        with self._lock:
            others = [other for other in self.all() if other.pile != known.pile]
            self._write([replace(known, at=time.time()), *others][:MOST])

    def forget(self, pile: str) -> None:
        """Take a pile off the list; its answers stay where they are."""
        with self._lock:
            self._write([known for known in self.all() if known.pile != pile])

    def _write(self, piles: list[RecentPile]) -> None:
        self._held = piles
        if self.file is None:
            return
        draft = beside(self.file)
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            text = json.dumps({"piles": [asdict(known) for known in piles]}, indent=1)
            draft.write_text(text, encoding="utf-8")
            os.replace(draft, self.file)
        except OSError as problem:
            log.warning("The list of recent piles cannot be written: %s", problem)
            draft.unlink(missing_ok=True)


def state_folder() -> Path:
    """Where samekind remembers what it was doing; nothing of value is lost with it."""
    if os.environ.get("SAMEKIND_HOME"):
        return Path(os.environ["SAMEKIND_HOME"]) / "state"
    try:
        from platformdirs import user_state_path
    except ImportError:
        return Path.home() / ".local" / "state" / "samekind"
    return user_state_path("samekind", appauthor=False)
