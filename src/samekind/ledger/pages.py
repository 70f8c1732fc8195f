"""Read events straight from the pages of a damaged SQLite file, without its tree.

Every event that is found has its checksum, so a wrong guess about a page does no harm.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from samekind.ledger.checksums import Row

_LEAF, _INTERIOR = 0x0A, 0x02
_OTHER_TREES = (0x05, 0x0D)
_LOG_HEADER, _FRAME_HEADER = 32, 24
_PAGE_SIZE = 4096
"""The size that ledgers are created with."""


def scan_pages(file: bytes, log: bytes = b"") -> Iterator[Row]:
    """All whole events in the pages of a file and of its write-ahead log, in any order."""
    pages = _numbered(file)
    step = _FRAME_HEADER + _PAGE_SIZE
    written = [
        (int.from_bytes(log[start : start + 4], "big"), log[start + _FRAME_HEADER : start + step])
        for start in range(_LOG_HEADER, len(log), step)
    ]
    newest = pages | dict(written)
    for number, page in [*pages.items(), *written]:
        yield from _Page(page, number, newest, pages).rows()


def scan_log(file: bytes, written: dict[int, bytes]) -> Iterator[Row]:
    """All whole events in the pages that a log has written."""
    pages = _numbered(file)
    newest = pages | written
    for number, page in written.items():
        yield from _Page(page, number, newest, pages).rows()


def _numbered(file: bytes) -> dict[int, bytes]:
    return {
        number: file[start : start + _PAGE_SIZE]
        for number, start in enumerate(range(0, len(file), _PAGE_SIZE), start=1)
    }


@dataclass(frozen=True, slots=True)
class _Page:
    content: bytes
    number: int
    newest: dict[int, bytes]
    """An event that is longer than a page goes on in others, with what the log says of them."""
    stored: dict[int, bytes]

    def rows(self) -> Iterator[Row]:
        """The whole events of this page."""
        for start in self._starts():
            for others in (self.newest, self.stored):
                try:
                    row = self._row(start, others)
                except (ValueError, IndexError, TypeError, OverflowError):  # not an event
                    continue
                if row.is_whole:
                    yield row
                    break

    def _starts(self) -> Iterator[int]:
        """Where events may begin: by the list of the page, or anywhere if that is damaged."""
        kind = self.content[0] if self.content else 0
        if kind in (_LEAF, _INTERIOR):
            header, skip = (8, 0) if kind == _LEAF else (12, 4)
            cells = int.from_bytes(self.content[3:5], "big")
            end = min(header + 2 * cells, len(self.content))
            for place in range(header, end - 1, 2):
                yield int.from_bytes(self.content[place : place + 2], "big") + skip
        continues = int.from_bytes(self.content[:4], "big") <= len(self.stored)
        if self.number > 1 and kind not in _OTHER_TREES and not continues:
            yield from self._likely_starts()

    def _likely_starts(self) -> Iterator[int]:
        """Where the bytes look like the beginning of an event: a short header after its length."""
        for place in range(8, len(self.content) - 16):
            for length in (1, 2, 3):  # bytes of the number before the header
                if 8 <= self.content[place + length] <= 16:
                    yield place

    def _row(self, start: int, others: dict[int, bytes]) -> Row:
        size, place = _varint(self.content, start)
        payload = self._payload(size, place, others)
        length, place = _varint(payload, 0)
        sizes, body = [], length
        while place < length:
            code, place = _varint(payload, place)
            sizes.append(code)
        if len(sizes) != len(Row._fields):
            raise ValueError("another number of columns")
        values = []
        for code in sizes:
            value, body = _value(payload, body, code)
            values.append(value)
        session, seq, kind, data, at, asked, checksum = values
        numbers = (int(seq), float(at), int(asked))
        texts = (str(session), str(kind), str(data), str(checksum))
        return Row(texts[0], numbers[0], texts[1], texts[2], numbers[1], numbers[2], texts[3])

    def _payload(self, size: int, place: int, others: dict[int, bytes]) -> bytes:
        """The bytes of an event, which may go on in other pages."""
        if not 8 <= size <= 2**30:
            raise ValueError("not the size of an event")
        most = (_PAGE_SIZE - 12) * 64 // 255 - 23
        if size <= most:
            return self.content[place : place + size]
        least = (_PAGE_SIZE - 12) * 32 // 255 - 23
        here = least + (size - least) % (_PAGE_SIZE - 4)
        here = here if here <= most else least
        parts = [self.content[place : place + here]]
        following = int.from_bytes(self.content[place + here : place + here + 4], "big")
        got = here
        while got < size:
            page = others.get(following)
            if page is None:
                raise ValueError("a page is missing")
            parts.append(page[4 : 4 + size - got])
            got += _PAGE_SIZE - 4
            following = int.from_bytes(page[:4], "big")
        return b"".join(parts)


def _varint(data: bytes, place: int) -> tuple[int, int]:
    """A number of variable length, and where it ends."""
    value = 0
    for length in range(9):
        byte = data[place + length]
        if length == 8:
            return value << 8 | byte, place + 9
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, place + length + 1
    raise ValueError("not a number")


def _value(data: bytes, place: int, code: int) -> tuple[str | int | float, int]:
    """A value of a record by its type, and where it ends."""
    if code in (8, 9):
        return code - 8, place
    if 1 <= code <= 7:
        size = (1, 2, 3, 4, 6, 8, 8)[code - 1]
        part = data[place : place + size]
        if len(part) < size:
            raise ValueError("cut off")
        if code == 7:
            return float(struct.unpack(">d", part)[0]), place + size
        return int.from_bytes(part, "big", signed=True), place + size
    if code >= 13 and code % 2:
        size = (code - 13) // 2
        part = data[place : place + size]
        if len(part) < size:
            raise ValueError("cut off")
        return part.decode(), place + size
    raise ValueError("not a value of an event")
