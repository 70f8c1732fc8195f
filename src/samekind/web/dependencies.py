"""What routes are given: the workspaces of the server, the one addressed, and its session."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Query, Request

from samekind.session import Session
from samekind.web.errors import ApiError
from samekind.web.security import PERSON, PHONE
from samekind.workspace.workspace import Workspace
from samekind.workspace.workspaces import Workspaces


async def get_workspaces(request: Request) -> Workspaces:
    """Return the workspaces of this server."""
    workspaces: Workspaces = request.app.state.workspaces
    return workspaces


OpenWorkspaces = Annotated[Workspaces, Depends(get_workspaces)]


async def get_workspace(request: Request, workspaces: OpenWorkspaces) -> Workspace:
    """Return the workspace that ``?pile=`` names, or the first one."""
    workspace = workspaces.find(request.query_params.get("pile") or None)
    if workspace is None:
        raise ApiError(
            409,
            "no-pile",
            "No pile is open at this address.",
            "Open one on the page, or with POST /api/start/open.",
        )
    return workspace


CurrentWorkspace = Annotated[Workspace, Depends(get_workspace)]
Orientation = Annotated[
    str | None, Query(alias="session", max_length=200, description="Orientation")
]


def get_session(workspace: CurrentWorkspace, name: Orientation = None) -> Session:
    """Return the session of the orientation that ``?session=`` names, or of the first one."""
    return workspace.session(name)


def get_person(request: Request) -> str | None:
    """Return the person whose token the request carries; None if people are not told apart."""
    person: str | None = request.scope.get(PERSON)
    return person


def is_phone(request: Request) -> bool:
    """Whether the request comes from a phone, which sees no files of the computer."""
    return bool(request.scope.get(PHONE))


OnPhone = Annotated[bool, Depends(is_phone)]
CurrentPerson = Annotated[str | None, Depends(get_person)]
CurrentSession = Annotated[Session, Depends(get_session)]
