"""File names that every file system accepts, from the names of groups and items."""

from __future__ import annotations

import mimetypes
import re
import unicodedata

_FORBIDDEN = re.compile(r'[/\\:*?"<>|]')
_RESERVED = re.compile(r"(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(\..*)?", re.IGNORECASE)
_OVERRIDES = re.compile("[\u202a-\u202e\u2066-\u2069]")
"""Characters that turn the direction of a text: they can show ``gpj.exe`` as ``exe.jpg``."""
_DIRECTION_MARKS = re.compile("[\u061c\u200e\u200f]")
"""Marks that names of real Hebrew and Arabic files begin with; nothing is missing without them."""
_UNPRINTABLE = {"Cc", "Cs", "Zl", "Zp"}  # control characters, half pairs, line ends
_MAX_BYTES = 180  # of the 255 that file systems allow; the rest is for " (12)" and the suffix
_SUFFIXES = {
    "image/png": (".png",),
    "image/jpeg": (".jpg", ".jpeg"),
    "image/webp": (".webp",),
    "text/plain": (".txt",),
}


def safe_name(wanted: str, otherwise: str) -> str:
    """A file or folder name as close to `wanted` as file systems allow.

    All scripts are allowed; separators, control characters, characters that turn the direction of
    a text, and Windows device names are replaced.

    >>> safe_name("cats/dogs: 猫?", "Group 1"), safe_name("..", "Group 2"), safe_name("aux", "")
    ('cats_dogs_ 猫_', 'Group 2', 'aux_')
    """
    text = _OVERRIDES.sub("_", _DIRECTION_MARKS.sub("", wanted))
    text = unicodedata.normalize("NFC", text)
    text = "".join("_" if unicodedata.category(c) in _UNPRINTABLE else c for c in text)
    text = _FORBIDDEN.sub("_", text).strip().rstrip(". ")
    if not text.strip("._ "):
        return otherwise
    if text.startswith("."):  # a hidden folder would seem lost
        text = "_" + text[1:]
    if _RESERVED.fullmatch(text):
        stem, dot, suffix = text.partition(".")
        text = f"{stem}_{dot}{suffix}"
    return text


def short_stem(stem: str) -> str:
    """The beginning of a name, short enough for a number and a suffix."""
    return stem.encode("utf-8", "ignore")[:_MAX_BYTES].decode("utf-8", "ignore").rstrip(". ")


class FreeNames:
    """Assign unique names within one folder, also on case-insensitive file systems."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def take(self, stem: str, suffix: str = "") -> str:
        """The name itself, or with " (2)", " (3)", ... if it is taken."""
        stem = short_stem(stem)
        name, count = f"{stem}{suffix}", 1
        while self._key(name) in self._taken:
            count += 1
            name = f"{stem} ({count}){suffix}"
        self._taken.add(self._key(name))
        return name

    @staticmethod
    def _key(name: str) -> str:
        return unicodedata.normalize("NFC", name).casefold()


def without_suffix(name: str) -> str:
    """The name without the suffix of a picture or text, which may no longer be right."""
    for suffix in (suffix for known in _SUFFIXES.values() for suffix in known):
        if name.lower().endswith(suffix) and len(name) > len(suffix):
            return name[: -len(suffix)]
    return name


def suffix_for(mime: str) -> str:
    """The suffix for a MIME type."""
    return _SUFFIXES[mime][0] if mime in _SUFFIXES else mimetypes.guess_extension(mime) or ".bin"
