"""Checkpoints: one safetensors file with the state of a training and its settings as JSON.

The file appears whole or not at all. No pickle is written or read. Chance in training is a
function of seed and step, so the step is all that has to be remembered of it. A compact checkpoint
(:mod:`samekind.training.compact`) is read in the same way.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from torch import Tensor

from samekind.atomic_files import draft_name, sync_folder
from samekind.errors import InputError, StoreError

FORMAT = "samekind-training-1"


class Checkpoint(NamedTuple):
    """Tensors by name, and plain JSON beside them."""

    tensors: dict[str, Tensor]
    facts: dict[str, Any]


def save_checkpoint(path: str | Path, checkpoint: Checkpoint) -> None:
    """Write a checkpoint in place of the one before; a kill leaves the old or the new one."""
    from safetensors import SafetensorError
    from safetensors.torch import save_file

    final = Path(path)
    final.parent.mkdir(parents=True, exist_ok=True)
    written = draft_name(final)
    tensors = {name: t.detach().cpu().contiguous() for name, t in checkpoint.tensors.items()}
    try:
        save_file(tensors, written, {"format": FORMAT, "facts": json.dumps(checkpoint.facts)})
        with written.open("rb") as file:
            os.fsync(file.fileno())
        written.replace(final)
    except SafetensorError as problem:  # a full disk too
        raise StoreError(
            f"The checkpoint {final} cannot be written: {problem}. The one before was not changed. "
            "Free some space, or choose another folder."
        ) from problem
    finally:
        written.unlink(missing_ok=True)
    sync_folder(final.parent)


def load_checkpoint(path: str | Path, *, expected: Mapping[str, Any] | None = None) -> Checkpoint:
    """Read a checkpoint; `expected` facts must be the same, or a sentence says which differ.

    `path` may also be the name that a compact checkpoint was written under.
    """
    from samekind.training.compact import find_parts, joined

    parts = [] if Path(path).exists() else find_parts(path)
    tensors, facts = joined([_read(part) for part in parts]) if parts else _read(path)
    different = _differences(facts, expected or {})
    if different:
        raise InputError(
            f"The checkpoint {str(path)!r} belongs to another training: {'; '.join(different)}. "
            "Use the same settings, or another file."
        )
    return Checkpoint(tensors, facts)


def checkpoint_exists(path: str | Path) -> bool:
    """Whether there is a checkpoint of this name, in one file or in parts."""
    from samekind.training.compact import find_parts

    return Path(path).exists() or bool(find_parts(path))


def _read(path: str | Path) -> Checkpoint:
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            if metadata.get("format") != FORMAT:
                raise InputError(
                    f"{str(path)!r} is a safetensors file, but not a checkpoint of a training "
                    "(or one of another version). Give another file, or train anew."
                )
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        facts: dict[str, Any] = dict(json.loads(metadata["facts"]))
    except (SafetensorError, OSError, KeyError, TypeError, ValueError, RecursionError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(
            f"{str(path)!r} cannot be read as a checkpoint ({error}). "
            "Give another file, or train anew without it."
        ) from error
    return Checkpoint(tensors, facts)


def _differences(there: Mapping[str, Any], here: Mapping[str, Any], where: str = "") -> list[str]:
    """Which facts differ, in words; of those that hold others only the inner ones are named."""
    found = []
    for name, value in here.items():
        other = there.get(name)
        if isinstance(value, Mapping) and isinstance(other, Mapping):
            missing = dict.fromkeys(other)  # what only the file knows
            found += _differences(other, {**missing, **value}, f"{where}{name}: ")
        elif other != value:
            found.append(f"{where}{name} is {other!r} there and {value!r} here")
    return found
