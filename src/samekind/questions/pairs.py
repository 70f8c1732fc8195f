"""SamePair and SameGroups: two items, or two groups, that may be the same kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from samekind.errors import InputError
from samekind.questions.question import UNSURE, Link, Question, Same, read_remarks


@dataclass(frozen=True, slots=True)
class SamePair(Question):
    """Are these two the same kind?

    >>> SamePair(3, 8).links("different")
    (Link(a=3, b=8, same=False),)
    """

    kind: ClassVar[str] = "same-pair"
    prompt: ClassVar[str] = "Are these two the same kind?"
    a: int
    b: int

    def __post_init__(self) -> None:
        if self.a == self.b:
            raise InputError(f"Expected two different items, got item {self.a} twice.")

    def items(self) -> tuple[int, ...]:
        return (self.a, self.b)

    def choices(self) -> tuple[str, ...]:
        return ("same", "different", UNSURE)

    def links(self, choice: str) -> tuple[Link, ...]:
        self.check(choice)
        return () if choice == UNSURE else (Link(self.a, self.b, choice == "same"),)

    def truthful(self, same: Same) -> str:
        known = same(self.a, self.b)
        return UNSURE if known is None else ("same" if known else "different")

    def to_json(self, name: Callable[[int], str]) -> dict[str, Any]:
        return {"kind": self.kind, "a": name(self.a), "b": name(self.b), **self.remarks()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any], position: Callable[[str], int]) -> SamePair:
        return cls(position(data["a"]), position(data["b"]), **read_remarks(data))


@dataclass(frozen=True, slots=True)
class SameGroups(Question):
    """Are these two groups the same kind?

    Each group is a tuple of exemplars. Links refer to the first, the central one. The others help
    the person to see what the group is, so they should be known to be the same kind as the first.

    >>> SameGroups((1, 4), (2, 3)).links("same")
    (Link(a=1, b=2, same=True),)
    """

    kind: ClassVar[str] = "same-groups"
    prompt: ClassVar[str] = "Are these two groups the same kind?"
    a: tuple[int, ...]
    b: tuple[int, ...]

    def __post_init__(self) -> None:
        if not self.a or not self.b:
            raise InputError(
                "Expected two groups with at least 1 exemplar each, got "
                f"{len(self.a)} and {len(self.b)}. Give the central item of each group."
            )
        shown = (*self.a, *self.b)
        if len(set(shown)) < len(shown):
            raise InputError(
                f"The groups {self.a} and {self.b} show an item twice. Show each item once: an "
                "item in both groups would mean that they are the same kind already."
            )

    def items(self) -> tuple[int, ...]:
        return (*self.a, *self.b)

    def parts(self) -> tuple[tuple[int, ...], ...]:
        return (self.a, self.b)

    def choices(self) -> tuple[str, ...]:
        return ("same", "different", UNSURE)

    def links(self, choice: str) -> tuple[Link, ...]:
        self.check(choice)
        return () if choice == UNSURE else (Link(self.a[0], self.b[0], choice == "same"),)

    def truthful(self, same: Same) -> str:
        known = same(self.a[0], self.b[0])
        return UNSURE if known is None else ("same" if known else "different")

    def to_json(self, name: Callable[[int], str]) -> dict[str, Any]:
        a, b = ([name(i) for i in group] for group in (self.a, self.b))
        return {"kind": self.kind, "a": a, "b": b, **self.remarks()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any], position: Callable[[str], int]) -> SameGroups:
        a, b = (tuple(position(i) for i in data[side]) for side in ("a", "b"))
        return cls(a, b, **read_remarks(data))
