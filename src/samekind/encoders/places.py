"""Where samekind keeps what it can compute again: converted networks and cached vectors."""

from __future__ import annotations

import os
from pathlib import Path


def default_cache() -> Path:
    """The cache folder: below ``$SAMEKIND_HOME`` if set, else where the system keeps caches.

    It can be deleted at any time; everything in it is computed again when needed.
    """
    home = os.environ.get("SAMEKIND_HOME")
    if home:
        return Path(home).expanduser() / "cache"
    try:
        from platformdirs import user_cache_dir
    except ImportError:
        return Path.home() / ".cache" / "samekind"
    return Path(user_cache_dir("samekind", appauthor=False))
