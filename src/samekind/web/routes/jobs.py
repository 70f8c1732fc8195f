"""Routes of jobs: list, cancel and resume them."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path

from samekind.web.dependencies import OpenWorkspaces
from samekind.web.guests import CurrentGuest
from samekind.web.rendering import job_view
from samekind.web.schemas import core, jobs

router = APIRouter(prefix="/api/jobs", responses=core.ERRORS)
JobId = Annotated[str, Path(pattern=r"^[0-9a-f]{16}$")]


@router.get("")
def list_jobs(workspaces: OpenWorkspaces, guest: CurrentGuest) -> jobs.JobList:
    """List all jobs, latest first; people and phones see those of open piles."""
    return jobs.JobList(jobs=[job_view(job) for job in workspaces.jobs.all() if guest.sees(job)])


@router.get("/{id}")
def get_job(id: JobId, guest: CurrentGuest) -> jobs.JobView:
    """Return a job."""
    return job_view(guest.find(id))


@router.post("/{id}/cancel")
def cancel_job(
    id: JobId, _: core.Empty, workspaces: OpenWorkspaces, guest: CurrentGuest
) -> jobs.JobView:
    """Cancel a job."""
    return job_view(workspaces.jobs.cancel(guest.find_to_change(id).id))


@router.post("/{id}/again", status_code=202)
def resume_job(
    id: JobId, _: core.Empty, workspaces: OpenWorkspaces, guest: CurrentGuest
) -> jobs.JobView:
    """Resume a job that was interrupted or cancelled."""
    return job_view(workspaces.resume(guest.find_to_change(id)))
