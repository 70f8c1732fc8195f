"""Undo an export to folders: remove what it created and is unchanged, and nothing else."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

from samekind.errors import ExportError
from samekind.exports.manifest import LOG, MANIFEST, Made, Manifest, Report
from samekind.user_paths import expanded, is_there

MAX_LINKS = 40
"""Links in a row that are followed, as by Linux."""


def undo_export(manifest: str | Path) -> Report:
    """Remove what an export created; what was changed or added since is kept and reported.

    A copy or link is kept too unless its original is still there, outside of the exported folder,
    with the same bytes: it may be the last one. Also works for an export that was interrupted.

    Parameters
    ----------
    manifest : the ``samekind-export.json`` in the exported folder, or that folder.
    """
    path = expanded(manifest).absolute()
    path = path / MANIFEST if is_there(path, ExportError) and path.is_dir() else path
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
    originals = [made.source for made in record.made if made.source]
    sources = {place: source for source in originals for place in led_through(source)}
    _remove_file(record.part)
    for made in record.made:
        place = root / made.path
        if made.kind == "folder" or not os.path.lexists(place):
            continue
        reason = why_keep(root, made, sources)
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


def why_keep(root: Path, made: Made, sources: Mapping[Path, str] | None = None) -> str:
    """Why a file of an export is kept; empty if it may be removed.

    `sources`: the originals by every place that they lead through, see :func:`led_through`.
    """
    place = root / made.path
    if any(parent.is_symlink() for parent in place.parents if root in parent.parents):
        return "its folder was replaced by a link"
    if source := (sources or {}).get(_entry(place)):
        return f"the original {source} is now a link to it"
    if made.kind == "link" and place.is_symlink():
        return "" if os.readlink(place) == made.source else "was changed since"
    if place.is_symlink() or not place.is_file():
        return "was replaced by something else"
    if made.kind == "file" and _differs(place, made):
        return "was changed since"
    return _why_not_the_original(root, made) if made.source else ""


def led_through(source: str) -> Iterator[Path]:
    """Every place that a path leads through: its own, and those that links lead to."""
    for _ in range(MAX_LINKS):
        place = _entry(Path(source))
        yield place
        if not os.path.islink(place):  # also of what cannot be looked at
            return
        source = os.path.join(place.parent, os.readlink(place))


def _entry(path: Path) -> Path:
    """The path of a file or link without links among its folders."""
    return Path(os.path.realpath(path.parent), path.name)


def _why_not_the_original(root: Path, made: Made) -> str:
    """Why the original does not hold, elsewhere, what a copy or hard link holds."""
    place, source = root / made.path, Path(made.source)
    try:
        found = Path(os.path.realpath(source, strict=True))
        facts, here = found.stat(), place.stat()
        folders = [folder.stat() for folder in found.parents]
    except (FileNotFoundError, NotADirectoryError):
        return f"the original {source} is gone"
    except OSError as error:
        return f"the original {source} cannot be read: {error.strerror or error}"
    ours = [folder.stat() for folder in (root, place.parent)]
    same = os.path.samestat(facts, here)
    # A path that leads into the export under any name, as where a folder is mounted twice.
    if any(os.path.samestat(a, b) for a in folders for b in ours) or (same and here.st_nlink == 1):
        return f"the original {source} is now in the exported folder"
    if made.kind == "link":
        return "" if same else "is no longer the same file as the original"
    try:
        changed = not same and (not stat.S_ISREG(facts.st_mode) or _differs(found, made))
    except OSError as error:
        return f"the original {source} cannot be read: {error.strerror or error}"
    return f"the original {source} was changed" if changed else ""


def _differs(path: Path, made: Made) -> bool:
    """Whether a regular file has other bytes than were exported."""
    return path.stat().st_size != made.size or sha256(path) != made.sha256


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
