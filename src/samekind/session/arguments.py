"""Arguments that programs give to a session: checked, and turned into plain Python numbers.

Numbers that samekind returns itself, such as ``session.labels[0]``, come from numpy. A ledger
stores plain JSON, so they are turned into Python's where they enter.
"""

from __future__ import annotations

from operator import index
from typing import Any

from samekind.errors import AnswerError, InputError, SamekindError

MAX_SEED = 2**32 - 1
"""The largest seed that scikit-learn takes."""


def whole_number(value: Any, what: str) -> int:
    """A whole number as a Python int; `what` names it, with an example.

    >>> import numpy as np
    >>> whole_number(np.int64(3), "a seed, such as 0")
    3
    """
    try:
        return index(value)
    except TypeError:
        raise InputError(f"Expected {what}, got {value!r}. Give one whole number.") from None


def question_number(value: Any) -> int:
    """The number of a question."""
    return whole_number(value, "the number of a question, such as session.ask().number")


def group_number(value: Any) -> int:
    """The number of a group."""
    return whole_number(value, "the number of a group, such as session.labels[0]")


def checked_seed(value: Any) -> int:
    """A seed that all methods take."""
    seed = whole_number(value, "a seed, such as 0")
    if not 0 <= seed <= MAX_SEED:
        raise InputError(f"Expected a seed from 0 to {MAX_SEED}, got {seed}. Choose another one.")
    return seed


def checked_seconds(value: Any) -> float | None:
    """The seconds that an answer took; None: not known."""
    if value is None:
        return None
    try:
        if isinstance(value, str | bytes):
            raise TypeError
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise AnswerError(
            f"Expected the seconds of an answer as a number, got {value!r:.40}. Omit them if they "
            "are not known."
        ) from None


def checked_text(value: Any, what: str, error: type[SamekindError] = InputError) -> str:
    """A text; `what` names it, with an example."""
    if not isinstance(value, str):
        raise error(f"Expected {what}, got {value!r}. Give a text.")
    return value
