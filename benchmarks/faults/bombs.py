"""Bombs: files of some kilobytes that would fill the memory of a reader that believed them."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Callable, Mapping
from typing import NamedTuple
from zipfile import ZipFile

import numpy as np

MEGABYTE = 1 << 20
ALLOWED_SIDE = 8900
"""Pixels a side of a picture just below the limit of 80 million."""
MOST = "the most pixels"
"""Begins the names of the pictures of this size."""
HUGE = 1000
"""Megabytes that a bomb unpacks to."""
LIE = 1000
"""Bytes that it states if it lies."""


class Packed(NamedTuple):
    """A file of an archive: its deflated bytes, and the size and checksum that are stated."""

    deflated: bytes
    stated: int
    checksum: int = 0


def deflated(megabytes: int, pattern: bytes = b"\0", head: bytes = b"", end: bytes = b"") -> bytes:
    """Deflate a pattern of that size without ever holding more than one megabyte of it."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    begun = packer.compress(head) + packer.flush(zlib.Z_FULL_FLUSH)
    one = packer.compress(_megabyte(pattern)) + packer.flush(zlib.Z_FULL_FLUSH)
    return begun + one * megabytes + packer.compress(end) + packer.flush()


def packed(
    megabytes: int,
    pattern: bytes = b"\0",
    head: bytes = b"",
    end: bytes = b"",
    *,
    lying: bool = False,
) -> Packed:
    """A file of an archive with its right size and checksum, or `lying` about the size."""
    one, checksum = _megabyte(pattern), zlib.crc32(head)
    for _ in range(0 if lying else megabytes):
        checksum = zlib.crc32(one, checksum)
    size = len(head) + megabytes * len(one) + len(end)
    content = deflated(megabytes, pattern, head, end)
    return Packed(content, LIE if lying else size, zlib.crc32(end, checksum))


def _megabyte(pattern: bytes) -> bytes:
    return pattern * (MEGABYTE // len(pattern))


def zipped(files: Mapping[str, Packed]) -> bytes:
    """A zip archive with files that are deflated already, and may be of any stated size."""
    body, directory = b"", b""
    for name, (content, stated, checksum) in files.items():
        facts = (20, 0, 8, 0, 0, checksum, len(content), stated, len(name), 0)
        place = len(body)
        body += b"PK\3\4" + struct.pack("<5H3I2H", *facts) + name.encode() + content
        directory += b"PK\1\2" + struct.pack("<6H3I5H2I", 20, *facts, 0, 0, 0, 0, place)
        directory += name.encode()
    counts = (0, 0, len(files), len(files), len(directory), len(body), 0)
    return body + directory + b"PK\5\6" + struct.pack("<4H2IH", *counts)


def png(
    side: int, *, depth: int = 8, colour: int = 2, more: bytes = b"", real: bool = True
) -> bytes:
    """A black PNG; with `real` all its pixels can be decoded. `more` : further chunks."""
    n_values = {0: 1, 2: 3, 6: 4}[colour]
    megabytes = (side * (1 + side * n_values * depth // 8)) // MEGABYTE + 2 if real else 0
    pixels = b"\x78\x9c" + deflated(megabytes)
    header = struct.pack(">IIBBBBB", side, side, depth, colour, 0, 0, 0)
    parts = chunk(b"IHDR", header) + more + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + parts


def chunk(name: bytes, content: bytes) -> bytes:
    """A chunk of a PNG file."""
    check = zlib.crc32(name + content)
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", check)


def tiff(side: int, *, bits: int = 8, floats: bool = False, strip: bytes = b"") -> bytes:
    """A black TIFF in one deflated strip, of just its pixels unless another `strip` is given."""
    strip = strip or b"\x78\x9c" + deflated(side * side * bits // 8 // MEGABYTE + 2)
    tags = (256, side), (257, side), (258, bits), (259, 8), (262, 1), (273, 8), (277, 1)
    more = (278, side), (279, len(strip)), (339, 3 if floats else 1)
    pages = b"".join(struct.pack("<HHII", tag, 4, 1, value) for tag, value in (*tags, *more))
    directory = struct.pack("<H", len(tags) + len(more)) + pages + bytes(4)
    return struct.pack("<2sHI", b"II", 42, 8 + len(strip)) + strip + directory


def tiff_with_pages(pages: int) -> bytes:
    """A tiny TIFF whose pages go on for very long, and end where they began."""
    one = tiff(8)
    place, found = len(one), one[:-4]
    size = 2 + 12 + 4
    for page in range(pages):
        following = place + (page + 1) * size if page + 1 < pages else place
        found += struct.pack("<I", place) if not page else b""
        found += struct.pack("<HHHIII", 1, 256, 4, 1, 8, following)
    return found


def gif(frames: int) -> bytes:
    """A GIF of 1 x 1 pixels with very many frames."""
    screen = struct.pack("<HHBBB", 1, 1, 0x80, 0, 0) + b"\0\0\0\xff\xff\xff"
    frame = b"," + struct.pack("<HHHHB", 0, 0, 1, 1, 0) + b"\x02\x02\x44\x01\x00"
    return b"GIF89a" + screen + frame * frames + b";"


def photo(exif: bytes) -> bytes:
    """A small JPEG with some EXIF data."""
    from PIL import Image

    file = io.BytesIO()
    Image.new("RGB", (64, 64), "red").save(file, "JPEG", exif=b"Exif\0\0" + exif)
    return file.getvalue()


def looping_exif(entries: int = 5000) -> bytes:
    """EXIF data whose entries claim to be huge, and whose directories contain themselves."""
    links = [(tag, 4, 1, 8) for tag in (0x8769, 0x8825, 0xA005)]
    claims = [(0x100 + k, 3 + k % 9, 0xFFFFFF0 + k, 0xFFF0) for k in range(entries)]
    found = b"".join(struct.pack("<HHII", *entry) for entry in (*claims, *links))
    return (
        struct.pack("<2sHI", b"II", 42, 8) + struct.pack("<H", entries + 3) + found + b"\x08\0\0\0"
    )


def npy_header(rows: int, columns: int) -> bytes:
    """The beginning of a ``.npy`` file of bytes."""
    file = io.BytesIO()
    shape = {"descr": "|u1", "fortran_order": False, "shape": (rows, columns)}
    np.lib.format.write_array_header_1_0(file, shape)
    return file.getvalue()


def array(megabytes: int, *, lying: bool = False) -> Packed:
    """An array of zeros for an archive."""
    return packed(megabytes, head=npy_header(megabytes * MEGABYTE, 1), lying=lying)


def session_with(good: bytes, name: str, content: Packed) -> bytes:
    """A saved session in which one file is replaced."""
    parts = {}
    with ZipFile(io.BytesIO(good)) as file:
        for part in file.namelist():
            whole = file.read(part)
            parts[part] = Packed(zlib.compress(whole, 9, -15), len(whole), zlib.crc32(whole))
    return zipped(parts | {name: content})


def _archive(name: str, make: Callable[[], Packed]) -> Callable[[bytes], bytes]:
    return lambda good: session_with(good, name, make())


def gzipped(megabytes: int) -> bytes:
    """A gzip file of zeros; its checksum is wrong, which only its end would tell."""
    return b"\x1f\x8b\x08\0\0\0\0\0\0\xff" + deflated(megabytes) + bytes(8)


PICTURES: dict[str, Callable[[], bytes]] = {
    "claims 50,000 x 50,000.png": lambda: png(50_000),
    "claims 12,000 x 12,000.png": lambda: png(12_000),
    "the most pixels.png": lambda: png(ALLOWED_SIDE),
    "the most pixels, 16 bits.png": lambda: png(ALLOWED_SIDE, depth=16, colour=0),
    "the most pixels, transparent.png": lambda: png(ALLOWED_SIDE, colour=6),
    "text.png": lambda: png(64, more=chunk(b"zTXt", b"a\0\0\x78\x9c" + deflated(200)) * 4),
    "profile.png": lambda: png(64, more=chunk(b"iCCP", b"a\0\0\x78\x9c" + deflated(200))),
    "claims too much.tiff": lambda: tiff(60_000, strip=b"\0"),
    "the most pixels.tiff": lambda: tiff(ALLOWED_SIDE),
    "the most pixels, floats.tiff": lambda: tiff(ALLOWED_SIDE, bits=32, floats=True),
    "far more than stated.tiff": lambda: tiff(64, strip=b"\x78\x9c" + deflated(HUGE)),
    "pages.tiff": lambda: tiff_with_pages(60_000),
    "frames.gif": lambda: gif(200_000),
    "frames, cut off.gif": lambda: gif(200_000)[:-1],
    "loops.jpg": lambda: photo(looping_exif()),
}
"""By name of the file: pictures of a stranger."""
ARCHIVES: dict[str, Callable[[], bytes]] = {
    "honest.npz": lambda: zipped({"X.npy": array(HUGE)}),
    "lying.npz": lambda: zipped({"X.npy": array(HUGE, lying=True)}),
    "lying, not an array.npz": lambda: zipped({"X": packed(HUGE, lying=True)}),
    "many.npz": lambda: zipped({f"{k}.npy": array(60) for k in range(60)}),
    "nested.npz": lambda: zipped({"X.npz": packed(0, head=zipped({"X.npy": array(60)}))}),
    "nested.zip": lambda: zipped({"a.zip": packed(HUGE)}),
    "texts.txt.gz": lambda: gzipped(HUGE),
}
"""By name of the file: archives of a stranger."""
SESSIONS: dict[str, Callable[[bytes], bytes]] = {
    "vectors.session": _archive("vectors.npy", lambda: array(HUGE)),
    "lying vectors.session": _archive("vectors.npy", lambda: array(HUGE, lying=True)),
    "lying facts.session": _archive("session.json", lambda: packed(HUGE, b" ", lying=True)),
    "lists.session": _archive("session.json", lambda: packed(60, b"[],", b'{"a":[', b"[]]}")),
    "long event.session": _archive(
        "events.jsonl", lambda: packed(60, b"[],", b'["told",{"a":[', b"[]]},1]")
    ),
}
"""By name of the file: what makes a bomb of a saved session."""
