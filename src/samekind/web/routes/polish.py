"""Routes of deep polish: offered with an estimate, run as a job, accepted or not."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter

from samekind.errors import InputError
from samekind.web import rendering as views
from samekind.web.errors import ApiError
from samekind.web.routes.jobs import job_view
from samekind.web.routes.questions import Name
from samekind.web.schemas import core as models
from samekind.web.schemas import jobs as models_jobs
from samekind.workspace import polished_vectors as polished
from samekind.workspace.jobs import Job, JobContext
from samekind.workspace.polish import FEWEST_ANSWERS, polish, verdict
from samekind.workspace.workspace import Workspace
from samekind.workspace.workspaces import Workspaces

if TYPE_CHECKING:
    from samekind.session import Session

METHODS = ("polish", "fixmatch", "idc", "pcl")
"""In the order in which they are offered."""
MINUTES_GPU = 5.0
FEWEST_MINUTES, MOST_MINUTES = 2.0, 30.0
LOOK = 0.1
"""Seconds for one look at one picture without a GPU, rather high than low (two cores)."""
LOOKS = 60
"""Looks at every picture that are wished for without a GPU."""
MANY = 10_000
"""Answers with which a trained network was ahead of the quick groups, on photos (measured)."""


def routes(workspaces: Workspaces, workspace: Workspace) -> APIRouter:
    """Routes under /api/polish."""
    api = APIRouter(prefix="/api/polish", responses=models.FAILURES)

    @api.get("")
    def about(session: Name = None) -> models_jobs.PolishView:
        return polish_view(workspaces, workspace, workspace.session(session))

    @api.post("", status_code=202)
    def begin(wish: models_jobs.Polish, session: Name = None) -> models_jobs.JobView:
        one = workspace.session(session)
        return job_view(begin_polish(workspaces, workspace, one.name, wish.method, wish.minutes))

    @api.post("/accept")
    def accept(_: models.Nothing, session: Name = None) -> models_jobs.PolishView:
        one = workspace.session(session)
        job = waiting(workspaces, workspace.key, one.name)
        if job is None:
            raise ApiError(
                409, "nothing-polished", "There are no polished groups to accept.", "Polish first."
            )
        id = str(job.result["polish"])
        if polished.vectors_of(id, workspace.collection) is None:
            raise ApiError(
                409,
                "collection-changed",
                "The pictures have changed since they were polished.",
                "Polish again.",
            )
        return _switched(workspaces, workspace, one, id, job)

    @api.post("/reject")
    def reject(_: models.Nothing, session: Name = None) -> models_jobs.PolishView:
        one = workspace.session(session)
        job = waiting(workspaces, workspace.key, one.name)
        if job is not None:
            workspaces.jobs.settle(job, {"settled": "rejected"})
        return polish_view(workspaces, workspace, one)

    @api.post("/back")
    def back(_: models.Nothing, session: Name = None) -> models_jobs.PolishView:
        one = workspace.session(session)
        return _switched(workspaces, workspace, one, "", None)

    return api


def _switched(
    workspaces: Workspaces, workspace: Workspace, session: Session, id: str, job: Job | None
) -> models_jobs.PolishView:
    """Let an orientation rest on other vectors; its answers and the names of groups stay."""
    workspace.refitter.wait(session.name)
    if polished.chosen(session.store, session.name) != id:
        polished.choose(session.store, session.name, id)
        session = workspace.reopen(session.name)
        workspace.refitter.request(session)
    if job is not None:
        workspaces.jobs.settle(job, {"settled": "accepted"})
    return polish_view(workspaces, workspace, session)


def begin_polish(
    workspaces: Workspaces, workspace: Workspace, name: str, method: str, minutes: float | None
) -> Job:
    """Put polishing into the queue."""
    session = workspace.session(name)
    why_not = _why_not(session)
    if why_not:
        raise ApiError(409, "cannot-be-polished", why_not)
    if method not in _offered():
        raise InputError(f"There is no method {method!r} here. Known: {', '.join(_offered())}.")
    minutes = minutes or _minutes(len(session.collection), _gpu()[0])

    def work(context: JobContext) -> dict[str, Any]:
        current = workspace.session(name)
        vectors, facts = polish(current, workspace.collection, method, minutes, context)
        id = secrets.token_hex(8)
        polished.keep(id, workspace.collection, vectors, facts)
        return {"words": "Ready to be compared with the groups of now.", "polish": id}

    workspaces.jobs.forget_interrupted("polish", workspace.key, name)
    spec = {"method": method, "minutes": minutes}
    title = f"Polish {name} with {method}"
    return workspaces.jobs.submit(
        "polish", title, work, pile=workspace.key, session=name, spec=spec
    )


def waiting(workspaces: Workspaces, pile: str, name: str) -> Job | None:
    """The last polishing whose result was neither accepted nor rejected."""
    for job in workspaces.jobs.all():
        if (job.kind, job.pile, job.session) == ("polish", pile, name) and job.result:
            if "settled" in job.result or polished.facts_of(str(job.result["polish"])) is None:
                return None
            return job
    return None


def polish_view(
    workspaces: Workspaces, workspace: Workspace, session: Session
) -> models_jobs.PolishView:
    """Whether it is offered, what it costs, and what came of it."""
    from samekind.registry import first_line

    gpu, device = _gpu()
    minutes = _minutes(len(session.collection), gpu)
    why_not = _why_not(session)
    job = waiting(workspaces, workspace.key, session.name)
    chosen = str(session.settings.get("polish") or "")
    facts = polished.facts_of(chosen) if chosen else None
    answers = len(session.answers)
    return models_jobs.PolishView(
        offered=not why_not,
        why_not=why_not,
        device=device,
        gpu=gpu,
        minutes=minutes,
        estimate=_estimate(len(session.collection), minutes, gpu, device),
        advice=_advice(answers),
        methods=[
            models_jobs.PolishMethod(name=name, line=first_line("method", name))  # type: ignore[arg-type]
            for name in _offered()
        ],
        result=None if job is None else result_view(workspace, str(job.result["polish"])),
        accepted=None if facts is None else str(facts["method"]),
    )


def result_view(workspace: Workspace, id: str) -> models_jobs.PolishResult | None:
    """The comparison as the page shows it."""
    facts = polished.facts_of(id)
    if facts is None:
        return None
    names = {number: name for number, name, _ in (*facts["groups_after"], *facts["groups_before"])}
    moved = []
    for key, before, after in facts["moved"]:
        try:
            shown = views.item(workspace, workspace.collection.position(key))
        except KeyError:
            continue
        moved.append(models_jobs.Moved(item=shown, before=names[before], after=names[after]))
    return models_jobs.PolishResult(
        id=id,
        method=facts["method"],
        answers=facts["answers"],
        seconds=facts["seconds"],
        kept_aside=facts["kept_aside"],
        before=_agreement(facts["before"]),
        after=_agreement(facts["after"]),
        verdict=verdict(facts["before"], facts["after"]),
        changed=facts["changed"],
        items=facts["items"],
        groups_before=[_named(group) for group in facts["groups_before"]],
        groups_after=[_named(group) for group in facts["groups_after"]],
        flows=[
            models_jobs.Flow(before=a, after=b, items=count) for a, b, count in facts["flows"][:400]
        ],
        moved=moved,
    )


def _named(group: list[Any]) -> models_jobs.NamedGroup:
    return models_jobs.NamedGroup(number=group[0], name=group[1], size=group[2])


def _agreement(found: list[Any] | None) -> models_jobs.Agreement | None:
    if found is None:
        return None
    agreed, of, low, high = found
    return models_jobs.Agreement(agreed=agreed, of=of, low=float(low), high=float(high))


def _why_not(session: Session) -> str:
    """Why this orientation cannot be polished; empty when it can."""
    if session.collection.kind != "image":
        return "Only pictures can be polished: a network has to see them."
    if session.X.dtype.kind == "u" or session.X.ndim > 2:
        return "This grouping is made by a network that learns from the pictures already."
    answers = sum(1 for answer in session.answers if answer.links)
    if answers < FEWEST_ANSWERS:
        return (
            f"A network needs something to learn from: answer at least {FEWEST_ANSWERS} questions "
            f"first ({answers} so far)."
        )
    return ""


def _offered() -> list[str]:
    from samekind.registry import shelf

    return [name for name in METHODS if name in shelf("method")]


def _gpu() -> tuple[bool, str]:
    from samekind.compute import best_device

    found = best_device()
    return found.device != "cpu", found.reason


def _minutes(n: int, gpu: bool) -> float:
    if gpu:
        return MINUTES_GPU
    wished = LOOKS * LOOK * n / 60
    return float(round(min(MOST_MINUTES, max(FEWEST_MINUTES, wished))))


def _estimate(n: int, minutes: float, gpu: bool, device: str) -> str:
    words = f"About {minutes:g} minutes for {n:,} pictures on this machine ({device})."
    looks = minutes * 60 / (LOOK * n)
    if gpu or looks >= LOOKS / 2:
        return words
    often = "not even once" if looks < 1 else f"only about {looks:.0f} times"
    return (
        f"{words} Without a GPU a network sees each picture {often} in that, so do not expect "
        "much; give it hours, or a machine with a GPU."
    )


def _advice(answers: int) -> str:
    words = (
        "Some of your answers are kept aside and never shown to the network; the comparison is "
        "made on them. Nothing changes before you accept it."
    )
    if answers >= MANY:
        return words
    return (
        f"With {answers:,} answers the quick groups are often better: on photos a trained network "
        f"was behind them at 500 and 1,000 answers, and ahead at {MANY:,}. {words}"
    )
