"""AllLike: a group, and items among which others of its kind are looked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

from samekind.questions.grid import Grid
from samekind.questions.question import NONE, Marking

SEARCH_WHY = "You asked for more like these."
"""The reason of every question of a search; in ledgers of version 0.1.0 their only mark."""


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
    marking: ClassVar[Marking] = Marking(True, "same", "1 is the same kind", "{} are the same kind")
    search: bool = field(default=False, kw_only=True, compare=False)
    """Whether it belongs to a search that the person began, and is followed by its next grid."""

    def heading(self, name: Callable[[int], str], verb: str = "Tap") -> str:
        """
        >>> AllLike((1,), (7, 8, 9)).heading(lambda item: "")
        'Tap all that are the same kind as this one.'
        """
        own = name(self.group[0])
        this = f"“{own}”" if own else "this one" if len(self.group) == 1 else "these"
        return f"{verb} all that are the same kind as {this}."

    def remarks(self) -> dict[str, Any]:
        found = Grid.remarks(self)
        return {**found, "search": True} if self.search else found

    @classmethod
    def from_json(cls, data: Mapping[str, Any], position: Callable[[str], int]) -> Self:
        found = super(AllLike, cls).from_json(data, position)
        return replace(found, search=bool(data.get("search", found.why == SEARCH_WHY)))
