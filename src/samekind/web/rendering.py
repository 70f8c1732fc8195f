"""Views of a workspace: sessions, questions, answers, groups and jobs as JSON schemas.

No view of an open question contains a prediction, and its groups are numbered by their place on
the screen, so that nothing suggests an answer.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import numpy as np

from samekind import __version__
from samekind.questions import NONE, wording
from samekind.session import members
from samekind.session.quality import describe_quality, group_fits
from samekind.session.visibility import describe_unseen
from samekind.web.schemas import core, groups, jobs
from samekind.workspace.exports import table_formats
from samekind.workspace.workspace import Workspace

if TYPE_CHECKING:
    from samekind.clustering import Clustering
    from samekind.questions import Answer, Question
    from samekind.session import Session
    from samekind.workspace.jobs import Job

RUN = secrets.token_hex(4)
"""Part of preview addresses, so that a browser never shows cached pictures of an earlier run."""
MAX_SHOWN_ITEMS = 24
"""Items per part of a question: changes by hand may name thousands."""
MAX_LISTED_FILES = 100
"""Skipped or missing files that are listed."""
SHOWN_PER_GROUP = 5
MANY_GROUPS = 8
"""Groups of a question from which on the nearest come first."""


def item_view(workspace: Workspace, position: int) -> core.ItemView:
    """Render an item of the collection."""
    item = workspace.collection[position]
    version = hashlib.blake2b(f"{RUN}{item.stamp}".encode(errors="replace"), digest_size=6)
    address = f"/api/items/{quote(item.id, safe='')}/preview?v={version.hexdigest()}"
    address += f"&pile={quote(workspace.address, safe='')}" if workspace.address else ""
    return core.ItemView(id=item.id, kind=item.kind, preview=address)


def question_item_view(workspace: Workspace, session: Session, position: int) -> core.ItemView:
    """Render an item of a question, which may have left the collection since."""
    if position < len(workspace.collection):
        return item_view(workspace, position)
    return core.ItemView(id=session.positions.name(position), kind="gone", preview=None)


def question_view(
    workspace: Workspace, session: Session, number: int, question: Question, prompt: str = ""
) -> core.QuestionView:
    """Render a question of any kind; an open one may have a prompt that names its group."""

    def views(positions: Iterable[int]) -> list[core.ItemView]:
        return [question_item_view(workspace, session, i) for i in positions]

    places = choice_places(session, question)
    keys = wording.keys(question.choices(), many=question.many, places=places)
    parts = [views(part[:MAX_SHOWN_ITEMS]) for part in question.parts()[:MAX_SHOWN_ITEMS]]
    return core.QuestionView(
        number=number,
        kind=question.kind,
        prompt=prompt or question.prompt,
        why=question.why,
        many=question.many,
        marking=question.marking and core.MarkingView.model_validate(question.marking),
        items=[item for part in parts for item in part],
        parts=parts,
        choices=[
            core.ChoiceView(
                value=choice,
                label=choice_label(session, question, choice, places),
                keys=list(keys[choice]),
                exemplars=views(question.exemplars(choice)),
                name=group_name(session, question, choice),
                place=places.get(choice),
            )
            for choice in ordered_choices(question, places)
        ],
        new_group=question.placed_item(NONE) is not None,
    )


def group_name(session: Session, question: Question, choice: str) -> str:
    """Return the name of the group that a choice puts an item into; empty if it has none."""
    exemplars = () if question.placed_item(choice) is None else question.exemplars(choice)
    if not exemplars:
        return ""
    return session.naming.of_kind(exemplars[0]) or session.places.name(exemplars[0])


def choice_places(session: Session, question: Question) -> dict[str, int]:
    """Return the places of the groups that the choices of a question put an item into."""
    if question.many:
        return {}
    groups = [c for c in question.choices() if question.placed_item(c) is not None and c != NONE]
    found = session.places.of_items(question.exemplars(choice)[0] for choice in groups)
    return {c: place for c, place in zip(groups, found, strict=True) if place is not None}


def choice_label(
    session: Session, question: Question, choice: str, places: Mapping[str, int]
) -> str:
    """Return the text on the button of a choice: what an unnamed group is called everywhere."""
    if choice in places and choice not in question.words:
        return session.places.title(question.exemplars(choice)[0])
    return wording.label(choice, question.words)


def ordered_choices(question: Question, places: Mapping[str, int]) -> list[str]:
    """Return the choices in the order of the places of their groups, unless nearest come first."""
    choices = list(question.choices())
    if question.hints or len(places) >= MANY_GROUPS:
        return choices
    groups = sorted((c for c in choices if c in places), key=lambda choice: places[choice])
    ordered = iter(groups)
    return [next(ordered) if choice in places else choice for choice in choices]


def progress_view(workspace: Workspace, session: Session) -> core.Progress:
    """Render the counts of a session."""
    counts: dict[str, Any] = session.progress()
    return core.Progress(
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
        quality=describe_quality(counts),
        gain=None if counts["gain"] is None else counts["gain"]["items"],
        enough=counts["enough"],
        unseen=describe_unseen(counts),
    )


def open_question_view(
    workspace: Workspace, session: Session, person: str | None = None
) -> core.OpenQuestion:
    """Render the question that is open for a person, or the reason why there is none."""
    asked = workspace.ask(session, person)
    progress = progress_view(workspace, session)
    question, message = None, ""
    if asked is not None:
        prompt = asked.question.heading(session.naming.of_item)
        question = question_view(workspace, session, asked.number, asked.question, prompt)
    elif progress.refitting:
        message = "The groups are being refreshed. The next question comes in a moment."
    else:
        message = "There is nothing left that is worth asking. Look at the groups."
    return core.OpenQuestion(question=question, message=message, progress=progress)


def answer_view(workspace: Workspace, session: Session, answer: Answer) -> core.AnswerView:
    """Render an answer with its question."""
    return core.AnswerView(
        number=answer.number,
        choice=answer.choice,
        label=answer_label(session, answer),
        by=answer.by,
        seconds=answer.seconds,
        aside=aside_words(session, answer),
        question=question_view(workspace, session, answer.number, answer.question),
    )


def aside_words(session: Session, answer: Answer) -> str:
    """Name the changes by hand that have set an answer aside; empty if none has."""
    acts = session.precedence.over(answer.number) if answer.aside else ()
    return " ".join(session.asked(act).question.why for act in acts)


def answer_label(session: Session, answer: Answer) -> str:
    """Return what was answered, in words: the name of the group where it has one."""
    question = answer.question
    words = wording.short_label(answer.choice, question.words, question.marking)
    if name := group_name(session, question, answer.choice):
        return name
    if answer.choice not in question.words and answer.choice in choice_places(session, question):
        return session.places.title(question.exemplars(answer.choice)[0])
    started = session.naming.with_answer(answer.number)
    return f"{words}: {started}" if started else words


def session_view(
    workspace: Workspace, session: Session, person: str | None = None
) -> core.SessionView:
    """Render what a page needs when it loads."""
    skipped = workspace.collection.skipped
    return core.SessionView(
        version=__version__,
        collection=workspace.collection.name,
        items=len(workspace.collection),
        analysing=workspace.analysing,
        new_items=len(workspace.news.ids) if session.answers else 0,
        kind=workspace.collection.kind,
        skipped=[core.SkippedView.model_validate(one) for one in skipped[:MAX_LISTED_FILES]],
        skipped_total=len(skipped),
        gone=[] if workspace.analysing else session.progress()["gone"][:MAX_LISTED_FILES],
        session=session.name,
        orientations=workspace.names(),
        titles={name: workspace.listing(name).title for name in workspace.names()},
        formats=table_formats(),
        acts=[
            core.Act(name=name, label=label, keys=list(keys))
            for name, (keys, label) in wording.ACTS.items()
        ],
        progress=progress_view(workspace, session),
        person=person,
        hidden=workspace.people.hidden,
        posterior=session.clustering.draws is not None,
    )


def placed_view(workspace: Workspace, position: int) -> groups.PositionedItem:
    """Render an item with its position."""
    return groups.PositionedItem(**item_view(workspace, position).model_dump(), position=position)


def member_view(workspace: Workspace, session: Session, position: int) -> groups.MemberView:
    """Render an item of a group."""
    touched = session.constraints.touched  # sorted
    place = int(np.searchsorted(touched, position))
    return groups.MemberView(
        **item_view(workspace, position).model_dump(),
        position=position,
        sure=round(float(members.sureness(session.clustering)[position]), 4),
        answered=place < len(touched) and int(touched[place]) == position,
    )


def group_view(workspace: Workspace, session: Session, number: int) -> groups.GroupCard:
    """Render a group; before some answers its purity is unknown."""
    clustering = session.clustering
    purity = group_fits(clustering, session.quality)[number]
    doubtful = members.by_doubt(clustering, number)[:SHOWN_PER_GROUP]
    return groups.GroupCard(
        number=number,
        name=clustering.name(number),
        named=number in clustering.names,
        place=session.places.groups[number],
        size=members.sizes(clustering)[number],
        representatives=representative_views(workspace, clustering, number, SHOWN_PER_GROUP),
        purity=None if purity is None else round(purity, 4),
        doubtful=[placed_view(workspace, int(i)) for i in doubtful],
    )


def representative_views(
    workspace: Workspace, clustering: Clustering, number: int, n: int
) -> list[core.ItemView]:
    """Render `n` items that represent a group."""
    return [item_view(workspace, i) for i in members.representatives(clustering, number, n)]


def job_view(job: Job) -> jobs.JobView:
    """Render a job."""
    return jobs.JobView(
        id=job.id,
        kind=job.kind,  # type: ignore[arg-type]
        title=job.title,
        state=job.state,  # type: ignore[arg-type]
        share=None if job.share is None else round(job.share, 4),
        words=job.words,
        pile=job.pile,
        session=job.session,
        ready=bool(job.result.get("ready")),
        can_go_on=job.resumable,
        seconds=round(job.seconds, 1),
    )
