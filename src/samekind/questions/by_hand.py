"""Questions behind changes that a person makes by hand: merge, split, move, take out, choose.

Merging two groups answers a question that was not asked. It is stored like any other question, so
that the change can be shown, edited and undone.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

from samekind.errors import InputError
from samekind.questions.question import UNSURE, Link, Question, Same, read_remarks

YES, NO = "yes", "no"
Parts = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class ByHand(Question):
    """A statement about parts, which are tuples of items. "Yes" means that it holds.

    "No" means only that it does not hold as a whole, which states no link.
    """

    by_hand: ClassVar[bool] = True
    min_parts: ClassVar[int] = 1
    step: ClassVar[int] = 1
    """The number of parts must be a multiple of this."""
    given: Parts
    kept: Parts = field(default=(), kw_only=True)
    """Items that stay together as they were, although one that tied them is taken away."""
    apart: tuple[tuple[int, int], ...] = field(default=(), kw_only=True)
    """Pairs that stay different as they were, for the same reason."""

    def __post_init__(self) -> None:
        shown = tuple(i for part in self.given for i in part)
        if len(self.given) < self.min_parts or not all(self.given) or len(shown) < 2:
            raise InputError(
                f"Expected at least 2 items in at least {self.min_parts} non-empty parts for a "
                f"{self.kind!r} question, got parts of {[len(part) for part in self.given]} items."
            )
        if len(self.given) % self.step:
            raise InputError(
                f"Expected an even number of parts for a {self.kind!r} question, got "
                f"{len(self.given)}."
            )
        if len(set(shown)) < len(shown):
            raise InputError(f"A {self.kind!r} question names an item twice. Name each item once.")

    def items(self) -> tuple[int, ...]:
        parts = (*self.given, *self.kept, *self.apart)
        return tuple(dict.fromkeys(i for part in parts for i in part))

    def parts(self) -> Parts:
        shown = {i for part in self.given for i in part}
        found = list(self.given)
        for part in (*self.kept, *self.apart):
            found.append(tuple(i for i in part if i not in shown))
            shown.update(part)
        return tuple(part for part in found if part)

    def moved(self) -> tuple[int, ...]:
        """The items that "yes" takes away from others."""
        return ()

    def choices(self) -> tuple[str, ...]:
        return (YES, NO, UNSURE)

    @abstractmethod
    def stated(self) -> tuple[Link, ...]:
        """The links that "yes" states."""

    def links(self, choice: str) -> tuple[Link, ...]:
        self.check(choice)
        if choice != YES:
            return ()
        kept = (link for part in self.kept for link in _tied(part))
        return (*self.stated(), *kept, *(Link(a, b, False) for a, b in self.apart))

    def truthful(self, same: Same) -> str:
        unknown = False
        for a, b, wanted in self.links(YES):
            known = same(a, b)
            if known is None:
                unknown = True
            elif known != wanted:
                return NO
        return UNSURE if unknown else YES

    def to_json(self, name: Callable[[int], str]) -> dict[str, Any]:
        groups = {"given": self.given, "kept": self.kept, "apart": self.apart}
        named = {key: [[name(i) for i in part] for part in parts] for key, parts in groups.items()}
        filled = {key: parts for key, parts in named.items() if parts}
        return {"kind": self.kind, **filled, **self.remarks()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any], position: Callable[[str], int]) -> Self:
        given, kept, apart = (
            tuple(tuple(position(i) for i in part) for part in parts)
            for parts in (data["given"], data.get("kept", ()), data.get("apart", ()))
        )
        pairs = tuple((a, b) for a, b in apart)
        return cls(given, kept=kept, apart=pairs, **read_remarks(data))


@dataclass(frozen=True, slots=True)
class OneKind(ByHand):
    """Are all of these the same kind? For merged groups, and for items selected on the map.

    >>> OneKind(((4, 7), (2,))).links("yes")
    (Link(a=7, b=4, same=True), Link(a=2, b=4, same=True))
    """

    kind: ClassVar[str] = "one-kind"
    prompt: ClassVar[str] = "Are all of these the same kind?"
    words: ClassVar[Mapping[str, str]] = {YES: "Same kind", NO: "Not the same kind"}

    def stated(self) -> tuple[Link, ...]:
        return _tied(self.items())


@dataclass(frozen=True, slots=True)
class OwnKind(ByHand):
    """Are these a kind of their own? The first part, different from all items in the others.

    >>> OwnKind(((4, 7), (2,))).links("yes")
    (Link(a=7, b=4, same=True), Link(a=4, b=2, same=False))
    """

    kind: ClassVar[str] = "own-kind"
    prompt: ClassVar[str] = "Are the first of these a kind of their own?"
    words: ClassVar[Mapping[str, str]] = {YES: "A kind of their own", NO: "Not a kind of their own"}
    min_parts: ClassVar[int] = 2

    def stated(self) -> tuple[Link, ...]:
        own, *others = self.given
        return (*_tied(own), *_apart(own[0], others))

    def moved(self) -> tuple[int, ...]:
        return self.given[0]


@dataclass(frozen=True, slots=True)
class Belongs(ByHand):
    """Do these belong to that group? The first part to the second, and not to the others.

    >>> Belongs(((9,), (4, 7), (2,))).links("yes")
    (Link(a=4, b=9, same=True), Link(a=7, b=9, same=True), Link(a=9, b=2, same=False))
    """

    kind: ClassVar[str] = "belongs"
    prompt: ClassVar[str] = "Do the first of these belong to the second?"
    words: ClassVar[Mapping[str, str]] = {YES: "They belong there", NO: "They do not belong there"}
    min_parts: ClassVar[int] = 2

    def stated(self) -> tuple[Link, ...]:
        moved, group, *left = self.given
        return (*_tied((*moved, *group)), *_apart(moved[0], left))

    def moved(self) -> tuple[int, ...]:
        return self.given[0]


@dataclass(frozen=True, slots=True)
class Elsewhere(ByHand):
    """Do these belong somewhere else? Parts alternate: a group, then items that are not in it.

    States nothing about where the items belong, nor whether they are the same kind.

    >>> Elsewhere(((4,), (7, 8))).links("yes")
    (Link(a=7, b=4, same=False), Link(a=8, b=4, same=False))
    """

    kind: ClassVar[str] = "elsewhere"
    prompt: ClassVar[str] = "Do the second of these belong somewhere else than the first?"
    words: ClassVar[Mapping[str, str]] = {YES: "Somewhere else", NO: "Not all of them"}
    min_parts: ClassVar[int] = 2
    step: ClassVar[int] = 2

    def stated(self) -> tuple[Link, ...]:
        pairs = zip(self.given[::2], self.given[1::2], strict=True)
        return tuple(Link(i, e, False) for group, odd in pairs for i in odd for e in group)

    def moved(self) -> tuple[int, ...]:
        return tuple(i for odd in self.given[1::2] for i in odd)


@dataclass(frozen=True, slots=True)
class SeparateKinds(ByHand):
    """Is each part a kind of its own? For a whole grouping that the person chooses.

    >>> SeparateKinds(((4, 7), (2,))).links("yes")
    (Link(a=7, b=4, same=True), Link(a=4, b=2, same=False))
    """

    kind: ClassVar[str] = "separate-kinds"
    prompt: ClassVar[str] = "Is each of these a kind of its own?"
    words: ClassVar[Mapping[str, str]] = {YES: "Each is its own kind", NO: "Not like this"}

    def stated(self) -> tuple[Link, ...]:
        firsts = [part[0] for part in self.given]
        tied = (link for part in self.given for link in _tied(part))
        apart = (Link(a, b, False) for k, a in enumerate(firsts) for b in firsts[k + 1 :])
        return (*tied, *apart)


def _tied(items: Sequence[int]) -> tuple[Link, ...]:
    return tuple(Link(i, items[0], True) for i in items[1:])


def _apart(item: int, others: Iterable[Sequence[int]]) -> tuple[Link, ...]:
    return tuple(Link(item, i, False) for part in others for i in part)
