"""Texts: a folder of .txt and .md files, or one .txt file with one text per line."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from samekind.errors import SourceError
from samekind.items import Collection, Item, Preview, Skipped
from samekind.sources.files.folders import Found, collect_files, open_file
from samekind.sources.files.plain_text import HEAD, decode, looks_binary, read_text

SUFFIXES = frozenset({".txt", ".md"})
MAX_BYTES = 10_000_000
"""Longer texts are refused: they are books or logs rather than items to sort."""
MAX_PREVIEW_LENGTH = 4_000
MEMORY_PER_BYTE = 12
"""Of a file of lines: short lines take more than their letters."""


class TextItem(Item):
    """One text, in a file below `root` (read when needed) or in memory."""

    kind: ClassVar[str] = "text"

    def __init__(
        self,
        id: str,
        *,
        path: str | None = None,
        text: str = "",
        stamp: str = "",
        root: str = "",
    ) -> None:
        self.id, self.path, self._text, self._stamp, self._root = id, path, text, stamp, root

    @property
    def stamp(self) -> str:
        return self._stamp or self.id

    def load(self) -> str:
        """The whole text."""
        if self.path is None:
            return self._text
        try:
            with open_file(self.path, self._root) as file:
                return decode(file.read())
        except OSError as error:
            raise SourceError(
                f"{self.id!r} can no longer be read ({error.strerror}). Open the folder again."
            ) from error

    def preview(self) -> Preview:
        """The beginning of the text."""
        text = self.load().strip()
        shown = text if len(text) <= MAX_PREVIEW_LENGTH else text[:MAX_PREVIEW_LENGTH] + " ..."
        return Preview("text/plain", shown.encode("utf-8", "replace"))


def collect(folder: Path, found: Sequence[Found], skipped: Sequence[Skipped] = ()) -> Collection:
    """The texts among the files of a folder."""
    root = os.path.realpath(folder)

    def item(file: Found) -> TextItem:
        return TextItem(file.id, path=file.path, stamp=file.stamp, root=root)

    return collect_files(folder, found, skipped, _fault, item)


def open_lines(path: str | Path, exclude: Sequence[str] = ()) -> Collection:
    """The lines of one file, each a text, without blank ones; there are no columns to exclude.

    The id is a hash of the text (with a count for repeated texts) and not the line number: answers
    are stored by id, and a line inserted at the top must not shift them.
    """
    path = Path(path)
    whole = read_text(path, "a text file with one text per line", memory_per_byte=MEMORY_PER_BYTE)
    seen: Counter[str] = Counter()
    items: list[Item] = []
    for line in whole.splitlines():
        text = line.strip()
        if not text:
            continue
        key = hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=6).hexdigest()
        seen[key] += 1
        id = f"text-{key}" if seen[key] == 1 else f"text-{key}-{seen[key]}"
        items.append(TextItem(id, text=text))
    return Collection(path.stem, items, (), str(path))


def _fault(file: Found) -> str:
    """Why a file is skipped, or an empty string."""
    if file.suffix not in SUFFIXES:
        return f"is a {file.suffix or 'suffixless'} file, not txt or md"
    if not file.size:
        return "is empty (zero bytes)"
    if file.size > MAX_BYTES:
        return f"has {file.size:,} bytes; the limit is {MAX_BYTES:,}"
    try:
        with open_file(file.path) as stream:
            head = stream.read(HEAD)
    except OSError as error:
        return f"cannot be read: {error.strerror or error}"
    if looks_binary(head):
        return "is binary, not text"
    return "" if decode(head).strip() else "is blank"
