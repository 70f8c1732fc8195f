"""Files of strangers with code in them: wherever a file is opened, the code must not be run.

The code only creates an empty file, the mark.
"""

from __future__ import annotations

import io
import json
import pickle
import sqlite3
import struct
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np

from benchmarks.faults.outcome import clouds, session_over
from samekind.exports import OrientationFile
from samekind.ledger.sql import SqlStore
from samekind.protocols import Event
from samekind.session import Session
from samekind.sources import open_source

Opener = Callable[[Path], Any]
Attempt = tuple[Path, Opener]
"""A file, and what a person opens it with."""
MODULE = "samekind_fault_payload"
"""A module beside the files, which leaves the mark when it is imported."""


class Payload:
    """Leaves the mark when it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[Any, ...]:
        return (Path.touch, (self.mark,))


def code_of(mark: Path) -> bytes:
    """A pickle that leaves the mark."""
    return pickle.dumps(Payload(mark))


def write_module(folder: Path, mark: Path) -> None:
    """Write the module whose import leaves the mark."""
    text = f"import pathlib\npathlib.Path({str(mark)!r}).touch()\n"
    (folder / f"{MODULE}.py").write_text(text, encoding="utf-8")


def arrays(folder: Path, mark: Path) -> Iterator[Attempt]:
    """Pickled objects in ``.npy`` and ``.npz``, and pickles under these names."""
    objects = np.array([[Payload(mark)], [Payload(mark)]], dtype=object)
    np.save(folder / "a.npy", objects, allow_pickle=True)
    np.savez(folder / "x.npz", X=objects)
    np.savez(folder / "label.npz", X=np.zeros((2, 2)), label=objects)
    np.savez(folder / "id.npz", X=np.zeros((2, 2)), id=objects[:, 0])
    for name in ("plain.npy", "plain.npz"):
        (folder / name).write_bytes(code_of(mark))
    yield from ((path, open_source) for path in sorted(folder.glob("*.np?")))


def parquet(folder: Path, mark: Path) -> Iterator[Attempt]:
    """Pickles where pyarrow or pandas once loaded some: in types, metadata and cells."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        return
    code = code_of(mark)
    kinds = ("arrow.py_extension_type", "unknown.type")
    names = ("ARROW:extension:name", "ARROW:extension:metadata")
    fields = [
        pa.field(f"n{k}", pa.float64(), metadata=dict(zip(names, (kind, code), strict=True)))
        for k, kind in enumerate(kinds)
    ]
    schema = pa.schema(fields, metadata={"pandas": code, "pickle": code})
    columns = [pa.array([1.0, 2.0, 9.0])] * len(kinds)
    pq.write_table(pa.table(columns, schema=schema), folder / "table.parquet")
    spoilt = schema.with_metadata({"ARROW:schema": code})
    pq.write_table(pa.table(columns, schema=spoilt), folder / "schema.parquet")
    cells = pa.table({"image": pa.array([code, code]), "id": pa.array(["a", "b"])})
    pq.write_table(cells, folder / "pictures.parquet")
    (folder / "plain.parquet").write_bytes(code)
    yield from ((path, open_source) for path in sorted(folder.glob("*.parquet")))


def with_header(header: object, body: bytes = b"") -> bytes:
    """A safetensors file with some header."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + body


def orientations(folder: Path, mark: Path) -> Iterator[Attempt]:
    """Pickles in the place of orientation files, and in their metadata."""
    yield from _tensors(folder, mark, "orientation", OrientationFile.load)


def checkpoints(folder: Path, mark: Path) -> Iterator[Attempt]:
    """Pickles in the place of checkpoints, as torch would load them."""
    try:
        from samekind.training.checkpoints import load_checkpoint
    except ImportError:
        return
    yield from _tensors(folder, mark, "safetensors", load_checkpoint)


def _tensors(folder: Path, mark: Path, suffix: str, opener: Opener) -> Iterator[Attempt]:
    code = code_of(mark)
    text = code.decode("latin-1")
    facts = {"samekind-orientation": text, "format": "samekind-training-1", "facts": text}
    contents = {
        "pickle": code,
        "header": with_header(code),
        "facts": with_header({"__metadata__": facts}),
    }
    for name, content in contents.items():
        path = folder / f"{name}.{suffix}"
        path.write_bytes(content)
        yield path, opener
    try:
        import torch
    except ImportError:
        return
    torch.save({"state": Payload(mark)}, folder / f"torch.{suffix}")
    yield folder / f"torch.{suffix}", opener


TRIGGERS = {
    "forgets": "AFTER INSERT ON events BEGIN DELETE FROM events WHERE seq = new.seq; END",
    "changes": "AFTER INSERT ON events BEGIN UPDATE events SET kind = 'undone'; END",
    "loads": "AFTER INSERT ON events BEGIN SELECT load_extension('MARK'); END",
    "writes": "AFTER INSERT ON events BEGIN SELECT writefile('MARK', x'00'); END",
}
"""Triggers of a ledger; MARK stands for the path of the mark."""


def ledgers(folder: Path, mark: Path) -> Iterator[Attempt]:
    """Triggers, and settings that name code, which a session would have to import."""
    for name, statement in TRIGGERS.items():
        path = folder / f"{name}.samekind"
        with SqlStore(path) as store:
            store.append("main", Event("named", {"group": 1, "name": "a"}))
        rows = sqlite3.connect(path)
        rows.execute(f"CREATE TRIGGER {name} {statement.replace('MARK', str(mark))}")
        rows.commit()
        rows.close()
        yield path, _session_over
    for kind in ("method", "strategy"):
        path = folder / f"{kind}.samekind"
        with SqlStore(path) as store:
            store.append("main", Event("opened", {"settings": _code_in(kind)}))
        yield path, _session_over


def _session_over(path: Path) -> None:
    """Open a ledger as a person does, and answer a question."""
    with SqlStore(path) as store:
        session = session_over(clouds(40, 1)[0], store=store, seed=0)
        asked = session.ask()
        if asked is not None:
            session.tell(asked.number, asked.question.choices()[0])


def _code_in(kind: str) -> dict[str, str]:
    return {"method": "live", "strategy": "live"} | {kind: f"{MODULE}:Made"}


def saved(folder: Path) -> bytes:
    """A small saved session."""
    path = folder / "good.session"
    session = session_over(clouds(40, 1)[0], seed=0)
    for _ in range(3):
        asked = session.ask()
        if asked is not None:
            session.tell(asked.number, asked.question.choices()[0])
    session.save(path)
    return path.read_bytes()


def changed(good: bytes, files: Mapping[str, bytes]) -> bytes:
    """A saved session with other files in it."""
    made = io.BytesIO()
    with ZipFile(io.BytesIO(good)) as before, ZipFile(made, "w") as after:
        for name in {*before.namelist(), *files}:
            after.writestr(name, files[name] if name in files else before.read(name))
    return made.getvalue()


def sessions(folder: Path, mark: Path) -> Iterator[Attempt]:
    """Pickles in all files of a saved session, and names of code in its facts and events."""
    good, code = saved(folder), code_of(mark)
    array = io.BytesIO()
    np.save(array, np.array([[Payload(mark)]] * 40, dtype=object), allow_pickle=True)
    facts = facts_of(good)
    encoder = {"name": f"{MODULE}:Made", "fingerprint": "", "state": {}}
    opened = [
        json.dumps(["opened", {"settings": _code_in(k)}, 1.0]) for k in ("method", "strategy")
    ]
    contents = {
        "plain": code,
        "facts": changed(good, {"session.json": code}),
        "vectors": changed(good, {"vectors.npy": array.getvalue()}),
        "rows": changed(good, {"rows.npy": array.getvalue()}),
        "events": changed(good, {"events.jsonl": code}),
        "method": changed(good, {"events.jsonl": opened[0]}),
        "strategy": changed(good, {"events.jsonl": opened[1]}),
        "encoder": with_facts(good, {**facts, "encoder": encoder}, {"encoder.safetensors": code}),
        "network": with_facts(
            good,
            {**facts, "encoder": {**encoder, "name": "simclr"}},
            {"encoder.safetensors": code},
        ),
    }
    for name, content in contents.items():
        path = folder / f"{name}.session"
        path.write_bytes(content)
        yield path, Session.load


def facts_of(good: bytes) -> dict[str, Any]:
    """The facts of a saved session."""
    with ZipFile(io.BytesIO(good)) as file:
        found: dict[str, Any] = json.loads(file.read("session.json"))
    return found


def with_facts(good: bytes, facts: object, files: Mapping[str, bytes] | None = None) -> bytes:
    """A saved session with other facts."""
    return changed(good, {**(files or {}), "session.json": json.dumps(facts).encode()})


KINDS: dict[str, Callable[[Path, Path], Iterator[Attempt]]] = {
    "arrays": arrays,
    "parquet": parquet,
    "orientation files": orientations,
    "checkpoints": checkpoints,
    "ledgers": ledgers,
    "saved sessions": sessions,
}
"""Makers of files by kind: they write into a folder, and name what opens each file."""
