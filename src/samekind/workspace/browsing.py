"""Browse the folders of this machine that a page may open: below some roots, and nowhere else."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from samekind.errors import NotAllowed, SourceError
from samekind.sources import SUFFIXES_OF_KINDS, is_set, natural, openable_suffixes
from samekind.user_paths import expanded

ROOTS_VARIABLE = "SAMEKIND_ROOTS"
MAX_LISTED = 1000
"""Folders and files of one folder that are listed."""
MAX_COUNTED = 10_000
"""Entries of a folder that are looked at."""


@dataclass(frozen=True)
class Folder:
    """A folder that can be opened or browsed."""

    name: str
    path: str


@dataclass(frozen=True)
class Listing:
    """What is in a folder.

    Parameters
    ----------
    path : of the folder; empty: the roots themselves.
    parent : of the folder, if that may be browsed; empty for the list of roots.
    folders, files : in natural order; of the files only those that can be opened by themselves.
    pictures, texts : how many lie directly in the folder.
    truncated : whether there is more than is listed.
    """

    path: str
    parent: str | None
    folders: list[Folder]
    files: list[Folder] = field(default_factory=list)
    pictures: int = 0
    texts: int = 0
    truncated: bool = False


@dataclass(frozen=True)
class Roots:
    """The folders below which a page may open and browse; links that lead out are refused."""

    folders: tuple[Path, ...]

    @classmethod
    def of(cls, more: Iterable[str | Path] = ()) -> Roots:
        """The home folder, those named in SAMEKIND_ROOTS, and some more."""
        named = os.environ.get(ROOTS_VARIABLE, "").split(os.pathsep)
        wanted = [Path.home(), *(Path(one) for one in named if one), *map(Path, more)]
        found = dict.fromkeys(os.path.realpath(expanded(one)) for one in wanted)
        outer = [one for one in found if not any(_is_within(one, o) for o in found if o != one)]
        return cls(tuple(map(Path, outer)))

    def allows(self, path: str) -> bool:
        """Whether a path, after following all links, is a root or below one."""
        if "\0" in path:
            return False
        try:
            real = os.path.realpath(os.path.expanduser(path))
        except (OSError, ValueError):
            return False
        return any(_is_within(real, str(root)) for root in self.folders)

    def check(self, path: str) -> str:
        """Return a path below the roots, or the name of a set; anything else is refused."""
        if is_set(path) or ("://" not in path and self.allows(path)):
            return path
        folders = ", ".join(str(root) for root in self.folders)
        raise NotAllowed(
            f"This page may only open what is in {folders}. Start samekind with --allow FOLDER to "
            "add a folder, or give the path on the command line."
        )

    def browse(self, path: str = "") -> Listing:
        """List a folder; without a path, the roots, or the only one."""
        if not path and len(self.folders) != 1:
            roots = [Folder(str(root), str(root)) for root in self.folders if root.is_dir()]
            return Listing("", None, roots)
        place = expanded(self.check(path) if path else self.folders[0])
        place = Path(os.path.realpath(place))
        try:
            with os.scandir(place) as entries:
                shown = sorted(self._shown(entries), key=lambda entry: natural(entry.name))
        except OSError as problem:
            reason = problem.strerror or str(problem)
            raise SourceError(f"{str(place)!r} cannot be listed: {reason}.") from problem
        return self._listing(place, shown)

    def _shown(self, entries: Iterator[os.DirEntry[str]]) -> Iterator[os.DirEntry[str]]:
        """Entries that are not hidden and do not lead out of the roots."""
        for number, entry in enumerate(entries):
            if number >= MAX_COUNTED:
                return
            if entry.name.startswith(".") or not entry.name.isprintable():
                continue
            if not entry.is_symlink() or self.allows(entry.path):
                yield entry

    def _listing(self, place: Path, shown: Sequence[os.DirEntry[str]]) -> Listing:
        folders = [Folder(entry.name, entry.path) for entry in shown if _is_folder(entry)]
        names = [entry.name.lower() for entry in shown if not _is_folder(entry)]
        single = openable_suffixes()
        files = [
            Folder(entry.name, entry.path)
            for entry in shown
            if entry.name.lower().endswith(single) and not _is_folder(entry)
        ]
        parent = str(place.parent)
        inside = place not in self.folders and self.allows(parent)
        return Listing(
            str(place),
            parent if inside else (None if len(self.folders) == 1 else ""),
            folders[:MAX_LISTED],
            files[:MAX_LISTED],
            sum(name.endswith(SUFFIXES_OF_KINDS["image"]) for name in names),
            sum(name.endswith(SUFFIXES_OF_KINDS["text"]) for name in names),
            max(len(folders), len(files)) > MAX_LISTED or len(shown) >= MAX_COUNTED,
        )


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _is_within(path: str, root: str) -> bool:
    return path == root or path.startswith(os.path.join(root, ""))
