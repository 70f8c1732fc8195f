"""Plan: everything that an export would write, computed without writing anything."""

from __future__ import annotations

import os
from collections.abc import Collection as Group
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from samekind.clustering import Clustering
from samekind.errors import InputError, UnknownName
from samekind.items import Collection, Item
from samekind.questions.wording import plural
from samekind.user_paths import expanded

FORMATS = (
    *("csv", "folders", "json", "parquet", "coco", "label-studio", "fiftyone", "xmp", "albums"),
    *("argilla", "cleanlab", "imagefolder"),
)
MODES = ("copy", "link")
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
        return self.format == "xmp" and place != "" and self.target.resolve() == resolved(place)

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
            lines.append(f"  ... and {plural(len(self.files) - max_files, 'more file')}")
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
    from samekind.exports.planners import PLANNERS, plan_file

    target = expanded(target).absolute()
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
    return PLANNERS.get(format, plan_file)(plan)


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


def resolved(place: str) -> Path:
    """The folder of a collection, without links."""
    return Path(os.path.realpath(expanded(place)))


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
