"""A lock on a store on disk: two commands never write to it at the same time."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from samekind.bulk.files import is_url
from samekind.bulk.manifest import FOLDER
from samekind.errors import InputError


@contextmanager
def locked(store: str) -> Iterator[None]:
    """Hold the lock of a store; the system releases it even if the process is killed.

    Behind a URL there are no locks: there the person has to see to it.
    """
    if is_url(store):
        yield
        return
    import fcntl

    folder = os.path.join(store, FOLDER)
    made = not os.path.isdir(store)
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "lock")
    try:
        with open(path, "wb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as busy:
                raise InputError(
                    f"Another process is writing to {store!r}. Wait until it is done."
                ) from busy
            yield
    finally:
        if made:
            _remove_if_empty(store)


def _remove_if_empty(store: str) -> None:
    """Remove the folder of a store that was never begun."""
    folder = os.path.join(store, FOLDER)
    if set(os.listdir(store)) == {FOLDER} and set(os.listdir(folder)) <= {"lock"}:
        for name in os.listdir(folder):
            os.unlink(os.path.join(folder, name))
        os.rmdir(folder)
        os.rmdir(store)
