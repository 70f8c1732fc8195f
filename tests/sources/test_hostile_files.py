"""Files that a stranger has prepared: no code in them runs, and one sentence says what is wrong."""

from __future__ import annotations

import io
import json
import pickle
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from samekind.errors import SamekindError
from samekind.exports import OrientationFile
from samekind.sources import open_source
from samekind.sources.files import arrays

DEEP = "[" * 200_000


class Bomb:
    """Creates a file when it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[Any, ...]:
        return (Path.touch, (self.mark,))


@pytest.fixture
def mark(tmp_path: Path) -> Path:
    """The file that appears if code was run; the bomb does work."""
    mark = tmp_path / "code was run"
    pickle.loads(pickle.dumps(Bomb(mark)))
    assert mark.exists()
    mark.unlink()
    return mark


def refused(path: Path, opened: Callable[[Any], Any] = open_source) -> str:
    with pytest.raises(SamekindError) as refusal:
        opened(path)
    sentence = str(refusal.value)
    assert path.name in sentence and "Traceback" not in sentence
    assert len(sentence) < 500
    return sentence


def with_header(header: object, body: bytes = b"") -> bytes:
    """A safetensors file with some header."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + body


def test_pickles_within_arrays_are_not_loaded(tmp_path: Path, mark: Path) -> None:
    objects = np.array([[Bomb(mark)], [Bomb(mark)]], dtype=object)
    np.save(tmp_path / "a.npy", objects, allow_pickle=True)
    np.savez(tmp_path / "x.npz", X=objects)
    np.savez(tmp_path / "label.npz", X=np.zeros((2, 2)), label=objects)
    np.savez(tmp_path / "id.npz", X=np.zeros((2, 2)), id=objects[:, 0])
    (tmp_path / "plain.npy").write_bytes(pickle.dumps(Bomb(mark)))
    (tmp_path / "plain.npz").write_bytes(pickle.dumps(Bomb(mark)))
    for path in sorted(tmp_path.glob("*.np?")):
        assert "never loaded" in refused(path)
    assert not mark.exists()


def test_arrays_that_claim_to_be_huge_take_no_memory(tmp_path: Path) -> None:
    header = io.BytesIO()
    shape = {"descr": "<f8", "fortran_order": False, "shape": (10**12, 10)}
    np.lib.format.write_array_header_1_0(header, shape)
    (tmp_path / "a.npy").write_bytes(header.getvalue())
    refused(tmp_path / "a.npy")
    with zipfile.ZipFile(tmp_path / "claims.npz", "w") as archive:
        archive.writestr("X.npy", header.getvalue())
    refused(tmp_path / "claims.npz")


def test_an_archive_that_unpacks_to_more_than_the_memory_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "bomb.npz"
    np.savez_compressed(path, X=np.zeros((1000, 1000)))
    assert path.stat().st_size < 20_000
    assert len(open_source(path)) == 1000
    monkeypatch.setattr(arrays, "physical_memory", lambda: 10_000_000)
    assert "unpacks to" in refused(path)


def test_pickled_types_within_parquet_are_not_loaded(tmp_path: Path, mark: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    code = pickle.dumps(Bomb(mark))
    kinds = ("arrow.py_extension_type", "unknown.type")
    fields = [
        pa.field(
            f"n{k}", pa.float64(),
            metadata={"ARROW:extension:name": name, "ARROW:extension:metadata": code},
        )
        for k, name in enumerate(kinds)
    ]  # fmt: skip
    schema = pa.schema(fields, metadata={"pandas": code, "pickle": code})
    columns = [pa.array([1.0, 2.0, 9.0])] * len(kinds)
    pq.write_table(pa.table(columns, schema=schema), tmp_path / "table.parquet")
    assert len(open_source(tmp_path / "table.parquet")) == 3
    spoilt = schema.with_metadata({"ARROW:schema": code})
    pq.write_table(pa.table(columns, schema=spoilt), tmp_path / "schema.parquet")
    refused(tmp_path / "schema.parquet")
    cells = pa.table({"image": pa.array([code, code]), "id": pa.array(["a", "b"])})
    pq.write_table(cells, tmp_path / "pictures.parquet")
    refused(tmp_path / "pictures.parquet")
    (tmp_path / "plain.parquet").write_bytes(code)
    refused(tmp_path / "plain.parquet")
    assert not mark.exists()


HEADERS: dict[str, bytes] = {
    "empty": b"",
    "endless": struct.pack("<Q", 2**63) + b"{}",
    "not json": with_header(b"{"),
    "deep": with_header(DEEP.encode()),
    "a list": with_header([1]),
    "overlapping": with_header({"a": {"dtype": "F32", "shape": [9], "data_offsets": [0, 9]}}),
    "huge": with_header({"a": {"dtype": "F32", "shape": [2**40], "data_offsets": [0, 2**42]}}),
    "deep facts": with_header(
        {"__metadata__": {"samekind-orientation": DEEP, "format": "samekind-checkpoint/1"}}
    ),
    "facts": with_header({"__metadata__": {"samekind-orientation": "7", "facts": "7"}}),
}


@pytest.mark.parametrize("name", list(HEADERS))
def test_bad_headers_of_orientations_and_checkpoints_are_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / "file.orientation"
    path.write_bytes(HEADERS[name])
    refused(path, OrientationFile.load)
    pytest.importorskip("torch")
    from samekind.training.checkpoints import load_checkpoint

    refused(path, load_checkpoint)


def test_facts_of_a_checkpoint_that_cannot_be_read_are_refused(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    from safetensors.torch import save_file

    from samekind.training.checkpoints import FORMAT, load_checkpoint

    path = tmp_path / "state.safetensors"
    for facts in (None, "{", "7", DEEP):
        metadata = {"format": FORMAT} if facts is None else {"format": FORMAT, "facts": facts}
        save_file({"a": torch.zeros(2)}, path, metadata)
        refused(path, load_checkpoint)


def test_pickles_in_the_place_of_orientations_and_checkpoints_are_not_loaded(
    tmp_path: Path, mark: Path
) -> None:
    torch = pytest.importorskip("torch")
    from samekind.training.checkpoints import load_checkpoint

    path = tmp_path / "file.orientation"
    path.write_bytes(pickle.dumps(Bomb(mark)))
    refused(path, OrientationFile.load)
    refused(path, load_checkpoint)
    torch.save({"state": Bomb(mark)}, path)
    refused(path, OrientationFile.load)
    refused(path, load_checkpoint)
    assert not mark.exists()
