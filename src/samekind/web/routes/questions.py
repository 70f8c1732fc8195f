"""Routes of a session: the open question, its answers, undo and skip."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, BackgroundTasks, Path, Query

from samekind import __version__
from samekind.session.conflicts import Contradiction, contradictions
from samekind.session.review import DoubtfulAnswer, describe_doubt, doubtful_answers
from samekind.web.dependencies import CurrentPerson, CurrentSession, CurrentWorkspace
from samekind.web.rendering import (
    answer_view,
    open_question_view,
    progress_view,
    question_item_view,
    session_view,
)
from samekind.web.schemas import core, progress

router = APIRouter(prefix="/api", responses=core.ERRORS)
AnswerNumber = Annotated[int, Path(ge=1, le=core.MAX_SAFE_INTEGER)]


@router.get("/health")
def get_health(workspace: CurrentWorkspace) -> core.Health:
    """Report that the server runs, and its version."""
    return core.Health(status="ok", version=__version__)


@router.get("/session")
def get_session(
    workspace: CurrentWorkspace, session: CurrentSession, person: CurrentPerson
) -> core.SessionView:
    """Return what a page needs when it loads."""
    return session_view(workspace, session, person)


@router.get("/progress")
def get_progress(workspace: CurrentWorkspace, session: CurrentSession) -> core.Progress:
    """Return the counts of the session."""
    return progress_view(workspace, session)


@router.post("/refit", status_code=202)
def refit(_: core.Empty, workspace: CurrentWorkspace, session: CurrentSession) -> core.Progress:
    """Refresh the groups now."""
    workspace.refitter.request(session)
    return progress_view(workspace, session)


@router.get("/question")
def get_question(
    background: BackgroundTasks,
    workspace: CurrentWorkspace,
    session: CurrentSession,
    person: CurrentPerson,
) -> core.OpenQuestion:
    """Return the open question."""
    if person is None:  # with several people the next question depends on the others as well
        background.add_task(session.prefetch)  # after the response: while the person looks at it
    return open_question_view(workspace, session, person)


@router.post("/answers")
def answer(
    told: core.NewAnswer,
    background: BackgroundTasks,
    workspace: CurrentWorkspace,
    session: CurrentSession,
    person: CurrentPerson,
) -> core.AnswerResult:
    """Store an answer to the open question."""
    if person is None:
        background.add_task(session.prefetch)
    by = person or told.by
    workspace.tell(session, told.number, told.choice, by, told.seconds, told.name)
    now = open_question_view(workspace, session, person)
    return core.AnswerResult(number=told.number, now=now)


@router.post("/skip")
def skip(
    skipped: core.Skip,
    workspace: CurrentWorkspace,
    session: CurrentSession,
    person: CurrentPerson,
) -> core.AnswerResult:
    """Postpone the open question."""
    workspace.skip(session, skipped.number, person)
    now = open_question_view(workspace, session, person)
    return core.AnswerResult(number=skipped.number, now=now)


@router.post("/undo")
def undo(
    _: core.Empty, workspace: CurrentWorkspace, session: CurrentSession, person: CurrentPerson
) -> core.AnswerResult:
    """Take the last answer back."""
    number = workspace.undo(session, by=person)
    return core.AnswerResult(number=number, now=open_question_view(workspace, session, person))


@router.get("/answers")
def list_answers(
    workspace: CurrentWorkspace,
    session: CurrentSession,
    person: CurrentPerson,
    offset: Annotated[int, Query(ge=0, le=core.MAX_SAFE_INTEGER)] = 0,
    limit: Annotated[int, Query(ge=1, le=100)] = 10,
    mine: Annotated[bool, Query(description="Only one's own answers")] = False,
) -> core.AnswerList:
    """List the answers in force, latest first."""
    answers = session.answers
    if person is not None:
        answers = session.history(person, own=mine or workspace.people.hidden)
    latest = answers[::-1][offset : offset + limit]
    return core.AnswerList(
        total=len(answers),
        offset=offset,
        answers=[answer_view(workspace, session, answer) for answer in latest],
    )


@router.put("/answers/{number}")
def change_answer(
    number: AnswerNumber,
    to: core.Change,
    workspace: CurrentWorkspace,
    session: CurrentSession,
    person: CurrentPerson,
) -> core.AnswerResult:
    """Change an earlier answer."""
    workspace.change(session, number, to.choice, person)
    return core.AnswerResult(number=number, now=open_question_view(workspace, session, person))


@router.delete("/answers/{number}")
def delete_answer(
    number: AnswerNumber,
    workspace: CurrentWorkspace,
    session: CurrentSession,
    person: CurrentPerson,
) -> core.AnswerResult:
    """Take an earlier answer back."""
    workspace.undo(session, number, person)
    return core.AnswerResult(number=number, now=open_question_view(workspace, session, person))


@router.post("/answers/{number}/restore")
def restore_answer(
    number: AnswerNumber,
    _: core.Empty,
    workspace: CurrentWorkspace,
    session: CurrentSession,
    person: CurrentPerson,
) -> core.AnswerResult:
    """Let an answer count again that a change by hand has set aside."""
    workspace.restore(session, number, person)
    return core.AnswerResult(number=number, now=open_question_view(workspace, session, person))


@router.put("/questions/{number}/choices/{choice}")
def name_group(
    number: AnswerNumber,
    choice: core.Choice,
    to: core.Rename,
    workspace: CurrentWorkspace,
    session: CurrentSession,
    person: CurrentPerson,
) -> core.OpenQuestion:
    """Name the group that a choice of a question stands for."""
    workspace.name_choice(session, number, choice, to.name)
    return open_question_view(workspace, session, person)


@router.get("/conflicts")
def list_conflicts(
    workspace: CurrentWorkspace, session: CurrentSession, person: CurrentPerson
) -> progress.ContradictionList:
    """List the answers that contradict others, as far as this person may see them."""

    def view(found: Contradiction) -> progress.ContradictionView:
        new = found.conflict.answer
        earlier = [answer for answer in found.conflict.clash if answer.number != new.number]
        return progress.ContradictionView(
            answer=answer_view(workspace, session, new),
            clash=[answer_view(workspace, session, answer) for answer in earlier],
            steps=[
                progress.ContradictionStep(
                    number=answer.number,
                    a=question_item_view(workspace, session, link.a),
                    b=question_item_view(workspace, session, link.b),
                    same=link.same,
                )
                for answer, link in found.chain
            ],
            settle=[
                progress.SuspectAnswer(number=answer.number, implied=implied)
                for answer, implied in found.suspects
            ],
        )

    found = contradictions(session)
    if person is not None and workspace.people.hidden:
        found = [one for one in found if all(a.by == person for a in one.conflict.clash)]
    return progress.ContradictionList(conflicts=[view(one) for one in found])


@router.get("/odd")
def list_odd_answers(
    workspace: CurrentWorkspace, session: CurrentSession, person: CurrentPerson
) -> progress.OddAnswerList:
    """List the answers worth another look, as far as this person may see them."""
    own = person is not None and workspace.people.hidden
    answers = (answer for answer in session.answers if not own or answer.by == person)
    in_force = {answer.number: answer for answer in answers}

    def view(odd: DoubtfulAnswer) -> progress.OddAnswerView:
        return progress.OddAnswerView(
            answer=answer_view(workspace, session, in_force[odd.number]),
            said=odd.said,
            likely=odd.likely,
            others=odd.others,
            words=describe_doubt(session, odd),
        )

    odd_ones = (odd for odd in doubtful_answers(session) if odd.number in in_force)
    return progress.OddAnswerList(odd=[view(odd) for odd in odd_ones])
