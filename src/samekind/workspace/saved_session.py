"""A session in one file: items, vectors, answers, and the encoder for further items.

A zip archive of JSON, ``.npy`` arrays and safetensors. It has no pickle, so opening one runs no
code. Pictures that are files are kept by their path, others as their preview.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from zipfile import ZIP_DEFLATED, BadZipFile, ZipFile

import numpy as np

from samekind import __version__
from samekind.atomic_files import draft_name
from samekind.errors import InputError, SourceError
from samekind.items import Collection, Item
from samekind.ledger.store import MemoryStore
from samekind.protocols import Event
from samekind.sources import ImageItem, RowCollection, Rows, saved_item

if TYPE_CHECKING:
    from samekind.session import Session

    S = TypeVar("S", bound=Session)

FORMAT, VERSION = "samekind-session", 1


@dataclass(frozen=True)
class SavedEncoder:
    """What the file keeps of the encoder."""

    encoder: str
    fingerprint: str
    samekind: str
    encoder_state: Mapping[str, Any]


def save(session: Session, path: str | Path) -> None:
    """Write a session atomically."""
    final = Path(path).expanduser().absolute()
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
        os.replace(draft, final)
    except OSError as error:
        raise InputError(
            f"{str(path)!r} cannot be written: {error.strerror or error}. Choose another path."
        ) from error
    finally:
        draft.unlink(missing_ok=True)


def load(cls: type[S], path: str | Path, clusterer: Any = None, strategy: Any = None) -> S:
    """Open a session as it was saved; its answers are in memory from then on."""
    place = Path(path).expanduser()
    try:
        with ZipFile(place) as file:
            facts = json.loads(file.read("session.json"))
            if facts.get("format") != FORMAT or int(facts["version"]) > VERSION:
                raise SourceError(_unusable(place, f"its format is {facts.get('version')!r}"))
            collection = _read_items(file, facts["collection"])
            X = _read_array(file, "vectors.npy")
            store = MemoryStore()
            for line in file.read("events.jsonl").decode().splitlines():
                kind, data, at = json.loads(line)
                store.append(facts["name"], Event(kind, data, at))
            encoded = _read_encoder(file, facts["encoder"], X)
    except SourceError:
        raise
    except OSError as error:
        reason = error.strerror or str(error)
        raise SourceError(f"{str(path)!r} cannot be read: {reason}. Check the path.") from error
    except (BadZipFile, KeyError, TypeError, ValueError) as error:
        raise SourceError(_unusable(place, str(error))) from error
    return cls(
        collection,
        X,
        store=store,
        name=facts["name"],
        clusterer=clusterer,
        strategy=strategy,
        refit_every=facts["refit_every"],
        encoded=encoded,
    )


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
    if "cells" in facts:
        cells = {
            name: column if isinstance(column[0], str) else np.asarray(column, dtype=np.float64)
            for name, column in facts["cells"].items()
        }
        rows = Rows(
            _read_array(file, "rows.npy"), None, facts["keys"], cells, picture=facts["picture"]
        )
        columns = tuple(facts["columns"])
        return RowCollection(facts["name"], rows, columns=columns, ready=facts["ready"])
    items: list[Item] = []
    for k, (id, stamp, path) in enumerate(facts["items"]):
        if path is None:
            items.append(saved_item(facts["kind"], id, file.read(f"items/{k}"), stamp))
        else:
            items.append(ImageItem(id, path, stamp))
    return Collection(facts["name"], items)


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

    state = {**facts["state"], **from_bytes(file.read("encoder.safetensors"))}
    kept = SavedEncoder(facts["name"], facts["fingerprint"], __version__, state)
    encoder = restored_encoder(kept, "the saved session", remedy="save it again")
    return Encoded(X, encoder, (), np.arange(len(X)))


def _write_array(file: ZipFile, name: str, array: Any) -> None:
    buffer = io.BytesIO()
    np.save(buffer, np.asarray(array), allow_pickle=False)
    file.writestr(name, buffer.getvalue())


def _read_array(file: ZipFile, name: str) -> Any:
    return np.load(io.BytesIO(file.read(name)), allow_pickle=False)


def _cell(value: Any) -> Any:
    return value if isinstance(value, str) else float(value)


def _unusable(place: Path, why: str) -> str:
    return (
        f"Expected a file that session.save(path) has written, got {str(place)!r} ({why}). "
        "Give another file."
    )
