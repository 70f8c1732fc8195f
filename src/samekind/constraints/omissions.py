"""Omissions: links that an answer states only by not naming an item, below everything explicit.

Explicit links are folded first, in the order of the answers. Then each omitted link, in the same
order, holds if it is consistent with all explicit links and with the omitted ones before it;
otherwise this link alone is set aside. So an answer overrules what was merely omitted, before or
after it, and the same answers always give the same result.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from samekind.constraints.closure import Closure
from samekind.questions import Answer, Link, Question

SetAside = Mapping[int, frozenset[Link]]
"""For some answers in force, by index, their omitted links that do not hold."""


MAX_CACHED_ANSWERS = 4096
"""Grid answers whose links are kept: an answer that overrules an omission looks at all of them."""


class Folded(NamedTuple):
    """The closure of the links that hold, and the omitted links that do not."""

    closure: Closure
    set_aside: SetAside


def holding(
    answers: Sequence[Answer], set_aside: SetAside, *, omitted: bool = False
) -> Iterator[tuple[Answer, Link]]:
    """The links that hold, or of these only the omitted ones, each with its answer."""
    for k, answer in enumerate(answers):
        refused = set_aside.get(k, ())
        for link in answer.omitted if omitted else answer.links:
            if link not in refused:
                yield answer, link


def extended(before: Folded, answers: Sequence[Answer], first: int) -> Folded | None:
    """Add answers, the first of which has the given index.

    None if one of them overrules an omission: then :func:`refolded` decides again which hold.
    Otherwise both give the same result: what held before is consistent with the new links, and
    what contradicted it still does.
    """
    closure, set_aside = before.closure.copy(), dict(before.set_aside)
    for k, answer in enumerate(answers, start=first):
        explicit, omitted = _stated_by(answer)
        if not closure.accepts(explicit):
            return None
        refused = _refused(closure, explicit, omitted)
        closure.add(_without(answer, omitted, refused), k)
        if refused:
            set_aside[k] = refused
    return Folded(closure, set_aside)


def refolded(explicit: Closure, answers: Sequence[Answer]) -> Folded:
    """Decide which omitted links of all answers in force hold, given the explicit ones.

    The closure is made again from the answers in their order, as if nothing had been overruled.
    """
    known, closure = explicit.copy(), Closure()
    set_aside: dict[int, frozenset[Link]] = {}
    for k, answer in enumerate(answers):
        named, omitted = _stated_by(answer)
        if omitted:
            refused = _refused(known, named, omitted)
            known.add([link for link in omitted if link not in refused], k)
            if refused:
                set_aside[k] = refused
        closure.add(_without(answer, omitted, set_aside.get(k, frozenset())), k)
    return Folded(closure, set_aside)


def _stated_by(answer: Answer) -> tuple[tuple[Link, ...], tuple[Link, ...]]:
    if answer.aside:
        return answer.explicit, answer.omitted
    return _stated(answer.question, answer.choice)


@lru_cache(maxsize=MAX_CACHED_ANSWERS)
def _stated(question: Question, choice: str) -> tuple[tuple[Link, ...], tuple[Link, ...]]:
    """The explicit and the omitted links of an answer."""
    links, omitted = question.links(choice), question.omitted(choice)
    left_out = frozenset(omitted)
    return tuple(link for link in links if link not in left_out), omitted


def _without(answer: Answer, omitted: Sequence[Link], refused: frozenset[Link]) -> Sequence[Link]:
    """The links of an answer that hold, explicit ones first."""
    explicit, _ = _stated_by(answer)
    return explicit if not omitted else [*explicit, *(x for x in omitted if x not in refused)]


def _refused(
    closure: Closure, explicit: Sequence[Link], omitted: Sequence[Link]
) -> frozenset[Link]:
    """The omitted links of an answer that do not hold; each one counts alone."""
    if closure.accepts([*explicit, *omitted]):
        return frozenset()
    held = list(explicit)
    for link in omitted:
        if closure.accepts([*held, link]):
            held.append(link)
    return frozenset(omitted).difference(held)
