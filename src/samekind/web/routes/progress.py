"""Routes of progress: a report on the session, and its quality over the number of answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter

from samekind.parameters import written
from samekind.session.agreement import agreement, describe_agreement
from samekind.session.report import report
from samekind.web.dependencies import CurrentSession, CurrentWorkspace
from samekind.web.schemas import core, progress
from samekind.workspace.learner import in_use

router = APIRouter(prefix="/api/progress", responses=core.ERRORS)


@router.get("/report")
def get_report(session: CurrentSession) -> progress.Report:
    """Report on the session in detail."""
    return progress.Report.model_validate(report(session))


@router.get("/learner")
def get_learner(session: CurrentSession) -> progress.InUse:
    """Name what groups the items and what chooses the questions."""
    found = in_use(session)
    parameters = {name: written(value) for name, value in found.parameters.items()}
    return progress.InUse(learner=found.learner, strategy=found.strategy, parameters=parameters)


@router.get("/people")
def get_people(workspace: CurrentWorkspace, session: CurrentSession) -> progress.PeopleView:
    """Compare the people who answer."""
    found = agreement(session)
    people = [progress.PersonView.model_validate(one) for one in found.people]
    return progress.PeopleView(
        people=people,
        overlap=workspace.people.overlap,
        shared=found.shared,
        agreed=found.agreed,
        low=found.low,
        high=found.high,
        alpha=found.alpha,
        words=describe_agreement(found),
    )


@router.get("/curve")
def get_curve(workspace: CurrentWorkspace, session: CurrentSession) -> progress.Curve:
    """Return the quality over the number of answers."""
    curve = workspace.curves.of(session)
    points = [
        progress.CurvePoint(
            answers=point.answers,
            settled=point.settled,
            quality=quality_view(point.quality.as_json()),
        )
        for point in curve.points
    ]
    return progress.Curve(points=points, pending=curve.pending, message=curve.message)


def quality_view(found: Mapping[str, Any] | None) -> progress.QualityView | None:
    """Render an estimate of the quality."""
    return None if found is None else progress.QualityView(**found)
