"""Where learnt networks are kept, and which of them belongs to a pile.

Every training has a name of its own, made of encoder, settings and pile, and up to four files::

    simclr-1f2e3d4c-0123456789abcdef.checkpoint.safetensors   to go on from
    simclr-1f2e3d4c-0123456789abcdef.clock.json               seconds that it has learnt so far
    simclr-1f2e3d4c-0123456789abcdef.<digest>.safetensors     the network, ready to be used
    simclr-1f2e3d4c-0123456789abcdef.learnt.json              what it is; written last

A network's name holds the digest of its content, and the last file changes from one network to the
next in one step: whoever reads it finds a whole network, never half of two.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from samekind.atomic_files import draft_name
from samekind.encoders.feature_cache import default_cache
from samekind.errors import InputError, SamekindError
from samekind.items import Collection
from samekind.user_paths import expanded, is_there

FORMAT = 1


@dataclass(frozen=True)
class Kept:
    """A network that has learnt: from what, how long, and in which file it is.

    Parameters
    ----------
    encoder : the method, such as ``"simclr"``.
    place, pile : where the pictures were, and what they were (changes with every picture).
    pictures : how many it learnt from.
    size, width : pixels a side that it wants, numbers that it gives.
    epochs, seconds : how long it has learnt.
    weights : the file's name. digest : of the file's content.
    settings : of the training, in plain JSON.
    """

    encoder: str
    place: str
    pile: str
    pictures: int
    size: int
    width: int
    epochs: float
    seconds: float
    weights: str
    digest: str
    settings: dict[str, Any]

    @property
    def path(self) -> Path:
        """The file with the network."""
        return learnt_folder() / self.weights

    def describe(self) -> str:
        """Describe the training in words.

        >>> Kept("byol", "", "", 384, 32, 8, 14.0, 60.0, "", "", {}).describe()
        'byol, learnt from 384 pictures in 14 epochs'
        """
        return (
            f"{self.encoder}, learnt from {self.pictures:,} pictures in {count(self.epochs)} epochs"
        )


def count(epochs: float) -> str:
    """A number of epochs as a person reads it.

    >>> [count(n) for n in (0.25, 1.0, 12.34, 1234.5)]
    ['0.25', '1', '12.3', '1,234']
    """
    return f"{epochs:,.0f}" if epochs >= 100 else f"{epochs:.3g}"


def learnt_folder() -> Path:
    """Where learnt networks are kept: with all else that can be computed again."""
    return default_cache() / "learnt"


@contextmanager
def writing() -> Iterator[None]:
    """Make the folder ready to be written to; what the disk refuses is told in a sentence."""
    folder = learnt_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not os.access(folder, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        yield
    except OSError as problem:
        if isinstance(problem, SamekindError):
            raise
        raise InputError(
            f"What is learnt cannot be kept in {folder} ({problem.strerror or problem}). "
            "Make room there, or set SAMEKIND_HOME to another folder."
        ) from problem


def place_of(collection: Collection) -> str:
    """Where a pile lies, the same from whichever folder one looks."""
    return resolved(collection.location or collection.name)


def resolved(place: str) -> str:
    """A path without links and dots; a URL, a pattern or the name of a set stays as it is."""
    path = expanded(place)
    return os.path.realpath(path) if is_there(path) else place


def find_kept(encoder: str, collection: Collection) -> Kept | None:
    """The network that learnt from this pile, else from what lay in this place; the latest."""
    return find_kept_at(encoder, place_of(collection), collection.fingerprint)


def find_kept_at(encoder: str, place: str, pile: str = "") -> Kept | None:
    """The network that learnt from a pile, given by its fingerprint, else from what lay there."""
    found: list[tuple[bool, float, Kept]] = []
    for path in learnt_folder().glob(f"{encoder}-*.learnt.json"):
        kept = _read(path)
        if kept is not None and kept.encoder == encoder:
            same = kept.pile == pile
            if (same or kept.place == place) and kept.path.is_file():
                found.append((same, path.stat().st_mtime, kept))
    return max(found, key=lambda one: one[:2])[2] if found else None


def adopt(encoder: str, facts: Mapping[str, Any], network: bytes) -> Kept:
    """Keep a network that comes from a file or another machine; ValueError if it is damaged."""
    kept = Kept(**facts)
    plain = Path(kept.weights).name == kept.weights and kept.weights.endswith(".safetensors")
    if kept.encoder != encoder or not plain:
        raise ValueError("the network is not one of this encoder")
    if kept.digest != hashlib.sha256(network).hexdigest()[:16]:
        raise ValueError("the network is damaged")
    if not kept.path.is_file() or kept.path.stat().st_size != len(network):
        with writing():
            part = draft_name(kept.path)
            try:
                part.write_bytes(network)
                os.replace(part, kept.path)
            finally:
                part.unlink(missing_ok=True)
    return kept


@dataclass(frozen=True)
class Shelf:
    """The files of one training."""

    stem: str

    @classmethod
    def of(cls, encoder: str, settings: dict[str, Any], pile: str) -> Shelf:
        """The place of a training with these settings on this pile."""
        text = json.dumps(settings, sort_keys=True)
        return cls(f"{encoder}-{hashlib.sha256(text.encode()).hexdigest()[:8]}-{pile}")

    @property
    def checkpoint(self) -> Path:
        """The state of the training."""
        return self._file("checkpoint.safetensors")

    def seconds(self) -> float:
        """How long it has learnt so far, over all its runs."""
        with suppress(OSError, ValueError, TypeError, KeyError):
            found = json.loads(self._file("clock.json").read_text(encoding="utf-8"))
            return float(found["seconds"]) if self.checkpoint.is_file() else 0.0
        return 0.0

    def note_seconds(self, seconds: float) -> None:
        """Remember it for whoever takes the training up again; not worth an error."""
        with suppress(OSError):
            _write(self._file("clock.json"), json.dumps({"seconds": round(seconds, 1)}))

    def kept(self) -> Kept | None:
        """The network of this training, if one is ready."""
        kept = _read(self._file("learnt.json"))
        return kept if kept is not None and kept.path.is_file() else None

    def keep(self, write: Callable[[Path], None], facts: dict[str, Any]) -> Kept:
        """Keep a network that `write` writes, in place of the one before."""
        before = self.kept()
        with writing():
            part = draft_name(self._file("safetensors"))
            try:
                write(part)
                digest = hashlib.sha256(part.read_bytes()).hexdigest()[:16]
                final = self._file(f"{digest}.safetensors")
                os.replace(part, final)
            finally:
                part.unlink(missing_ok=True)
            kept = Kept(weights=final.name, digest=digest, **facts)
            _write(self._file("learnt.json"), json.dumps({"format": FORMAT, **asdict(kept)}))
        if before is not None and before.weights != kept.weights:
            before.path.unlink(missing_ok=True)
        return kept

    def _file(self, ending: str) -> Path:
        return learnt_folder() / f"{self.stem}.{ending}"


def _read(path: Path) -> Kept | None:
    """Read the facts about a network; None if the file is damaged or of another version."""
    with suppress(OSError, ValueError, TypeError, KeyError, AttributeError):
        facts = json.loads(path.read_text(encoding="utf-8"))
        names = {field.name for field in fields(Kept)}
        if facts.get("format") == FORMAT and Path(facts["weights"]).name == facts["weights"]:
            return Kept(**{name: value for name, value in facts.items() if name in names})
    return None


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    part = draft_name(path)
    try:
        part.write_text(text, encoding="utf-8")
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)
