"""Constraints: the consistent closure of the answers, and the answers that contradict it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cached_property, partial
from itertools import chain
from numbers import Integral
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from samekind.constraints.closure import Closure
from samekind.constraints.layers import LayeredTuple
from samekind.constraints.omissions import Folded, SetAside, extended, holding, refolded
from samekind.errors import InputError
from samekind.questions import Answer, Link, SamePair
from samekind.questions.wording import plural


def told_same(value: object) -> bool:
    """The third value of a link: True for the same kind, False for different kinds.

    >>> told_same(True), told_same(0)
    (True, False)
    """
    if isinstance(value, bool | np.bool_) or (isinstance(value, Integral) and value in (0, 1)):
        return bool(value)
    raise InputError(
        f"Expected True or False as third value, got {value!r}. Write True for the same kind, and "
        "False for different kinds."
    )


class Links(NamedTuple):
    """Links as arrays of equal length: positions `a` and `b`, `same`, and `weight`."""

    a: NDArray[np.intp]
    b: NDArray[np.intp]
    same: NDArray[np.bool_]
    weight: NDArray[np.float64]


class Conflict:
    """An answer that contradicts earlier ones, with the smallest set of contradicting answers.

    Of a long ledger the set is looked for when it is first needed, since few are ever shown.
    """

    __slots__ = ("_clash", "_find", "answer")

    def __init__(self, answer: Answer, find: Callable[[], tuple[Answer, ...]]) -> None:
        self.answer = answer
        self._find: Callable[[], tuple[Answer, ...]] | None = find
        self._clash: tuple[Answer, ...] = ()

    @property
    def clash(self) -> tuple[Answer, ...]:
        """The answer and those that it contradicts; without any one the others are consistent."""
        find = self._find
        if find is not None:
            self._clash, self._find = find(), None
        return self._clash

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Conflict):
            return NotImplemented
        return self.answer == other.answer and self.clash == other.clash

    def __hash__(self) -> int:
        return hash(self.answer)

    def __repr__(self) -> str:
        return f"Conflict({self.answer!r}, {self.clash!r})"


class Constraints:
    """The links that the answers state and imply. Immutable: :meth:`with_answer` returns a new one.

    An answer that contradicts earlier ones is set aside as a whole, in :attr:`conflicts`, and the
    earlier answers stay in force. Links that an answer states only by not naming an item are
    weaker: where one contradicts what is said explicitly, before or after, it alone is set aside,
    in :attr:`overruled`. Folding the same answers always gives the same result.

    Items that were deleted after they were asked about have the positions `n_items` to
    ``n_items + n_gone - 1``. They are in no result, but what follows through them still holds: "a
    is like x" and "x is like b" make a and b the same kind although x is gone.

    >>> answers = [Answer(1, SamePair(0, 1), "same"), Answer(2, SamePair(1, 2), "different")]
    >>> known = Constraints.from_answers(4, answers)
    >>> known.same(0, 2), known.same(0, 3)
    (False, None)
    >>> [a.number for a in known.with_answer(Answer(3, SamePair(0, 2), "same")).conflicts[0].clash]
    [1, 2, 3]
    """

    def __init__(self, n_items: int, *, n_gone: int = 0) -> None:
        if n_items < 0 or n_gone < 0:
            raise InputError(f"Expected counts of items from 0 up, got {n_items} and {n_gone}.")
        self.n_items = n_items
        self.n_gone = n_gone
        self.conflicts: tuple[Conflict, ...] = ()
        self._closure = Closure()
        self._explicit = self._closure
        """The closure without omissions; the same object where there are none."""
        self._set_aside: SetAside = {}
        self._answers: LayeredTuple[Answer] = LayeredTuple()
        self._in_force: LayeredTuple[Answer] = LayeredTuple()

    @classmethod
    def from_answers(cls, n_items: int, answers: Iterable[Answer], *, n_gone: int = 0) -> Self:
        """Fold answers in their order."""
        return cls(n_items, n_gone=n_gone)._extended(answers)

    @classmethod
    def from_links(cls, n_items: int, links: Iterable[tuple[int, int, bool]]) -> Self:
        """Fold links, as if each were the answer to a pair question."""
        pairs = [(int(a), int(b), "same" if told_same(c) else "different") for a, b, c in links]
        return cls.from_answers(
            n_items,
            [Answer(k + 1, SamePair(a, b), choice) for k, (a, b, choice) in enumerate(pairs)],
        )

    def with_answer(self, answer: Answer) -> Self:
        """These constraints with one more answer."""
        return self._extended((answer,))

    @cached_property
    def answers(self) -> tuple[Answer, ...]:
        """All answers in their order, also those that contradict earlier ones."""
        return self._answers.joined()

    @property
    def n_answers(self) -> int:
        """The number of answers."""
        return len(self._answers)

    @property
    def last_answer(self) -> Answer:
        """The last answer; IndexError if there is none."""
        return self._answers[len(self._answers) - 1]

    def same(self, a: int, b: int) -> bool | None:
        """Whether two items are the same kind: True, False, or None if not known."""
        return self._closure.same(a, b)

    def component(self, item: int) -> NDArray[np.intp]:
        """All items known to be the same kind as this one, ascending, itself included."""
        return self._here(self._closure.component(item))

    @cached_property
    def touched(self) -> NDArray[np.intp]:
        """Items in the links of the answers in force, ascending."""
        return self._here(self._closure.parent.joined())

    @cached_property
    def picked(self) -> NDArray[np.intp]:
        """Touched items that only appear in changes by hand: the person picked them."""
        if not any(answer.question.by_hand for answer in self.answers):
            return _array(())
        asked = (link for answer, link in self._holding if not answer.question.by_hand)
        linked = {item for a, b, _ in asked for item in (a, b)}
        return np.setdiff1d(self.touched, _array(linked))

    @cached_property
    def unconfirmed(self) -> NDArray[np.intp]:
        """Touched items whose kind is known through omissions only, ascending.

        Nobody named them, and they may have been overlooked. An item that others were compared
        with is not among them, unless all that is known of it was omitted.
        """
        if self._explicit is self._closure:
            return _array(())
        said, known = self._explicit.parent.joined(), self._closure.parent.joined()
        omitted = holding(self._in_force.joined(), self._set_aside, omitted=True)
        placed = {link.a for _, link in omitted if link.same}
        alone = {item for item in placed if len(self._explicit.component(item)) == 1}
        return self._here({*(known.keys() - said.keys()), *alone})

    @cached_property
    def overruled(self) -> tuple[tuple[Answer, Link], ...]:
        """Omitted links that are set aside, each with its answer, which stays in force."""
        aside = ((self._in_force[k], links) for k, links in sorted(self._set_aside.items()))
        return tuple((a, link) for a, links in aside for link in a.omitted if link in links)

    @cached_property
    def components(self) -> NDArray[np.intp]:
        """(n,) component of each item, numbered from 0 by their first item; mostly singletons."""
        leader = self._leaders[: self.n_items]
        number = np.cumsum(leader == np.arange(self.n_items)) - 1
        return np.asarray(number[leader], dtype=np.intp)

    def component_links(self) -> NDArray[np.intp]:
        """(c, 2) pairs of components that are known to be different, first < second."""
        return self._component_links

    @cached_property
    def kinds(self) -> tuple[NDArray[np.intp], ...]:
        """Components that are all known to differ from each other: the kinds told apart so far.

        Greedy, in the order in which answers touched them, so that earlier kinds keep their place
        when answers are added. Empty before the first "different".
        """
        foes = self._closure.foes
        in_order = self._roots[_array(self._closure.parent.joined())]
        in_order = in_order[self._leaders[in_order] < self.n_items]
        open_ones = [root for root in dict.fromkeys(in_order.tolist()) if foes.get(root)]
        chosen = []
        while open_ones:
            first, *others = open_ones
            chosen.append(first)
            open_ones = [root for root in others if root in foes[first]]
        return tuple(self.component(root) for root in chosen)

    def links(self, *, implied: bool = False) -> Links:
        """The links in force, or with `implied` every pair that follows from them (many)."""
        if implied:
            return as_links(self._implied())
        return as_links(self._still_here(link for _, link in self._holding))

    def asked_links(self) -> Links:
        """Every link of every answer, also of conflicts: for methods that weigh errors."""
        return as_links(self._still_here(link for a in self.answers for link in a.links))

    @cached_property
    def _roots(self) -> NDArray[np.intp]:
        """(n + gone,) the root of each item's component in the closure."""
        members = self._closure.members.joined()
        sizes, items = _flattened(members)
        roots = np.arange(self.n_items + self.n_gone)
        roots[items] = np.repeat(_array(members), sizes)
        return roots

    @cached_property
    def _leaders(self) -> NDArray[np.intp]:
        """(n + gone,) the first item of each item's component."""
        first = np.arange(len(self._roots))
        touched = _array(self._closure.parent.joined())
        np.minimum.at(first, self._roots[touched], touched)
        return first[self._roots]

    @cached_property
    def _component_links(self) -> NDArray[np.intp]:
        foes = self._closure.foes.joined()
        counts, others = _flattened(foes)
        first, second = self._leaders[np.repeat(_array(foes), counts)], self._leaders[others]
        kept = (first < second) & (second < self.n_items)
        codes = np.sort(first[kept] * len(self._leaders) + second[kept])
        # Components are numbered by their first item, so both have one order.
        pairs = np.stack(np.divmod(codes, max(1, len(self._leaders))), axis=1)
        return np.asarray(self.components[pairs], dtype=np.intp)

    def _here(self, items: Collection[int]) -> NDArray[np.intp]:
        found = _array(items)
        return np.sort(found[found < self.n_items])

    @property
    def _holding(self) -> Iterable[tuple[Answer, Link]]:
        return holding(self._in_force.joined(), self._set_aside)

    def _still_here(self, links: Iterable[Link]) -> Iterable[Link]:
        return (link for link in links if max(link.a, link.b) < self.n_items)

    def _implied(self) -> Iterable[Link]:
        members = {
            root: self._here(m).tolist() for root, m in self._closure.members.joined().items()
        }
        for items in members.values():
            for k, a in enumerate(items):
                yield from (Link(min(a, b), max(a, b), True) for b in items[k + 1 :])
        for root, foes in self._closure.foes.joined().items():
            for foe in foes:
                if root < foe:
                    for a in members[root]:
                        yield from (Link(min(a, b), max(a, b), False) for b in members[foe])

    def _extended(self, answers: Iterable[Answer]) -> Self:
        grown = type(self)(self.n_items, n_gone=self.n_gone)
        explicit = self._explicit.copy()
        everything, in_force = list[Answer](), list[Answer]()
        conflicts = list[Conflict]()
        earlier, omissions = self._in_force, self._explicit is not self._closure
        for answer in answers:
            links = answer.links
            self._check(answer, links)
            if answer.omitted:
                links, omissions = answer.explicit, True
            everything.append(answer)
            if explicit.accepts(links):
                explicit.add(links, len(earlier) + len(in_force))
                in_force.append(answer)
            else:
                before = len(earlier) + len(in_force)
                conflicts.append(Conflict(answer, partial(grown._clash_of, answer, before)))
        grown.conflicts, grown._explicit = (*self.conflicts, *conflicts), explicit
        grown._answers = self._answers + tuple(everything)
        grown._in_force = self._in_force + tuple(in_force)
        grown._closure = explicit
        if omissions:
            known = extended(Folded(self._closure, self._set_aside), in_force, len(earlier))
            known = known or refolded(explicit, grown._in_force.joined())
            grown._closure, grown._set_aside = known
        if len(everything) == 1:  # look now: a conflict that is not looked for keeps all this alive
            _ = [conflict.clash for conflict in conflicts]
        return grown

    def _clash_of(self, answer: Answer, before: int) -> tuple[Answer, ...]:
        """An answer that was set aside, after those of the first ones in force it contradicts."""
        links = answer.explicit if answer.omitted else answer.links
        places = sorted(self._explicit.clash(links, before))
        return (*(self._in_force[k] for k in places), answer)

    def _check(self, answer: Answer, links: Sequence[Link]) -> None:
        for a, b, _ in links:
            if min(a, b) < 0 or max(a, b) >= self.n_items + self.n_gone:
                raise InputError(
                    f"Expected positions from 0 to {self.n_items - 1}, got {a} and {b} in answer "
                    f"{answer.number}. Open the collection that the answers belong to."
                )

    def __repr__(self) -> str:
        return (
            f"Constraints({plural(self.n_items, 'item')}, {plural(self.n_answers, 'answer')}, "
            f"{plural(len(self.conflicts), 'conflict')})"
        )


def _array(items: Collection[int]) -> NDArray[np.intp]:
    return np.fromiter(items, dtype=np.intp, count=len(items))


def _flattened(
    parts: Mapping[int, Collection[int]],
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The sizes of the parts, and their concatenated contents."""
    sizes = np.fromiter(map(len, parts.values()), dtype=np.intp, count=len(parts))
    held = chain.from_iterable(parts.values())
    return sizes, np.fromiter(held, dtype=np.intp, count=int(sizes.sum()))


def as_links(links: Iterable[Link]) -> Links:
    """Links as arrays, each with weight one."""
    rows: list[Any] = list(links)
    table = np.array(rows, dtype=np.intp).reshape(-1, 3)
    return Links(table[:, 0], table[:, 1], table[:, 2].astype(bool), np.ones(len(table)))
