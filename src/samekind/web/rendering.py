"""What a page is shown: sessions, questions, answers and groups as JSON shapes.

No view of an open question carries a prediction, and its groups are numbered by their place on
the screen only, so nothing suggests an answer.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from samekind.questions import wording
from samekind.session import members, review
from samekind.session.quality import in_words
from samekind.web.schemas import acts as models_acts
from samekind.web.schemas import core as models
from samekind.web.schemas import map as models_map
from samekind.workspace.download import formats
from samekind.workspace.workspace import Workspace

if TYPE_CHECKING:
    from samekind.clustering import Clustering
    from samekind.constraints import Conflict
    from samekind.questions import Answer, Question
    from samekind.session import Session
    from samekind.session.review import Odd

RUN = secrets.token_hex(4)
"""Part of the preview addresses, so that a browser never shows pictures of an earlier run."""
MOST_SHOWN = 24
"""Items of one part of a question that are sent: acts by hand may speak of thousands."""


def item(workspace: Workspace, position: int) -> models.ItemView:
    """An item of the collection by its id, and where its preview is."""
    one = workspace.collection[position]
    version = hashlib.blake2b(f"{RUN}{one.stamp}".encode(errors="replace"), digest_size=6)
    address = f"/api/items/{quote(one.id, safe='')}/preview?v={version.hexdigest()}"
    address += f"&pile={quote(workspace.address, safe='')}" if workspace.address else ""
    return models.ItemView(id=one.id, kind=one.kind, preview=address)


def shown_item(workspace: Workspace, session: Session, position: int) -> models.ItemView:
    """An item of a question, which may have gone from the collection since it was asked about."""
    if position < len(workspace.collection):
        return item(workspace, position)
    return models.ItemView(id=session.positions.name(position), kind="gone", preview=None)


def question(
    workspace: Workspace, session: Session, number: int, asked: Question
) -> models.QuestionView:
    """A question of any kind: what a choice stands for is shown with it, the rest above."""
    keys = wording.keys(asked.choices(), many=asked.many)
    parts = [
        [shown_item(workspace, session, i) for i in part[:MOST_SHOWN]]
        for part in asked.parts()[:MOST_SHOWN]
    ]
    return models.QuestionView(
        number=number,
        kind=asked.kind,
        prompt=asked.prompt,
        why=asked.why,
        many=asked.many,
        items=[one for part in parts for one in part],
        parts=parts,
        choices=[
            models.ChoiceView(
                value=choice,
                label=wording.label(choice, asked.words),
                keys=list(keys[choice]),
                exemplars=[shown_item(workspace, session, i) for i in asked.exemplars(choice)],
            )
            for choice in asked.choices()
        ],
    )


def progress(workspace: Workspace, session: Session) -> models.Progress:
    """How far the session is."""
    counts: dict[str, Any] = session.progress()
    return models.Progress(
        answers=counts["answers"],
        unsure=counts["unsure"],
        placed=counts["placed"],
        conflicts=counts["conflicts"],
        groups=counts["groups"],
        snapshot=counts["snapshot"],
        due=session.due,
        until_refit=counts["until_refit"],
        refitting=workspace.refitter.busy(session.name),
        trouble=workspace.refitter.trouble(session.name),
        choices=counts["choices"],
        quality=in_words(counts),
        gain=None if counts["gain"] is None else counts["gain"]["items"],
        enough=counts["enough"],
    )


def open_question(workspace: Workspace, session: Session) -> models.OpenQuestion:
    """The open question, or why there is none."""
    asked = session.ask()
    if asked is None and _may_learn_more(workspace, session):
        workspace.refitter.request(session)
    now = progress(workspace, session)
    if asked is not None:
        shape = question(workspace, session, asked.number, asked.question)
        return models.OpenQuestion(question=shape, message="", progress=now)
    if now.refitting:
        message = "The groups are being refreshed. The next question comes in a moment."
    else:
        message = "There is nothing left that is worth asking. Look at the groups."
    return models.OpenQuestion(question=None, message=message, progress=now)


def _may_learn_more(workspace: Workspace, session: Session) -> bool:
    """Whether the groups do not know the latest answers yet; with them there may be more to ask."""
    behind = bool(session.progress()["until_refit"] < session.refit_every)
    refitter = workspace.refitter
    return behind and not refitter.busy(session.name) and refitter.trouble(session.name) is None


def answer(workspace: Workspace, session: Session, told: Answer) -> models.AnswerView:
    """An answer with its question."""
    return models.AnswerView(
        number=told.number,
        choice=told.choice,
        label=wording.short_label(told.choice, told.question.words),
        by=told.by,
        seconds=told.seconds,
        question=question(workspace, session, told.number, told.question),
    )


def conflict(workspace: Workspace, session: Session, found: Conflict) -> models.ConflictView:
    """A conflict with the earlier answers that it clashes with."""
    others = (told for told in found.clash if told.number != found.answer.number)
    return models.ConflictView(
        answer=answer(workspace, session, found.answer),
        clash=[answer(workspace, session, told) for told in others],
    )


def odd(workspace: Workspace, session: Session, found: Odd, told: Answer) -> models.OddView:
    """An answer that is worth another look."""
    return models.OddView(
        answer=answer(workspace, session, told),
        said=found.said,
        likely=found.likely,
        others=found.others,
        words=review.in_words(session, found),
    )


def placed(workspace: Workspace, position: int) -> models_map.PlacedView:
    """An item with its place in the collection."""
    return models_map.PlacedView(**item(workspace, position).model_dump(), position=position)


def member(workspace: Workspace, session: Session, position: int) -> models_acts.MemberView:
    """An item of a group, and how sure it is that it belongs there."""
    return models_acts.MemberView(
        **item(workspace, position).model_dump(),
        position=position,
        sure=round(float(members.sureness(session.clustering)[position]), 4),
        answered=len(session.constraints.touched) > 0 and _told_of(session, position),
    )


def _told_of(session: Session, position: int) -> bool:
    touched = session.constraints.touched
    place = int(np.searchsorted(touched, position))
    return place < len(touched) and int(touched[place]) == position


def group(
    workspace: Workspace, clustering: Clustering, number: int, n: int = 5, *, answered: bool
) -> models_acts.GroupCard:
    """A group with `n` of its items, and those that belong to it least surely.

    Nothing is `answered` yet: nobody can know how many members belong to it.
    """
    shown = representatives(clustering, number, n)
    purity = members.purity(clustering)[number] if answered else None
    return models_acts.GroupCard(
        number=number,
        name=clustering.name(number),
        named=number in clustering.names,
        size=sizes(clustering)[number],
        representatives=[item(workspace, i) for i in shown],
        purity=None if purity is None else round(purity, 4),
        doubtful=[placed(workspace, int(i)) for i in members.by_doubt(clustering, number)[:n]],
    )


def sizes(clustering: Clustering) -> dict[int, int]:
    """Items per group, counted once per snapshot."""
    return clustering.memo("web-sizes", clustering.sizes)


def session(workspace: Workspace, one: Session, version: str) -> models.SessionView:
    """Everything that a page needs to begin with."""
    skipped = workspace.collection.skipped
    return models.SessionView(
        version=version,
        collection=workspace.collection.name,
        items=len(workspace.collection),
        skipped=[models.SkippedView(id=s.id, reason=s.reason) for s in skipped[:100]],
        skipped_total=len(skipped),
        gone=one.progress()["gone"][:100],
        session=one.name,
        orientations=workspace.names(),
        formats=formats(),
        acts=[
            models.Act(name=name, label=label, keys=list(keys))
            for name, (keys, label) in wording.ACTS.items()
        ],
        progress=progress(workspace, one),
    )


def representatives(clustering: Clustering, number: int, n: int) -> Sequence[int]:
    """The central item of a group and `n` - 1 diverse ones, outliers left out."""

    def chosen() -> list[int]:
        typical = members.by_typicality(clustering, number)
        pool = typical[: max(n, int(len(typical) * 0.8))]
        pool = pool[np.unique(np.linspace(0, len(pool) - 1, 256).astype(int))]
        vectors = clustering.space[pool]
        picks = [0]
        nearest = _far(vectors, vectors[0])
        while len(picks) < min(n, len(pool)):
            nearest[picks] = -1.0
            picks.append(int(np.argmax(nearest)))
            nearest = np.minimum(nearest, _far(vectors, vectors[picks[-1]]))
        return [int(pool[k]) for k in picks]

    return clustering.memo(("web-representatives", number, n), chosen)


def _far(vectors: NDArray[np.float32], point: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.asarray(np.linalg.norm(vectors - point, axis=1), dtype=np.float32)
