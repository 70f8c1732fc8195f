"""Routes of a session: the open question, answers, undo, skip, progress, orientations."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, BackgroundTasks, Path, Query

from samekind.session.conflicts import contradictions
from samekind.session.review import odd_answers
from samekind.web import rendering as views
from samekind.web.schemas import core as models
from samekind.web.schemas import progress as models_progress
from samekind.web.services.conflicts import contradiction_view
from samekind.workspace.workspace import Workspace

Name = Annotated[str | None, Query(alias="session", max_length=200, description="Orientation")]
AnswerNumber = Annotated[int, Path(ge=1, le=models.LARGEST)]


def routes(workspace: Workspace, version: str) -> APIRouter:
    """Routes under /api that read and change a session."""
    api = APIRouter(prefix="/api", responses=models.FAILURES)
    _about_sessions(api, workspace, version)
    _about_questions(api, workspace)
    _about_answers(api, workspace)
    return api


def _about_sessions(api: APIRouter, workspace: Workspace, version: str) -> None:
    @api.get("/health")
    def health() -> models.Health:
        return models.Health(status="ok", version=version)

    @api.get("/session")
    def session(session: Name = None) -> models.SessionView:
        return views.session(workspace, workspace.session(session), version)

    @api.get("/progress")
    def progress(session: Name = None) -> models.Progress:
        return views.progress(workspace, workspace.session(session))

    @api.post("/refit", status_code=202)
    def refit(_: models.Nothing, session: Name = None) -> models.Progress:
        one = workspace.session(session)
        workspace.refitter.request(one)
        return views.progress(workspace, one)

    @api.get("/orientations")
    def orientations() -> models.Orientations:
        return models.Orientations(orientations=workspace.names())

    @api.post("/orientations", status_code=201)
    def begin(new: models.NewOrientation) -> models.SessionView:
        return views.session(workspace, workspace.begin(new.name), version)


def _about_questions(api: APIRouter, workspace: Workspace) -> None:
    @api.get("/question")
    def question(later: BackgroundTasks, session: Name = None) -> models.OpenQuestion:
        one = workspace.session(session)
        later.add_task(one.foresee)  # when the answer is sent: while the person looks at it
        return views.open_question(workspace, one)

    @api.post("/answers")
    def tell(told: models.Tell, later: BackgroundTasks, session: Name = None) -> models.Done:
        one = workspace.session(session)
        later.add_task(one.foresee)
        workspace.tell(one, told.number, told.choice, told.by, told.seconds)
        return models.Done(number=told.number, now=views.open_question(workspace, one))

    @api.post("/skip")
    def skip(put_off: models.Skip, session: Name = None) -> models.Done:
        one = workspace.session(session)
        workspace.skip(one, put_off.number)
        return models.Done(number=put_off.number, now=views.open_question(workspace, one))

    @api.post("/undo")
    def undo(_: models.Nothing, session: Name = None) -> models.Done:
        one = workspace.session(session)
        return models.Done(number=workspace.undo(one), now=views.open_question(workspace, one))


def _about_answers(api: APIRouter, workspace: Workspace) -> None:
    @api.get("/answers")
    def answers(
        session: Name = None,
        offset: Annotated[int, Query(ge=0, le=models.LARGEST)] = 0,
        limit: Annotated[int, Query(ge=1, le=100)] = 10,
    ) -> models.AnswerList:
        one = workspace.session(session)
        told = one.answers
        latest = told[::-1][offset : offset + limit]
        return models.AnswerList(
            total=len(told),
            offset=offset,
            answers=[views.answer(workspace, one, answer) for answer in latest],
        )

    @api.put("/answers/{number}")
    def change(number: AnswerNumber, to: models.Change, session: Name = None) -> models.Done:
        one = workspace.session(session)
        workspace.change(one, number, to.choice)
        return models.Done(number=number, now=views.open_question(workspace, one))

    @api.delete("/answers/{number}")
    def take_away(number: AnswerNumber, session: Name = None) -> models.Done:
        one = workspace.session(session)
        workspace.undo(one, number)
        return models.Done(number=number, now=views.open_question(workspace, one))

    @api.get("/conflicts")
    def conflicts(session: Name = None) -> models_progress.ClashList:
        one = workspace.session(session)
        found = [contradiction_view(workspace, one, each) for each in contradictions(one)]
        return models_progress.ClashList(conflicts=found)

    @api.get("/odd")
    def odd(session: Name = None) -> models.OddList:
        one = workspace.session(session)
        told = {answer.number: answer for answer in one.answers}
        found = [o for o in odd_answers(one) if o.number in told]
        return models.OddList(odd=[views.odd(workspace, one, o, told[o.number]) for o in found])
