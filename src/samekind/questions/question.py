"""Question: the interface of every kind of question; and Link, the meaning of an answer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

from samekind.characters import whole_characters
from samekind.errors import AnswerError

UNSURE = "unsure"
NONE = "none"
Same = Callable[[int, int], bool | None]
"""Whether two items are the same kind: True, False, or None when that is not known."""


class Link(NamedTuple):
    """Two items, by position, that are or are not the same kind."""

    a: int
    b: int
    same: bool


class Marking(NamedTuple):
    """Words for the items that an answer names, where it may name several at once.

    Parameters
    ----------
    belong : whether the named items are those that belong to the group.
    word : a word or two on a named item. one, several : how many are named; ``{}`` is the number.
    """

    belong: bool
    word: str
    one: str
    several: str

    def counted(self, count: int) -> str:
        """The words for so many named items, from 1 up."""
        return self.one if count == 1 else self.several.format(count)


@dataclass(frozen=True, slots=True)
class Expectation:
    """The answer that the groups implied when a question was asked. People never see it.

    Parameters
    ----------
    choice : the answer if the groups are right.
    clear : share of the items whose group was less clear than that of the item in question.
    """

    choice: str
    clear: float


@dataclass(frozen=True, slots=True)
class Question(ABC):
    """A question about items, which are given by their positions."""

    kind: ClassVar[str]
    prompt: ClassVar[str]
    many: ClassVar[bool] = False
    """Whether a choice may name several numbers at once: see :func:`joined`."""
    marking: ClassVar[Marking | None] = None
    """Words for the items that a choice names; None unless `many`."""
    by_hand: ClassVar[bool] = False
    """Whether it stands for a change by hand: the person picked the items."""
    why: str = field(default="", kw_only=True, compare=False)
    """One line for the person: why this question is worth answering."""
    at_random: bool = field(default=False, kw_only=True, compare=False)
    """Whether the item was drawn at random, to check how well the groups fit."""
    expected: Expectation | None = field(default=None, kw_only=True, compare=False)
    """The answer that the groups implied when it was asked; None: not recorded."""

    @property
    def words(self) -> Mapping[str, str]:
        """Labels of choices, where the usual words could be misunderstood."""
        return {}

    @property
    def hints(self) -> bool:
        """Whether the order of the choices follows what the groups imply."""
        return False

    @abstractmethod
    def items(self) -> tuple[int, ...]:
        """Positions of all items to show, in order, each once."""

    @abstractmethod
    def choices(self) -> tuple[str, ...]:
        """The possible answers; ``"unsure"`` is always the last."""

    def exemplars(self, choice: str) -> tuple[int, ...]:
        """Items to show with a choice, as what it stands for; the others are shown above."""
        return ()

    def heading(self, name: Callable[[int], str], verb: str = "Tap") -> str:
        """The prompt, with the name of the group that it is about where that has one.

        Parameters
        ----------
        name : the person's name for the group of an item, or an empty string.
        verb : how an item is named: "Tap" on a page.
        """
        return self.prompt

    def parts(self) -> tuple[tuple[int, ...], ...]:
        """The other items as they are shown: each alone, unless several stand for one group."""
        beside = {i for choice in self.choices() for i in self.exemplars(choice)}
        return tuple((i,) for i in self.items() if i not in beside)

    def placed_item(self, choice: str) -> int | None:
        """The item that a choice puts into a known or new group, which it may name; None: none."""
        return None

    def subjects(self) -> tuple[int, ...]:
        """The items in doubt; the others are shown as representatives of a group."""
        return tuple(part[0] for part in self.parts())

    def remarks(self) -> dict[str, Any]:
        """What a ledger stores beside the question itself."""
        found: dict[str, Any] = {"why": self.why}
        if self.at_random:
            found["at_random"] = True
        if self.expected is not None:
            found["expected"] = [self.expected.choice, self.expected.clear]
        return found

    @abstractmethod
    def links(self, choice: str) -> tuple[Link, ...]:
        """The links that a choice states; none for ``"unsure"``."""

    def omitted(self, choice: str) -> tuple[Link, ...]:
        """Those of :meth:`links` that are stated only by not naming an item."""
        return ()

    @abstractmethod
    def truthful(self, same: Same) -> str:
        """The choice whose links are all true under `same`; ``"unsure"`` if that is not known.

        With ``same=constraints.same`` this tells whether the answer is already implied.
        """

    @abstractmethod
    def to_json(self, name: Callable[[int], str]) -> dict[str, Any]:
        """The question as plain JSON, with ids instead of positions."""

    @classmethod
    @abstractmethod
    def from_json(cls, data: Mapping[str, Any], position: Callable[[str], int]) -> Question:
        """Read a question from the JSON of :meth:`to_json`."""

    def check(self, choice: str) -> None:
        """Raise :class:`AnswerError` unless `choice` is one of the choices."""
        if choice not in self.choices():
            raise AnswerError(
                f"{choice!r} is not an answer to a {self.kind!r} question. "
                f"Choose one of: {', '.join(self.choices())}."
            )


def read_remarks(data: Mapping[str, Any]) -> dict[str, Any]:
    """Read the remarks from the JSON of a question."""
    expected = data.get("expected")
    return {
        "why": whole_characters(data.get("why", "")),
        "at_random": bool(data.get("at_random")),
        "expected": None if expected is None else Expectation(str(expected[0]), float(expected[1])),
    }


def joined(numbers: Iterable[int]) -> str:
    """The choice that names these numbers: ascending, joined by commas, or ``"none"``.

    There is only one spelling, so that an answer sent twice is recognised.

    >>> joined([5, 2]), joined([])
    ('2,5', 'none')
    """
    return ",".join(str(number) for number in sorted(set(numbers))) or NONE


def named(choice: str) -> tuple[int, ...]:
    """The numbers that a choice names; empty for a choice in words.

    >>> named("2,5"), named("none")
    ((2, 5), ())
    """
    parts = choice.split(",")
    return tuple(map(int, parts)) if all(part.isdecimal() for part in parts) else ()
