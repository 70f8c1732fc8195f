"""Exports of a workspace: a dry run, the export itself as a job, undo, and single files."""

from __future__ import annotations

import os
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from samekind.errors import (
    ExportError,
    GroupsChanged,
    InputError,
    NoOrientationFile,
    SamekindError,
)
from samekind.questions.wording import plural
from samekind.user_paths import expanded

if TYPE_CHECKING:
    from samekind.exports import OrientationFile, Plan
    from samekind.exports import Report as ExportReport
    from samekind.session import Session
    from samekind.workspace.albums import Subgroups
    from samekind.workspace.jobs import Job, JobContext
    from samekind.workspace.workspace import Workspace
    from samekind.workspace.workspaces import Workspaces

TABLES = ("csv", "json", "parquet")
FOLDERS = ("folders", "albums", "xmp", "imagefolder")
"""Formats that write several files, and can be undone."""
MAX_LISTED_FILES = 40
"""Files that a dry run names; of the others it only gives the number."""
MAX_FILE_NAME_BYTES = 255
MAX_PAST_EXPORTS = 10


@dataclass(frozen=True)
class ExportRequest:
    """What to write, and where.

    Parameters
    ----------
    format : one of :data:`samekind.exports.FORMATS`, or ``orientation``; None: by the suffix.
    mode : for folders, ``copy`` or ``link``.
    target : an absolute path.
    typed : the target as the person typed it, for messages.
    no_formulas : in CSV files, put an apostrophe before cells that a spreadsheet would calculate.
    """

    format: str | None
    mode: str
    target: Path
    typed: str
    no_formulas: bool = False


@dataclass(frozen=True)
class DryRun:
    """What an export would write. `folders` holds names with their number of files."""

    snapshot: int
    format: str
    target: str
    items: int
    groups: int
    files: int
    bytes: int | None
    folders: list[tuple[str, int]]
    names: list[str]
    conflicts: list[str]
    notes: list[str]


@dataclass(frozen=True)
class PastExport:
    """An export of this orientation that was written earlier."""

    job: str
    target: str
    files: int
    at: float
    undo: bool
    undone: bool


def table_formats() -> list[str]:
    """Formats of tables that can be written with the installed packages."""
    return [name for name in TABLES if name != "parquet" or find_spec("pyarrow") is not None]


def unavailable(workspace: Workspace, session: Session, format: str) -> str:
    """Say why a format cannot be written here; empty if it can."""
    if format == "parquet" and format not in table_formats():
        return "Needs pyarrow: pip install 'samekind[parquet]'"
    if format in ("xmp", "imagefolder") and session.collection.kind != "image":
        return "Only for pictures in a folder." if format == "xmp" else "Only for pictures."
    if format != "orientation":
        return ""
    if workspace.pile is None:
        return "This server does not know how the vectors were made."
    if session.settings.get("polish"):
        return "Polished groups depend on a whole network, which such a file does not hold."
    if not hasattr(workspace.pile.encoded.encoder, "state"):
        return "Vectors of this encoder cannot be made from a small file."
    return ""


def table_bytes(session: Session, format: str, *, no_formulas: bool = False) -> bytes:
    """Return the file that ``samekind export`` would write."""
    from samekind.exports import run_export

    with TemporaryDirectory(prefix="samekind-") as folder:
        target = Path(folder) / f"groups.{format}"
        wanted = ExportRequest(format, "copy", target, target.name, no_formulas)
        run_export(plan(session, wanted))
        return target.read_bytes()


def orientation_file(workspace: Workspace, session: Session) -> OrientationFile:
    """Build the orientation file of a session."""
    from samekind.workspace.orientation import orientation_of

    reason = unavailable(workspace, session, "orientation")
    if reason or workspace.pile is None:
        raise NoOrientationFile(reason)
    return orientation_of(workspace.pile, session)


def orientation_bytes(workspace: Workspace, session: Session) -> bytes:
    """Return the orientation file of a session as bytes."""
    with TemporaryDirectory(prefix="samekind-") as folder:
        target = Path(folder) / "file.orientation"
        orientation_file(workspace, session).save(target)
        return target.read_bytes()


def dry_run(workspace: Workspace, session: Session, request: ExportRequest) -> DryRun:
    """Plan an export without touching anything."""
    _check_target(request)
    facts: dict[str, Any] = {
        "snapshot": session.clustering.snapshot,
        "format": request.format,
        "target": request.typed,
        "items": len(session.collection),
        "groups": session.clustering.n_groups,
    }
    if request.format == "orientation":
        file = orientation_file(workspace, session)
        return DryRun(
            **facts,
            files=1,
            bytes=None,
            folders=[],
            names=[request.target.name],
            conflicts=_conflicts(request),
            notes=[file.describe() + ".", *file.notes],
        )
    planned = plan(session, request, _subgroups(workspace, session, request))
    per_folder = Counter(file.path.parent for file in planned.files)
    in_folder = planned.format in FOLDERS
    names = [
        str(file.path.relative_to(planned.target)) if in_folder else file.path.name
        for file in planned.files[:MAX_LISTED_FILES]
    ]
    return DryRun(
        **facts,
        files=len(planned.files),
        bytes=planned.n_bytes if in_folder else None,
        folders=[
            (str(folder.relative_to(planned.target)), per_folder[folder])
            for folder in planned.folders
        ],
        names=[printable(name) for name in names],
        conflicts=list(planned.conflicts),
        notes=list(planned.notes),
    )


def plan(session: Session, request: ExportRequest, subgroups: Subgroups | None = None) -> Plan:
    """Plan a table or folders, exactly as ``samekind export`` does.

    `subgroups`: for albums, the groups within the group of each item.
    """
    from samekind.exports import plan_export
    from samekind.workspace.groupings import Groupings

    n = len(session.collection)
    # Positions from n on are items that are no longer in the collection.
    touched = (int(i) for i in session.constraints.touched if i < n)
    answered = frozenset(map(session.collection.id, touched))
    try:
        return plan_export(
            session.collection,
            session.clustering,
            request.target,
            format=request.format,
            mode=request.mode,
            answered=answered,
            grouping=Groupings().of(session.store, session.name).title,
            subgroups=subgroups,
            no_formulas=request.no_formulas,
        )
    except OSError as problem:
        if isinstance(problem, SamekindError):
            raise
        raise _unusable(request.typed, problem) from problem


def export_groups(
    session: Session, path: str | Path, format: str | None = None, mode: str = "copy"
) -> ExportReport:
    """Write the groups of a session at once, for programs."""
    from samekind.exports import run_export

    target = expanded(path).absolute()
    return run_export(plan(session, ExportRequest(format, mode, target, str(path))))


def submit_export(
    workspaces: Workspaces,
    workspace: Workspace,
    session: Session,
    request: ExportRequest,
    snapshot: int,
) -> Job:
    """Write an export in the background, if the groups are still those of the dry run."""
    _check_unchanged(session, snapshot)

    def work(context: JobContext) -> dict[str, Any]:
        return _write(workspace, session, request, snapshot, context)

    spec = {
        "format": request.format,
        "mode": request.mode,
        "target": request.typed,
        "snapshot": snapshot,  # confirmed again after a change, it is another job
    }
    title = f"Export {session.name} to {request.typed}"
    return workspaces.jobs.submit(
        "export", title, work, pile=workspace.key, session=session.name, spec=spec
    )


def past_exports(
    workspaces: Workspaces, workspace: Workspace, session: Session
) -> list[PastExport]:
    """List the latest exports of an orientation, newest first."""
    wanted = ("export", workspace.key, session.name)
    found = [
        PastExport(
            job=job.id,
            target=str(job.spec["target"]),
            files=int(job.result.get("files", 1)),
            at=job.ended,
            undo=bool(job.result.get("manifest")) and not job.result.get("undone"),
            undone=bool(job.result.get("undone")),
        )
        for job in workspaces.jobs.all()
        if (job.kind, job.pile, job.session) == wanted and job.result
    ]
    return found[:MAX_PAST_EXPORTS]


def undo(workspaces: Workspaces, target: str, typed: str) -> ExportReport:
    """Remove what an export into folders made, except files that changed since."""
    from samekind.exports import undo_export

    _has_parent(Path(target), typed)
    report = undo_export(target)
    if not report.kept:
        for job in workspaces.jobs.all():
            if job.kind == "export" and job.spec.get("target") == typed and job.result:
                workspaces.jobs.settle(job, {"undone": True})
    return report


def printable(name: str) -> str:
    """Return a file name as valid text; bytes that are not UTF-8 are escaped."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _check_unchanged(session: Session, snapshot: int) -> None:
    """Refuse to write other groups than those that the person saw in the dry run."""
    if session.clustering.snapshot != snapshot:
        raise GroupsChanged("The groups have changed since the export was planned.")


def _write(
    workspace: Workspace,
    session: Session,
    request: ExportRequest,
    snapshot: int,
    context: JobContext,
) -> dict[str, Any]:
    """Write an export; if it is stopped or fails, what it made is removed again.

    The groups are compared with those of the dry run once more when all of them have been read:
    other jobs may have come first.
    """
    from samekind.exports import run_export

    if request.format == "orientation":
        file = orientation_file(workspace, session)
        _check_unchanged(session, snapshot)
        size = file.save(request.target)
        return {"words": f"{request.typed} is written ({size / 1e6:.2f} MB).", "files": 1}
    planned = plan(session, request, _subgroups(workspace, session, request))
    _check_unchanged(session, snapshot)
    if planned.conflicts:
        raise ExportError(" ".join(planned.conflicts))
    report = run_export(planned, context.progress("Wrote", "files"))
    notes = "".join(f" {note}" for note in report.notes)
    return {
        "words": f"{plural(len(report.done), 'file')} written to {request.typed}.{notes}",
        "files": len(report.done),
        "manifest": report.manifest is not None,
    }


def _subgroups(workspace: Workspace, session: Session, request: ExportRequest) -> Subgroups | None:
    """Return the groups within groups, where they are asked for and can be opened."""
    from samekind.workspace.albums import subgroups_of

    pile, open_over = workspace.pile, workspace.open_over
    if request.format != "albums" or pile is None or open_over is None:
        return None
    return subgroups_of(session, pile, open_over)


def _check_target(request: ExportRequest) -> None:
    """Refuse early a name that no file system accepts, or a folder that is not writable."""
    there = _has_parent(request.target, request.typed)
    name = request.target.name
    if not name or len(os.fsencode(name)) > MAX_FILE_NAME_BYTES:
        raise InputError(
            f"{request.typed[:200]!r} cannot be the name of a file or folder. Choose another name."
        )
    if there and not os.access(request.target.parent, os.W_OK):
        raise InputError(
            f"The folder of {request.typed[:200]!r} is not writable (permission denied). Choose "
            "another folder."
        )


def _has_parent(target: Path, typed: str) -> bool:
    try:
        target.is_dir()
        return target.parent.is_dir()
    except OSError as problem:
        raise _unusable(typed, problem) from problem


def _unusable(typed: str, problem: OSError) -> InputError:
    reason = problem.strerror or problem
    return InputError(f"{typed[:200]!r} cannot be used: {reason}. Choose another path.")


def _conflicts(request: ExportRequest) -> list[str]:
    with suppress(OSError):
        if request.target.exists() or request.target.is_symlink():
            return [f"{request.typed} exists already. Choose another name."]
        if not request.target.parent.is_dir():
            return [f"The folder of {request.typed} does not exist. Create it first."]
    return []
