"""Routes of progress: what was answered, how good the groups are by that, and whether to go on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import median
from typing import Any

from fastapi import APIRouter

from samekind.questions import UNSURE, Answer, wording
from samekind.session import Session
from samekind.session.quality import FEWEST, Quality, checks_of, in_words
from samekind.web.routes.questions import Name
from samekind.web.schemas import core as models
from samekind.web.schemas import progress as shapes
from samekind.workspace.quality_curve import Curve
from samekind.workspace.workspace import Workspace


def routes(workspace: Workspace) -> APIRouter:
    """Routes under /api/progress."""
    api = APIRouter(prefix="/api/progress", responses=models.FAILURES)

    @api.get("/report")
    def report(session: Name = None) -> shapes.Report:
        return of(workspace.session(session))

    @api.get("/curve")
    def curve(session: Name = None) -> shapes.Curve:
        return curve_view(workspace.curves.of(workspace.session(session)))

    return api


def curve_view(curve: Curve) -> shapes.Curve:
    """Render a quality curve."""
    points = [
        shapes.CurvePoint(
            answers=point.answers,
            settled=point.settled,
            quality=None if point.quality is None else quality_view(point.quality),
        )
        for point in curve.points
    ]
    return shapes.Curve(points=points, pending=curve.pending, message=curve.message)


def quality_view(found: Quality) -> shapes.QualityView:
    """Render an estimate of the quality."""
    return shapes.QualityView(
        checks=found.checks,
        agreed=found.agreed,
        share=round(found.share, 4),
        low=round(found.low, 4),
        high=round(found.high, 4),
    )


def of(session: Session) -> shapes.Report:
    """Where a session stands."""
    told: dict[str, Any] = session.progress()
    answers = session.answers
    times = [answer.seconds for answer in answers if answer.seconds is not None]
    return shapes.Report(
        answers=told["answers"],
        unsure=told["unsure"],
        items=told["items"],
        placed=told["placed"],
        groups=told["groups"],
        conflicts=told["conflicts"],
        snapshot=told["snapshot"],
        kinds=by_kind(answers),
        choices=dict(Counter(map(_chosen, answers)).most_common()),
        people=dict(Counter(answer.by for answer in answers).most_common()),
        seconds=round(sum(times), 1),
        timed=len(times),
        checks=len(checks_of(answers)),
        checking=bool(getattr(session.strategy, "check_every", 0)),
        checks_needed=FEWEST,
        quality=None if told["quality"] is None else shapes.QualityView(**told["quality"]),
        gain=None if told["gain"] is None else shapes.GainView(**told["gain"]),
        moved=told["moved"],
        enough=told["enough"],
        words=in_words(told),
    )


def by_kind(answers: Sequence[Answer]) -> list[shapes.KindCount]:
    """Answers and time per kind of question, the most frequent kind first."""
    kinds: dict[str, list[Answer]] = {}
    for answer in answers:
        kinds.setdefault(answer.question.kind, []).append(answer)
    return [_counted(kinds[kind]) for kind in sorted(kinds, key=lambda kind: -len(kinds[kind]))]


def _counted(answers: Sequence[Answer]) -> shapes.KindCount:
    times = [answer.seconds for answer in answers if answer.seconds is not None]
    question = answers[0].question
    return shapes.KindCount(
        kind=question.kind,
        prompt=question.prompt,
        answers=len(answers),
        unsure=sum(answer.choice == UNSURE for answer in answers),
        seconds=round(sum(times), 1),
        timed=len(times),
        median=round(median(times), 1) if times else None,
    )


def _chosen(answer: Answer) -> str:
    """What was chosen, in words that do not depend on the place of a group on the screen."""
    if answer.choice[0].isdecimal():
        return "Some do not belong" if answer.question.many else "One of the groups"
    return wording.label(answer.choice, answer.question.words)
