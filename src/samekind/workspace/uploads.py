"""Uploads: files that were dropped into the page become a pile of their own.

They are copied into samekind's data folder, in pieces, under safe names, and never over a file that
is there already. Nothing of an upload is executed or unpacked.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import threading
from dataclasses import dataclass, field
from pathlib import Path

from samekind.errors import InputError, NoSpace, UnknownUpload
from samekind.questions.wording import plural
from samekind.sources import SUFFIXES_OF_KINDS, openable_suffixes
from samekind.workspace.locations import data_folder

MAX_PIECE = 4 * 1024 * 1024
"""Bytes of a file that come with one request."""
MAX_FILE = 2 * 1024**3
MAX_FILES = 100_000
MAX_DEPTH = 8
"""Folders within each other that are kept; deeper ones are put together."""
MAX_NAME_BYTES = 120
SPARE = 512 * 1024**2
"""Bytes that stay free on the disk."""
PART = ".part"
READABLE = (
    *SUFFIXES_OF_KINDS["image"],
    *SUFFIXES_OF_KINDS["text"],
    *(suffix for suffix in openable_suffixes() if suffix not in SUFFIXES_OF_KINDS["text"]),
)
"""Suffixes of files that can be part of a pile."""
_UNSAFE = re.compile(r'[\x00-\x1f\x7f<>:"|?*\\/]+')


def uploads_folder() -> Path:
    """Folder of the piles that were dropped into the page; nothing deletes them."""
    return data_folder() / "uploads"


def accepts(name: str) -> bool:
    """Whether a file of this name can be part of a pile."""
    return name.lower().endswith(READABLE)


def safe_path(name: str) -> Path:
    """Turn the name that a browser gave into a relative path that can only lead downwards.

    >>> str(safe_path("holiday/../../etc/pass\\x00wd.jpg")), str(safe_path("/a//b/.hidden.png"))
    ('holiday/etc/pass_wd.jpg', 'a/b/hidden.png')
    """
    parts = [_safe_name(part) for part in name.replace("\\", "/").split("/")]
    kept = [part for part in parts if part]
    if not kept:
        raise InputError(f"Expected the name of a file, got {name[:100]!r}.")
    return Path(*kept[: MAX_DEPTH - 1][: len(kept) - 1], kept[-1])


def _safe_name(part: str) -> str:
    text = _UNSAFE.sub("_", part).strip().lstrip(".").rstrip(". ")
    text = text.encode("utf-8", "replace").decode("utf-8")
    stem, suffix = os.path.splitext(text)
    suffix = suffix[:20]
    while len((stem + suffix).encode()) > MAX_NAME_BYTES:
        stem = stem[:-1]
    return stem + suffix


@dataclass
class Upload:
    """Files on their way into one folder."""

    id: str
    folder: Path
    files: int = 0
    growing: dict[str, Path] = field(default_factory=dict)
    """Files that are not complete, by the name that the browser gave."""
    lock: threading.Lock = field(default_factory=threading.Lock)


class Uploads:
    """The uploads under way on a server."""

    def __init__(self) -> None:
        self._known: dict[str, Upload] = {}

    def begin(self, name: str, size: int) -> Upload:
        """Make a folder for files of so many bytes together; it is named after what was dropped."""
        home = uploads_folder()
        try:
            home.mkdir(parents=True, exist_ok=True)
            free = shutil.disk_usage(home).free
            if size > free - SPARE:
                raise NoSpace(
                    f"The files need {size / 1e9:.1f} GB, but only {free / 1e9:.1f} GB are free "
                    f"on the disk of {home}. Open their folder instead: it is not copied."
                )
            folder = _new_folder(home, _safe_name(name.replace("/", " ")) or "Dropped files")
        except OSError as problem:
            if isinstance(problem, NoSpace):
                raise
            raise InputError(f"{home} cannot be written: {problem.strerror}.") from problem
        upload = Upload(secrets.token_hex(8), folder)
        self._known[upload.id] = upload
        return upload

    def find(self, id: str) -> Upload:
        """Return an upload by its id."""
        if id not in self._known:
            raise UnknownUpload("There is no such upload. Drop the files again.")
        return self._known[id]

    def add(self, id: str, name: str, offset: int, piece: bytes, *, last: bool) -> int:
        """Append a piece of a file; returns the bytes that the file has now.

        Parameters
        ----------
        name : as the browser gave it, with the folders that it was in.
        offset : where the piece belongs; pieces come in order.
        last : whether the file is complete with it.
        """
        upload = self.find(id)
        with upload.lock:
            if not accepts(name):
                raise InputError(f"{name[:200]!r} is not a kind of file that samekind can read.")
            if upload.files >= MAX_FILES or offset + len(piece) > MAX_FILE:
                raise InputError(
                    f"Expected at most {MAX_FILES:,} files of {MAX_FILE / 1e9:.1f} GB each. Open "
                    "their folder instead: it is not copied."
                )
            try:
                return self._append(upload, name, offset, piece, last=last)
            except (FileExistsError, NotADirectoryError) as problem:
                raise InputError(
                    f"{name[:200]!r} could not be stored: one of its folders has the name of a "
                    "file that has arrived before. Rename one of them."
                ) from problem
            except OSError as problem:
                reason = problem.strerror or str(problem)
                raise NoSpace(f"{name[:200]!r} could not be stored: {reason}.") from problem

    def _append(self, upload: Upload, name: str, offset: int, piece: bytes, *, last: bool) -> int:
        part = upload.growing.get(name)
        if part is None:
            final = upload.folder / safe_path(name)
            final.parent.mkdir(parents=True, exist_ok=True)
            part = final.with_name(f".{secrets.token_hex(4)}-{final.name[:60]}{PART}")
            upload.growing[name] = part
        have = part.stat().st_size if part.exists() else 0
        if offset == 0:  # sent again after an error, from the beginning
            part.unlink(missing_ok=True)
            have = 0
        if offset != have:
            raise InputError(
                f"Expected the piece of {name[:200]!r} from byte {have}, got one from {offset}."
            )
        with part.open("ab") as file:
            file.write(piece)
        if last:
            _put(part, upload.folder / safe_path(name))
            del upload.growing[name]
            upload.files += 1
        return have + len(piece)

    def finish(self, id: str) -> Path:
        """Return the folder of a complete upload; incomplete files are removed."""
        upload = self.find(id)
        with upload.lock:
            for part in upload.growing.values():
                part.unlink(missing_ok=True)
            upload.growing.clear()
            if upload.files == 0:
                shutil.rmtree(upload.folder, ignore_errors=True)
                del self._known[id]
                raise InputError(
                    "None of the files can be read. Drop pictures, texts or a table, or a folder "
                    "with some."
                )
            return _single(upload.folder)

    def describe(self, id: str) -> str:
        """Say how many files have arrived."""
        return plural(self.find(id).files, "file")


def _new_folder(home: Path, name: str) -> Path:
    for k in range(1, 10_000):
        folder = home / (name if k == 1 else f"{name} {k}")
        try:
            folder.mkdir()
            return folder
        except FileExistsError:
            continue
    raise InputError(f"There are too many piles named {name!r} already. Rename what you drop.")


def _put(part: Path, final: Path) -> None:
    """Give a complete file its name; a number is added if there is one already."""
    stem, suffix = os.path.splitext(final.name)
    for k in range(1, 100_000):
        place = final if k == 1 else final.with_name(f"{stem} ({k}){suffix}")
        try:
            os.link(part, place)  # unlike a rename, it never replaces a file
            part.unlink()
            return
        except FileExistsError:
            continue
        except OSError:  # a file system without links
            if not place.exists():
                part.rename(place)
                return
    raise InputError(f"There are too many files named {final.name!r}.")


def _single(folder: Path) -> Path:
    """A table that was dropped by itself is opened as such, and everything else as a folder."""
    entries = [entry for entry in folder.iterdir() if not entry.name.startswith(".")]
    alone = entries[0] if len(entries) == 1 else None
    if alone is not None and alone.is_file() and alone.name.lower().endswith(openable_suffixes()):
        return alone
    return folder
