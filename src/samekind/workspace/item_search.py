"""Find items by words: in names and folders, texts and tables, and what files say of photos."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from samekind.errors import SamekindError
from samekind.items import Item
from samekind.session.members import sureness

if TYPE_CHECKING:
    from samekind.session import Session

MAX_READ_ITEMS = 20_000
"""Items up to which also contents are searched, not only names."""
MAX_OPENED_PHOTOS = 3_000
"""Photos up to which their files are asked when and where they were taken."""
MAX_TEXT = 20_000
UNSURE = 0.6
"""Items that are less certain than this to belong to their group count as doubtful."""


@dataclass(frozen=True, eq=False)
class Found:
    """Positions of items, and what was searched and could not be, in words."""

    positions: NDArray[np.intp]
    words: str


def find_items(
    session: Session, text: str = "", *, group: int | None = None, doubtful: bool = False
) -> Found:
    """Find the items that have all these words, in one group or in doubt.

    Parameters
    ----------
    text : words, in any order and case. group : only items of this group.
    doubtful : only items that are not certain to belong to their group.
    """
    clustering = session.clustering
    keep = np.ones(len(clustering.labels), dtype=bool)
    if group is not None:
        keep &= clustering.labels == group
    if doubtful:
        keep &= sureness(clustering) < UNSURE
    wanted = text.casefold().split()
    if wanted:
        for position in np.flatnonzero(keep):
            known = _known(session, int(position))
            keep[position] = _has_all(wanted, known)
    return Found(np.flatnonzero(keep), _describe(session, bool(wanted)))


def _known(session: Session, position: int) -> Iterator[str]:
    """What can be searched of an item: what is cheap first."""
    items = session.collection
    yield items.id(position)
    yield session.clustering.name(int(session.clustering.labels[position]))
    if len(items) <= (MAX_OPENED_PHOTOS if items.kind == "image" else MAX_READ_ITEMS):
        yield _content(items[position])


def _content(item: Item) -> str:
    cells = getattr(item, "cells", ())
    if cells:
        return "\n".join(f"{column} {value}" for column, value in cells)
    with suppress(SamekindError, OSError):
        if item.kind == "text":
            return str(item.load())[:MAX_TEXT]
        return " ".join(item.facts().values())
    return ""


def _has_all(wanted: list[str], known: Iterator[str]) -> bool:
    missing = set(wanted)
    for text in known:
        folded = text.casefold()
        missing -= {word for word in missing if word in folded}
        if not missing:
            return True
    return False


def _describe(session: Session, searched: bool) -> str:
    """Say what words were looked for in, and what is not known."""
    if not searched:
        return ""
    items = session.collection
    if len(items) > MAX_READ_ITEMS:
        return "Searched names, folders and groups. There are too many items to search contents."
    if items.kind == "image":
        taken = ", and when and where they were taken" if len(items) <= MAX_OPENED_PHOTOS else ""
        return (
            f"Searched names, folders and groups of pictures{taken}. What is on a picture is not "
            "known in words."
        )
    return "Searched names, folders, groups and contents, word by word."
