"""Routes of groups: the list, the members of one, previews of items, and changes by hand.

Each change by hand (merge, split, move, out, together) is one answer in the ledger.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query, Response

from samekind.errors import SourceError, UnknownGroup
from samekind.items import Preview
from samekind.questions.wording import plural
from samekind.session import Session, acts, members, search
from samekind.web.dependencies import CurrentPerson, CurrentSession, CurrentWorkspace
from samekind.web.errors import ApiError
from samekind.web.rendering import group_view, member_view, open_question_view
from samekind.web.schemas import core, groups
from samekind.workspace.name_suggestions import key_words, suggest_names
from samekind.workspace.objects import objects_of
from samekind.workspace.workspace import Workspace

router = APIRouter(prefix="/api", responses=core.ERRORS)
GroupNumber = Annotated[int, Path(ge=1, le=core.MAX_SAFE_INTEGER)]
MEDIA_TYPES = {
    "image/png": "image/png",
    "image/jpeg": "image/jpeg",
    "image/webp": "image/webp",
    "text/plain": "text/plain; charset=utf-8",
}
"""Allowed types of previews; none that a browser could run."""
SIGNATURES = {
    "image/png": b"\x89PNG\r\n\x1a\n",
    "image/jpeg": b"\xff\xd8\xff",
    "image/webp": b"RIFF",
}
"""First bytes of each type of picture: nothing else is sent under its name."""
DECODERS = threading.BoundedSemaphore(4)
"""Limits how many pictures are decoded at the same time: a large one takes 240 MB of memory."""


@router.get("/groups")
def list_groups(workspace: CurrentWorkspace, session: CurrentSession) -> groups.GroupCards:
    """List all groups, each at its place."""
    clustering, places = session.clustering, session.places.groups
    order = sorted(clustering.numbers, key=lambda number: places[number])
    return groups.GroupCards(
        snapshot=clustering.snapshot,
        groups=[group_view(workspace, session, number) for number in order],
    )


@router.get("/groups/words")
def list_key_words(workspace: CurrentWorkspace, session: CurrentSession) -> groups.GroupWordList:
    """List what describes each group: key words of texts, ranges and values of columns."""
    found = key_words(session)
    return groups.GroupWordList(
        groups=[groups.GroupWords(number=group, words=words) for group, words in found.items()]
    )


@router.get("/groups/{number}")
def list_members(
    number: GroupNumber,
    workspace: CurrentWorkspace,
    session: CurrentSession,
    order: Literal["typical", "doubtful"] = "typical",
    offset: Annotated[int, Query(ge=0, le=core.MAX_SAFE_INTEGER)] = 0,
    limit: Annotated[int, Query(ge=1, le=200)] = 60,
) -> groups.MemberPage:
    """List the items of a group."""
    check_group(session, number)
    by = members.by_doubt if order == "doubtful" else members.by_typicality
    shown = by(session.clustering, number)[offset : offset + limit]
    return groups.MemberPage(
        group=group_view(workspace, session, number),
        offset=offset,
        items=[member_view(workspace, session, int(i)) for i in shown],
    )


@router.put("/groups/{number}")
def rename_group(
    number: GroupNumber, to: core.Rename, workspace: CurrentWorkspace, session: CurrentSession
) -> groups.GroupCard:
    """Name a group."""
    check_group(session, number)
    workspace.rename(session, number, to.name)
    return group_view(workspace, session, number)


@router.get("/groups/{number}/names")
def suggest_group_names(
    number: GroupNumber, workspace: CurrentWorkspace, session: CurrentSession
) -> groups.NameSuggestions:
    """Suggest names for a group, from words, values and objects that its items share."""
    check_group(session, number)
    found = suggest_names(session, number, objects_of(workspace.pile))
    suggestions = [groups.NameSuggestion.model_validate(one) for one in found]
    return groups.NameSuggestions(suggestions=suggestions)


@router.post("/acts/merge")
def merge(
    act: groups.Merge, workspace: CurrentWorkspace, session: CurrentSession, person: CurrentPerson
) -> groups.ActResult:
    """Merge groups."""
    for number in act.groups:
        check_group(session, number)
    return perform(workspace, session, acts.merge(session, *act.groups), act, person)


@router.post("/acts/split")
def split(
    act: groups.Split, workspace: CurrentWorkspace, session: CurrentSession, person: CurrentPerson
) -> groups.ActResult:
    """Split items off their group."""
    check_group(session, act.group)
    return perform(workspace, session, acts.split(session, act.group, act.items), act, person)


@router.post("/acts/move")
def move(
    act: groups.Move, workspace: CurrentWorkspace, session: CurrentSession, person: CurrentPerson
) -> groups.ActResult:
    """Move items to another group."""
    check_group(session, act.to)
    return perform(workspace, session, acts.move(session, act.items, act.to), act, person)


@router.post("/acts/out")
def out(
    act: groups.Out, workspace: CurrentWorkspace, session: CurrentSession, person: CurrentPerson
) -> groups.ActResult:
    """Take items out of their groups."""
    return perform(workspace, session, acts.out(session, act.items), act, person)


@router.post("/acts/together")
def together(
    act: groups.Together,
    workspace: CurrentWorkspace,
    session: CurrentSession,
    person: CurrentPerson,
) -> groups.ActResult:
    """Put items into one group."""
    return perform(workspace, session, acts.together(session, act.items), act, person)


@router.post("/acts/like")
def find_more_like(
    act: groups.Like,
    workspace: CurrentWorkspace,
    session: CurrentSession,
    person: CurrentPerson,
) -> groups.SearchBegun:
    """Find more items like 1 to 5 examples: the next questions are grids of candidates."""
    asked = search.find_like(session, act.items, by=person)
    now = open_question_view(workspace, session, person)
    message = f"Look for more like {'this' if len(act.items) == 1 else 'these'}."
    return groups.SearchBegun(number=asked.number, message=message, now=now)


def perform(
    workspace: Workspace,
    session: Session,
    act: acts.Act,
    wanted: groups.ActRequest,
    person: str | None,
) -> groups.ActResult:
    """Perform a change by hand, and say what it did."""
    by = person or wanted.by
    number = workspace.act(session, act, by, confirmed=wanted.set_aside)
    message = act.words
    if aside := len(session.precedence.by(number)):
        message += f" {plural(aside, 'earlier answer is', 'earlier answers are')} set aside."
    now = open_question_view(workspace, session, person)
    return groups.ActResult(number=number, message=message, now=now)


def check_group(session: Session, number: int) -> None:
    """Refuse a group that does not exist, or no longer exists."""
    if number not in session.clustering.numbers:
        raise UnknownGroup(f"There is no group {number}; it may have gone in the last refresh.")


@router.get("/items/{id:path}/preview", response_class=Response)
def get_preview(id: str, workspace: CurrentWorkspace) -> Response:
    """Return what a person sees of an item."""
    try:
        position = workspace.collection.position(id)
    except KeyError:
        raise ApiError(404, "unknown-item", "There is no such item in the collection.") from None
    return shown(id, workspace.collection[position].preview)


def shown(id: str, decode: Callable[[], Preview]) -> Response:
    """Send what a person sees of an item, of which few are decoded at a time."""
    try:
        with DECODERS:
            preview = decode()
    except OSError as fault:
        raise SourceError(
            f"The item {id!r} cannot be read any more. Put the file back, or open the collection "
            "again."
        ) from fault
    return preview_response(preview)


def preview_response(preview: Preview) -> Response:
    """Send what a person sees, if a browser can show it and nothing in it can run."""
    kind = preview.mime.split(";")[0].strip().lower()
    if kind not in MEDIA_TYPES or not preview.data.startswith(SIGNATURES.get(kind, b"")):
        raise ApiError(
            406,
            "cannot-be-shown",
            f"A preview of type {preview.mime!r} is not shown in a browser.",
            f"The source should give one of: {', '.join(MEDIA_TYPES)}.",
        )
    headers = {
        "Content-Security-Policy": "default-src 'none'; sandbox",
        "Cache-Control": "private, max-age=3600",
        "Content-Disposition": "inline",
    }
    return Response(preview.data, media_type=MEDIA_TYPES[kind], headers=headers)
