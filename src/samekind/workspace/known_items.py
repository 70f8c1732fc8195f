"""KnownItems: which items of a pile were there before, so that new files are announced."""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from samekind.atomic_files import draft_name

if TYPE_CHECKING:
    from samekind.items import Collection

log = logging.getLogger("samekind")

MAX_ITEMS = 200_000
"""In larger piles new items are not looked for."""


@dataclass
class News:
    """Items that are new since the last time, until the person has seen them."""

    ids: tuple[str, ...]
    known: KnownItems | None = None

    @classmethod
    def of(cls, known: KnownItems, collection: Collection) -> News:
        """Find the items that were not there the last time."""
        return cls(known.new_in(collection), known)

    def accept(self, collection: Collection) -> None:
        """Note that the person has seen them."""
        if self.known is not None:
            self.known.accept(collection)
        self.ids = ()


@dataclass(frozen=True)
class KnownItems:
    """The items of a pile that the person knows about, in a JSON file; safe to delete.

    Parameters
    ----------
    file : of the ids with their stamps; a damaged file counts as none.
    """

    file: Path

    def new_in(self, collection: Collection) -> tuple[str, ...]:
        """Return the ids that are new; of a pile that is opened for the first time, none.

        A renamed file keeps its stamp, so it is not new.
        """
        known = self._read()
        if known is None:
            self.accept(collection)
            return ()
        stamps = set(known.values())
        return tuple(
            item.id
            for item in collection
            if item.id not in known and (item.stamp == item.id or item.stamp not in stamps)
        )

    def accept(self, collection: Collection) -> None:
        """Note that all items are known now."""
        if len(collection) > MAX_ITEMS:
            return
        draft = draft_name(self.file)
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            text = json.dumps({"items": {item.id: item.stamp for item in collection}})
            draft.write_text(text, encoding="utf-8")
            draft.replace(self.file)
        except OSError as problem:
            log.warning("The known items cannot be stored: %s", problem)
            draft.unlink(missing_ok=True)

    def _read(self) -> dict[str, str] | None:
        try:
            known = json.loads(self.file.read_text(encoding="utf-8"))["items"]
            return {str(id): str(stamp) for id, stamp in known.items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None
