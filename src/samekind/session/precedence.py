"""Precedence: a change by hand outranks single answers, and says which of them it sets aside.

Someone who merges two groups, moves an item or splits a group has seen the groups themselves. What
earlier answers state against it is set aside, link by link, for as long as the change holds.
Nothing is deleted: undoing the change lets all of it count again, and so does restoring a single
answer.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import Any

from samekind.constraints import Constraints
from samekind.constraints.closure import Closure
from samekind.errors import AnswerError
from samekind.ledger.event_log import EventLog
from samekind.questions import YES, Answer, Belongs, ByHand, Link, Question
from samekind.session.answering import check_own

Aside = Mapping[int, frozenset[Link]]
"""By the number of an answer, those of its links that are set aside."""


@dataclass(frozen=True)
class Weighed:
    """A change by hand as it is recorded, and what it sets aside.

    Parameters
    ----------
    question : the change, which also states that what is left behind stays together.
    aside : the links of earlier answers that contradict it, by the number of the answer.
    """

    question: Question
    aside: Aside = field(default_factory=dict)


@dataclass
class Precedence:
    """What changes by hand set aside in a ledger.

    Parameters
    ----------
    log : the ledger. lock : held while that is written.
    """

    log: EventLog
    lock: AbstractContextManager[Any]

    def weigh(self, question: Question) -> Weighed:
        """Find what a change by hand contradicts; nothing if it contradicts nothing."""
        with self.lock:
            return weigh(self.log.constraints, question)

    def over(self, number: int) -> Aside:
        """By the number of a change by hand, the links of an answer that it has set aside."""
        with self.lock:
            return self.log.ledger.set_aside(number)

    def by(self, number: int) -> Aside:
        """What a change by hand has set aside."""
        with self.lock:
            return self.log.ledger.aside.get(number, {})

    def restore(self, number: int, *, by: str | None = None) -> None:
        """Let an answer count again that changes by hand have set aside.

        With `by`, only one of this person, who alone can change or undo it as well. The answer was
        given first, so a change that contradicts it becomes a conflict.
        """
        ledger = self.log.ledger

        def decide() -> tuple[str, dict[str, Any]] | None:
            if number not in ledger.answers:
                raise AnswerError(f"Question {number} has no answer to restore.")
            if by is not None:
                check_own(ledger.answers[number], by)
            return ("restored", {"number": number}) if ledger.set_aside(number) else None

        with self.lock:
            self.log.commit(decide)


def weigh(known: Constraints, question: Question) -> Weighed:
    """Find what a change by hand contradicts among the answers."""
    if not isinstance(question, ByHand) or not _contradicts(known, question):
        return Weighed(question)
    question = _with_rests(known, question)
    closure = Closure()
    closure.add(question.links(YES), 0)
    aside: dict[int, set[Link]] = {}
    for answer, link in _by_weight(known, frozenset(question.moved())):
        if closure.accepts((link,)):
            closure.add((link,), 0)
        else:
            aside.setdefault(answer.number, set()).add(link)
    return Weighed(question, {number: frozenset(aside[number]) for number in sorted(aside)})


def _contradicts(known: Constraints, question: ByHand) -> bool:
    after = known.with_answer(Answer(0, question, YES))
    return len(after.conflicts) > len(known.conflicts)


def _with_rests(known: Constraints, question: ByHand) -> ByHand:
    """The change, with what it leaves behind: these items stay together, away from the moved ones.

    An item that is moved may have been the one by which others were tied to their kind.
    """
    moved = set(question.moved())
    stated = {i for part in question.given for i in part} - moved
    target = set(question.given[1]) if isinstance(question, Belongs) else set()
    found: dict[int, tuple[int, ...]] = {}
    for item in sorted(moved):
        rest = tuple(i for i in known.component(item).tolist() if i not in moved)
        if rest and not target.intersection(rest):
            found[rest[0]] = rest
    kept = tuple(rest for rest in found.values() if len(rest) > 1)
    apart = tuple((rest[0], foe) for rest in found.values() for foe in _foes(known, rest[0], moved))
    if not isinstance(question, Belongs):
        return replace(question, kept=kept, apart=apart)
    left = tuple(rest[:1] for rest in found.values() if not stated.intersection(rest))
    return replace(question, given=(*question.given, *left), kept=kept, apart=apart)


def _foes(known: Constraints, item: int, but: Collection[int]) -> list[int]:
    """An item of each kind that an item is known to differ from, but none of these."""
    own, links = known.components[item], known.component_links()
    others = {int(b if a == own else a) for a, b in links.tolist() if own in (a, b)}
    first: dict[int, int] = {}
    for other in known.touched.tolist():
        if int(known.components[other]) in others and other not in but:
            first.setdefault(int(known.components[other]), other)
    return list(first.values())


def _by_weight(known: Constraints, moved: frozenset[int]) -> Iterator[tuple[Answer, Link]]:
    """All explicit links, those that the change should not touch first.

    What is known of other items than the moved ones comes before the rest, "same" before
    "different": a merge contradicts that groups differ, not what each of them holds.
    """
    conflicting = {conflict.answer.number for conflict in known.conflicts}
    said = [(answer, link) for answer in known.answers for link in answer.explicit]

    def weight(one: tuple[Answer, Link]) -> tuple[bool, bool, bool]:
        answer, (a, b, same) = one
        return answer.number in conflicting, a in moved or b in moved, not same

    yield from sorted(said, key=weight)
