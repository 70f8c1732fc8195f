"""The manifest of an export in folders: what was made, so that exactly that can be removed."""

from __future__ import annotations

import json
import os
import re
import secrets
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TextIO

from samekind.atomic_files import draft_name, put_in_place
from samekind.errors import ExportError
from samekind.questions.wording import plural

MANIFEST = "samekind-export.json"
JOURNAL = "samekind-export.log"
_PART = re.compile(r"\.samekind-[0-9a-f]{12}\.part")


@dataclass(frozen=True)
class Report:
    """What an export or its undoing did.

    Parameters
    ----------
    done : files that were made, or removed when an export was undone.
    kept : what an undo left in place, each with the reason.
    manifest : the file to hand to :func:`undo_export`; None when there is nothing to undo.
    """

    target: Path
    done: tuple[Path, ...]
    kept: tuple[tuple[Path, str], ...] = ()
    notes: tuple[str, ...] = ()
    manifest: Path | None = None
    undone: bool = False

    def describe(self, most: int = 20) -> str:
        """The report in words."""
        verb = "removed from" if self.undone else "made in"
        files = plural(len(self.done), "file")
        lines = [f"{files} {verb} {self.target}."]
        lines += [f"Kept: {path} ({reason})" for path, reason in self.kept[:most]]
        if len(self.kept) > most:
            lines.append(f"... and {len(self.kept) - most} more were kept.")
        lines += [f"Note: {note}" for note in self.notes]
        if self.manifest and not self.undone:
            lines.append(f"{self.manifest} lists what was made; with it the export can be undone.")
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Made:
    """One thing that an export made, in words of the manifest.

    Parameters
    ----------
    kind : "folder", "file" (a copy, or written by us) or "link" (hard or symbolic).
    path : where, from the folder of the manifest, with ``/``.
    source : the file that it is a copy of or a link to; empty when there is none.
    """

    kind: str
    path: str
    id: str = ""
    source: str = ""
    size: int = 0
    sha256: str = ""

    @classmethod
    def from_json(cls, entry: Any) -> Made:
        """Read an entry; ValueError when it is not one, or leads out of the manifest's folder."""
        if not isinstance(entry, dict):
            raise ValueError(f"{entry!r} is not an entry")
        try:
            made = cls(**entry)
        except TypeError as error:
            raise ValueError(str(error)) from None
        texts = (made.kind, made.path, made.id, made.source, made.sha256)
        parts = str(made.path).replace("\\", "/").split("/")
        if (
            not all(isinstance(text, str) for text in texts)
            or not isinstance(made.size, int)
            or made.kind not in ("folder", "file", "link")
            or any(part in ("", ".", "..") or ":" in part or "\0" in part for part in parts)
        ):
            raise ValueError(f"{made.path!r} is not something that an export makes")
        return made


@dataclass
class Manifest:
    """The book that an export keeps while it runs.

    A line goes into the journal *before* a thing gets its name, so after a kill everything that
    is there is also in the book. At the end the journal becomes part of the manifest.
    """

    root: Path
    head: dict[str, Any]
    made: list[Made] = field(default_factory=list)
    journal: TextIO | None = None

    @classmethod
    def begin(cls, root: Path, collection: str, mode: str, *, made_target: bool) -> Manifest:
        """Write the manifest before anything else."""
        part = f".samekind-{secrets.token_hex(6)}.part"
        head = {"format": "samekind-export", "version": 1, "complete": False}
        head |= {"collection": collection, "mode": mode, "made_target": made_target, "part": part}
        book = cls(root, head)
        draft = draft_name(root / MANIFEST)
        try:
            draft.write_text(book._text(), encoding="utf-8")
            put_in_place(draft, root / MANIFEST)
        finally:
            draft.unlink(missing_ok=True)
        book.journal = (root / JOURNAL).open("x", encoding="utf-8")
        return book

    @property
    def part(self) -> Path:
        """Where a file is written before it gets its name."""
        return self.root / str(self.head["part"])

    def note(self, made: Made) -> None:
        """Write down what is about to be made."""
        assert self.journal is not None, "only an export that runs makes things"
        self.made.append(made)
        self.journal.write(json.dumps(asdict(made)) + "\n")
        self.journal.flush()

    def finish(self) -> None:
        """Put everything into the manifest; the journal is not needed any more."""
        self.close()
        self.head["complete"] = True
        self.rewrite()
        (self.root / JOURNAL).unlink()

    def rewrite(self) -> None:
        """Replace the manifest on disk, which is ours, by what is known now."""
        draft = draft_name(self.root / MANIFEST)
        draft.write_text(self._text(), encoding="utf-8")
        os.replace(draft, self.root / MANIFEST)

    def close(self) -> None:
        """Stop writing the journal."""
        if self.journal is not None:
            self.journal.close()

    def _text(self) -> str:
        return (
            json.dumps({**self.head, "made": [asdict(made) for made in self.made]}, indent=1) + "\n"
        )

    @classmethod
    def load(cls, path: Path) -> Manifest:
        """Read a manifest, and the journal of an export that did not end."""
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise ExportError(
                f"{path} cannot be read as a manifest ({error}). "
                f"Give the {MANIFEST} of the export that is to be undone."
            ) from error
        if not isinstance(content, dict) or content.get("format") != "samekind-export":
            raise ExportError(f"{path} is not the manifest of an export. Nothing was removed.")
        if content.get("version") != 1:
            raise ExportError(f"{path} was written by a newer samekind. Nothing was removed.")
        entries = content.pop("made", [])
        journal = path.with_name(JOURNAL)
        if not content.get("complete") and journal.is_file():
            for line in journal.read_text(encoding="utf-8").splitlines():
                try:
                    entries.append(json.loads(line))
                except ValueError:
                    break  # the line during which the program was stopped; its file was not made
        try:
            made = [Made.from_json(entry) for entry in entries]
            if not _PART.fullmatch(str(content.get("part"))):
                raise ValueError("it names no place for unfinished files")
        except ValueError as error:
            raise ExportError(
                f"{path} was changed by hand and cannot be used: {error}. Nothing was removed."
            ) from None
        return cls(path.parent, content, made)
