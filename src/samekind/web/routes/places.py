"""Routes of single items: why one is where it is, what is like it, and its full resolution."""

from __future__ import annotations

import io
from typing import Annotated

import numpy as np
from fastapi import APIRouter, Query, Response

from samekind.items import Item, Preview
from samekind.session import Session
from samekind.session.reasons import reason_for, similar_items
from samekind.web.dependencies import CurrentPerson, CurrentSession, CurrentWorkspace
from samekind.web.errors import ApiError
from samekind.web.rendering import placed_view
from samekind.web.routes.groups import shown
from samekind.web.schemas import core, places
from samekind.workspace.workspace import Workspace

router = APIRouter(prefix="/api/items", responses=core.ERRORS)
JPEG_QUALITY = 92


@router.get("/{id:path}/place")
def get_place(
    id: str, workspace: CurrentWorkspace, session: CurrentSession, person: CurrentPerson
) -> places.ItemPlace:
    """Say in which group an item is, and why; not of one that is asked about right now."""
    position = find_position(workspace, id)
    if position in open_subjects(workspace, session, person):
        words = "You are being asked about it right now."
        item = placed_view(workspace, position)
        return places.ItemPlace(
            item=item, group=None, name="", place=None, words=words, examples=[], answer=None
        )
    found = reason_for(session, position, person)
    return places.ItemPlace(
        item=placed_view(workspace, position),
        group=found.group,
        name=session.clustering.name(found.group),
        place=session.places.groups[found.group],
        words=found.words,
        examples=[located(workspace, session, i) for i in found.examples],
        answer=found.answer,
    )


@router.get("/{id:path}/similar")
def list_similar(
    id: str,
    workspace: CurrentWorkspace,
    session: CurrentSession,
    person: CurrentPerson,
    limit: Annotated[int, Query(ge=1, le=100)] = 24,
) -> places.SimilarItems:
    """List the items most like an item, nearest first."""
    position = find_position(workspace, id)
    hidden = open_subjects(workspace, session, person)
    found = similar_items(session.clustering, position, limit)
    return places.SimilarItems(
        items=[located(workspace, session, i, hidden=i in hidden) for i in found]
    )


@router.get("/{id:path}/full", response_class=Response)
def get_full(id: str, workspace: CurrentWorkspace) -> Response:
    """Return an item at full resolution: a picture, or the preview of anything else."""
    item = workspace.collection[find_position(workspace, id)]
    return shown(id, item.preview if item.kind != "image" else lambda: full_picture(item))


def full_picture(item: Item) -> Preview:
    """Encode a picture again, at full resolution."""
    buffer = io.BytesIO()
    image = item.load()
    tiny = max(image.size) <= 256
    image.save(buffer, "PNG" if tiny else "JPEG", quality=JPEG_QUALITY)
    return Preview("image/png" if tiny else "image/jpeg", buffer.getvalue())


def find_position(workspace: Workspace, id: str) -> int:
    """Return the position of an item, or refuse an id that the collection does not have."""
    try:
        return workspace.collection.position(id)
    except KeyError:
        raise ApiError(404, "unknown-item", "There is no such item in the collection.") from None


def open_subjects(workspace: Workspace, session: Session, person: str | None) -> set[int]:
    """Return the items that the open question is about: nothing may hint at their group."""
    asked = workspace.ask(session, person)
    return set() if asked is None else set(asked.question.subjects())


def located(
    workspace: Workspace, session: Session, position: int, *, hidden: bool = False
) -> places.LocatedItem:
    """Render an item with its group."""
    clustering = session.clustering
    group = int(clustering.labels[position])
    touched = session.constraints.touched
    place = int(np.searchsorted(touched, position))
    return places.LocatedItem(
        **placed_view(workspace, position).model_dump(),
        group=None if hidden else group,
        name="" if hidden else clustering.name(group),
        place=None if hidden else session.places.groups[group],
        answered=place < len(touched) and int(touched[place]) == position,
    )
