"""WordPiece: texts as the numbers of pieces of words, as BERT's networks read them.

The vocabulary is that of BERT (uncased, 30,522 pieces, Apache-2.0), which MiniLM shares.
"""

from __future__ import annotations

import gzip
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from importlib.resources import files

UNKNOWN, START, END = 100, 101, 102
"""Numbers of the pieces for an unknown word, and for the start and the end of a text."""
MAX_WORD = 100
"""Longer words are unknown."""


@lru_cache(maxsize=1)
def vocabulary() -> dict[str, int]:
    """The number of each piece; pieces within a word begin with ``##``."""
    packed = files("samekind.encoders.frozen").joinpath("data", "bert-uncased.txt.gz").read_bytes()
    pieces = gzip.decompress(packed).decode().split("\n")
    return {piece: number for number, piece in enumerate(pieces)}


def pieces_of(text: str, max_pieces: int) -> list[int]:
    """Numbers of the pieces of a text, with start and end, at most `max_pieces` of them.

    >>> pieces_of("Unaffable!", 16)
    [101, 14477, 20961, 3468, 999, 102]
    """
    found: list[int] = [START]
    for word in words_of(text):
        found.extend(_pieces(word))
        if len(found) >= max_pieces - 1:
            break
    return [*found[: max_pieces - 1], END]


def words_of(text: str) -> Iterator[str]:
    """Lower-case words without accents; each sign of punctuation is a word, and each ideograph.

    >>> list(words_of("Café, s'il vous plaît"))
    ['cafe', ',', 's', "'", 'il', 'vous', 'plait']
    """
    lower = "".join(map(str.lower, text))  # sign by sign: one has the same form everywhere
    plain = unicodedata.normalize("NFD", lower)
    word: list[str] = []
    for sign in plain:
        kind = unicodedata.category(sign)
        if kind == "Mn":  # an accent
            continue
        if sign in "\t\n\r" or kind == "Zs":
            alone, ends = False, True
        elif kind.startswith("C") or sign == "\ufffd":  # control characters are left out
            continue
        else:
            alone = ends = _punctuates(sign, kind) or _is_ideograph(ord(sign))
        if ends and word:
            yield "".join(word)
            word = []
        if alone:
            yield sign
        elif not ends:
            word.append(sign)
    if word:
        yield "".join(word)


def _punctuates(sign: str, kind: str) -> bool:
    """Whether a sign separates words; of ASCII all that are no letters, digits or spaces."""
    return kind.startswith("P") or (sign.isascii() and sign.isprintable() and not sign.isalnum())


def _is_ideograph(code: int) -> bool:
    return (
        0x4E00 <= code <= 0x9FFF
        or 0x3400 <= code <= 0x4DBF
        or 0x20000 <= code <= 0x2CEAF
        or 0xF900 <= code <= 0xFAFF
        or 0x2F800 <= code <= 0x2FA1F
    )


@lru_cache(maxsize=50_000)
def _pieces(word: str) -> tuple[int, ...]:
    """The longest known pieces of a word from left to right."""
    known = vocabulary()
    if len(word) > MAX_WORD:
        return (UNKNOWN,)
    found: list[int] = []
    start = 0
    while start < len(word):
        mark = "##" if start else ""
        stop = next(
            (stop for stop in range(len(word), start, -1) if mark + word[start:stop] in known), 0
        )
        if not stop:
            return (UNKNOWN,)
        found.append(known[mark + word[start:stop]])
        start = stop
    return tuple(found)
