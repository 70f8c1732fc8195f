"""Recent: the piles that were opened before, with a few pictures of each."""

from __future__ import annotations

import json
import logging
import os
import threading
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from samekind.atomic_files import draft_name
from samekind.workspace.known_items import KnownItems
from samekind.workspace.locations import absolute
from samekind.workspace.thumbnails import find_thumbnails, keep_thumbnails

if TYPE_CHECKING:
    from samekind.items import Collection

log = logging.getLogger("samekind")

MAX_RECENT = 12
"""Piles that are listed as recent."""


@dataclass(frozen=True)
class RecentPile:
    """A pile that was opened before.

    Parameters
    ----------
    pile : its key in addresses, which does not reveal the path.
    path : as the person gave it.
    encoder : as the person chose it; empty: the default.
    finished : whether all vectors had been computed.
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
    """The list of recent piles in a JSON file.

    A damaged file counts as empty. A file that cannot be written is logged and otherwise ignored.

    Parameters
    ----------
    file : None keeps the list in memory.
    """

    def __init__(self, file: Path | None) -> None:
        self.file = file
        self._lock = threading.Lock()
        self._held: list[RecentPile] = []

    def all(self) -> list[RecentPile]:
        """Return the piles, the one opened last first."""
        if self.file is None:
            return list(self._held)
        try:
            forms = json.loads(self.file.read_text(encoding="utf-8"))["piles"]
            return [RecentPile(**form) for form in forms][:MAX_RECENT]
        except (OSError, ValueError, TypeError, KeyError):
            return []

    def thumbnails(self, pile: str) -> list[Path]:
        """Return the files of a few pictures of a pile."""
        return [] if self.file is None else find_thumbnails(self._pictures, pile)

    def keep_thumbnails(self, pile: str, collection: Collection) -> None:
        """Keep a few pictures of a pile."""
        if self.file is not None:
            keep_thumbnails(self._pictures, pile, collection)

    def known_items(self, pile: str) -> KnownItems:
        """Return the items of a pile that the person knows about."""
        folder = state_folder() if self.file is None else self.file.parent
        return KnownItems(folder / "known" / f"{pile}.json")

    @property
    def _pictures(self) -> Path:
        return (self.file or Path()).parent / "thumbnails"

    def find(self, pile: str) -> RecentPile | None:
        """Return the pile with this key."""
        return next((known for known in self.all() if known.pile == pile), None)

    def note(self, known: RecentPile) -> None:
        """Put a pile at the top of the list."""
        with self._lock:
            others = [other for other in self.all() if other.pile != known.pile]
            self._write([replace(known, at=time.time()), *others][:MAX_RECENT])

    def forget(self, pile: str) -> None:
        """Remove a pile from the list; its answers are kept."""
        with self._lock:
            self._write([known for known in self.all() if known.pile != pile])

    def _write(self, piles: list[RecentPile]) -> None:
        self._held = piles
        if self.file is None:
            return
        draft = draft_name(self.file)
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            text = json.dumps({"piles": [asdict(known) for known in piles]}, indent=1)
            draft.write_text(text, encoding="utf-8")
            os.replace(draft, self.file)
        except OSError as problem:
            log.warning("The list of recent piles cannot be written: %s", problem)
            draft.unlink(missing_ok=True)


def recent_of(key: str, path: str, there: Collection, encoder: str) -> RecentPile:
    """Describe a pile that is being opened."""
    return RecentPile(key, absolute(path), there.name, there.kind, len(there), encoder)


def state_folder() -> Path:
    """Folder of recent piles and jobs; safe to delete."""
    if os.environ.get("SAMEKIND_HOME"):
        return Path(os.environ["SAMEKIND_HOME"]) / "state"
    try:
        from platformdirs import user_state_path
    except ImportError:
        return Path.home() / ".local" / "state" / "samekind"
    return user_state_path("samekind", appauthor=False)
