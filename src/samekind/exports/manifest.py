"""The manifest of an export to folders: a list of everything that was created, for undo."""

from __future__ import annotations

import json
import os
import re
import secrets
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TextIO

from samekind.atomic_files import draft_name, new_file
from samekind.errors import ExportError
from samekind.questions.wording import plural
from samekind.user_paths import check_no_pipe

MANIFEST = "samekind-export.json"
LOG = "samekind-export.log"
_PART = re.compile(r"\.samekind-[0-9a-f]{12}\.part")


@dataclass(frozen=True)
class Report:
    """The result of an export, or of undoing it.

    Parameters
    ----------
    done : files that were created, or removed by an undo.
    kept : files that an undo left in place, each with the reason.
    manifest : the file for :func:`undo_export`; None if there is nothing to undo.
    """

    target: Path
    done: tuple[Path, ...]
    kept: tuple[tuple[Path, str], ...] = ()
    notes: tuple[str, ...] = ()
    manifest: Path | None = None
    undone: bool = False

    def describe(self, max_files: int = 20) -> str:
        """The report in words, with at most `max_files` names."""
        verb = "removed from" if self.undone else "created in"
        files = plural(len(self.done), "file")
        lines = [f"{files} {verb} {self.target}."]
        lines += [f"Kept: {path} ({reason})" for path, reason in self.kept[:max_files]]
        if len(self.kept) > max_files:
            lines.append(f"... and {len(self.kept) - max_files} more were kept.")
        lines += [f"Note: {note}" for note in self.notes]
        if self.manifest and not self.undone:
            lines.append(f"{self.manifest} lists what was created, so that it can be undone.")
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Made:
    """An entry of the manifest: something that an export created.

    Parameters
    ----------
    kind : "folder", "file" (a copy, or written by us) or "link" (hard or symbolic).
    path : relative to the folder of the manifest, with ``/``.
    source : the original of a copy or link; empty if there is none.
    """

    kind: str
    path: str
    id: str = ""
    source: str = ""
    size: int = 0
    sha256: str = ""

    @classmethod
    def from_json(cls, entry: Any) -> Made:
        """Read an entry; ValueError if it is invalid, or leads out of the manifest's folder."""
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
            or "\0" in made.source
            or any(part in ("", ".", "..") or ":" in part or "\0" in part for part in parts)
        ):
            raise ValueError(f"{made.path!r} is not something that an export creates")
        return made


@dataclass
class Manifest:
    """The record of a running export.

    A line is logged *before* a file gets its name, so that after a crash every file is recorded. At
    the end the log becomes part of the manifest.
    """

    root: Path
    head: dict[str, Any]
    made: list[Made] = field(default_factory=list)
    log: TextIO | None = None

    @classmethod
    def begin(
        cls, root: Path, collection: str, mode: str, *, made_target: bool, beside: bool = False
    ) -> Manifest:
        """Write the manifest before anything else.

        `beside`: the folder has files of the person, so what is not in the manifest is no news.
        """
        part = f".samekind-{secrets.token_hex(6)}.part"
        head = {"format": "samekind-export", "version": 1, "complete": False}
        head |= {"collection": collection, "mode": mode, "made_target": made_target, "part": part}
        head |= {"beside": True} if beside else {}
        manifest = cls(root, head)
        with new_file(root / MANIFEST) as draft:
            draft.write_text(manifest._text(), encoding="utf-8")
        try:
            manifest.log = (root / LOG).open("x", encoding="utf-8")
        except BaseException:
            (root / MANIFEST).unlink()
            raise
        return manifest

    @property
    def part(self) -> Path:
        """The path of a file before it gets its name."""
        return self.root / str(self.head["part"])

    def note(self, made: Made) -> None:
        """Record what is about to be created."""
        assert self.log is not None, "only a running export creates files"
        self.made.append(made)
        self.log.write(json.dumps(asdict(made)) + "\n")
        self.log.flush()

    def finish(self) -> None:
        """Write everything to the manifest, and remove the log."""
        self.close()
        self.head["complete"] = True
        self.rewrite()
        (self.root / LOG).unlink()

    def rewrite(self) -> None:
        """Replace the manifest on disk."""
        draft = draft_name(self.root / MANIFEST)
        try:
            draft.write_text(self._text(), encoding="utf-8")
            os.replace(draft, self.root / MANIFEST)
        finally:
            draft.unlink(missing_ok=True)

    def close(self) -> None:
        """Close the log. All that counts has been written by `note`."""
        if self.log is not None:
            with suppress(OSError):  # on a full disk a line that was not written is tried again
                self.log.close()

    def _text(self) -> str:
        return (
            json.dumps({**self.head, "made": [asdict(made) for made in self.made]}, indent=1) + "\n"
        )

    @classmethod
    def load(cls, path: Path) -> Manifest:
        """Read a manifest, and the log of an export that did not finish."""
        try:
            check_no_pipe(path, ExportError)
            content = json.loads(path.read_text(encoding="utf-8"))
        except ExportError:
            raise
        except (OSError, ValueError) as error:
            raise ExportError(
                f"{path} cannot be read as a manifest ({error}). "
                f"Give the {MANIFEST} of the export to undo."
            ) from error
        if not isinstance(content, dict) or content.get("format") != "samekind-export":
            raise ExportError(f"{path} is not the manifest of an export. Nothing was removed.")
        if content.get("version") != 1:
            raise ExportError(f"{path} was written by a newer samekind. Nothing was removed.")
        entries = content.pop("made", [])
        log = path.with_name(LOG)
        if not content.get("complete") and log.is_file():
            for line in log.read_text(encoding="utf-8").splitlines():
                try:
                    entries.append(json.loads(line))
                except ValueError:
                    break  # the program was stopped in this line; its file was not created
        try:
            made = [Made.from_json(entry) for entry in entries]
            if not _PART.fullmatch(str(content.get("part"))):
                raise ValueError("it names no path for unfinished files")
        except ValueError as error:
            raise ExportError(
                f"{path} was changed by hand and cannot be used: {error}. Nothing was removed."
            ) from None
        return cls(path.parent, content, made)
