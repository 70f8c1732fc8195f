"""Routes of acts by hand: merge, split, move, out, together. Each is one answer in the ledger."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import APIRouter

from samekind import acts
from samekind.web import models, models_acts, views
from samekind.web.asking import Name
from samekind.web.desk import Desk
from samekind.web.grouping import check_group

if TYPE_CHECKING:
    from samekind.session import Session


def routes(desk: Desk) -> APIRouter:
    """Routes under /api/acts."""
    api = APIRouter(prefix="/api/acts", responses=models.FAILURES)

    @api.post("/merge")
    def merge(act: models_acts.Merge, session: Name = None) -> models_acts.Acted:
        one = desk.session(session)
        a, b = act.groups
        check_group(a, one.clustering.numbers)
        check_group(b, one.clustering.numbers)
        return done(desk, one, acts.merge(one, a, b), act.by)

    @api.post("/split")
    def split(act: models_acts.Split, session: Name = None) -> models_acts.Acted:
        one = desk.session(session)
        check_group(act.group, one.clustering.numbers)
        return done(desk, one, acts.split(one, act.group, act.items), act.by)

    @api.post("/move")
    def move(act: models_acts.Move, session: Name = None) -> models_acts.Acted:
        one = desk.session(session)
        check_group(act.to, one.clustering.numbers)
        return done(desk, one, acts.move(one, act.items, act.to), act.by)

    @api.post("/out")
    def out(act: models_acts.Out, session: Name = None) -> models_acts.Acted:
        one = desk.session(session)
        return done(desk, one, acts.out(one, act.items), act.by)

    @api.post("/together")
    def together(act: models_acts.Together, session: Name = None) -> models_acts.Acted:
        one = desk.session(session)
        return done(desk, one, acts.together(one, act.items), act.by)

    return api


def done(desk: Desk, session: Session, act: acts.Act, by: str) -> models_acts.Acted:
    """Keep an act, learn from it at once, and say what it did."""
    number = acts.perform(session, act, by=by)
    desk.refitter.nudge(session, at_once=True)
    message = act.words
    against = [c for c in session.constraints.conflicts if c.answer.number == number]
    if against:
        earlier = len(against[0].clash) - 1
        which = "an earlier answer" if earlier == 1 else f"{earlier} earlier answers"
        message += f" But that contradicts {which}: it is kept aside until you change one of them."
    return models_acts.Acted(number=number, message=message, now=views.open_question(desk, session))
