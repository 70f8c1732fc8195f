"""Route of finding more: items of a store of vectors that are like some, as a job."""

from __future__ import annotations

from fastapi import APIRouter

from samekind.web.dependencies import CurrentWorkspace, OpenWorkspaces
from samekind.web.errors import ApiError
from samekind.web.rendering import job_view
from samekind.web.schemas import core, jobs
from samekind.workspace.more_jobs import submit_more

router = APIRouter(prefix="/api/more", responses=core.ERRORS)


@router.post("", status_code=202)
def find_more(
    wanted: jobs.MoreRequest, workspaces: OpenWorkspaces, workspace: CurrentWorkspace
) -> jobs.JobView:
    """Use further items like some of the collection for the questions."""
    for id in wanted.like:
        try:
            workspace.collection.position(id)
        except KeyError:
            message = "There is no such item in the collection."
            raise ApiError(404, "unknown-item", message) from None
    return job_view(submit_more(workspaces, workspace, wanted.like, wanted.count))
