"""Items outside of a collection: made from bytes in memory, or found in a folder one by one."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from samekind.errors import InputError
from samekind.items import Item, Skipped
from samekind.sources.files import texts
from samekind.sources.files.folders import Found, _id, _skip_reason, natural
from samekind.sources.files.images import Picture, fault_of_bytes
from samekind.sources.files.picture_formats import RAW_SUFFIXES, SUFFIXES, open_picture
from samekind.sources.files.plain_text import decode, looks_binary
from samekind.sources.files.texts import TextItem

if TYPE_CHECKING:
    from PIL.Image import Image

SUFFIXES_OF_KINDS = {"image": SUFFIXES, "text": tuple(sorted(texts.SUFFIXES))}
"""Suffixes of the files that hold one item each, by the kind of the item."""


class EncodedImage(Picture):
    """A picture whose file is in memory."""

    def __init__(self, id: str, data: bytes, stamp: str) -> None:
        self.id, self._data, self._stamp = id, data, stamp

    @property
    def stamp(self) -> str:
        return self._stamp

    def open(self) -> Image:
        return open_picture(io.BytesIO(self._data), raw=_is_raw(self.id))


def _is_raw(id: str) -> bool:
    return id.lower().endswith(RAW_SUFFIXES)


def item_of_bytes(kind: str, id: str, data: bytes, stamp: str) -> Item | Skipped:
    """Make an item from the content of its file, or say why it cannot be used.

    >>> item_of_bytes("text", "a.txt", b"a red apple", "1").load()
    'a red apple'
    >>> item_of_bytes("text", "a.txt", b" ", "1").reason
    'is blank'
    """
    if kind == "image":
        reason = fault_of_bytes(data, raw=_is_raw(id))
        return Skipped(id, reason) if reason else EncodedImage(id, data, stamp)
    if kind != "text":
        raise InputError(f"Expected the kind image or text, got {kind!r}.")
    if len(data) > texts.MAX_BYTES:
        return Skipped(id, f"has {len(data):,} bytes; the limit is {texts.MAX_BYTES:,}")
    if looks_binary(data[:4096]):
        return Skipped(id, "is binary, not text")
    text = decode(data)
    return TextItem(id, text=text, stamp=stamp) if text.strip() else Skipped(id, "is blank")


def walk_folder(folder: str | Path) -> Iterator[Found | Skipped]:
    """Iterate over the files at any depth in natural order, holding one folder at a time.

    Hidden files are ignored. Folders that cannot be read, links that lead out of the folder and
    special files are reported as skipped.
    """
    cut = len(os.path.join(folder, ""))
    yield from _walk(str(folder), cut, os.path.realpath(folder))


def _walk(folder: str, cut: int, real_root: str) -> Iterator[Found | Skipped]:
    try:
        with os.scandir(folder) as listing:
            entries = [entry for entry in listing if not entry.name.startswith(".")]
    except OSError as error:
        yield Skipped(_id(folder, cut), f"folder cannot be read: {error.strerror}")
        return
    entries.sort(key=lambda entry: natural(entry.name))
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            yield from _walk(entry.path, cut, real_root)
            continue
        id = _id(entry.path, cut)
        if reason := _skip_reason(entry, real_root):
            yield Skipped(id, reason)
            continue
        status = entry.stat()
        suffix = os.path.splitext(entry.name)[1].lower()
        stamp = f"{status.st_size}-{status.st_mtime_ns}"
        yield Found(id, entry.path, suffix, status.st_size, stamp)
