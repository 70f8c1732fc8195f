"""A full disk while a network is trained: one sentence, and what was there before stays."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import numpy as np
import pytest

from piles import points
from samekind.errors import StoreError
from samekind.workspace import polished_vectors

ID = "0123456789abcdef"


@pytest.mark.parametrize("suffix", ["safetensors", "json"])
def test_polished_vectors_that_cannot_be_kept_leave_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    monkeypatch.setenv("SAMEKIND_HOME", str(tmp_path))
    write = Path.write_bytes

    def full(path: Path, data: bytes) -> int:
        if f".{suffix}." in path.name:
            write(path, data[:10])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(path, data)

    items, vectors = points(4), np.ones((4, 2), dtype=np.float32)
    with monkeypatch.context() as disk:
        disk.setattr(Path, "write_bytes", full)
        with pytest.raises(StoreError, match=r"No space left.*Free some space"):
            polished_vectors.keep(ID, items, vectors, {})
    assert [file for file in tmp_path.rglob("*") if file.is_file()] == []
    polished_vectors.keep(ID, items, vectors, {})
    assert polished_vectors.vectors_of(ID, items) is not None


def test_a_checkpoint_that_cannot_be_written_leaves_the_one_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch = pytest.importorskip("torch")
    import safetensors.torch
    from safetensors import SafetensorError

    from samekind.training.checkpoints import Checkpoint, load_checkpoint, save_checkpoint

    def full(tensors: object, path: Path, metadata: object) -> None:
        path.write_bytes(b"half")
        raise SafetensorError("No space left on device (os error 28)")

    place = tmp_path / "state.safetensors"
    save_checkpoint(place, Checkpoint({"a": torch.ones(2)}, {"step": 1}))
    monkeypatch.setattr(safetensors.torch, "save_file", full)
    with pytest.raises(StoreError, match=r"No space left.*The one before was not changed"):
        save_checkpoint(place, Checkpoint({"a": torch.ones(2)}, {"step": 2}))
    assert load_checkpoint(place).facts == {"step": 1}
    assert [file.name for file in tmp_path.iterdir()] == [place.name]
