"""Where answers and cached vectors are stored, and paths that hold from any folder."""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path

from samekind.encoders import default_cache
from samekind.sources import is_set


def cache_folder() -> Path:
    """Folder of cached vectors; safe to delete."""
    return default_cache() / "vectors"


def ledger_file(source: str | Path) -> Path:
    """Default ledger of a path: one file for all orientations, in the user's data folder."""
    text = str(source)
    place = text if is_set(text) or "://" in text else str(Path(text).expanduser().resolve())
    name = re.sub(r"[^\w.-]+", "-", Path(place).name).strip("-.") or "pile"
    key = hashlib.sha256(place.encode()).hexdigest()[:8]
    return data_folder() / f"{name}-{key}.samekind"


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
