"""OrientationFile: one person's way of grouping in a small file, to apply it to other items.

A safetensors file: arrays under ``encoder.*`` and ``head.*``, and everything else as JSON in its
metadata. It has no pickle, no items, and no names of files or folders. A checksum over all arrays
detects damage.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np

from samekind.errors import SourceError
from samekind.exports.placements import export_file
from samekind.questions.wording import plural
from samekind.user_paths import expanded

FORMAT = "samekind-orientation"
VERSION = 1
SUFFIX = ".orientation"
MAX_BYTES = 1 << 30
"""Larger files are not opened: ours have a few million bytes."""
State = Mapping[str, Any]
"""Learnt parameters by name: arrays, and plain JSON values."""


@dataclass(frozen=True)
class Group:
    """A group with its name; `size` counts its items in the sorted collection."""

    number: int
    name: str
    size: int


@dataclass(frozen=True, eq=False)
class OrientationFile:
    """Everything that is needed to place other items into a person's groups.

    Parameters
    ----------
    kind : of the items: "image", "text" or "row".
    encoder, fingerprint : name and exact version of the encoder.
    columns : of a table, in order; empty for other items.
    groups : in the order of the head's groups.
    outside : how much of an item its vector may miss; None if unknown.
    """

    orientation: str
    kind: str
    encoder: str
    fingerprint: str
    method: str
    groups: tuple[Group, ...]
    answers: int
    items: int
    seed: int
    date: str
    samekind: str
    outside: float | None = None
    columns: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    encoder_state: State = field(default_factory=dict, repr=False)
    head_state: State = field(default_factory=dict, repr=False)

    def describe(self) -> str:
        """The file in one line."""
        names = ", ".join(group.name for group in self.groups[:6])
        more = ", ..." if len(self.groups) > 6 else ""
        return (
            f"{self.orientation}: {plural(len(self.groups), 'group')} ({names}{more}), from "
            f"{plural(self.answers, 'answer')} about {plural(self.items, f'{self.kind} item')}, "
            f"{self.date}; encoder {self.encoder}"
        )

    def save(self, path: str | Path) -> int:
        """Write a new file atomically; returns its size in bytes."""
        from safetensors.numpy import save

        facts = {f.name: getattr(self, f.name) for f in fields(self)} | {
            "format": FORMAT,
            "version": VERSION,
            "groups": [asdict(group) for group in self.groups],
        }
        arrays: dict[str, Any] = {}
        for part in ("encoder", "head"):
            state = facts.pop(f"{part}_state")
            found = {k: np.ascontiguousarray(v) for k, v in state.items() if hasattr(v, "dtype")}
            arrays |= {f"{part}.{name}": array for name, array in found.items()}
            facts[part + "_facts"] = {k: v for k, v in state.items() if k not in found}
        facts["sha256"] = _checksum(arrays)
        data = save(arrays, {FORMAT: json.dumps(facts, allow_nan=False, sort_keys=True)})
        final = expanded(path).absolute()
        with export_file(final) as draft:
            draft.write_bytes(data)
        return len(data)

    @classmethod
    def load(cls, path: str | Path) -> OrientationFile:
        """Read a file; raises :class:`SourceError` if it is not one, damaged or too new."""
        place = expanded(path)
        try:
            if place.stat().st_size > MAX_BYTES:
                raise SourceError(_foreign(place, "it is far too large"))
            data = place.read_bytes()
        except OSError as error:
            if isinstance(error, SourceError):
                raise
            raise SourceError(
                f"{str(path)!r} cannot be read: {error.strerror or error}. "
                "Give an existing grouping file."
            ) from error
        facts, arrays = _opened(data, place)
        try:
            return cls._from_parts(facts, arrays)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise SourceError(_damaged(place, str(error))) from error

    @classmethod
    def _from_parts(cls, facts: dict[str, Any], arrays: dict[str, Any]) -> OrientationFile:
        if facts.pop("sha256") != _checksum(arrays):
            raise ValueError("its checksum is wrong")
        states = {}
        for part in ("encoder", "head"):
            mine = {k.partition(".")[2]: v for k, v in arrays.items() if k.startswith(part + ".")}
            states[part + "_state"] = {**facts.pop(part + "_facts"), **mine}
        groups = tuple(
            Group(int(g["number"]), str(g["name"]), int(g["size"])) for g in facts["groups"]
        )
        known = {f.name for f in fields(cls)}
        plain = {name: value for name, value in facts.items() if name in known}
        listed = {name: tuple(map(str, facts[name])) for name in ("columns", "notes")}
        found = cls(**{**plain, **listed, **states, "groups": groups})
        texts = (found.orientation, found.kind, found.encoder, found.fingerprint, found.date)
        if not groups or not all(isinstance(text, str) for text in texts):
            raise ValueError("it names no groups or no encoder")
        return found


def _opened(data: bytes, place: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """The JSON and the arrays of an orientation file of a known version."""
    from safetensors import SafetensorError
    from safetensors.numpy import load

    length = int.from_bytes(data[:8], "little")
    try:
        head = json.loads(data[8 : 8 + length]) if 2 <= length <= len(data) else None
    except (ValueError, RecursionError):
        head = None
    text = (head.get("__metadata__") or {}).get(FORMAT) if isinstance(head, dict) else None
    if not isinstance(text, str):
        if FORMAT.encode() in data[:4096] or place.suffix == SUFFIX:
            raise SourceError(_damaged(place, "its beginning cannot be read"))
        raise SourceError(_foreign(place, "it was not written by an export"))
    try:
        facts = json.loads(text)
        version = int(facts["version"])
        if version > VERSION:
            raise SourceError(
                f"{str(place)!r} was written by samekind {facts.get('samekind', '?')}: expected "
                f"version {VERSION} of the format or older, got {version}. "
                "Run: pip install --upgrade samekind"
            )
        return facts, load(data)
    except SourceError:
        raise
    except (SafetensorError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise SourceError(_damaged(place, str(error))) from error


def _checksum(arrays: Mapping[str, Any]) -> str:
    digest = hashlib.sha256()
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(f"{name} {array.dtype.str} {array.shape}\n".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def _damaged(place: Path, why: str) -> str:
    return (
        f"The grouping file {str(place)!r} is damaged ({why}). Copy it again, or export it "
        "again: samekind export PATH FILE.orientation"
    )


def _foreign(place: Path, why: str) -> str:
    return (
        f"{str(place)!r} is not a grouping file ({why}). Make one: "
        "samekind export PATH FILE.orientation"
    )
