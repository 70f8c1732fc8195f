"""Routes of acts by hand: merge, split, move, out, together. Each is one answer in the ledger."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import APIRouter

from samekind.session import acts
from samekind.web import rendering as views
from samekind.web.routes.groups import check_group
from samekind.web.routes.questions import Name
from samekind.web.schemas import acts as models_acts
from samekind.web.schemas import core as models
from samekind.workspace.workspace import Workspace

if TYPE_CHECKING:
    from samekind.session import Session


def routes(workspace: Workspace) -> APIRouter:
    """Routes under /api/acts."""
    api = APIRouter(prefix="/api/acts", responses=models.FAILURES)

    @api.post("/merge")
    def merge(act: models_acts.Merge, session: Name = None) -> models_acts.Acted:
        one = workspace.session(session)
        a, b = act.groups
        check_group(a, one.clustering.numbers)
        check_group(b, one.clustering.numbers)
        return done(workspace, one, acts.merge(one, a, b), act.by)

    @api.post("/split")
    def split(act: models_acts.Split, session: Name = None) -> models_acts.Acted:
        one = workspace.session(session)
        check_group(act.group, one.clustering.numbers)
        return done(workspace, one, acts.split(one, act.group, act.items), act.by)

    @api.post("/move")
    def move(act: models_acts.Move, session: Name = None) -> models_acts.Acted:
        one = workspace.session(session)
        check_group(act.to, one.clustering.numbers)
        return done(workspace, one, acts.move(one, act.items, act.to), act.by)

    @api.post("/out")
    def out(act: models_acts.Out, session: Name = None) -> models_acts.Acted:
        one = workspace.session(session)
        return done(workspace, one, acts.out(one, act.items), act.by)

    @api.post("/together")
    def together(act: models_acts.Together, session: Name = None) -> models_acts.Acted:
        one = workspace.session(session)
        return done(workspace, one, acts.together(one, act.items), act.by)

    return api


def done(workspace: Workspace, session: Session, act: acts.Act, by: str) -> models_acts.Acted:
    """Keep an act, learn from it at once, and say what it did."""
    number = acts.perform(session, act, by=by)
    workspace.refitter.nudge(session, at_once=True)
    message = act.words
    against = [c for c in session.constraints.conflicts if c.answer.number == number]
    if against:
        earlier = len(against[0].clash) - 1
        which = "an earlier answer" if earlier == 1 else f"{earlier} earlier answers"
        message += f" But that contradicts {which}: it is kept aside until you change one of them."
    return models_acts.Acted(
        number=number, message=message, now=views.open_question(workspace, session)
    )
