"""Guests: people and phones. They see jobs of open piles only, and no files of the machine."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends

from samekind.errors import UnknownJob
from samekind.web.dependencies import CurrentPerson, OnPhone, OpenWorkspaces
from samekind.web.errors import ApiError
from samekind.workspace.jobs import Job
from samekind.workspace.workspaces import Workspaces

FILE_JOBS = frozenset({"open", "export"})
"""Kinds of jobs that read or write files of the machine by their path."""


class Guest:
    """Which jobs whoever sent a request may see and change.

    Parameters
    ----------
    invited : whether it is one of several people, a phone, or anybody who can reach the server.
        Whoever started samekind on their own machine is no guest, and may do everything.
    """

    def __init__(self, workspaces: Workspaces, invited: bool) -> None:
        self.workspaces, self.invited = workspaces, invited

    def sees(self, job: Job) -> bool:
        """Whether the job is listed: titles of others name piles and folders of the owner."""
        return not self.invited or (job.kind != "export" and self.workspaces.has(job.pile))

    def find(self, id: str) -> Job:
        """Return a job by its id; one that is not listed is unknown."""
        job = self.workspaces.jobs.find(id)
        if not self.sees(job):
            raise UnknownJob("There is no such job.")
        return job

    def find_to_change(self, id: str) -> Job:
        """Return a job to cancel or to resume."""
        job = self.find(id)
        if self.invited and job.kind in FILE_JOBS:
            raise ApiError(
                403,
                "paths-not-allowed",
                "Others can reach this server, so it does not open or write files by path.",
                "Ask whoever started samekind to do it.",
            )
        return job


def get_guest(workspaces: OpenWorkspaces, person: CurrentPerson, on_phone: OnPhone) -> Guest:
    """Return what the sender of a request may see and change."""
    return Guest(workspaces, person is not None or on_phone or not workspaces.paths)


CurrentGuest = Annotated[Guest, Depends(get_guest)]
