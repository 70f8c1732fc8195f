"""Plan: everything that an export would write, computed without writing anything."""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection as Group
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from samekind.clustering import Clustering
from samekind.errors import InputError, UnknownName
from samekind.exports.manifest import LOG, MANIFEST
from samekind.exports.names import FreeNames, safe_name, suffix_for, without_suffix
from samekind.exports.sidecars import SUFFIX, sidecar
from samekind.exports.tables import check_parquet, formula_note
from samekind.items import Collection, Item
from samekind.questions.wording import plural

FORMATS = ("csv", "folders", "json", "parquet", "coco", "label-studio", "fiftyone", "xmp", "albums")
MODES = ("copy", "link")
Album = tuple[int | str, ...]
"""A folder of an export: the number of its group, then the names of groups within it."""
_SUFFIXES = {"": "folders", ".csv": "csv", ".json": "json", ".parquet": "parquet", ".pq": "parquet"}


@dataclass(frozen=True, slots=True)
class Planned:
    """One file that would be created. `size` is None if it is only known after writing."""

    path: Path
    what: str
    size: int | None = None
    position: int = -1
    source: Path | None = None


@dataclass(frozen=True)
class Plan:
    """What an export would do. :func:`run_export` does exactly this, or nothing.

    Parameters
    ----------
    files : the files that would be created, in order.
    folders : the folders that would be created in the target.
    conflicts : sentences that say why it cannot be run; empty if it can.
    notes : sentences that a person should read first.
    """

    format: str
    target: Path
    mode: str
    files: tuple[Planned, ...]
    folders: tuple[Path, ...]
    conflicts: tuple[str, ...]
    notes: tuple[str, ...]
    collection: Collection = field(repr=False)
    clustering: Clustering = field(repr=False)
    answered: frozenset[str] = field(repr=False)
    grouping: str = "main"
    subgroups: Mapping[str, tuple[str, ...]] = field(default_factory=dict, repr=False)
    no_formulas: bool = False

    @property
    def beside(self) -> bool:
        """Whether the files are written into the folder of the originals: sidecars may be."""
        place = self.collection.location
        return self.format == "xmp" and place != "" and self.target.resolve() == _resolved(place)

    @property
    def n_items(self) -> int:
        """The number of items."""
        return len(self.collection)

    @property
    def n_bytes(self) -> int:
        """The space that it needs, as far as known; links need none."""
        return sum(file.size or 0 for file in self.files)

    @property
    def is_one_file(self) -> bool:
        """Whether only one new file is written, so that there is nothing to confirm."""
        return len(self.files) == 1 and self.files[0].path == self.target

    def describe(self, max_files: int = 20) -> str:
        """The dry run in words, with at most `max_files` names."""
        counts = plural(self.n_items, "item"), plural(self.clustering.n_groups, "group")
        lines = [f"{', '.join(counts)} -> {self.target}"]
        lines += [f"  {file.path}  ({file.what})" for file in self.files[:max_files]]
        if len(self.files) > max_files:
            lines.append(f"  ... and {len(self.files) - max_files} more files")
        room = f", {self.n_bytes:,} bytes" if self.n_bytes else ""
        folders = f"{plural(len(self.folders), 'folder')} and " if self.folders else ""
        lines.append(f"{folders}{plural(len(self.files), 'file')} would be created{room}.")
        lines += [f"Note: {note}" for note in self.notes]
        lines += [f"Not possible: {conflict}" for conflict in self.conflicts]
        return "\n".join(lines)


def plan_export(
    collection: Collection,
    clustering: Clustering,
    target: str | Path,
    *,
    format: str | None = None,
    mode: str = "copy",
    answered: Group[str] = frozenset(),
    grouping: str = "main",
    subgroups: Mapping[str, tuple[str, ...]] | None = None,
    no_formulas: bool = False,
) -> Plan:
    """Plan an export without writing anything: the dry run.

    Parameters
    ----------
    target : the file or folder to create; it must not exist yet, except as an empty folder.
        Sidecars may also be written into the folder of the collection.
    format : one of `FORMATS`; None takes it from the suffix of the target (none: folders).
    mode : "copy" copies the files of the items, "link" links to them.
    answered : ids of the items that the person was asked about.
    grouping : title of the grouping, for the tags in sidecars.
    subgroups : for albums, by the id of an item the names of the groups within its group.
    no_formulas : in CSV files, put an apostrophe before cells that a spreadsheet would calculate.
    """
    target = Path(target).expanduser().absolute()
    format = format_of(target, format)
    if mode not in MODES:
        raise UnknownName("export mode", mode, MODES)
    if len(clustering.labels) != len(collection):
        raise InputError(
            f"Expected a collection of {len(clustering.labels)} items, as in the groups, got "
            f"{len(collection)}. Export the collection that was grouped."
        )
    known = (subgroups or {}) if format == "albums" else {}
    inner = {
        one.id: known[item.id]
        for item in collection
        if item.id in known
        for one in item.members or (item,)
    }
    collection, clustering, answered = with_members(collection, clustering, answered)
    asked = frozenset(answered)
    plan = Plan(
        *(format, target, mode, (), (), (), ()),
        *(collection, clustering, asked, grouping, inner, no_formulas),
    )
    return _PLANNERS.get(format, _planned_table)(plan)


def with_members(
    collection: Collection, clustering: Clustering, answered: Group[str]
) -> tuple[Collection, Clustering, Group[str]]:
    """Replace items that stand for several by all of them, each in the same group."""
    if not any(item.members for item in collection):
        return collection, clustering, answered
    spread = [(k, one) for k, item in enumerate(collection) for one in item.members or (item,)]
    index = [k for k, _ in spread]
    soft = clustering.membership
    own = {collection.id(k): [one.id for one in collection[k].members] for k in set(index)}
    every = frozenset(id for known in answered for id in (own.get(known) or [known]))
    return (
        replace(collection, items=[one for _, one in spread]),
        replace(
            clustering,
            labels=clustering.labels[index],
            space=clustering.space[index],
            membership=None if soft is None else soft[index],
            views=None,
            draws=None,
        ),
        every,
    )


def format_of(target: Path, format: str | None) -> str:
    """Return the format of an export: as given, or by the suffix of the target."""
    if format is None:
        format = _SUFFIXES.get(target.suffix.lower(), target.suffix.lstrip("."))
    if format not in FORMATS:
        raise UnknownName("export format", format, FORMATS)
    return format


def _planned_table(plan: Plan) -> Plan:
    if plan.format == "parquet":
        check_parquet()
    conflicts = _conflicts_of_place(plan)
    if os.path.lexists(plan.target):
        conflicts.append(f"{plan.target} exists already. Choose another name.")
    note = formula_note(plan) if plan.format == "csv" else ""
    return replace(
        plan,
        files=(Planned(plan.target, f"{plan.format}, {plan.n_items} rows"),),
        conflicts=tuple(conflicts),
        notes=(note,) if note else (),
    )


def _planned_folders(plan: Plan) -> Plan:
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


def _planned_sidecars(plan: Plan) -> Plan:
    """Plan a sidecar for every picture, at its relative path; one that exists is left alone."""
    conflicts = _conflicts_of_folder(plan)
    root = _resolved(plan.collection.location or ".")
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


_PLANNERS = {"folders": _planned_folders, "albums": _planned_folders, "xmp": _planned_sidecars}
"""What plans each format that is a folder."""


def _no_longer_there(missing: list[str]) -> list[str]:
    if not missing:
        return []
    return [
        f"{len(missing)} files no longer exist (the first: {missing[0]}). "
        "Open the collection again."
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


def _written(item: Item, position: int, folder: Path, names: FreeNames, suffix: str) -> Planned:
    """Plan an item without a file; its suffix may change when it is written."""
    last = item.id.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]
    stem = safe_name(without_suffix(safe_name(last, "")), f"item {position + 1}")
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


def _resolved(place: str) -> Path:
    return Path(place).expanduser().resolve()


def _is_empty_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink() and not any(path.iterdir())


def source_of(item: Item) -> Path | None:
    """The file of an item; None for items in memory."""
    path = getattr(item, "path", None)
    return Path(path).absolute() if path else None


def content_of(item: Item) -> tuple[str, bytes]:
    """MIME type and bytes of an item without a file: the whole text, or else the preview."""
    if item.kind == "text":
        return "text/plain", str(item.load()).encode("utf-8", "backslashreplace")
    preview = item.preview()
    return preview.mime, preview.data
