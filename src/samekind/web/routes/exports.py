"""Routes of exports: a dry run, the export as a job, undo, and downloads."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Query, Response

from samekind.questions.wording import plural
from samekind.web.dependencies import CurrentSession, CurrentWorkspace, OnPhone, OpenWorkspaces
from samekind.web.rendering import job_view
from samekind.web.routes.start import allowed_path
from samekind.web.schemas import core, jobs
from samekind.workspace import exports
from samekind.workspace.workspaces import Workspaces

router = APIRouter(prefix="/api", responses=core.ERRORS)
MEDIA_TYPES = {
    "csv": "text/csv; charset=utf-8",
    "cleanlab": "text/csv; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
}
"""Media types of downloads; all others are JSON."""
SUFFIXES = {
    "csv": ".csv",
    "json": ".json",
    "parquet": ".parquet",
    "orientation": ".orientation",
    "coco": "-coco.json",
    "label-studio": "-label-studio.json",
    "fiftyone": "-fiftyone.json",
    "argilla": "-argilla.json",
    "cleanlab": "-cleanlab.csv",
    "imagefolder": "-imagefolder",
    "albums": "-albums",
    "xmp": "-xmp",
}
FORMATS = {
    "folders": ("Folders", "One folder per group, with copies of your files or links to them."),
    "albums": ("Albums", "Folders within folders, where you sorted a group by itself."),
    "xmp": (
        "XMP sidecars",
        "Tags for photo managers such as digiKam, Lightroom and darktable, in files of their own.",
    ),
    "csv": ("CSV table", "One row per item with its group; opens in any spreadsheet."),
    "orientation": (
        "Grouping file",
        "Your way of grouping in a small file: samekind predict sorts other items with it.",
    ),
    "json": ("JSON file", "The groups with their items, for programs."),
    "parquet": ("Parquet table", "One row per item, for data frames."),
    "coco": ("COCO", "Images with the categories that they belong to."),
    "label-studio": ("Label Studio", "Tasks with your answers, and the rest as predictions."),
    "fiftyone": ("FiftyOne", "The labels of a classification dataset."),
    "argilla": ("Argilla", "Records with your groups as suggestions."),
    "cleanlab": ("cleanlab", "Labels as numbers, with the columns of label issues."),
    "imagefolder": ("Hugging Face", "A folder of pictures for the library datasets."),
}
"""Label and description of each format."""
MAIN = {"image": ("folders", "albums", "xmp", "csv", "orientation")}
"""Formats that most people need, by the kind of their items."""
MAIN_OTHERWISE = ("csv", "json", "parquet", "folders", "orientation")
NO_DISK = "Needs access to the disk, which this page does not have."


@router.get("/finish")
def get_formats(
    workspaces: OpenWorkspaces,
    workspace: CurrentWorkspace,
    session: CurrentSession,
    on_phone: OnPhone,
) -> jobs.ExportOptions:
    """List the export formats and earlier exports; a phone can only download."""
    paths = workspaces.paths and not on_phone
    main = MAIN.get(workspace.collection.kind if paths else "", MAIN_OTHERWISE)
    rest = (format for format in FORMATS if format not in main)
    name = re.sub(r"[^\w.-]+", "-", f"{workspace.collection.name}-{session.name}").strip("-.")
    formats = [
        jobs.FormatView(
            name=format,  # type: ignore[arg-type]
            label=label,
            line=line,
            modes=["copy", "link"] if format in ("folders", "albums", "imagefolder") else [],
            download=format not in exports.FOLDERS,
            suggestion=f"~/{name or 'groups'}{SUFFIXES.get(format, '')}",
            why_not=exports.unavailable(workspace, session, format)
            or ("" if paths or format not in exports.FOLDERS else NO_DISK),
            other=format not in main,
        )
        for format in (*main, *rest)
        for label, line in (FORMATS[format],)
    ]
    past = exports.past_exports(workspaces, workspace, session) if paths else []
    made = [jobs.PastExport.model_validate(export) for export in past]
    return jobs.ExportOptions(paths=paths, formats=formats, made=made)


@router.post("/finish/plan")
def plan_export(
    wanted: jobs.ExportRequest,
    workspaces: OpenWorkspaces,
    workspace: CurrentWorkspace,
    session: CurrentSession,
) -> jobs.PlanView:
    """Plan an export without writing anything."""
    workspace.refresh(session)
    found = exports.dry_run(workspace, session, _request(workspaces, wanted))
    folders = [jobs.PlannedFolder(name=name, files=files) for name, files in found.folders]
    return jobs.PlanView(**{**vars(found), "folders": folders})


@router.post("/finish/run", status_code=202)
def start_export(
    wanted: jobs.ExportRun,
    workspaces: OpenWorkspaces,
    workspace: CurrentWorkspace,
    session: CurrentSession,
) -> jobs.JobView:
    """Write an export as a job."""
    request = _request(workspaces, wanted)
    job = exports.submit_export(workspaces, workspace, session, request, wanted.snapshot)
    return job_view(job)


@router.post("/finish/undo")
def undo_export(
    wanted: jobs.ExportUndo, workspaces: OpenWorkspaces, workspace: CurrentWorkspace
) -> jobs.UndoResult:
    """Undo an export into folders."""
    report = exports.undo(workspaces, allowed_path(workspaces, wanted.target), wanted.target)
    kept = [
        f"{exports.printable(str(path.relative_to(report.target)))}: {reason}"
        for path, reason in report.kept
    ]
    message = f"{plural(len(report.done), 'file was', 'files were')} removed."
    if not report.done:
        message = "There was nothing more to remove."
    if kept:
        are = plural(len(kept), "file is", "files are")
        why = "it was" if len(kept) == 1 else "they were"
        message += f" {are} left in {wanted.target}, because {why} changed or added since."
    return jobs.UndoResult(
        removed=len(report.done), kept=kept[: exports.MAX_LISTED_FILES], message=message
    )


@router.get("/finish/orientation", response_class=Response)
def download_orientation(workspace: CurrentWorkspace, session: CurrentSession) -> Response:
    """Download the orientation file."""
    workspace.refresh(session)
    data = exports.orientation_bytes(workspace, session)
    return _download(data, session.name, "main", ".orientation", "application/octet-stream")


@router.get("/export", response_class=Response)
def download_table(
    format: Annotated[jobs.TableFormat, Query()],
    workspace: CurrentWorkspace,
    session: CurrentSession,
    no_formulas: Annotated[bool, Query()] = False,
) -> Response:
    """Download the groups as a table."""
    data = exports.table_bytes(session, format, no_formulas=no_formulas)
    name = f"{workspace.collection.name}-{session.name}"
    return _download(
        data, name, "groups", SUFFIXES[format], MEDIA_TYPES.get(format, "application/json")
    )


def _request(workspaces: Workspaces, wanted: jobs.ExportRequest) -> exports.ExportRequest:
    target = Path(allowed_path(workspaces, wanted.target))
    return exports.ExportRequest(
        wanted.format, wanted.mode, target, wanted.target, wanted.no_formulas
    )


def _download(data: bytes, name: str, otherwise: str, suffix: str, media_type: str) -> Response:
    """Send a file under a name that is safe in a header and on every file system."""
    safe = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.") or otherwise
    headers = {"Content-Disposition": f'attachment; filename="{safe}{suffix}"'}
    return Response(data, media_type=media_type, headers=headers)
