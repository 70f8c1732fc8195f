"""Grid: one group, and many items that one answer sorts into two: those named, and the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from samekind.errors import AnswerError, InputError
from samekind.questions.question import (
    NONE,
    UNSURE,
    Link,
    Marking,
    Question,
    Same,
    joined,
    named,
    read_remarks,
)


@dataclass(frozen=True, slots=True)
class Grid(Question):
    """A question about many items at once: each is of the kind of one group, or is not.

    `group` holds exemplars known to be the same kind, the central one first; links refer to that
    one. `shown` holds the items asked about. A choice names some of them: their numbers, from 1,
    joined by commas in ascending order, or ``"none"``. So one answer states for every item whether
    it belongs, and nothing about those that do not among themselves. Any other spelling ("5,2",
    "2,2", "2, 5") is refused with the correct one.

    What is said of the others, only by not naming them, is in :meth:`omitted`: an item is easily
    overlooked, so this never outranks what a person said explicitly.
    """

    many: ClassVar[bool] = True
    max_shown: ClassVar[int] = 24
    marking: ClassVar[Marking]
    group: tuple[int, ...]
    shown: tuple[int, ...]

    def __post_init__(self) -> None:
        if not self.group or not 1 <= len(self.shown) <= self.max_shown:
            raise InputError(
                f"Expected 1 to {self.max_shown} items and at least 1 exemplar of their group for "
                f"an {self.kind!r} question, got {len(self.shown)} and {len(self.group)}. Ask "
                "about the most doubtful items first."
            )
        if len(set(self.items())) < len(self.group) + len(self.shown):
            raise InputError(
                f"The group {self.group} and the items {self.shown} show an item twice. Show each "
                "item once: an exemplar is known to belong."
            )

    def items(self) -> tuple[int, ...]:
        return (*self.group, *self.shown)

    def parts(self) -> tuple[tuple[int, ...], ...]:
        return (self.group,)

    def subjects(self) -> tuple[int, ...]:
        return self.shown

    def choices(self) -> tuple[str, ...]:
        return (NONE, *(str(k + 1) for k in range(len(self.shown))), UNSURE)

    def exemplars(self, choice: str) -> tuple[int, ...]:
        self.check(choice)
        return tuple(self.shown[number - 1] for number in named(choice))

    def links(self, choice: str) -> tuple[Link, ...]:
        self.check(choice)
        if choice == UNSURE:
            return ()
        found = set(named(choice))
        return tuple(
            Link(item, self.group[0], (k + 1 in found) == self.marking.belong)
            for k, item in enumerate(self.shown)
        )

    def omitted(self, choice: str) -> tuple[Link, ...]:
        return tuple(link for link in self.links(choice) if link.same != self.marking.belong)

    def truthful(self, same: Same) -> str:
        known = [same(item, self.group[0]) for item in self.shown]
        if None in known:
            return UNSURE
        return joined(k + 1 for k, belongs in enumerate(known) if belongs == self.marking.belong)

    def check(self, choice: str) -> None:
        """Raise :class:`AnswerError` unless `choice` is one of the choices, or joins several."""
        choices = self.choices()
        parts = choice.split(",")
        if choice in choices or (set(parts) <= set(choices[1:-1]) and choice == _joined(parts)):
            return
        listed = ", ".join(choices)
        advice = f"Choose one of: {listed}; join several numbers by commas, as in '1,2'."
        if all(part.strip().isdecimal() for part in parts):
            unknown = [part.strip() for part in parts if part.strip() not in choices]
            advice = (
                f"Expected numbers from 1 to {len(self.shown)}, got {unknown[0]}."
                if unknown
                else "Name each number once, in ascending order, with commas and no spaces: "
                f"{_joined(parts)!r}."
            )
        raise AnswerError(f"{choice!r} is not an answer to an {self.kind!r} question. {advice}")

    def to_json(self, name: Callable[[int], str]) -> dict[str, Any]:
        group, shown = ([name(i) for i in items] for items in (self.group, self.shown))
        return {"kind": self.kind, "group": group, "shown": shown, **self.remarks()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any], position: Callable[[str], int]) -> Self:
        group, shown = (tuple(position(i) for i in data[part]) for part in ("group", "shown"))
        return cls(group, shown, **read_remarks(data))


def _joined(parts: list[str]) -> str:
    return joined(map(int, parts))
