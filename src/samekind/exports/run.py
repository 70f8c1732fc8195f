"""Run an export completely, or not at all."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

from samekind.atomic_files import new_file, put_in_place
from samekind.errors import ExportError, SamekindError
from samekind.exports.annotations import (
    write_argilla,
    write_cleanlab,
    write_coco,
    write_fiftyone,
    write_label_studio,
)
from samekind.exports.imagefolder import write_metadata
from samekind.exports.manifest import MANIFEST, Made, Manifest, Report
from samekind.exports.names import suffix_for
from samekind.exports.plan import Plan, Planned, content_of
from samekind.exports.sidecars import sidecar
from samekind.exports.tables import WRITERS as TABLE_WRITERS
from samekind.exports.undo import sha256, undo_export
from samekind.protocols import Progress
from samekind.questions.wording import plural

WRITERS = {
    **TABLE_WRITERS,
    "coco": write_coco,
    "label-studio": write_label_studio,
    "fiftyone": write_fiftyone,
    "argilla": write_argilla,
    "cleanlab": write_cleanlab,
}
"""What writes each format that is one file."""


def run_export(plan: Plan, progress: Progress | None = None) -> Report:
    """Run a plan. If anything fails, everything that was created is removed again.

    Parameters
    ----------
    progress : called with (files done, total); may raise to cancel.
    """
    if plan.conflicts:
        raise ExportError(" ".join(plan.conflicts))
    try:
        return _run_table(plan) if plan.format in WRITERS else _run_folders(plan, progress)
    except OSError as error:
        if isinstance(error, SamekindError):
            raise
        raise ExportError(_sentence(error, plan.target)) from error


def _run_table(plan: Plan) -> Report:
    with new_file(plan.target) as draft:
        WRITERS[plan.format](plan, draft)
    return Report(plan.target, (plan.target,), notes=plan.notes)


def _run_folders(plan: Plan, progress: Progress | None) -> Report:
    root = plan.target
    try:
        root.mkdir()
        made_target = True
    except FileExistsError:
        if not root.is_dir() or (any(root.iterdir()) and not plan.beside):
            raise
        made_target = False
    about = {"made_target": made_target, "beside": plan.beside}
    try:
        manifest = Manifest.begin(root, plan.collection.name, plan.mode, **about)
    except BaseException:
        if made_target:
            root.rmdir()
        raise
    try:
        done, symbolic = _make_all(plan, manifest, progress)
        manifest.finish()
    except BaseException:
        manifest.close()
        undo_export(root / MANIFEST)
        raise
    notes = list(plan.notes)
    if symbolic:
        notes.append(
            f"{plural(symbolic, 'link is', 'links are')} symbolic, because hard links to the "
            "originals are not possible here. They break if the originals are moved."
        )
    return Report(root, tuple(done), notes=tuple(notes), manifest=root / MANIFEST)


def _make_all(plan: Plan, manifest: Manifest, progress: Progress | None) -> tuple[list[Path], int]:
    """Create folders and files; returns the files and the number of symbolic links."""
    for folder in plan.folders:
        manifest.note(Made("folder", _relative(folder, manifest)))
        folder.mkdir()
    done: list[Path] = []
    symbolic = 0
    for count, file in enumerate(plan.files, start=1):
        if plan.format == "xmp":
            done.append(_tag(plan, file, manifest))
        elif file.position < 0:
            done.append(_write_metadata(plan, file, done, manifest))
        elif file.source is None:
            done.append(_write(plan, file, manifest))
        elif plan.mode == "copy":
            shutil.copy2(file.source, manifest.part)
            done.append(_name_part(plan, file, file.path, manifest))
        else:
            symbolic += _link(plan, file, manifest)
            done.append(file.path)
        if progress:
            progress(count, len(plan.files))
    return done, symbolic


def _write(plan: Plan, file: Planned, manifest: Manifest) -> Path:
    """Write an item that has no file; its suffix follows its content."""
    mime, data = content_of(plan.collection[file.position])
    manifest.part.write_bytes(data)
    path = file.path.with_suffix(suffix_for(mime))
    return _name_part(plan, file, path, manifest)


def _tag(plan: Plan, file: Planned, manifest: Manifest) -> Path:
    """Write the sidecar of a picture."""
    group = plan.clustering.name(int(plan.clustering.labels[file.position]))
    manifest.part.write_bytes(sidecar(plan.grouping, group))
    return _name_part(plan, file, file.path, manifest)


def _write_metadata(plan: Plan, file: Planned, done: list[Path], manifest: Manifest) -> Path:
    """Write the table beside the pictures, which come before it in the plan."""
    pictures = zip(plan.files, done, strict=False)
    write_metadata(plan, {one.position: path.name for one, path in pictures}, manifest.part)
    return _name_part(plan, file, file.path, manifest)


def _name_part(plan: Plan, file: Planned, path: Path, manifest: Manifest) -> Path:
    """Record a finished file in the manifest, then give it its name."""
    source = str(file.source) if file.source else ""
    size, checksum = manifest.part.stat().st_size, sha256(manifest.part)
    id = plan.collection.id(file.position) if file.position >= 0 else ""
    manifest.note(Made("file", _relative(path, manifest), id, source, size, checksum))
    put_in_place(manifest.part, path)
    return path


def _link(plan: Plan, file: Planned, manifest: Manifest) -> bool:
    """Create a hard link, or else a symbolic one; returns whether it is symbolic."""
    assert file.source is not None
    source = file.source.resolve()
    id = plan.collection.id(file.position)
    manifest.note(Made("link", _relative(file.path, manifest), id, str(source)))
    try:
        os.link(source, file.path)
    except FileExistsError:
        raise
    except OSError:
        try:
            os.symlink(source, file.path)
        except OSError as error:
            raise ExportError(
                f"{source} cannot be linked into {plan.target} ({error.strerror}). Copy instead."
            ) from error
        return True
    return False


def _relative(path: Path, manifest: Manifest) -> str:
    return path.relative_to(manifest.root).as_posix()


def _sentence(error: OSError, target: Path) -> str:
    if isinstance(error, FileExistsError):
        return f"{error.filename2 or error.filename or target} exists already. Choose another name."
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return (
            f"The disk of {target} is full. Everything created was removed again. "
            "Free some space, or choose another disk."
        )
    return f"The export to {target} failed: {error}. Everything created was removed again."
