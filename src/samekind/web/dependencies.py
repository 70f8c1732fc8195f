"""What routes are given: the workspaces of the server, the one addressed, and its session."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Query, Request, Response

from samekind.session import Session
from samekind.session.people import ledger_key
from samekind.web.errors import ApiError
from samekind.web.security import PERSON, PHONE
from samekind.workspace.workspace import Workspace
from samekind.workspace.workspaces import Workspaces

LEDGER = "X-Samekind-Ledger"
"""The header by which a page says which ledger it was opened for."""


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


def get_person(request: Request) -> str | None:
    """Return the person whose token the request carries; None if people are not told apart."""
    person: str | None = request.scope.get(PERSON)
    return person


def get_session(
    request: Request, response: Response, workspace: CurrentWorkspace, name: Orientation = None
) -> Session:
    """Return the session of the orientation that ``?session=`` names, or of the first one."""
    session = workspace.session(name)
    response.headers[LEDGER] = ledger_key(session, get_person(request))
    return session


def check_ledger(request: Request, workspaces: OpenWorkspaces) -> None:
    """Refuse a request of a page that was opened for another pile, grouping or person.

    Another pile may be served at the address of a page that was left open, and questions of all
    piles have the same numbers. A page sends the header that came with the first reply.
    """
    given = request.headers.get(LEDGER)
    if given is None:
        return
    workspace = workspaces.find(request.query_params.get("pile") or None)
    name = request.query_params.get("session") or None
    own = None if workspace is None else ledger_key(workspace.session(name), get_person(request))
    if own is not None and given != own:
        raise ApiError(
            409,
            "other-ledger",
            "This page was opened for another pile or person than this address has now, so "
            "nothing was saved.",
            "Reload the page. An answer that was not sent is sent when its pile is open here "
            "again.",
        )


def is_phone(request: Request) -> bool:
    """Whether the request comes from a phone, which sees no files of the computer."""
    return bool(request.scope.get(PHONE))


OnPhone = Annotated[bool, Depends(is_phone)]
CurrentPerson = Annotated[str | None, Depends(get_person)]
CurrentSession = Annotated[Session, Depends(get_session)]
