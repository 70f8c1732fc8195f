"""Routes of polishing: estimate it, run it as a job, then accept, reject or revert it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter

from samekind.parameters import paper
from samekind.registry import find, first_line
from samekind.session import Session
from samekind.web.dependencies import CurrentSession, CurrentWorkspace, OpenWorkspaces
from samekind.web.rendering import item_view, job_view
from samekind.web.schemas import core, jobs
from samekind.workspace import polish_jobs
from samekind.workspace.polish import verdict
from samekind.workspace.polish_methods import Training, choices_of, offers
from samekind.workspace.polished_vectors import facts_of
from samekind.workspace.workspace import Workspace
from samekind.workspace.workspaces import Workspaces

router = APIRouter(prefix="/api/polish", responses=core.ERRORS)
MAX_FLOWS = 400
"""Pairs of groups between which moving items are counted."""


@router.get("")
def get_polish(
    workspaces: OpenWorkspaces, workspace: CurrentWorkspace, session: CurrentSession
) -> jobs.PolishView:
    """Describe whether polishing is possible, its cost, and its result."""
    return polish_view(workspaces, workspace, session)


@router.post("", status_code=202)
def start_polish(
    wanted: jobs.PolishRequest,
    workspaces: OpenWorkspaces,
    workspace: CurrentWorkspace,
    session: CurrentSession,
) -> jobs.JobView:
    """Start polishing as a job."""
    wish = Training.of(wanted.method, wanted.parameters)
    job = polish_jobs.submit_polish(workspaces, workspace, session.name, wish, wanted.minutes)
    return job_view(job)


@router.post("/learner")
def name_learner(wanted: jobs.LearnerRequest) -> jobs.LearnerView:
    """Check parameters, and name what would learn with them."""
    return jobs.LearnerView(learner=Training.of(wanted.method, wanted.parameters).learner)


@router.post("/accept")
def accept(
    _: core.Empty,
    workspaces: OpenWorkspaces,
    workspace: CurrentWorkspace,
    session: CurrentSession,
) -> jobs.PolishView:
    """Use the polished groups."""
    polished = polish_jobs.accept(workspaces, workspace, session)
    return polish_view(workspaces, workspace, polished)


@router.post("/reject")
def reject(
    _: core.Empty,
    workspaces: OpenWorkspaces,
    workspace: CurrentWorkspace,
    session: CurrentSession,
) -> jobs.PolishView:
    """Dismiss the polished groups."""
    polish_jobs.reject(workspaces, workspace, session)
    return polish_view(workspaces, workspace, session)


@router.post("/back")
def revert(
    _: core.Empty,
    workspaces: OpenWorkspaces,
    workspace: CurrentWorkspace,
    session: CurrentSession,
) -> jobs.PolishView:
    """Go back to the groups before polishing."""
    return polish_view(workspaces, workspace, polish_jobs.revert(workspace, session))


def polish_view(workspaces: Workspaces, workspace: Workspace, session: Session) -> jobs.PolishView:
    """Render whether polishing is possible, its cost, and its result."""
    estimate = polish_jobs.estimate(len(session.collection))
    reason = polish_jobs.reason_against(session)
    job = polish_jobs.undecided_result(workspaces, workspace, session.name)
    chosen = str(session.settings.get("polish") or "")
    facts = facts_of(chosen) if chosen else None
    return jobs.PolishView(
        offered=not reason,
        why_not=reason,
        helps=polish_jobs.is_expected_to_help(session),
        device=estimate.device,
        gpu=estimate.gpu,
        minutes=estimate.minutes,
        estimate=estimate.words,
        advice=polish_jobs.advise(len(session.answers)),
        methods=[method_view(name) for name in offers()],
        result=None if job is None else result_view(workspace, str(job.result["polish"])),
        accepted=None if facts is None else learner_of(facts),
    )


def method_view(name: str) -> jobs.PolishMethod:
    """Render a network that can be trained, with the parameters that can be chosen."""
    return jobs.PolishMethod(
        name=name,  # type: ignore[arg-type]
        line=first_line("method", name),
        learner=Training.of(name).learner,
        paper=paper(find("method", name)),
        parameters=[
            jobs.ParameterView.model_validate(parameter.as_json())
            for parameter in choices_of(name).values()
        ],
    )


def learner_of(facts: Mapping[str, Any]) -> str:
    """Return what learnt; earlier versions kept only the name of the method."""
    return str(facts.get("learner") or facts["method"])


def result_view(workspace: Workspace, id: str) -> jobs.PolishResult | None:
    """Render the comparison of polished groups with the current ones."""
    facts = facts_of(id)
    if facts is None:
        return None
    before, after = facts["groups_before"], facts["groups_after"]
    names = {number: name for number, name, _ in (*after, *before)}
    moved = []
    for item, a, b in facts["moved"]:
        try:
            shown = item_view(workspace, workspace.collection.position(item))
        except KeyError:
            continue  # it has left the collection
        moved.append(jobs.MovedItem(item=shown, before=names[a], after=names[b]))
    return jobs.PolishResult(
        id=id,
        method=facts["method"],
        learner=learner_of(facts),
        answers=facts["answers"],
        seconds=facts["seconds"],
        kept_aside=facts["kept_aside"],
        before=_agreement(facts["before"]),
        after=_agreement(facts["after"]),
        verdict=verdict(facts["before"], facts["after"]),
        changed=facts["changed"],
        items=facts["items"],
        groups_before=[jobs.NamedGroup(number=k, name=name, size=n) for k, name, n in before],
        groups_after=[jobs.NamedGroup(number=k, name=name, size=n) for k, name, n in after],
        flows=[jobs.Flow(before=a, after=b, items=n) for a, b, n in facts["flows"][:MAX_FLOWS]],
        moved=moved,
    )


def _agreement(score: list[Any] | None) -> jobs.Agreement | None:
    if score is None:
        return None
    agreed, of, low, high = score
    return jobs.Agreement(agreed=agreed, of=of, low=float(low), high=float(high))
