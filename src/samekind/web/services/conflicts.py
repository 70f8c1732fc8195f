"""Contradictions: the chain of links that cannot all be true, and which answer to ask again."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from samekind.constraints import Conflict, Constraints
from samekind.questions import UNSURE, Answer, Link
from samekind.web import rendering as views
from samekind.web.schemas import progress as models_progress
from samekind.workspace.workspace import Workspace

if TYPE_CHECKING:
    from samekind.clustering import Clustering
    from samekind.session import Session

PAIRS = 2000
"""Random pairs of items with which the distance of a link is compared."""


class Said(NamedTuple):
    """A link, and the answer that it comes from."""

    answer: Answer
    link: Link


def clash(workspace: Workspace, session: Session, found: Conflict) -> models_progress.ClashView:
    """A contradiction as a page shows it."""
    shown = views.conflict(workspace, session, found)
    steps = chain(found.clash)
    return models_progress.ClashView(
        answer=shown.answer,
        clash=shown.clash,
        steps=[
            models_progress.Step(
                number=said.answer.number,
                a=views.shown_item(workspace, session, said.link.a),
                b=views.shown_item(workspace, session, said.link.b),
                same=said.link.same,
            )
            for said in steps
        ],
        settle=[
            models_progress.Doubt(number=told.number, implied=implied(session, found.clash, told))
            for told in by_doubt(session.clustering, found.clash, steps)
        ],
    )


def chain(answers: Sequence[Answer]) -> list[Said]:
    """The fewest links that contradict each other: a path of "same", and a "different" at its ends.

    >>> from samekind.questions import SamePair
    >>> told = [Answer(1, SamePair(0, 1), "same"), Answer(2, SamePair(2, 1), "same")]
    >>> [tuple(said.link) for said in chain([*told, Answer(3, SamePair(0, 2), "different")])]
    [(0, 1, True), (1, 2, True), (0, 2, False)]
    """
    said = [Said(answer, link) for answer in answers for link in answer.links]
    ties: dict[int, list[tuple[int, Said]]] = {}
    for one in said:
        if one.link.same:
            ties.setdefault(one.link.a, []).append((one.link.b, one))
            ties.setdefault(one.link.b, []).append((one.link.a, one))
    best: list[Said] = []
    for one in said:
        if one.link.same or one.link.a not in ties or one.link.b not in ties:
            continue
        path = _path(ties, one.link.a, one.link.b)
        if path and (not best or len(path) + 1 < len(best)):
            best = [*path, one]
    return best


def _path(ties: dict[int, list[tuple[int, Said]]], start: int, end: int) -> list[Said]:
    """The shortest way from one item to another; each link turned in the direction of the way."""
    came: dict[int, tuple[int, Said] | None] = {start: None}
    queue = deque([start])
    while queue and end not in came:
        item = queue.popleft()
        for other, said in ties.get(item, ()):
            if other not in came:
                came[other] = (item, said)
                queue.append(other)
    way: list[Said] = []
    at = came.get(end)
    item = end
    while at is not None:
        before, said = at
        way.append(Said(said.answer, Link(before, item, True)))
        item, at = before, came[before]
    return way[::-1]


def implied(session: Session, answers: Sequence[Answer], told: Answer) -> str | None:
    """What an answer would have to be if all others of the contradiction are right."""
    others = [answer for answer in answers if answer.number != told.number]
    n_gone = len(session.positions.gone)
    known = Constraints.from_answers(len(session.collection), others, n_gone=n_gone)
    choice = told.question.truthful(known.same)
    return None if choice in (UNSURE, told.choice) else choice


def by_doubt(
    clustering: Clustering, answers: Sequence[Answer], steps: Sequence[Said]
) -> list[Answer]:
    """The answers of a contradiction, the one first whose links surprise most by distance.

    "Same" surprises when two items are far apart, "different" when they are near, compared with
    random pairs. Of equal ones the latest comes first.
    """
    usual = clustering.memo("web-distances", lambda: _usual_distances(clustering.space))
    doubt = {answer.number: 0.0 for answer in answers}
    for answer, link in steps:
        if max(link.a, link.b) >= len(clustering.space):
            continue
        apart = np.linalg.norm(clustering.space[link.a] - clustering.space[link.b])
        far = float(np.searchsorted(usual, apart) / max(len(usual), 1))
        doubt[answer.number] = max(doubt[answer.number], far if link.same else 1 - far)
    return sorted(answers, key=lambda answer: (-doubt[answer.number], -answer.number))


def _usual_distances(space: NDArray[np.float32]) -> NDArray[np.float32]:
    """Distances of random pairs, ascending."""
    a, b = np.random.default_rng(0).integers(len(space), size=(2, PAIRS))
    return np.sort(np.linalg.norm(space[a] - space[b], axis=1))
