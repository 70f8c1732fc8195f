"""OddOnes: a group, and items that are thought to belong to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar

from samekind.questions.grid import Grid
from samekind.questions.question import NONE, Marking


@dataclass(frozen=True, slots=True)
class OddOnes(Grid):
    """Which of these do not belong?

    The items shown are thought to belong to the group. A choice names those that do not;
    ``"none"`` says that all belong. See :class:`~samekind.questions.grid.Grid`.

    >>> question = OddOnes((1, 4), (7, 8, 9))
    >>> question.links("2")
    (Link(a=7, b=1, same=True), Link(a=8, b=1, same=False), Link(a=9, b=1, same=True))
    >>> question.omitted("2")
    (Link(a=7, b=1, same=True), Link(a=9, b=1, same=True))
    >>> question.exemplars("1,3")
    (7, 9)
    """

    kind: ClassVar[str] = "odd-ones"
    prompt: ClassVar[str] = "Which of these do not belong?"
    words: ClassVar[Mapping[str, str]] = {NONE: "All belong"}
    marking: ClassVar[Marking] = Marking(False, "is not", "1 is not", "{} are not")

    def heading(self, name: Callable[[int], str], verb: str = "Tap") -> str:
        """
        >>> OddOnes((1, 4), (7, 8, 9)).heading(lambda item: "Stars")
        'These look like “Stars”. Tap those that are not.'
        """
        own = name(self.group[0])
        those = f"“{own}”" if own else "this group"
        return f"These look like {those}. {verb} those that are not."
