"""The image of a database: its pages as SQLite sees them with a log, opened in memory.

So a log is looked at without SQLite moving it into the file, and without a copy on a disk, which
may be full.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO

from samekind.ledger.write_ahead_log import Committed

CAN_DESERIALIZE = hasattr(sqlite3.Connection, "deserialize")
"""Not in every build of SQLite: some of the long-term distributions leave it out."""


def with_log(file: bytes, log: Committed) -> bytes:
    """The database as SQLite sees it with its log."""
    size = log.page_size
    image = bytearray(file[: log.n_pages * size].ljust(log.n_pages * size, b"\0"))
    for number, page in log.pages.items():
        if 0 < number <= log.n_pages:
            image[(number - 1) * size : number * size] = page
    return bytes(image)


def opened(image: bytes) -> sqlite3.Connection:
    """A connection to an image; nothing that is done there is written to a disk."""
    connection = sqlite3.connect(":memory:", uri=True)
    connection.execute("PRAGMA temp_store=MEMORY")
    if CAN_DESERIALIZE:
        connection.deserialize(_without_log(image))
        return connection
    with (
        NamedTemporaryFile() as copy,
        closing(sqlite3.connect(_written(copy, image), uri=True)) as c,
    ):
        c.backup(connection)
    return connection


def attach(connection: sqlite3.Connection, image: bytes, name: str) -> None:
    """Add an image to a connection as another database."""
    if CAN_DESERIALIZE:
        connection.execute(f"ATTACH ':memory:' AS {name}")
        connection.deserialize(_without_log(image), name=name)
        return
    with NamedTemporaryFile() as copy:
        connection.execute(f"ATTACH ? AS {name}", (_written(copy, image),))


def _without_log(image: bytes) -> bytes:
    """The image marked as that of a database that has no log."""
    return image[:18] + b"\x01\x01" + image[20:]


def _written(copy: IO[bytes], image: bytes) -> str:
    """The address of a file for the image, whose name is free again once SQLite has opened it."""
    copy.write(_without_log(image))
    copy.flush()
    return f"{Path(copy.name).as_uri()}?immutable=1"
