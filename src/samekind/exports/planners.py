"""What each format would write: one file, folders, sidecars, or a folder of pictures."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from samekind.exports.imagefolder import METADATA, SPLIT
from samekind.exports.manifest import LOG, MANIFEST
from samekind.exports.names import FreeNames, safe_name, suffix_for, without_suffix
from samekind.exports.plan import Plan, Planned, content_of, resolved, source_of
from samekind.exports.sidecars import SUFFIX, sidecar
from samekind.exports.tables import check_parquet, formula_note, without_formula
from samekind.items import Item
from samekind.questions.wording import plural

CSV_READERS = {"csv": "", "cleanlab": "cleanlab", "imagefolder": "Hugging Face datasets"}
"""The formats with a CSV file, and the program that reads it; a spreadsheet may read any."""
Album = tuple[int | str, ...]
"""A folder of an export: the number of its group, then the names of groups within it."""


def plan_file(plan: Plan) -> Plan:
    """Plan a format that is one file."""
    if plan.format == "parquet":
        check_parquet()
    conflicts = _conflicts_of_place(plan)
    if os.path.lexists(plan.target):
        conflicts.append(f"{plan.target} exists already. Choose another name.")
    note = _note_on_formulas(plan) if plan.format in CSV_READERS else ""
    return replace(
        plan,
        files=(Planned(plan.target, f"{plan.format}, {plural(plan.n_items, 'row')}"),),
        conflicts=tuple(conflicts),
        notes=(note,) if note else (),
    )


def plan_folders(plan: Plan) -> Plan:
    """Plan one folder per group, with the files of its items."""
    conflicts = _conflicts_of_folder(plan)
    folders, names = _group_folders(plan)
    files, missing, written = [], [], 0
    sample = ""
    for position, item in enumerate(plan.collection):
        album: Album = (int(plan.clustering.labels[position]), *plan.subgroups.get(item.id, ()))
        source = source_of(item)
        if source is None:
            sample = sample or suffix_for(content_of(item)[0])
            files.append(_written(item, position, folders[album], names[album], sample))
            written += 1
            continue
        try:
            size = source.stat().st_size
        except OSError:
            missing.append(item.id)
            continue
        name = safe_name(source.name, f"item {position + 1}{source.suffix}")
        path = folders[album] / names[album].take(*os.path.splitext(name))
        what = f"{plan.mode} of {item.id}"
        files.append(Planned(path, what, size if plan.mode == "copy" else 0, position, source))
    conflicts += _no_longer_there(missing)
    made = replace(plan, files=tuple(files), folders=tuple(folders.values()))
    conflicts += _no_room(made)
    return replace(made, conflicts=tuple(conflicts), notes=tuple(_notes(made, written)))


def plan_sidecars(plan: Plan) -> Plan:
    """Plan a sidecar for every picture, at its relative path; one that exists is left alone."""
    conflicts = _conflicts_of_folder(plan)
    root = resolved(plan.collection.location or ".")
    files: dict[Path, Planned] = {}
    missing, existing = [], 0
    for position, item in enumerate(plan.collection):
        source = source_of(item)
        place = None if source is None else source.parent.resolve() / source.name
        if item.kind != "image" or place is None or root not in place.parents:
            conflicts.append(
                f"Sidecars are for pictures in a folder, but {item.id} is not one. "
                "Choose another format."
            )
            break
        if not place.exists():
            missing.append(item.id)
        path = plan.target / place.relative_to(root)
        path = path.with_name(path.name + SUFFIX)
        if os.path.lexists(path):
            existing += 1
            continue
        group = plan.clustering.name(int(plan.clustering.labels[position]))
        size = len(sidecar(plan.grouping, group))
        files[path] = Planned(path, f"tags of {item.id}", size, position)
    conflicts += _no_longer_there(missing)
    notes = []
    if existing:
        notes.append(f"{plural(existing, 'sidecar')} of before stay as they are.")
    if existing and not files:
        conflicts.append("Every picture has a sidecar already, and none is overwritten.")
    parents = {parent for path in files for parent in path.parents if plan.target in parent.parents}
    folders = sorted(folder for folder in parents if not folder.is_dir())
    made = replace(plan, files=tuple(files.values()), folders=tuple(folders), notes=tuple(notes))
    return replace(made, conflicts=(*conflicts, *_no_room(made)))


def _no_longer_there(missing: list[str]) -> list[str]:
    if not missing:
        return []
    return [
        f"{plural(len(missing), 'file no longer exists', 'files no longer exist')} (the first: "
        f"{missing[0]}). Open the collection again."
    ]


def _group_folders(plan: Plan) -> tuple[dict[Album, Path], dict[Album, FreeNames]]:
    """One folder per group, named after it as far as file systems allow, and those within.

    Returns the folders, parents first, and the names that are free in each.
    """
    names: dict[Album, FreeNames] = {(): FreeNames()}
    for own in (MANIFEST, LOG):
        names[()].take(own)
    within: dict[int, set[tuple[str, ...]]] = {number: set() for number in plan.clustering.numbers}
    for id, label in zip(plan.collection.ids(), plan.clustering.labels, strict=True):
        path = plan.subgroups.get(id, ())
        within[int(label)] |= {path[:depth] for depth in range(1, len(path) + 1)}
    folders: dict[Album, Path] = {}
    for number, albums in within.items():
        for inner in ((), *sorted(albums)):
            album: Album = (number, *inner)
            wanted = inner[-1] if inner else plan.clustering.name(number)
            name = names[album[:-1]].take(safe_name(wanted, f"Group {number}"))
            folders[album] = folders.get(album[:-1], plan.target) / name
            names[album] = FreeNames()
    return folders, names


def _written(
    item: Item,
    position: int,
    folder: Path,
    names: FreeNames,
    suffix: str,
    *,
    no_formulas: bool = False,
) -> Planned:
    """Plan an item without a file; its suffix may change when it is written."""
    last = item.id.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]
    stem = safe_name(without_suffix(safe_name(last, "")), f"item {position + 1}")
    stem = without_formula(stem) if no_formulas else stem
    what = f"{item.id} as it is shown"
    return Planned(folder / f"{names.take(stem)}{suffix}", what, None, position)


def _conflicts_of_folder(plan: Plan) -> list[str]:
    """Say why a folder cannot be written to; only that of the originals may have files in it."""
    if plan.beside:
        if any(os.path.lexists(plan.target / name) for name in (MANIFEST, LOG)):
            return [f"There are sidecars of an earlier export in {plan.target}. Undo it first."]
        return []
    conflicts = _conflicts_of_place(plan)
    if os.path.lexists(plan.target) and not _is_empty_folder(plan.target):
        conflicts.append(f"{plan.target} exists already and is not empty. Choose another name.")
    return conflicts


def _conflicts_of_place(plan: Plan) -> list[str]:
    conflicts = []
    if not plan.target.parent.is_dir():
        conflicts.append(f"The folder {plan.target.parent} does not exist. Create it first.")
    if plan.collection.location and Path(plan.collection.location).is_dir():
        source = Path(plan.collection.location).resolve()
        target = plan.target.parent.resolve() / plan.target.name
        if target == source or source in target.parents:
            inside = target.relative_to(source).parts
            if not any(part.startswith(".") for part in inside):
                conflicts.append(
                    f"{plan.target} is inside the collection {source}, so the exported files would "
                    "be new items next time. Choose a folder outside of it."
                )
    return conflicts


def _no_room(plan: Plan) -> list[str]:
    try:
        free = shutil.disk_usage(plan.target.parent).free
    except OSError:
        return []
    if plan.n_bytes <= free:
        return []
    return [
        f"{plan.n_bytes:,} bytes are needed, but only {free:,} are free. "
        "Free some space, choose another disk, or link instead of copying."
    ]


def _notes(plan: Plan, written: int) -> list[str]:
    notes = []
    if plan.format == "albums" and not plan.subgroups:
        notes.append("No group has groups of its own yet, so there is one folder per group.")
    if written:
        notes.append(
            f"{plural(written, 'item has', 'items have')} no file of their own and "
            f"{'is' if written == 1 else 'are'} written as shown."
        )
    if plan.mode == "link" and written < len(plan.files):
        notes.append("A link is the same file as the original: editing one changes both.")
    return notes


def _note_on_formulas(plan: Plan, names: Sequence[str] = ()) -> str:
    """Say which cells of the CSV file of an export a spreadsheet would calculate."""
    groups = (plan.clustering.name(number) for number in plan.clustering.numbers)
    return formula_note(
        (*names, *plan.collection.ids(), *groups),
        no_formulas=plan.no_formulas,
        reader=CSV_READERS[plan.format],
    )


def _is_empty_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink() and not any(path.iterdir())


def plan_imagefolder(plan: Plan) -> Plan:
    """Plan a folder that Hugging Face datasets load: pictures, and a table with their groups."""
    conflicts, missing = _conflicts_of_folder(plan), []
    if plan.collection.kind != "image":
        conflicts.append(
            f"Expected pictures for imagefolder, got {plan.collection.kind} items. Export a csv or "
            "parquet table, which Hugging Face datasets load as well."
        )
    folder, names, files = plan.target / SPLIT, FreeNames(), []
    names.take(METADATA)
    for position, item in enumerate(plan.collection):
        source = source_of(item)
        if source is None:
            safe = plan.no_formulas
            files.append(_written(item, position, folder, names, ".png", no_formulas=safe))
        elif not source.exists():
            missing.append(item.id)
        else:
            size = source.stat().st_size if plan.mode == "copy" else 0
            name = safe_name(source.name, f"item {position}")
            name = without_formula(name) if plan.no_formulas else name
            path = folder / names.take(*os.path.splitext(name))
            files.append(Planned(path, f"{plan.mode} of {item.id}", size, position, source))
    conflicts += _no_longer_there(missing)
    mark = "'" if plan.no_formulas else ""
    note = _note_on_formulas(plan, [file.path.name.removeprefix(mark) for file in files])
    files.append(Planned(folder / METADATA, f"groups of {plural(len(files), 'picture')}"))
    made = replace(plan, files=tuple(files), folders=(folder,), notes=(note,) if note else ())
    return replace(made, conflicts=(*conflicts, *_no_room(made)))


PLANNERS: dict[str, Callable[[Plan], Plan]] = {
    "folders": plan_folders,
    "albums": plan_folders,
    "xmp": plan_sidecars,
    "imagefolder": plan_imagefolder,
}
"""What plans each format that is a folder; all others are one file."""
