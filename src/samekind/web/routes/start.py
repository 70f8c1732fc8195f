"""Routes of the start page: inspect a path, time an encoder, and open a pile as a job."""

from __future__ import annotations

import threading
from typing import Annotated

from fastapi import APIRouter, Path
from fastapi.responses import Response

from samekind import __version__
from samekind.errors import UnknownPile
from samekind.sources import SETS, describe
from samekind.web.dependencies import CurrentPerson, OpenWorkspaces
from samekind.web.errors import ApiError
from samekind.web.rendering import MAX_LISTED_FILES, job_view
from samekind.web.schemas import core, files, jobs
from samekind.workspace import inspection
from samekind.workspace.locations import absolute
from samekind.workspace.uploads import READABLE
from samekind.workspace.workspaces import Workspaces

router = APIRouter(prefix="/api/start", responses=core.ERRORS)
DEMOS = {"tiles": "384 drawn tiles: sort them by colour, shape, pattern or count."}
MEASURING = threading.Lock()
"""Two measurements at once would slow each other down."""


@router.get("")
def get_start(workspaces: OpenWorkspaces) -> jobs.StartView:
    """List recent piles and demos."""
    return start_view(workspaces)


@router.post("/look")
def inspect(at: jobs.InspectRequest, workspaces: OpenWorkspaces) -> jobs.Inspection:
    """Inspect a path before it is opened."""
    found = inspection.inspect(allowed_path(workspaces, at.path))
    collection = found.collection
    skipped = collection.skipped
    return jobs.Inspection(
        path=found.path,
        pile=found.key,
        name=collection.name,
        kind=collection.kind,
        items=len(collection),
        skipped=[core.SkippedView.model_validate(one) for one in skipped[:MAX_LISTED_FILES]],
        skipped_total=len(skipped),
        encoder=found.encoder,
        reason=found.reason,
        encoders=[jobs.EncoderView.model_validate(one) for one in found.encoders],
        answers=found.earlier.answers,
        orientations=list(found.earlier.orientations),
        examples=[collection.id(i) for i in range(min(3, len(collection)))],
    )


@router.post("/browse")
def browse(at: files.BrowseRequest, workspaces: OpenWorkspaces) -> files.FolderListing:
    """List a folder of this machine, so that one can be chosen."""
    check_paths(workspaces)
    found = workspaces.roots.browse(at.path)
    return files.FolderListing.model_validate(found)


@router.post("/measure")
def measure(wanted: jobs.TimingRequest, workspaces: OpenWorkspaces) -> jobs.Timing:
    """Time an encoder on a few items."""
    path = allowed_path(workspaces, wanted.path)
    inspection.check_encoder(wanted.encoder, path)
    with MEASURING:
        found = inspection.measured(inspection.items_at(path), wanted.encoder)
    return jobs.Timing(
        encoder=wanted.encoder,
        seconds=round(found.seconds, 2),
        per_item=round(found.per_item, 5),
        tried=found.tried,
        kept=found.kept,
        words=found.words,
    )


@router.post("/open", status_code=202)
def open_path(wanted: jobs.OpenRequest, workspaces: OpenWorkspaces) -> jobs.JobView:
    """Open a path as a job."""
    path = allowed_path(workspaces, wanted.path)
    inspection.check_encoder(wanted.encoder, path)
    return job_view(workspaces.submit_open(path, wanted.encoder, wanted.minutes, wanted.bursts))


@router.post("/again", status_code=202)
def reopen(
    wanted: jobs.ReopenRequest, workspaces: OpenWorkspaces, person: CurrentPerson
) -> jobs.JobView:
    """Open a recent pile as a job."""
    known = workspaces.recent.find(wanted.pile)
    if known is None:
        raise UnknownPile("The pile of this address is not in the list of recent piles any more.")
    if person is not None:  # the piles of whoever started the server are not everybody's
        check_paths(workspaces)
    return job_view(workspaces.submit_open(known.path, known.encoder or None, known.minutes))


@router.get("/recent/{pile}/{number}", response_class=Response)
def get_thumbnail(
    pile: jobs.PileKey, number: Annotated[int, Path(ge=0, le=99)], workspaces: OpenWorkspaces
) -> Response:
    """Return a picture of a recent pile."""
    check_paths(workspaces)
    there = workspaces.recent.thumbnails(pile)
    if workspaces.recent.find(pile) is None or number >= len(there):
        raise ApiError(404, "unknown-item", "There is no such picture.")
    return Response(there[number].read_bytes(), media_type="image/jpeg")


@router.post("/forget")
def forget(
    wanted: jobs.ReopenRequest, workspaces: OpenWorkspaces, person: CurrentPerson
) -> jobs.StartView:
    """Remove a pile from the recent ones; its answers stay."""
    if person is None:
        workspaces.recent.forget(wanted.pile)
    return start_view(workspaces)


def allowed_path(workspaces: Workspaces, text: str) -> str:
    """Return the absolute path that was typed, if this server allows paths."""
    path = inspection.typed(text)
    if path not in DEMOS:
        check_paths(workspaces)
    return workspaces.roots.check(absolute(path))


def check_paths(workspaces: Workspaces) -> None:
    """Refuse to look at files of this machine where others can reach the server."""
    if not workspaces.paths:
        raise ApiError(
            403,
            "paths-not-allowed",
            "Others can reach this server, so it does not open or write files by path.",
            "Start samekind with the path, or without --host and --no-token.",
        )


def start_view(workspaces: Workspaces) -> jobs.StartView:
    """Render recent piles and demos; where paths are not allowed, none are shown."""
    recent = [
        jobs.RecentView(
            pile=known.pile,
            name=known.name,
            path=known.path,
            kind=known.kind,
            items=known.items,
            encoder=known.encoder,
            at=known.at,
            open=workspaces.has(known.pile),
            finished=known.finished,
            thumbnails=[
                f"/api/start/recent/{known.pile}/{k}"
                for k in range(len(workspaces.recent.thumbnails(known.pile)))
            ],
        )
        for known in (workspaces.recent.all() if workspaces.paths else [])
    ]
    return jobs.StartView(
        version=__version__,
        paths=workspaces.paths,
        pile=workspaces.first,
        recent=recent,
        demos=[jobs.DemoView(path=path, line=line) for path, line in DEMOS.items()],
        suffixes=list(READABLE) if workspaces.paths else [],
        kinds={name: line for name, line in describe().items() if name not in SETS},
    )
