"""Routes of uploads: files that were dropped into the page, copied to a folder of their own."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Request

from samekind.web.dependencies import OpenWorkspaces
from samekind.web.routes.start import check_paths
from samekind.web.schemas import core, files
from samekind.workspace.uploads import MAX_FILE, MAX_PIECE

router = APIRouter(prefix="/api/uploads", responses=core.ERRORS)
UploadId = Annotated[str, Path(pattern=r"^[0-9a-f]{16}$")]
PIECE = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}


@router.post("", status_code=201)
def begin_upload(wanted: files.UploadRequest, workspaces: OpenWorkspaces) -> files.UploadView:
    """Make a folder for files that follow."""
    check_paths(workspaces)
    upload = workspaces.uploads.begin(wanted.name, wanted.size)
    return files.UploadView(id=upload.id, piece=MAX_PIECE, files=0, path="")


async def get_piece(request: Request) -> bytes:
    """Return the body of a request as it is; the guard limits its size."""
    return await request.body()


@router.put("/{id}", openapi_extra=PIECE)
def add_piece(
    id: UploadId,
    piece: Annotated[bytes, Depends(get_piece)],
    workspaces: OpenWorkspaces,
    name: Annotated[str, Query(min_length=1, max_length=4000)],
    offset: Annotated[int, Query(ge=0, le=MAX_FILE)] = 0,
    last: bool = True,
) -> files.UploadView:
    """Append a piece to a file of an upload."""
    check_paths(workspaces)
    workspaces.uploads.add(id, name, offset, piece, last=last)
    n_files = workspaces.uploads.find(id).files
    return files.UploadView(id=id, piece=MAX_PIECE, files=n_files, path="")


@router.post("/{id}/finish")
def finish_upload(id: UploadId, _: core.Empty, workspaces: OpenWorkspaces) -> files.UploadView:
    """Return the path of the pile that the files are now."""
    check_paths(workspaces)
    path = workspaces.uploads.finish(id)
    n_files = workspaces.uploads.find(id).files
    return files.UploadView(id=id, piece=MAX_PIECE, files=n_files, path=str(path))
