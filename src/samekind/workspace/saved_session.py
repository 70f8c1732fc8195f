"""A session in one file: items, vectors, answers, and the encoder for further items.

A zip archive of JSON, ``.npy`` arrays and safetensors. It has no pickle, so opening one runs no
code, also if a stranger has written it. Pictures that are files are kept by their path, others as
their preview.
"""

from __future__ import annotations

import io
import json
import os
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np
from numpy.typing import NDArray

from samekind import __version__
from samekind.atomic_files import draft_name, put_in_place
from samekind.errors import InputError, SamekindError, SourceError
from samekind.items import Collection, Item
from samekind.ledger.sqlite_file import _kept_open
from samekind.ledger.store import MemoryStore
from samekind.protocols import Event
from samekind.sources import (
    RowCollection,
    Rows,
    check_unpacked_size,
    read_array,
    read_member,
    saved_item,
    saved_picture,
)
from samekind.user_paths import expanded

if TYPE_CHECKING:
    from samekind.session import Session

    S = TypeVar("S", bound=Session)

FORMAT, VERSION = "samekind-session", 1
BYTES_PER_JSON_BYTE = 30
"""Memory that parsed JSON takes at most: many empty lists."""
BYTES_PER_ITEM = 100
"""Memory that a session takes for each item, besides its vector."""
_GIVE_ANOTHER = "Give another file."
_BEGINNING = json.dumps({"format": FORMAT})[:-1].encode()
"""How the facts of a session begin, in every version."""


@dataclass(frozen=True)
class SavedEncoder:
    """What the file keeps of the encoder."""

    encoder: str
    fingerprint: str
    samekind: str
    encoder_state: Mapping[str, Any]


def save(session: Session, path: str | Path) -> None:
    """Write a session atomically, as a new file or in place of one that was written before.

    Raises
    ------
    InputError
        If anything else has that name. It is left as it is.
    """
    final = expanded(path).absolute()
    _check_free(final)
    facts: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "samekind": __version__,
        "name": session.name,
        "refit_every": session.refit_every,
    }
    draft = draft_name(final)
    try:
        with ZipFile(draft, "w", ZIP_DEFLATED) as file:
            _write_array(file, "vectors.npy", session.X)
            facts["collection"] = _write_items(file, session.collection)
            facts["encoder"] = _write_encoder(file, session.encoded)
            lines = (
                json.dumps([event.kind, dict(event.data), event.at])
                for event in session.store.read(session.name)
            )
            file.writestr("events.jsonl", "\n".join(lines))
            file.writestr("session.json", json.dumps(facts))
        if is_saved_session(final):
            os.replace(draft, final)
        else:
            put_in_place(draft, final)
    except FileExistsError:  # something has appeared meanwhile
        raise InputError(_taken(final)) from None
    except OSError as error:
        raise InputError(
            f"{str(path)!r} cannot be written: {error.strerror or error}. Choose another path."
        ) from error
    finally:
        draft.unlink(missing_ok=True)


def is_saved_session(path: Path) -> bool:
    """Whether a regular file begins as those that :func:`save` writes; it is read no further.

    A ledger that this process has opened is not looked at: closing it would give up the locks on
    it, see :func:`samekind.ledger.sqlite_file.read_file`.
    """
    try:
        found = path.lstat()
        if not stat.S_ISREG(found.st_mode) or (found.st_dev, found.st_ino) in _kept_open:
            return False
        with ZipFile(path) as file, file.open("session.json") as facts:
            return facts.read(len(_BEGINNING)) == _BEGINNING
    except Exception:  # any file may be there, also a damaged archive
        return False


def _check_free(final: Path) -> None:
    """Refuse a name that something else has than a saved session, before anything is written."""
    if os.path.lexists(final) and not is_saved_session(final):
        raise InputError(_taken(final))


def _taken(final: Path) -> str:
    what = "a link" if final.is_symlink() else "no saved session"
    return f"{str(final)!r} exists already and is {what}. It was not changed. Choose another name."


def load(cls: type[S], path: str | Path, clusterer: Any = None, strategy: Any = None) -> S:
    """Open a session as it was saved; its answers are in memory from then on.

    The file may come from a stranger: nothing in it is run, and sizes are checked before anything
    is unpacked. Pictures that it keeps by their path are read when they are shown, encoded or
    exported, with the rights of whoever loads it. A stranger's file can name any picture of this
    machine. It sees none of them, but an export to folders would copy them.

    Raises
    ------
    SamekindError
        If it is not a saved session, damaged, or written by a newer samekind.
    """
    place = expanded(path)
    try:
        with ZipFile(place) as file:
            found = _read(place, file)
        return cls(**found, clusterer=clusterer, strategy=strategy)
    except SamekindError:
        raise
    except OSError as error:
        reason = error.strerror or str(error)
        raise SourceError(f"{str(path)!r} cannot be read: {reason}. Check the path.") from error
    except Exception as error:  # what a stranger has written may fail in any part of a session
        raise SourceError(_unusable(place, error)) from error


def _read(place: Path, file: ZipFile) -> dict[str, Any]:
    """Read the arguments of a session."""
    parts = file.infolist()
    check_unpacked_size(
        place,
        sum(part.file_size * _weight(part.filename) for part in parts),
        _GIVE_ANOTHER,
        unpacked=sum(part.file_size for part in parts),
    )
    facts = json.loads(read_member(file, "session.json"))
    if not isinstance(facts, dict) or facts.get("format") != FORMAT:
        raise ValueError("it has another format")
    if int(facts["version"]) > VERSION:
        raise SourceError(
            f"{str(place)!r} was written by samekind {facts.get('samekind', '?')!r:.50}: expected "
            f"version {VERSION} of the format or older, got {facts['version']!r:.20}. "
            "Run: pip install --upgrade samekind"
        )
    X = read_array(file, "vectors.npy")
    if X.dtype not in (np.dtype(np.float32), np.dtype(np.uint8)) or X.ndim < 2:
        raise ValueError(f"its vectors are {X.dtype} of shape {X.shape}")
    check_unpacked_size(place, len(X) * BYTES_PER_ITEM, _GIVE_ANOTHER)
    return {
        "collection": _read_items(file, facts["collection"]),
        "X": X,
        "store": _read_events(file, facts["name"]),
        "name": facts["name"],
        "refit_every": int(facts["refit_every"]),
        "encoded": _read_encoder(file, facts["encoder"], X),
    }


def _weight(name: str) -> int:
    """How many bytes of memory a byte of a file in the archive may take."""
    return BYTES_PER_JSON_BYTE if name.endswith((".json", ".jsonl")) else 1


def _read_events(file: ZipFile, session: Any) -> MemoryStore:
    if not isinstance(session, str):
        raise ValueError("it has no name")
    store = MemoryStore()
    for number, line in enumerate(io.BytesIO(read_member(file, "events.jsonl")), start=1):
        kind, data, at = json.loads(line)
        plain = isinstance(kind, str) and kind.isalpha()
        if not (plain and isinstance(data, dict) and isinstance(at, int | float)):
            raise ValueError(f"event {number} in it is not one")
        store.append(session, Event(kind, data, at))
    return store


def _write_items(file: ZipFile, collection: Collection) -> dict[str, Any]:
    """Write the items; returns what is kept of them as JSON."""
    found: dict[str, Any] = {"name": collection.name, "kind": collection.kind}
    if isinstance(collection, RowCollection):
        rows = collection.items
        _write_array(file, "rows.npy", collection.matrix)
        shown = {
            name: [_cell(column[rows.row(i)]) for i in range(len(rows))]
            for name, column in rows.cells.items()
        }
        keys = list(collection.ids())
        plain = rows.keys is None and rows.picked is None
        return found | {
            "keys": None if plain else keys,
            "cells": shown,
            "picture": rows.picture,
            "columns": list(collection.columns),
            "ready": collection.ready,
        }
    if collection.kind not in ("image", "text"):
        raise InputError(
            f"Expected pictures, texts or rows, got {collection.kind!r} items, which a file cannot "
            "keep. Keep the answers with Session(..., store=open_store(path))."
        )
    items = []
    for k, item in enumerate(collection):
        path = getattr(item, "path", None) if collection.kind == "image" else None
        items.append([item.id, item.stamp, path])
        if path is None:
            text = collection.kind == "text"
            file.writestr(f"items/{k}", item.load().encode() if text else item.preview().data)
    return found | {"items": items}


def _read_items(file: ZipFile, facts: Mapping[str, Any]) -> Collection:
    name = facts["name"]
    if not isinstance(name, str):
        raise ValueError("its collection has no name")
    if "cells" in facts:
        return _read_rows(file, facts)
    items: list[Item] = []
    for k, (id, stamp, path) in enumerate(facts["items"]):
        if not all(isinstance(text, str) for text in (id, stamp, path or "")):
            raise ValueError(f"item {k} in it is not one")
        if path is None:
            items.append(saved_item(facts["kind"], id, read_member(file, f"items/{k}"), stamp))
        else:
            items.append(saved_picture(id, path, stamp))
    if {item.kind for item in items} != {facts["kind"]}:
        raise ValueError("its items are of another kind")
    return _unique(Collection(name, items))


def _read_rows(file: ZipFile, facts: Mapping[str, Any]) -> Collection:
    matrix, columns = read_array(file, "rows.npy"), tuple(facts["columns"])
    keys: list[str] | None = None if facts["keys"] is None else list(facts["keys"])
    cells = {column: _column(values) for column, values in facts["cells"].items()}
    if matrix.ndim != 2 or matrix.dtype.kind not in "fiub":
        raise ValueError(f"its rows are {matrix.dtype} of shape {matrix.shape}")
    if any(
        len(column) != len(matrix)
        for column in ([] if keys is None else [keys]) + [*cells.values()]
    ):
        raise ValueError("its columns are not as long as it has rows")
    if not all(isinstance(text, str) for text in (*columns, *(keys or ()))):
        raise ValueError("its rows or columns have no names")
    rows = Rows(matrix, None, keys, cells, picture=bool(facts["picture"]))
    found = RowCollection(facts["name"], rows, columns=columns, ready=bool(facts["ready"]))
    return found if keys is None else _unique(found)


def _unique(collection: Collection) -> Collection:
    if len(set(collection.ids())) != len(collection):
        raise ValueError("two of its items have the same id")
    return collection


def _column(values: Sequence[Any]) -> list[str] | NDArray[np.float64]:
    """The cells of a column: texts, or numbers."""
    if values and all(isinstance(cell, str) for cell in values):
        return list(values)
    numbers = np.asarray(values, dtype=np.float64)
    if numbers.ndim != 1:
        raise ValueError("a column in it is not one")
    return numbers


def _write_encoder(file: ZipFile, encoded: Any) -> dict[str, Any] | None:
    """Write the fitted encoder, if there is one that can be kept."""
    encoder = None if encoded is None else encoded.encoder
    if encoder is None or not hasattr(encoder, "state"):
        return None
    from safetensors.numpy import save as to_bytes

    state = encoder.state()
    arrays = {k: np.ascontiguousarray(v) for k, v in state.items() if hasattr(v, "dtype")}
    file.writestr("encoder.safetensors", to_bytes(arrays))
    plain = {k: v for k, v in state.items() if k not in arrays}
    return {"name": encoder.name, "fingerprint": encoder.fingerprint, "state": plain}


def _read_encoder(file: ZipFile, facts: Mapping[str, Any] | None, X: Any) -> Any:
    if facts is None:
        return None
    from safetensors.numpy import load as from_bytes

    from samekind.encoders import Encoded
    from samekind.encoders.restoring import restored_encoder

    state = {**facts["state"], **from_bytes(read_member(file, "encoder.safetensors"))}
    kept = SavedEncoder(facts["name"], facts["fingerprint"], __version__, state)
    encoder = restored_encoder(kept, "the saved session", remedy="save it again")
    return Encoded(X, encoder, (), np.arange(len(X)))


def _write_array(file: ZipFile, name: str, array: Any) -> None:
    buffer = io.BytesIO()
    np.save(buffer, np.asarray(array), allow_pickle=False)
    file.writestr(name, buffer.getvalue())


def _cell(value: Any) -> Any:
    return value if isinstance(value, str) else float(value)


def _unusable(place: Path, error: Exception) -> str:
    lines = str(error).splitlines() or [type(error).__name__]
    return (
        f"Expected a file that session.save(path) has written, got {str(place)!r} "
        f"({lines[0]:.200}). {_GIVE_ANOTHER}"
    )
