"""Omissions: links that an answer states only by not naming an item, below everything explicit.

Explicit links are folded first, in the order of the answers. Then each omitted link, in the same
order, holds if it is consistent with all explicit links and with the omitted ones before it;
otherwise this link alone is set aside. So an answer overrules what was merely omitted, before or
after it, and the same answers always give the same result.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from samekind.constraints.closure import Closure
from samekind.questions import Answer, Link

SetAside = Mapping[int, frozenset[Link]]
"""For some answers in force, by index, their omitted links that do not hold."""


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
        if not closure.accepts(answer.explicit):
            return None
        links, refused = _accepted(closure, answer)
        closure.add(links, k)
        if refused:
            set_aside[k] = refused
    return Folded(closure, set_aside)


def refolded(explicit: Closure, answers: Sequence[Answer]) -> Folded:
    """Decide which omitted links of all answers in force hold, given the explicit ones.

    The closure is made again from the answers in their order, as if nothing had been overruled.
    """
    known = explicit.copy()
    set_aside: dict[int, frozenset[Link]] = {}
    for k, answer in enumerate(answers):
        if not answer.omitted:
            continue
        links, refused = _accepted(known, answer)
        known.add(links, k)
        if refused:
            set_aside[k] = refused
    closure = Closure()
    for k, answer in enumerate(answers):
        refused = set_aside.get(k, frozenset())
        closure.add([link for link in answer.links if link not in refused], k)
    return Folded(closure, set_aside)


def _accepted(closure: Closure, answer: Answer) -> tuple[tuple[Link, ...], frozenset[Link]]:
    """The links of an answer that hold, and the omitted ones that do not."""
    links = answer.links
    if closure.accepts(links):
        return links, frozenset()
    held = list(answer.explicit)
    for link in answer.omitted:
        if closure.accepts([*held, link]):
            held.append(link)
    refused = frozenset(links).difference(held)
    return tuple(link for link in links if link not in refused), refused
