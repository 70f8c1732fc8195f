"""Schemas of files on this machine: browsing folders, and files dropped into the page."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from samekind.web.schemas.core import MAX_SAFE_INTEGER, Line, Schema


class BrowseRequest(Schema):
    """A folder to list; empty: where browsing begins."""

    path: Annotated[str, Line, Field(max_length=4000)] = ""


class FolderView(Schema):
    """A folder or a table of this machine."""

    name: str
    path: str


class FolderListing(Schema):
    """What is in a folder that the page may open."""

    path: str
    """Empty: the folders in which browsing begins."""
    parent: str | None
    """The folder that it is in; empty: where browsing begins; None: this is the top."""
    folders: list[FolderView]
    files: list[FolderView]
    """Tables and texts that can be opened by themselves."""
    pictures: int
    texts: int
    truncated: bool
    """Whether there is more than is listed."""


class UploadRequest(Schema):
    """A name for files that were dropped into the page, and their size together."""

    name: Annotated[str, Line, Field(min_length=1, max_length=200)]
    size: Annotated[int, Field(ge=0, le=MAX_SAFE_INTEGER)]


class UploadView(Schema):
    """Files on their way into a folder of their own."""

    id: str
    piece: int
    """Bytes of a file that one request may have."""
    files: int
    path: str
    """The folder, once all have arrived; empty before."""
