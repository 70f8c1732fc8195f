"""Routes of items: their previews, with everything that a browser could run kept out."""

from __future__ import annotations

import threading

from fastapi import APIRouter, Response

from samekind.errors import SourceError
from samekind.web.dependencies import CurrentWorkspace
from samekind.web.errors import ApiError
from samekind.web.schemas import core

router = APIRouter(prefix="/api/items", responses=core.ERRORS)
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


@router.get("/{id:path}/preview", response_class=Response)
def get_preview(id: str, workspace: CurrentWorkspace) -> Response:
    """Return what a person sees of an item."""
    try:
        position = workspace.collection.position(id)
    except KeyError:
        raise ApiError(404, "unknown-item", "There is no such item in the collection.") from None
    try:
        with DECODERS:
            preview = workspace.collection[position].preview()
    except OSError as fault:
        raise SourceError(
            f"The item {id!r} cannot be read any more. Put the file back, or open the collection "
            "again."
        ) from fault
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
