"""Question and Link: what every kind of question can say about itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

from samekind.errors import AnswerError

UNSURE = "unsure"
NONE = "none"
Same = Callable[[int, int], bool | None]
"""Whether two items are the same kind: True, False, or None when that is not known."""


class Link(NamedTuple):
    """Two items (positions) that are the same kind, or are not."""

    a: int
    b: int
    same: bool


@dataclass(frozen=True, slots=True)
class Question(ABC):
    """Something that a person can be asked about items, given by their positions."""

    kind: ClassVar[str]
    prompt: ClassVar[str]
    words: ClassVar[Mapping[str, str]] = {}
    """What choices are called, where the usual words could be misunderstood."""
    many: ClassVar[bool] = False
    """Whether a choice may name several of the numbers at once: see :func:`joined`."""
    by_hand: ClassVar[bool] = False
    """Whether the person put it himself: its items were picked, and say nothing of the others."""
    why: str = field(default="", kw_only=True, compare=False)
    """One line for the person: why this question is worth an answer."""
    at_random: bool = field(default=False, kw_only=True, compare=False)
    """Whether the item was drawn at random, to see how well the groups fit."""

    @abstractmethod
    def items(self) -> tuple[int, ...]:
        """Positions of all items that must be shown, in the order of showing, each once."""

    @abstractmethod
    def choices(self) -> tuple[str, ...]:
        """What can be answered; ``"unsure"`` is always the last."""

    def exemplars(self, choice: str) -> tuple[int, ...]:
        """Items to be shown with a choice, as what it stands for; the others are shown above."""
        return ()

    def parts(self) -> tuple[tuple[int, ...], ...]:
        """The other items, as they are shown: each alone, unless several stand for one group."""
        beside = {i for choice in self.choices() for i in self.exemplars(choice)}
        return tuple((i,) for i in self.items() if i not in beside)

    def remarks(self) -> dict[str, Any]:
        """What a ledger keeps beside the question itself."""
        found: dict[str, Any] = {"why": self.why}
        return {**found, "at_random": True} if self.at_random else found

    @abstractmethod
    def links(self, choice: str) -> tuple[Link, ...]:
        """What a choice means. ``"unsure"`` means nothing."""

    @abstractmethod
    def truthful(self, same: Same) -> str:
        """The choice whose links are all true under `same`; ``"unsure"`` when `same` does not say.

        With ``same=constraints.same`` this tells whether the answer is already implied.
        """

    @abstractmethod
    def to_json(self, name: Callable[[int], str]) -> dict[str, Any]:
        """The question with ids instead of positions, for ledgers and pages."""

    @classmethod
    @abstractmethod
    def from_json(cls, data: Mapping[str, Any], position: Callable[[str], int]) -> Question:
        """The opposite of :meth:`to_json`."""

    def check(self, choice: str) -> None:
        """Raise :class:`AnswerError` unless `choice` is one of the choices."""
        if choice not in self.choices():
            raise AnswerError(
                f"{choice!r} is not an answer to a {self.kind!r} question. "
                f"Choose one of: {', '.join(self.choices())}."
            )


def joined(numbers: Iterable[int]) -> str:
    """The choice that names these numbers: ascending, with commas, or ``"none"``.

    An answer has one spelling only, so that one that is sent twice is known to be the same.

    >>> joined([5, 2]), joined([])
    ('2,5', 'none')
    """
    return ",".join(str(number) for number in sorted(set(numbers))) or NONE


def named(choice: str) -> tuple[int, ...]:
    """The numbers that a choice names; nothing for a choice in words.

    >>> named("2,5"), named("none")
    ((2, 5), ())
    """
    parts = choice.split(",")
    return tuple(map(int, parts)) if all(part.isdecimal() for part in parts) else ()
