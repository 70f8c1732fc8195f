"""Contradictions: the chain of links that cannot all be true, and which answer to ask again."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from samekind.constraints import Conflict, Constraints
from samekind.questions import UNSURE, Answer, Link

if TYPE_CHECKING:
    from samekind.clustering import Clustering
    from samekind.session import Session

SAMPLED_PAIRS = 2000
"""Random pairs of items with which the distance of a link is compared."""


class SourcedLink(NamedTuple):
    """A link, and the answer that it comes from."""

    answer: Answer
    link: Link


class Suspect(NamedTuple):
    """An answer of a contradiction, and what it would have to be if all others are right.

    `implied` is None when the other answers do not determine it.
    """

    answer: Answer
    implied: str | None


@dataclass(frozen=True)
class Contradiction:
    """A conflict explained link by link, with the answers worth asking again, best one first."""

    conflict: Conflict
    chain: tuple[SourcedLink, ...]
    suspects: tuple[Suspect, ...]


def contradictions(session: Session) -> list[Contradiction]:
    """Explain every conflict of a session."""
    return [explain(session, conflict) for conflict in session.constraints.conflicts]


def explain(session: Session, conflict: Conflict) -> Contradiction:
    """Find the shortest chain of contradicting links, and which answer to ask again."""
    links = chain(conflict.clash)
    suspects = (
        Suspect(answer, implied(session, conflict.clash, answer))
        for answer in by_doubt(session.clustering, conflict.clash, links)
    )
    return Contradiction(conflict, tuple(links), tuple(suspects))


def chain(answers: Sequence[Answer]) -> list[SourcedLink]:
    """Find the fewest contradicting links: a path of "same", and a "different" between its ends.

    >>> from samekind.questions import SamePair
    >>> answers = [Answer(1, SamePair(0, 1), "same"), Answer(2, SamePair(2, 1), "same")]
    >>> [tuple(said.link) for said in chain([*answers, Answer(3, SamePair(0, 2), "different")])]
    [(0, 1, True), (1, 2, True), (0, 2, False)]
    """
    said = [SourcedLink(answer, link) for answer in answers for link in answer.explicit]
    ties: dict[int, list[tuple[int, SourcedLink]]] = {}
    for one in said:
        if one.link.same:
            ties.setdefault(one.link.a, []).append((one.link.b, one))
            ties.setdefault(one.link.b, []).append((one.link.a, one))
    best: list[SourcedLink] = []
    for one in said:
        if one.link.same or one.link.a not in ties or one.link.b not in ties:
            continue
        path = _path(ties, one.link.a, one.link.b)
        if path and (not best or len(path) + 1 < len(best)):
            best = [*path, one]
    return best


def _path(
    ties: dict[int, list[tuple[int, SourcedLink]]], start: int, end: int
) -> list[SourcedLink]:
    """Find the shortest path between two items; each link points along the path."""
    reached_from: dict[int, tuple[int, SourcedLink] | None] = {start: None}
    queue = deque([start])
    while queue and end not in reached_from:
        item = queue.popleft()
        for other, said in ties.get(item, ()):
            if other not in reached_from:
                reached_from[other] = (item, said)
                queue.append(other)
    way: list[SourcedLink] = []
    at = reached_from.get(end)
    item = end
    while at is not None:
        before, said = at
        way.append(SourcedLink(said.answer, Link(before, item, True)))
        item, at = before, reached_from[before]
    return way[::-1]


def implied(session: Session, answers: Sequence[Answer], told: Answer) -> str | None:
    """Return what an answer would have to be if all others of the contradiction are right."""
    others = [answer for answer in answers if answer.number != told.number]
    n_gone = len(session.positions.gone)
    known = Constraints.from_answers(len(session.collection), others, n_gone=n_gone)
    choice = told.question.truthful(known.same)
    return None if choice in (UNSURE, told.choice) else choice


def by_doubt(
    clustering: Clustering, answers: Sequence[Answer], steps: Sequence[SourcedLink]
) -> list[Answer]:
    """Order the answers of a contradiction, the one with the most surprising links first.

    "Same" is surprising when two items are far apart, "different" when they are near, compared
    with random pairs. Among equals the latest comes first.
    """
    usual = clustering.memo("usual-distances", lambda: _usual_distances(clustering.space))
    doubt = {answer.number: 0.0 for answer in answers}
    for answer, link in steps:
        if max(link.a, link.b) >= len(clustering.space):
            continue
        apart = np.linalg.norm(clustering.space[link.a] - clustering.space[link.b])
        far = float(np.searchsorted(usual, apart) / max(len(usual), 1))
        doubt[answer.number] = max(doubt[answer.number], far if link.same else 1 - far)
    return sorted(answers, key=lambda answer: (-doubt[answer.number], -answer.number))


def _usual_distances(space: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the distances of random pairs in ascending order."""
    a, b = np.random.default_rng(0).integers(len(space), size=(2, SAMPLED_PAIRS))
    return np.sort(np.linalg.norm(space[a] - space[b], axis=1))
