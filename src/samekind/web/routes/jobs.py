"""Routes of long work: what goes on, stopping it, and taking up what was cut off."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path

from samekind.web.errors import ApiError
from samekind.web.schemas import core as models
from samekind.web.schemas import jobs as models_jobs
from samekind.workspace.jobs import Job
from samekind.workspace.workspaces import Workspaces

JobId = Annotated[str, Path(pattern=r"^[0-9a-f]{16}$")]


def job_view(job: Job) -> models_jobs.JobView:
    """A job as the page shows it."""
    return models_jobs.JobView(
        id=job.id,
        kind=job.kind,  # type: ignore[arg-type]
        title=job.title,
        state=job.state,  # type: ignore[arg-type]
        share=None if job.share is None else round(job.share, 4),
        words=job.words,
        pile=job.pile,
        session=job.session,
        can_go_on=job.kind in ("open", "polish") and job.state in ("interrupted", "cancelled"),
        seconds=round(job.seconds, 1),
    )


def routes(workspaces: Workspaces) -> APIRouter:
    """Routes under /api/jobs."""
    api = APIRouter(prefix="/api/jobs", responses=models.FAILURES)

    @api.get("")
    def jobs() -> models_jobs.JobList:
        return models_jobs.JobList(jobs=[job_view(job) for job in workspaces.jobs.all()])

    @api.get("/{id}")
    def job(id: JobId) -> models_jobs.JobView:
        return job_view(workspaces.jobs.find(id))

    @api.post("/{id}/cancel")
    def cancel(id: JobId, _: models.Nothing) -> models_jobs.JobView:
        return job_view(workspaces.jobs.cancel(id))

    @api.post("/{id}/again", status_code=202)
    def again(id: JobId, _: models.Nothing) -> models_jobs.JobView:
        return job_view(take_up(workspaces, workspaces.jobs.find(id)))

    return api


def take_up(workspaces: Workspaces, job: Job) -> Job:
    """Do a job again that was cut off or cancelled; what it had done is not done twice."""
    if job.going:
        return job
    if job.kind == "open":
        spec = job.spec
        return workspaces.submit_open(str(spec["path"]), spec.get("encoder"), spec.get("minutes"))
    if job.kind == "polish":
        from samekind.web.routes.polish import begin_polish

        workspace = workspaces.find(job.pile or None)
        if workspace is None:
            raise ApiError(
                409, "pile-not-open", "The pile of this work is not open.", "Open it first."
            )
        spec = job.spec
        return begin_polish(
            workspaces, workspace, job.session, str(spec["method"]), spec.get("minutes")
        )
    raise ApiError(409, "not-again", "This work cannot be taken up again.", "Begin it anew.")
