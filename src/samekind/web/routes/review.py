"""Routes of the review: what is left to look at, and what was confirmed."""

from __future__ import annotations

from fastapi import APIRouter

from samekind.questions.wording import plural
from samekind.session import Session
from samekind.session.review_queue import Batch, confirm, review
from samekind.web.dependencies import CurrentPerson, CurrentSession, CurrentWorkspace
from samekind.web.rendering import open_question_view, placed_view
from samekind.web.routes.groups import check_group
from samekind.web.schemas import core, groups
from samekind.web.schemas import review as schemas
from samekind.workspace.workspace import Workspace

router = APIRouter(prefix="/api/review", responses=core.ERRORS)


@router.get("")
def get_review(workspace: CurrentWorkspace, session: CurrentSession) -> schemas.ReviewView:
    """Return what is left to review, and the next items to look at."""
    found = review(session)
    return schemas.ReviewView(
        headline=found.headline,
        items=found.items,
        contradictions=found.contradictions,
        answers=found.answers,
        done=found.done,
        batch=None if found.batch is None else batch_view(workspace, session, found.batch),
    )


@router.post("")
def confirm_items(
    reviewed: schemas.Reviewed,
    workspace: CurrentWorkspace,
    session: CurrentSession,
    person: CurrentPerson,
) -> groups.ActResult:
    """Confirm that items are right, but for some: one answer, which can be undone."""
    check_group(session, reviewed.group)
    batch = Batch(reviewed.group, tuple(reviewed.exemplars), tuple(reviewed.items))
    by = person or reviewed.by
    number = confirm(session, batch, tuple(reviewed.wrong), by=by)
    workspace.refitter.nudge(session, at_once=bool(reviewed.wrong))
    right = len(batch.items) - len(set(reviewed.wrong))
    message = f"{plural(right, 'item is', 'items are')} right."
    if reviewed.wrong:
        message += f" {plural(len(set(reviewed.wrong)), 'item is', 'items are')} looked at again."
    now = open_question_view(workspace, session, person)
    return groups.ActResult(number=number, message=message, now=now)


def batch_view(workspace: Workspace, session: Session, batch: Batch) -> schemas.BatchView:
    """Render items to look at."""
    return schemas.BatchView(
        group=batch.group,
        name=session.clustering.name(batch.group),
        place=session.places.groups[batch.group],
        exemplars=[placed_view(workspace, i) for i in batch.exemplars],
        items=[placed_view(workspace, i) for i in batch.items],
    )
