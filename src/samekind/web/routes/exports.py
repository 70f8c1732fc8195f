"""Routes of Finish: a dry run first, then the export as a job; folders can be taken back."""

from __future__ import annotations

import os
import re
from collections import Counter
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Response

from samekind.errors import ExportError, InputError, SamekindError
from samekind.web.errors import ApiError
from samekind.web.routes.jobs import job_view
from samekind.web.routes.questions import Name
from samekind.web.routes.start import allowed_path
from samekind.web.schemas import core as models
from samekind.web.schemas import jobs as models_jobs
from samekind.workspace.download import formats
from samekind.workspace.jobs import JobContext
from samekind.workspace.workspace import Workspace
from samekind.workspace.workspaces import Workspaces

if TYPE_CHECKING:
    from samekind.exports import OrientationFile, Plan
    from samekind.session import Session

NAMED = 40
"""Files and folders of a plan that are named; of the others only the number is told."""
SUFFIX = {"csv": ".csv", "json": ".json", "parquet": ".parquet", "orientation": ".orientation"}
LINES = {
    "csv": ("CSV table", "One row per item with its group; opens in any spreadsheet."),
    "json": ("JSON file", "The groups with their items, for programs."),
    "parquet": ("Parquet table", "One row per item, for data frames."),
    "folders": ("Folders", "One folder per group, with copies of your files or links to them."),
    "orientation": (
        "Orientation file",
        "Your way of grouping in a small file: samekind predict sorts other items with it.",
    ),
}


def routes(workspaces: Workspaces, workspace: Workspace) -> APIRouter:
    """Routes under /api/finish."""
    api = APIRouter(prefix="/api/finish", responses=models.FAILURES)

    @api.get("")
    def finish(session: Name = None) -> models_jobs.FinishView:
        return finish_view(workspaces, workspace, workspace.session(session))

    @api.post("/plan")
    def plan(wish: models_jobs.ExportWish, session: Name = None) -> models_jobs.PlanView:
        one = learnt(workspace, workspace.session(session))
        target = Path(allowed_path(workspaces, wish.target))
        check_target(target, wish.target)
        if wish.format == "orientation":
            return orientation_plan(workspace, one, wish, target)
        return plan_view(planned(one, wish, target), one, wish)

    @api.post("/run", status_code=202)
    def run(wish: models_jobs.ExportRun, session: Name = None) -> models_jobs.JobView:
        one = workspace.session(session)
        if one.clustering.snapshot != wish.snapshot:
            raise ApiError(
                409,
                "groups-changed",
                "The groups have changed since you looked at the plan.",
                "Look at the plan again.",
            )
        target = Path(allowed_path(workspaces, wish.target))

        def work(context: JobContext) -> dict[str, Any]:
            return written(workspace, one, wish, target, context)

        spec = {"format": wish.format, "mode": wish.mode, "target": wish.target}
        title = f"Export {one.name} to {wish.target}"
        job = workspaces.jobs.submit(
            "export", title, work, pile=workspace.key, session=one.name, spec=spec
        )
        return job_view(job)

    @api.post("/undo")
    def undo(wish: models_jobs.ExportUndo) -> models_jobs.Undone:
        return taken_back(workspaces, allowed_path(workspaces, wish.target), wish.target)

    @api.get("/orientation", response_class=Response)
    def orientation(session: Name = None) -> Response:
        one = learnt(workspace, workspace.session(session))
        file = orientation_of(workspace, one)
        name = re.sub(r"[^A-Za-z0-9._-]+", "-", one.name).strip("-.") or "main"
        headers = {"Content-Disposition": f'attachment; filename="{name}.orientation"'}
        with TemporaryDirectory(prefix="samekind-") as folder:
            place = Path(folder) / "file.orientation"
            file.save(place)
            data = place.read_bytes()
        return Response(data, media_type="application/octet-stream", headers=headers)

    return api


def learnt(workspace: Workspace, session: Session) -> Session:
    """The session, once its groups know every answer: what is taken home has them all."""
    if session.progress()["until_refit"] < session.refit_every:
        workspace.refitter.request(session)
    workspace.refitter.wait(session.name)
    return session


def finish_view(
    workspaces: Workspaces, workspace: Workspace, session: Session
) -> models_jobs.FinishView:
    """The formats that can be written here, and what was written."""
    there = formats()
    name = re.sub(r"[^\w.-]+", "-", f"{workspace.collection.name}-{session.name}").strip("-.")
    shown = []
    for key, (label, line) in LINES.items():
        why_not = ""
        if key == "parquet" and key not in there:
            why_not = "Needs pyarrow: pip install 'samekind[parquet]'"
        if key == "orientation":
            why_not = _no_orientation(workspace, session)
        shown.append(
            models_jobs.FormatView(
                name=key,  # type: ignore[arg-type]
                label=label,
                line=line,
                modes=["copy", "link"] if key == "folders" else [],
                download=key != "folders",
                suggestion=f"~/{name or 'groups'}{SUFFIX.get(key, '')}",
                why_not=why_not,
            )
        )
    return models_jobs.FinishView(
        paths=workspaces.paths, formats=shown, made=_made(workspaces, workspace.key, session.name)
    )


def _made(workspaces: Workspaces, pile: str, name: str) -> list[models_jobs.ExportMade]:
    found = []
    for job in workspaces.jobs.all():
        if (job.kind, job.pile, job.session) != ("export", pile, name) or not job.result:
            continue
        folders = bool(job.result.get("manifest"))
        found.append(
            models_jobs.ExportMade(
                job=job.id,
                target=str(job.spec["target"]),
                files=int(job.result.get("files", 1)),
                at=job.ended,
                undo=folders and not job.result.get("undone"),
                undone=bool(job.result.get("undone")),
            )
        )
    return found[:10]


def reachable(target: Path, given: str) -> bool:
    """Whether there is a folder to write in; a place that no file system takes is told at once."""
    try:
        target.is_dir()
        return target.parent.is_dir()
    except OSError as problem:
        raise InputError(
            f"{given[:200]!r} cannot be used: {problem.strerror}. Choose another place."
        ) from problem


def check_target(target: Path, given: str) -> None:
    """A name that cannot be given, or a place where nothing may be written, is told at once."""
    there = reachable(target, given)
    if len(os.fsencode(target.name)) > 255 or not target.name:
        raise InputError(f"{given[:200]!r} is no name for a file or folder. Choose another.")
    if there and not os.access(target.parent, os.W_OK):
        raise InputError(
            f"Nothing may be written beside {given[:200]!r} (permission denied). Choose another "
            "place."
        )


def planned(session: Session, wish: models_jobs.ExportWish, target: Path) -> Plan:
    """Exactly what ``samekind export`` would plan."""
    from samekind.exports import plan_export

    n = len(session.collection)
    told = frozenset(session.collection.id(int(i)) for i in session.constraints.touched if i < n)
    try:
        return plan_export(
            session.collection,
            session.clustering,
            target,
            format=wish.format,
            mode=wish.mode,
            answered=told,
        )
    except OSError as problem:
        if isinstance(problem, SamekindError):
            raise
        raise InputError(
            f"{wish.target!r} cannot be used: {problem.strerror or problem}. Choose another place."
        ) from problem


def plan_view(plan: Plan, session: Session, wish: models_jobs.ExportWish) -> models_jobs.PlanView:
    """The dry run, with names from the target on."""
    inside = Counter(file.path.parent for file in plan.files)
    folders = [
        models_jobs.PlannedFolder(name=folder.name, files=inside[folder]) for folder in plan.folders
    ]
    names = [
        str(file.path.relative_to(plan.target)) if plan.folders else file.path.name
        for file in plan.files[:NAMED]
    ]
    return models_jobs.PlanView(
        snapshot=session.clustering.snapshot,
        format=plan.format,
        target=wish.target,
        items=plan.n_items,
        groups=plan.clustering.n_groups,
        files=len(plan.files),
        bytes=plan.n_bytes if plan.folders else None,
        folders=folders,
        names=[_shown(name) for name in names],
        conflicts=list(plan.conflicts),
        notes=list(plan.notes),
    )


def orientation_plan(
    workspace: Workspace, session: Session, wish: models_jobs.ExportWish, target: Path
) -> models_jobs.PlanView:
    """What an orientation file would hold."""
    file = orientation_of(workspace, session)
    conflicts = []
    with suppress(OSError):
        if target.exists() or target.is_symlink():
            conflicts.append(f"{wish.target} exists already. Choose another name.")
        elif not target.parent.is_dir():
            conflicts.append(f"The folder of {wish.target} is not there. Make it first.")
    return models_jobs.PlanView(
        snapshot=session.clustering.snapshot,
        format="orientation",
        target=wish.target,
        items=len(session.collection),
        groups=session.clustering.n_groups,
        files=1,
        bytes=None,
        folders=[],
        names=[target.name],
        conflicts=conflicts,
        notes=[file.describe() + ".", *file.notes],
    )


def orientation_of(workspace: Workspace, session: Session) -> OrientationFile:
    """The file that ``samekind export`` would write."""
    from samekind.workspace.orientation import orientation_of as made

    why_not = _no_orientation(workspace, session)
    if why_not or workspace.pile is None:
        raise ApiError(409, "no-orientation-file", why_not)
    return made(workspace.pile, session)


def _no_orientation(workspace: Workspace, session: Session) -> str:
    if workspace.pile is None:
        return "This server does not know how the vectors were made."
    if session.settings.get("polish"):
        return "Polished groups rest on a whole network, which such a file does not hold."
    if not hasattr(workspace.pile.encoded.encoder, "state"):
        return "Vectors of this encoder cannot be made from a small file."
    return ""


def written(
    workspace: Workspace,
    session: Session,
    wish: models_jobs.ExportWish,
    target: Path,
    context: JobContext,
) -> dict[str, Any]:
    """Write it; when it is stopped or fails, what was made is removed again."""
    from samekind.exports import run_export

    if wish.format == "orientation":
        size = orientation_of(workspace, session).save(target)
        return {"words": f"{wish.target} is written ({size / 1e6:.2f} MB).", "files": 1}
    plan = planned(session, wish, target)
    if plan.conflicts:
        raise ExportError(" ".join(plan.conflicts))
    report = run_export(plan, context.progress("Wrote", "files"))
    notes = "".join(f" {note}" for note in report.notes)
    made = "1 file" if len(report.done) == 1 else f"{len(report.done):,} files"
    return {
        "words": f"{made} written to {wish.target}.{notes}",
        "files": len(report.done),
        "manifest": report.manifest is not None,
    }


def taken_back(workspaces: Workspaces, target: str, given: str) -> models_jobs.Undone:
    """Remove what an export into folders made and what is unchanged; the rest is kept."""
    from samekind.exports import undo_export

    reachable(Path(target), given)
    report = undo_export(target)
    if not report.kept:
        for job in workspaces.jobs.all():
            if job.kind == "export" and job.spec.get("target") == given and job.result:
                workspaces.jobs.settle(job, {"undone": True})
    kept = [
        f"{_shown(str(path.relative_to(report.target)))}: {reason}" for path, reason in report.kept
    ]
    files = "1 file was" if len(report.done) == 1 else f"{len(report.done):,} files were"
    left = f" {len(kept):,} were kept, because they changed or were added since." if kept else ""
    return models_jobs.Undone(
        removed=len(report.done), kept=kept[:NAMED], message=f"{files} removed.{left}"
    )


def _shown(name: str) -> str:
    """A file name as text, also where it is none."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
