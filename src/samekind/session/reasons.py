"""Reasons: why an item is in its group, by the answered items that are most like it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from samekind.clustering import Clustering
from samekind.questions import Answer
from samekind.questions.wording import plural
from samekind.session import Session
from samekind.session.members import distances_to
from samekind.session.review import latest_answers

N_EXAMPLES = 6
"""Answered items that are shown as reasons."""


@dataclass(frozen=True)
class Reason:
    """Why an item is where it is.

    Parameters
    ----------
    group : its number. words : the reason in one or two sentences.
    examples : the most similar answered items, nearest first.
    answer : the number of the latest answer about the item itself; None: there is none that the
        person may see.
    """

    group: int
    words: str
    examples: tuple[int, ...]
    answer: int | None


def similar_items(
    clustering: Clustering, item: int, n: int, among: NDArray[np.intp] | None = None
) -> list[int]:
    """The `n` items most like an item, nearest first, of all or of some."""
    pool = np.arange(len(clustering.labels)) if among is None else among
    pool = pool[pool != item]
    if not len(pool) or n < 1:
        return []
    apart = distances_to(clustering, pool, item)
    n = min(n, len(pool))
    nearest = np.argpartition(apart, n - 1)[:n]
    return [int(i) for i in pool[nearest[np.lexsort((pool[nearest], apart[nearest]))]]]


def reason_for(session: Session, item: int, person: str | None = None) -> Reason:
    """Say why an item is in its group, to one of several people if they are told apart.

    Where these do not see each other's answers, no answer of another person is mentioned.
    """
    clustering, known = session.clustering, session.constraints
    group = int(clustering.labels[item])
    examples = similar_items(clustering, item, N_EXAMPLES, known.touched)
    own = person is not None and session.people.hidden
    answers = [answer for answer in session.answers if not own or answer.by == person]
    found = latest_answers(answers).get(item)
    if found is not None:
        answer = found[1]
        return Reason(group, _told(answer, person), tuple(examples), answer.number)
    words = _words(clustering, group, examples, "you" if person is None else "people")
    return Reason(group, words, tuple(examples), None)


def _told(answer: Answer, person: str | None) -> str:
    if person in (None, answer.by):
        return f"You answered about it yourself (answer {answer.number})."
    return f"{answer.by} answered about it (answer {answer.number})."


def _words(clustering: Clustering, group: int, examples: list[int], who: str) -> str:
    name = clustering.name(group)
    if not examples:
        return f"No answers yet: it looks like the others in {name}."
    near = Counter(int(clustering.labels[i]) for i in examples)
    here = near.pop(group, 0)
    if not here:
        return (
            f"Nothing that {who} answered about is close. Of all groups, {name} fits best. "
            "An answer about it would help."
        )
    items = plural(here, "item", "items")
    words = f"Of the {len(examples)} most similar items that {who} answered about, {items}"
    words += f" {'is' if here == 1 else 'are'} in {name}"
    others = [f"{count} in {clustering.name(k)}" for k, count in near.most_common(2)]
    return f"{words}{', ' + ' and '.join(others) if others else ''}."
