"""WhichGroup: an item, and the groups to which it may belong."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from samekind.errors import InputError
from samekind.questions.question import NONE, UNSURE, Link, Question, Same, read_remarks


@dataclass(frozen=True, slots=True)
class WhichGroup(Question):
    """Which of these groups does this belong to?

    Each group is a tuple of exemplars. Links refer to the first, the central one. The others help
    the person to see what the group is, so they should be known to be the same kind as the first.
    Choosing a group states nothing about the other groups: two of them may be the same kind.
    With `all_groups` no other group is left that it could belong to, so "none" is a new group.

    >>> WhichGroup(7, ((1, 4), (2,))).choices()
    ('1', '2', 'none', 'unsure')
    >>> WhichGroup(7, ((1, 4), (2,))).links("none")
    (Link(a=7, b=1, same=False), Link(a=7, b=2, same=False))
    """

    kind: ClassVar[str] = "which-group"
    prompt: ClassVar[str] = "Which of these groups does this belong to?"
    max_groups: ClassVar[int] = 100
    usual_groups: ClassVar[int] = 5
    """Groups that strategies show of a few: more take long to compare."""
    many_groups: ClassVar[int] = 8
    """Known groups from which on all are shown: a person then searches the list for one of them,
    which takes less time than several questions about five groups each."""
    item: int
    groups: tuple[tuple[int, ...], ...]
    all_groups: bool = field(default=False, kw_only=True, compare=False)
    """Whether these are all the groups that it could belong to."""

    def __post_init__(self) -> None:
        if not 1 <= len(self.groups) <= self.max_groups or not all(self.groups):
            raise InputError(
                f"Expected 1 to {self.max_groups} groups with at least 1 exemplar each, got groups "
                f"of {[len(group) for group in self.groups]}. Show the nearest groups first."
            )
        if any(self.item in group for group in self.groups):
            raise InputError(f"Item {self.item} cannot be its own exemplar. Remove it.")

    @classmethod
    def n_shown(cls, n_known: int) -> int:
        """The number of groups to show where so many are known.

        >>> WhichGroup.n_shown(3), WhichGroup.n_shown(7), WhichGroup.n_shown(37)
        (3, 5, 37)
        """
        return min(n_known, cls.max_groups if n_known >= cls.many_groups else cls.usual_groups)

    @property
    def words(self) -> Mapping[str, str]:
        if len(self.groups) == 1 and not self.all_groups:
            return {"1": "Same kind", NONE: "Different"}
        return {NONE: "New group"} if self.all_groups else {}

    def heading(self, name: Callable[[int], str], verb: str = "Tap") -> str:
        if len(self.groups) > 1 or self.all_groups:
            return self.prompt
        known = name(self.groups[0][0])
        return f"Is this the same kind as “{known}”?" if known else "Are these the same kind?"

    @property
    def hints(self) -> bool:
        return self.all_groups and not self.at_random  # nearest first

    def items(self) -> tuple[int, ...]:
        return tuple(dict.fromkeys((self.item, *(i for group in self.groups for i in group))))

    def choices(self) -> tuple[str, ...]:
        return (*(str(k + 1) for k in range(len(self.groups))), NONE, UNSURE)

    def exemplars(self, choice: str) -> tuple[int, ...]:
        return self.groups[int(choice) - 1] if choice.isdecimal() else ()

    def placed_item(self, choice: str) -> int | None:
        settled = choice.isdecimal() or (choice == NONE and self.all_groups)
        return self.item if settled else None

    def links(self, choice: str) -> tuple[Link, ...]:
        self.check(choice)
        if choice == UNSURE:
            return ()
        if choice == NONE:
            return tuple(Link(self.item, group[0], False) for group in self.groups)
        return (Link(self.item, self.groups[int(choice) - 1][0], True),)

    def truthful(self, same: Same) -> str:
        known = [same(self.item, group[0]) for group in self.groups]
        if True in known:
            return str(known.index(True) + 1)
        return UNSURE if None in known else NONE

    def remarks(self) -> dict[str, Any]:
        found = Question.remarks(self)
        return {**found, "all_groups": True} if self.all_groups else found

    def to_json(self, name: Callable[[int], str]) -> dict[str, Any]:
        groups = [[name(i) for i in group] for group in self.groups]
        return {"kind": self.kind, "item": name(self.item), "groups": groups, **self.remarks()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any], position: Callable[[str], int]) -> WhichGroup:
        groups = tuple(tuple(position(i) for i in group) for group in data["groups"])
        all_groups = bool(data.get("all_groups"))
        return cls(position(data["item"]), groups, all_groups=all_groups, **read_remarks(data))
