"""Where answers and cached vectors are stored, and paths that hold from any folder."""

from __future__ import annotations

import errno
import hashlib
import os
import re
from pathlib import Path

from samekind.encoders import default_cache
from samekind.errors import StoreError
from samekind.sources import is_set
from samekind.user_paths import as_bytes, expanded, is_there

MAX_NAME_BYTES = 229
"""Of the visible part of a ledger's name: with key, suffix and that of its journal, 255."""
SHORT_NAME_BYTES = 100
"""What is left of a longer one."""


def cache_folder() -> Path:
    """Folder of cached vectors; safe to delete."""
    return default_cache() / "vectors"


def ledger_file(source: str | Path) -> Path:
    """Default ledger of a path: one file for all orientations, in the user's data folder."""
    text = str(source)
    place = text if is_set(text) or "://" in text else os.path.realpath(expanded(text))
    name = re.sub(r"[^\w.-]+", "-", Path(place).name).strip("-.") or "pile"
    if len(name.encode()) > MAX_NAME_BYTES:
        name = name.encode()[:SHORT_NAME_BYTES].decode(errors="ignore")
    key = hashlib.sha256(as_bytes(place)).hexdigest()[:8]
    return data_folder() / f"{name}-{key}.samekind"


def ledger_path(target: str) -> Path:
    """The file of a ledger; StoreError if no ledger can have that name.

    SQLite puts further files beside it, with longer names.
    """
    file = expanded(target.removeprefix("sqlite:///"))
    if is_there(file.parent, StoreError) and not is_there(file, StoreError):
        try:
            os.lstat(f"{file}-journal")
        except OSError as problem:
            if problem.errno == errno.ENAMETOOLONG:
                raise StoreError(
                    f"Expected a shorter name for a ledger, got one of {len(file.name)} "
                    "characters. Choose a name of at most 200 with --ledger."
                ) from problem
    return file


def data_folder() -> Path:
    """Folder of ledgers, which hold the person's answers; nothing deletes them."""
    if os.environ.get("SAMEKIND_HOME"):
        return Path(os.environ["SAMEKIND_HOME"]) / "sessions"
    try:
        from platformdirs import user_data_path
    except ImportError:
        return Path.home() / ".local" / "share" / "samekind"
    return user_data_path("samekind", appauthor=False)


def absolute(path: str) -> str:
    """Make a path independent of the current folder; the name of a set or a URL stays as it is."""
    return path if is_set(path) or "://" in path else os.path.abspath(os.path.expanduser(path))
