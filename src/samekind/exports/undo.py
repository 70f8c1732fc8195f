"""Undo an export to folders: remove what it created and is unchanged, and nothing else."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from samekind.errors import ExportError
from samekind.exports.manifest import LOG, MANIFEST, Made, Manifest, Report


def undo_export(manifest: str | Path) -> Report:
    """Remove what an export created; what was changed or added since is kept and reported.

    A copy or link whose original is gone is kept too, because it may be the last one. Also works
    for an export that was interrupted.

    Parameters
    ----------
    manifest : the ``samekind-export.json`` in the exported folder, or that folder.
    """
    path = Path(manifest).expanduser().absolute()
    path = path / MANIFEST if path.is_dir() else path
    record = Manifest.load(path)
    try:
        return _undo(record)
    except OSError as error:
        raise ExportError(
            f"The export in {record.root} could be undone only in part: {error}. "
            "Its manifest is still there: fix the cause and undo it again."
        ) from error


def _undo(record: Manifest) -> Report:
    root = record.root
    done: list[Path] = []
    kept: list[tuple[Path, str]] = []
    still: list[Made] = []
    _remove_file(record.part)
    for made in record.made:
        place = root / made.path
        if made.kind == "folder" or not os.path.lexists(place):
            continue
        reason = why_keep(root, made)
        if reason:
            kept.append((place, reason))
            still.append(made)
        else:
            _remove_file(place)
            done.append(place)
    ours = {root / made.path for made in still} | {root / MANIFEST, root / LOG}
    if not record.head.get("beside"):
        kept += [(place, "was added since") for place in _files_below(root) if place not in ours]
    for made in reversed([made for made in record.made if made.kind == "folder"]):
        if not _remove_folder(root / made.path):
            still.append(made)
    # Folders come first in a manifest, parents before children, as they were created.
    record.made = sorted(still, key=lambda made: made.kind != "folder")
    if kept:
        record.head["complete"] = True
        record.rewrite()
        _remove_file(root / LOG)
    else:
        _remove_file(root / LOG)
        _remove_file(root / MANIFEST)
        if record.head.get("made_target"):
            _remove_folder(root)
    left = root / MANIFEST if kept else None
    return Report(root, tuple(done), tuple(kept), manifest=left, undone=True)


def why_keep(root: Path, made: Made) -> str:
    """Why a file of an export is kept; empty if it may be removed."""
    place = root / made.path
    if any(parent.is_symlink() for parent in place.parents if root in parent.parents):
        return "its folder was replaced by a link"
    if made.kind == "link":
        return _why_keep_link(place, Path(made.source))
    if place.is_symlink() or not place.is_file():
        return "was replaced by something else"
    if place.stat().st_size != made.size or sha256(place) != made.sha256:
        return "was changed since"
    if made.source and not os.path.exists(made.source):
        return f"the original {made.source} is gone"
    return ""


def _why_keep_link(place: Path, source: Path) -> str:
    if place.is_symlink():
        return "" if Path(os.readlink(place)) == source else "was changed since"
    if not source.exists():
        return f"the original {source} is gone"
    return "" if os.path.samefile(place, source) else "is no longer the same file as the original"


def sha256(path: Path) -> str:
    """The checksum of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _files_below(root: Path) -> Iterator[Path]:
    for folder, folders, files in os.walk(root):
        links = [name for name in folders if os.path.islink(os.path.join(folder, name))]
        for name in sorted(files + links):
            yield Path(folder, name)


def _remove_file(path: Path) -> None:
    path.unlink(missing_ok=True)


def _remove_folder(path: Path) -> bool:
    """Remove a folder if it is empty; returns whether it is gone."""
    if path.is_symlink():
        return False
    try:
        path.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True
