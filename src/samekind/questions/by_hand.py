"""What a person says about groups without being asked: the questions behind acts by hand.

Whoever merges two groups or pulls an item out answers a question that nobody put. It is kept like
any other, with its answer, so that it can be shown, changed and taken back.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from samekind.errors import InputError
from samekind.questions.question import UNSURE, Link, Question, Same

YES, NO = "yes", "no"
Parts = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class ByHand(Question):
    """A statement about `parts`, tuples of items; "yes" says that it holds.

    "No" says only that it does not hold as a whole, which means no link.
    """

    by_hand: ClassVar[bool] = True
    fewest: ClassVar[int] = 1
    """Parts that there must be."""
    step: ClassVar[int] = 1
    """Parts that go together."""
    given: Parts

    def __post_init__(self) -> None:
        shown = self.items()
        if len(self.given) < self.fewest or not all(self.given) or len(shown) < 2:
            raise InputError(
                f"A {self.kind!r} question speaks of two items or more, in at least {self.fewest} "
                f"parts that are not empty; {[len(part) for part in self.given]} came."
            )
        if len(self.given) % self.step:
            raise InputError(f"The parts of a {self.kind!r} question come by twos.")
        if len(set(shown)) < len(shown):
            raise InputError(f"A {self.kind!r} question shows an item twice. Name each item once.")

    def items(self) -> tuple[int, ...]:
        return tuple(i for part in self.given for i in part)

    def parts(self) -> Parts:
        return self.given

    def choices(self) -> tuple[str, ...]:
        return (YES, NO, UNSURE)

    @abstractmethod
    def stated(self) -> tuple[Link, ...]:
        """What "yes" means."""

    def links(self, choice: str) -> tuple[Link, ...]:
        self.check(choice)
        return self.stated() if choice == YES else ()

    def truthful(self, same: Same) -> str:
        unknown = False
        for a, b, wanted in self.stated():
            known = same(a, b)
            if known is None:
                unknown = True
            elif known != wanted:
                return NO
        return UNSURE if unknown else YES

    def to_json(self, name: Callable[[int], str]) -> dict[str, Any]:
        given = [[name(i) for i in part] for part in self.given]
        return {"kind": self.kind, "given": given, **self.remarks()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any], position: Callable[[str], int]) -> Self:
        given = tuple(tuple(position(i) for i in part) for part in data["given"])
        return cls(given, why=data.get("why", ""), at_random=bool(data.get("at_random")))


@dataclass(frozen=True, slots=True)
class OneKind(ByHand):
    """Are all these one kind? Said of groups that are merged, and of items caught on the map.

    >>> OneKind(((4, 7), (2,))).links("yes")
    (Link(a=7, b=4, same=True), Link(a=2, b=4, same=True))
    """

    kind: ClassVar[str] = "one-kind"
    prompt: ClassVar[str] = "Are all these one kind?"
    words: ClassVar[Mapping[str, str]] = {YES: "One kind", NO: "Not one kind"}

    def stated(self) -> tuple[Link, ...]:
        return _tied(self.items())


@dataclass(frozen=True, slots=True)
class OwnKind(ByHand):
    """Are these a kind of their own? The first part is, apart from all items in the others.

    >>> OwnKind(((4, 7), (2,))).links("yes")
    (Link(a=7, b=4, same=True), Link(a=4, b=2, same=False))
    """

    kind: ClassVar[str] = "own-kind"
    prompt: ClassVar[str] = "Are the first of these a kind of their own?"
    words: ClassVar[Mapping[str, str]] = {YES: "A kind of their own", NO: "Not of their own"}
    fewest: ClassVar[int] = 2

    def stated(self) -> tuple[Link, ...]:
        own, *others = self.given
        return (*_tied(own), *_apart(own[0], others))


@dataclass(frozen=True, slots=True)
class Belongs(ByHand):
    """Do these belong to that group? The first part to the second, apart from the others.

    >>> Belongs(((9,), (4, 7), (2,))).links("yes")
    (Link(a=4, b=9, same=True), Link(a=7, b=9, same=True), Link(a=9, b=2, same=False))
    """

    kind: ClassVar[str] = "belongs"
    prompt: ClassVar[str] = "Do the first of these belong to the second?"
    words: ClassVar[Mapping[str, str]] = {YES: "They belong there", NO: "Not there"}
    fewest: ClassVar[int] = 2

    def stated(self) -> tuple[Link, ...]:
        moved, group, *left = self.given
        return (*_tied((*moved, *group)), *_apart(moved[0], left))


@dataclass(frozen=True, slots=True)
class Elsewhere(ByHand):
    """Do these belong somewhere else? Part after part a group, and items that are not of it.

    Nothing is said about where the items belong, nor whether they are one kind.

    >>> Elsewhere(((4,), (7, 8))).links("yes")
    (Link(a=7, b=4, same=False), Link(a=8, b=4, same=False))
    """

    kind: ClassVar[str] = "elsewhere"
    prompt: ClassVar[str] = "Do the second of these belong somewhere else than the first?"
    words: ClassVar[Mapping[str, str]] = {YES: "Somewhere else", NO: "Not all of them"}
    fewest: ClassVar[int] = 2
    step: ClassVar[int] = 2

    def stated(self) -> tuple[Link, ...]:
        pairs = zip(self.given[::2], self.given[1::2], strict=True)
        return tuple(Link(i, e, False) for group, odd in pairs for i in odd for e in group)


def _tied(items: Sequence[int]) -> tuple[Link, ...]:
    return tuple(Link(i, items[0], True) for i in items[1:])


def _apart(item: int, others: Iterable[Sequence[int]]) -> tuple[Link, ...]:
    return tuple(Link(item, i, False) for part in others for i in part)
