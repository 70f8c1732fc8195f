"""Question and its kinds, Answer, Link: what is asked, and what each choice means.

A question describes itself: who must be shown, which choices there are, what each choice means
as links, and which choice is true. Store, oracle, terminal, HTTP and constraints never branch on
the kind of question.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

from samekind.errors import AnswerError, InputError, UnknownName

UNSURE = "unsure"
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
    why: str = field(default="", kw_only=True, compare=False)
    """One line for the person: why this question is worth an answer."""

    @abstractmethod
    def items(self) -> tuple[int, ...]:
        """Positions of all items that must be shown, in the order of showing, each once."""

    @abstractmethod
    def choices(self) -> tuple[str, ...]:
        """What can be answered; ``"unsure"`` is always the last."""

    def exemplars(self, choice: str) -> tuple[int, ...]:
        """Items to be shown with a choice, as what it stands for; the others are shown above."""
        return ()

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
            raise InputError(f"Item {self.a} cannot be compared with itself. Take two items.")

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
        return {"kind": self.kind, "a": name(self.a), "b": name(self.b), "why": self.why}

    @classmethod
    def from_json(cls, data: Mapping[str, Any], position: Callable[[str], int]) -> SamePair:
        return cls(position(data["a"]), position(data["b"]), why=data.get("why", ""))


@dataclass(frozen=True, slots=True)
class WhichGroup(Question):
    """Which of these groups does this belong to?

    Each group is a tuple of exemplars. Only the first, the central one, is what a choice speaks
    of; the others help the person to see what the group is, so they should be known to be of the
    same kind as the first. Choosing a group says nothing about the groups not chosen: two groups
    on the screen may turn out to be one kind.

    >>> WhichGroup(7, ((1, 4), (2,))).choices()
    ('1', '2', 'none', 'unsure')
    >>> WhichGroup(7, ((1, 4), (2,))).links("none")
    (Link(a=7, b=1, same=False), Link(a=7, b=2, same=False))
    """

    kind: ClassVar[str] = "which-group"
    prompt: ClassVar[str] = "Which of these groups does this belong to?"
    most: ClassVar[int] = 5
    item: int
    groups: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        if not 1 <= len(self.groups) <= self.most or not all(self.groups):
            raise InputError(
                f"A 'which-group' question shows 1 to {self.most} groups, each with at least one "
                f"exemplar; {len(self.groups)} came. Show the nearest ones first and ask again."
            )
        if any(self.item in group for group in self.groups):
            raise InputError(f"Item {self.item} cannot be its own exemplar. Leave it out.")

    def items(self) -> tuple[int, ...]:
        return tuple(dict.fromkeys((self.item, *(i for group in self.groups for i in group))))

    def choices(self) -> tuple[str, ...]:
        return (*(str(k + 1) for k in range(len(self.groups))), "none", UNSURE)

    def exemplars(self, choice: str) -> tuple[int, ...]:
        return self.groups[int(choice) - 1] if choice.isdecimal() else ()

    def links(self, choice: str) -> tuple[Link, ...]:
        self.check(choice)
        if choice == UNSURE:
            return ()
        if choice == "none":
            return tuple(Link(self.item, group[0], False) for group in self.groups)
        return (Link(self.item, self.groups[int(choice) - 1][0], True),)

    def truthful(self, same: Same) -> str:
        known = [same(self.item, group[0]) for group in self.groups]
        if True in known:
            return str(known.index(True) + 1)
        return UNSURE if None in known else "none"

    def to_json(self, name: Callable[[int], str]) -> dict[str, Any]:
        groups = [[name(i) for i in group] for group in self.groups]
        return {"kind": self.kind, "item": name(self.item), "groups": groups, "why": self.why}

    @classmethod
    def from_json(cls, data: Mapping[str, Any], position: Callable[[str], int]) -> WhichGroup:
        groups = tuple(tuple(position(i) for i in group) for group in data["groups"])
        return cls(position(data["item"]), groups, why=data.get("why", ""))


KINDS: dict[str, type[Question]] = {kind.kind: kind for kind in (SamePair, WhichGroup)}
"""Every kind of question by its name. A new kind is one class and one entry here."""


def question_from_json(data: Mapping[str, Any], position: Callable[[str], int]) -> Question:
    """A question of any kind from its JSON form."""
    kind = str(data.get("kind"))
    if kind not in KINDS:
        raise UnknownName("kind of question", kind, KINDS)
    return KINDS[kind].from_json(data, position)


@dataclass(frozen=True, slots=True)
class Answer:
    """One act of a person: the question by its number, the choice, who, and how long it took."""

    number: int
    question: Question
    choice: str
    by: str = "me"
    seconds: float | None = None

    def __post_init__(self) -> None:
        self.question.check(self.choice)

    @property
    def links(self) -> tuple[Link, ...]:
        """What the answer means."""
        return self.question.links(self.choice)
