"""Run an export: whole, or not at all."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

from samekind.atomic_files import draft_name, put_in_place
from samekind.errors import ExportError, SamekindError
from samekind.exports.manifest import MANIFEST, Made, Manifest, Report
from samekind.exports.names import suffix_for
from samekind.exports.plan import Plan, Planned, content_of
from samekind.exports.tables import WRITERS
from samekind.exports.undo import sha256, undo_export
from samekind.protocols import Progress


def run_export(plan: Plan, progress: Progress | None = None) -> Report:
    """Do what was planned. When something goes wrong, what was made is removed again.

    Parameters
    ----------
    progress : called with (files done, files in all); it may raise to cancel.
    """
    if plan.conflicts:
        raise ExportError(" ".join(plan.conflicts))
    try:
        return _run_folders(plan, progress) if plan.format == "folders" else _run_table(plan)
    except OSError as error:
        if isinstance(error, SamekindError):
            raise
        raise ExportError(_sentence(error, plan.target)) from error


def _run_table(plan: Plan) -> Report:
    draft = draft_name(plan.target)
    try:
        WRITERS[plan.format](plan, draft)
        put_in_place(draft, plan.target)
    finally:
        draft.unlink(missing_ok=True)
    return Report(plan.target, (plan.target,), notes=plan.notes)


def _run_folders(plan: Plan, progress: Progress | None) -> Report:
    root = plan.target
    try:
        root.mkdir()
        made_target = True
    except FileExistsError:
        if not root.is_dir() or any(root.iterdir()):
            raise
        made_target = False
    try:
        book = Manifest.begin(root, plan.collection.name, plan.mode, made_target=made_target)
    except BaseException:
        (root / MANIFEST).unlink(missing_ok=True)
        if made_target:
            root.rmdir()
        raise
    try:
        done, symbolic = _make_all(plan, book, progress)
        book.finish()
    except BaseException:
        book.close()
        undo_export(root / MANIFEST)
        raise
    notes = list(plan.notes)
    if symbolic:
        notes.append(
            f"{symbolic} links are symbolic, because hard links do not reach from the originals "
            "to here. They break when the originals are moved."
        )
    return Report(root, tuple(done), notes=tuple(notes), manifest=root / MANIFEST)


def _make_all(plan: Plan, book: Manifest, progress: Progress | None) -> tuple[list[Path], int]:
    """Make folders and files; the files, and how many of them are symbolic links."""
    for folder in plan.folders:
        book.note(Made("folder", _relative(folder, book)))
        folder.mkdir()
    done = []
    symbolic = 0
    for count, file in enumerate(plan.files, start=1):
        if file.source is None:
            done.append(_write(plan, file, book))
        elif plan.mode == "copy":
            shutil.copy2(file.source, book.part)
            done.append(_name_part(plan, file, file.path, book))
        else:
            symbolic += _link(plan, file, book)
            done.append(file.path)
        if progress:
            progress(count, len(plan.files))
    return done, symbolic


def _write(plan: Plan, file: Planned, book: Manifest) -> Path:
    """Write an item that has no file; its suffix follows what it really is."""
    mime, data = content_of(plan.collection[file.position])
    book.part.write_bytes(data)
    path = file.path.with_suffix(suffix_for(mime))
    return _name_part(plan, file, path, book)


def _name_part(plan: Plan, file: Planned, path: Path, book: Manifest) -> Path:
    """Give a finished file its name, after it was written into the book."""
    source = str(file.source) if file.source else ""
    size, checksum = book.part.stat().st_size, sha256(book.part)
    id = plan.collection.id(file.position)
    book.note(Made("file", _relative(path, book), id, source, size, checksum))
    put_in_place(book.part, path)
    return path


def _link(plan: Plan, file: Planned, book: Manifest) -> bool:
    """A hard link, or where that cannot be a symbolic one; whether it is symbolic."""
    assert file.source is not None
    source = file.source.resolve()
    id = plan.collection.id(file.position)
    book.note(Made("link", _relative(file.path, book), id, str(source)))
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


def _relative(path: Path, book: Manifest) -> str:
    return path.relative_to(book.root).as_posix()


def _sentence(error: OSError, target: Path) -> str:
    if isinstance(error, FileExistsError):
        return f"{error.filename2 or error.filename or target} exists already. Choose another name."
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return (
            f"The disk of {target} is full. What was made has been removed again. "
            "Free some space, or choose another disk."
        )
    return f"The export to {target} was stopped: {error}. What was made has been removed again."
