"""Expect an error without pytest, so that contracts run wherever the package runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def raises(error: type[Exception]) -> Iterator[None]:
    """Fail unless the block raises `error`."""
    try:
        yield
    except error:
        return
    raise AssertionError(f"Expected {error.__name__}, but nothing was raised.")
