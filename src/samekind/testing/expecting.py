"""Expecting an error without pytest: contracts must run wherever the package runs."""

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
    raise AssertionError(f"{error.__name__} was expected, but nothing was raised.")
