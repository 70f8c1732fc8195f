"""AllLike: a group, and items among which others of its kind are looked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from samekind.questions.grid import Grid
from samekind.questions.question import NONE


@dataclass(frozen=True, slots=True)
class AllLike(Grid):
    """Which of these are the same kind?

    The items shown are candidates for the kind of the group. A choice names those of that kind;
    ``"none"`` says that there is none. See :class:`~samekind.questions.grid.Grid`.

    >>> question = AllLike((1, 4), (7, 8, 9))
    >>> question.links("2")
    (Link(a=7, b=1, same=False), Link(a=8, b=1, same=True), Link(a=9, b=1, same=False))
    >>> question.omitted("2")
    (Link(a=7, b=1, same=False), Link(a=9, b=1, same=False))
    """

    kind: ClassVar[str] = "all-like"
    prompt: ClassVar[str] = "Which of these are the same kind?"
    words: ClassVar[Mapping[str, str]] = {NONE: "None of these"}
    named_belong: ClassVar[bool] = True
