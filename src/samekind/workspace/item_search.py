"""Find items by words: in names and folders, texts and tables, and what files say of photos.

Photos are also found by what is on them, as far as the network has classes for it.
"""

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
from samekind.workspace.objects import Objects
from samekind.workspace.word_search import find_shown

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
    session: Session,
    text: str = "",
    *,
    group: int | None = None,
    doubtful: bool = False,
    objects: Objects | None = None,
) -> Found:
    """Find the items that have all these words, in one group or in doubt.

    Parameters
    ----------
    text : words, in any order and case. group : only items of this group.
    doubtful : only items that are not certain to belong to their group.
    objects : what is on the photos, if the network names it.
    """
    clustering = session.clustering
    keep = np.ones(len(clustering.labels), dtype=bool)
    if group is not None:
        keep &= clustering.labels == group
    if doubtful:
        keep &= sureness(clustering) < UNSURE
    wanted = list(dict.fromkeys(text.casefold().split()))
    if not wanted:
        return Found(np.flatnonzero(keep), "")
    written = {word: np.zeros(len(keep), dtype=bool) for word in wanted}
    for position in np.flatnonzero(keep):
        for word in _written(wanted, _known(session, int(position))):
            written[word][position] = True
    if objects is None:
        keep &= np.logical_and.reduce(list(written.values()))
        return Found(np.flatnonzero(keep), _describe(session))
    shows, told = find_shown(objects, wanted, written)
    return Found(np.flatnonzero(keep & shows), " ".join([_describe(session, seen=True), *told]))


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


def _written(wanted: list[str], known: Iterator[str]) -> set[str]:
    """Which of the words are written in a text; the search ends once all are found."""
    missing = set(wanted)
    for text in known:
        folded = text.casefold()
        missing -= {word for word in missing if word in folded}
        if not missing:
            break
    return set(wanted) - missing


def _describe(session: Session, seen: bool = False) -> str:
    """Say what words were looked for in, and what is not known."""
    items = session.collection
    if len(items) > MAX_READ_ITEMS and not seen:
        return "Searched names, folders and groups. There are too many items to search contents."
    if items.kind == "image":
        opened = len(items) <= MAX_OPENED_PHOTOS
        if seen:
            taken = ", when and where photos were taken" if opened else ""
            return f"Searched names, folders and groups{taken}, and what the network sees on them."
        taken = ", and when and where they were taken" if opened else ""
        return (
            f"Searched names, folders and groups of pictures{taken}. What is on a picture is not "
            "known in words."
        )
    return "Searched names, folders, groups and contents, word by word."
