"""Characters that every place can store and show: files, terminals, JSON and pages."""

from __future__ import annotations

import unicodedata

_UNPRINTABLE = frozenset({"Cc", "Zl", "Zp"})  # control characters, line ends


def whole_characters(text: str) -> str:
    r"""The text; half a surrogate pair, which UTF-8 cannot hold, is replaced.

    JSON and Python can hold such halves, so files of strangers may have them.

    >>> whole_characters("half \ud800") == "half \N{REPLACEMENT CHARACTER}"
    True
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def one_line(text: str) -> str:
    r"""The text on one line: without control characters and surplus spaces.

    >>> one_line(" red\x00\x1b[31m \n fox ")
    'red [31m fox'
    """
    shown = (" " if unicodedata.category(c) in _UNPRINTABLE else c for c in whole_characters(text))
    return " ".join("".join(shown).split())
