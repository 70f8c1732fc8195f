"""Pillow's words about damaged pictures, which would fill the terminal of a person."""

from __future__ import annotations

import logging
import re
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

_IGNORE = ("ignore", None, Warning, re.compile(r"(PIL|pillow_heif)\b"), 0)
# Records go on to those who listen; without any, they are no longer printed.
logging.getLogger("PIL").addHandler(logging.NullHandler())
_lock = threading.Lock()
_reading = 0
"""Threads that read a picture at this moment."""


@contextmanager
def quiet_pillow() -> Iterator[None]:
    """Leave out the warnings of Pillow while a picture is read, in all threads.

    One file of 60 kB can cause thousands. Not by ``warnings.catch_warnings``: it puts back what it
    found, so of two threads that read pictures one may leave everything ignored for good, also the
    warnings of a ledger.
    """
    global _reading
    with _lock:
        _reading += 1
        if _IGNORE not in warnings.filters[:1]:
            _filters().insert(0, _IGNORE)
    try:
        yield
    finally:
        with _lock:
            _reading -= 1
            filters = _filters()
            while not _reading and _IGNORE in filters:
                filters.remove(_IGNORE)


def _filters() -> list[Any]:
    """The filters in force: another list within ``warnings.catch_warnings``."""
    found: Any = warnings.filters
    return cast("list[Any]", found)
