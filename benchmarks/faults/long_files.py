"""Files without end: too long to read, too deep to follow, or with too many parts to look at."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

PHONE = Path(__file__).parents[2] / "tests" / "sources" / "files" / "pictures" / "phone.heic"
"""A HEIC file of a phone, which Pillow cannot write."""
SPARSE = 1 << 36
"""Bytes of a file that takes hardly any of the disk, and more memory than a machine has."""
DEPTH = 100_000
_GRAPH = '<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><graph edgedefault="undirected">'


class Long(NamedTuple):
    """A file that begins with some bytes, and goes on with zeros up to a size."""

    head: bytes
    size: int = 0

    def write(self, path: Path) -> None:
        """Make the file."""
        with open(path, "wb") as stream:
            stream.write(self.head)
            stream.truncate(max(self.size, len(self.head)))


def box(kind: bytes, content: bytes) -> bytes:
    """A box of an ISO media file."""
    return struct.pack(">I", 8 + len(content)) + kind + content


def heic_with(more: bytes, size: int = 0) -> Long:
    """A photo of a phone, and something behind it."""
    return Long(PHONE.read_bytes() + more, size)


def entities(levels: int = 9) -> bytes:
    """XML whose entities stand for ten others each."""
    made = "".join(
        f'<!ENTITY e{level} "{f"&e{level - 1};" * 10}">' for level in range(1, levels + 1)
    )
    node = f'<node id="&e{levels};"/></graph></graphml>'
    return f'<!DOCTYPE g [<!ENTITY e0 "word">{made}]>{_GRAPH}{node}'.encode()


PICTURES: dict[str, Callable[[], Long]] = {
    "goes on.heic": lambda: heic_with(struct.pack(">I", 0) + b"free", SPARSE),
    "goes on.png": lambda: Long(b"\x89PNG\r\n\x1a\n", SPARSE),
    "boxes.heic": lambda: heic_with(box(b"free", b"") * 6_000_000),
    "parts.heic": lambda: heic_with(box(b"meta", b"infe\2" * 3_000_000)),
    "part without end.heic": lambda: heic_with(box(b"meta", b"\0\0\0\0infe\2" + bytes(10_000_000))),
}
"""By name of the file: pictures of a stranger."""
TABLES: dict[str, Callable[[], Long]] = {
    "goes on.csv": lambda: Long(b"a,b\n1,2\n", SPARSE),
    "goes on.txt": lambda: Long(b"one\ntwo\n", SPARSE),
    "goes on.edges": lambda: Long(b"a b\nb c\n", SPARSE),
    "goes on.gml": lambda: Long(b"graph [ ", SPARSE),
    "goes on.graphml": lambda: Long(_GRAPH.encode(), SPARSE),
    "equal names.csv": lambda: Long((b"a," * DEPTH)[:-1] + b"\n" + (b"1," * DEPTH)[:-1] + b"\n"),
    "one quote.csv": lambda: Long(b'a,b\n1,"' + b"x\n" * 5_000_000),
    "nested.gml": lambda: Long(b"graph [ node [ id 1 " + b"a [ " * DEPTH + b"]" * DEPTH + b" ] ]"),
    "nested.graphml": lambda: Long(
        (_GRAPH + '<node id="a"><graph edgedefault="undirected">' * DEPTH).encode()
    ),
    "entities.graphml": lambda: Long(entities()),
}
"""By name of the file: tables, texts and graphs of a stranger."""
