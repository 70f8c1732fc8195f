"""Compact checkpoints: weights in 16 bits, without moments, in parts that are easy to carry.

A training that has to move to another machine takes along its weights. The moments of the optimiser
are three times as large and build up again within an epoch, so they stay behind. A slow copy of the
weights is stored as its small difference from them, in 8 bits with a scale for each row.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from torch import Tensor

from samekind.errors import InputError
from samekind.training.checkpoints import Checkpoint, save_checkpoint

PART_BYTES = 15 * 2**20
"""Largest part, unless a single tensor is larger."""
SMALL = 2**14
"""Tensors of at most so many numbers (averages of batch norms, biases) keep their precision."""
LARGEST_HALF = 6e4
"""Numbers beyond this do not fit into float16; bfloat16 is taken for such a tensor."""
SCALE = "difference-scale."
"""Prefix of the names of the scales of differences."""
LEVELS = 127


def save_compact(
    path: str | Path,
    checkpoint: Checkpoint,
    *,
    followers: Mapping[str, str] | None = None,
    part_bytes: int = PART_BYTES,
) -> list[Path]:
    """Write a compact form of a checkpoint; :func:`load_checkpoint` reads it by the same name.

    Returns the files: ``name-1-of-3.safetensors`` and so on.

    Parameters
    ----------
    followers : tensors that are nearly equal to others, by name, and which these are.
    """
    for old in find_parts(path):
        old.unlink()
    kept = {n: t for n, t in checkpoint.tensors.items() if not n.startswith("optimiser.")}
    dtypes = {name: str(t.dtype).removeprefix("torch.") for name, t in kept.items()}
    stored = {name: _halved(t) for name, t in kept.items()}
    large = {
        name: base
        for name, base in (followers or {}).items()
        if kept[name].numel() > SMALL and kept[name].ndim > 1
    }
    for name, base in large.items():
        stored[name], stored[SCALE + name] = _difference(kept[name], stored[base])
    groups = _in_parts(stored, part_bytes)
    count, written = len(groups), []
    for k, tensors in enumerate(groups, 1):
        own = {"part": k, "parts": count, "dtypes": dtypes, "followers": large}
        facts = {**checkpoint.facts, **own}
        written.append(_part_name(path, k, count))
        save_checkpoint(written[-1], Checkpoint(tensors, facts))
    return written


def find_parts(path: str | Path) -> list[Path]:
    """The parts of a compact checkpoint of this name, in order."""
    path = Path(path)
    pattern = re.compile(re.escape(path.stem) + r"-(\d+)-of-\d+\.safetensors")
    if not path.parent.is_dir():
        return []
    found = ((pattern.fullmatch(file.name), file) for file in path.parent.iterdir())
    return [file for _, file in sorted((int(m[1]), file) for m, file in found if m)]


def joined(parts: Sequence[Checkpoint]) -> Checkpoint:
    """The checkpoint that was written in these parts, in the precision that it had."""
    facts = dict(parts[0].facts)
    steps = {(part.facts.get("step"), part.facts.get("parts")) for part in parts}
    numbers = [part.facts.get("part") for part in parts]
    if len(steps) > 1 or numbers != list(range(1, int(facts.get("parts", 0)) + 1)):
        raise InputError(
            f"Expected the {facts.get('parts')} parts of one compact checkpoint, got parts "
            f"{numbers} of {len(steps)} different ones. Copy all parts of the last one."
        )
    dtypes, followers = facts.pop("dtypes"), facts.pop("followers", {})
    del facts["part"], facts["parts"]
    stored = {name: tensor for part in parts for name, tensor in part.tensors.items()}
    for name, base in followers.items():
        stored[name] = stored[base].float() + stored[name] * stored.pop(SCALE + name)
    tensors = {name: tensor.to(getattr(torch, dtypes[name])) for name, tensor in stored.items()}
    return Checkpoint(tensors, facts)


def _part_name(path: str | Path, k: int, count: int) -> Path:
    return Path(path).with_name(f"{Path(path).stem}-{k}-of-{count}.safetensors")


def _halved(tensor: Tensor) -> Tensor:
    if not tensor.is_floating_point() or tensor.numel() <= SMALL:
        return tensor
    fits = bool(tensor.abs().max() < LARGEST_HALF)
    return tensor.to(torch.float16 if fits else torch.bfloat16)


def _difference(tensor: Tensor, base: Tensor) -> tuple[Tensor, Tensor]:
    """`tensor` less `base` in 8 bits, and the scale of each row."""
    difference = tensor.float() - base.float()
    rows = difference.flatten(1).abs().amax(dim=1).clamp_min(1e-12) / LEVELS
    scale = rows.view(-1, *[1] * (difference.ndim - 1))
    return (difference / scale).round().to(torch.int8), scale


def _in_parts(tensors: dict[str, Tensor], part_bytes: int) -> list[dict[str, Tensor]]:
    parts: list[dict[str, Tensor]] = [{}]
    filled = 0
    for name, tensor in tensors.items():
        size = tensor.numel() * tensor.element_size()
        if parts[-1] and filled + size > part_bytes:
            parts.append({})
            filled = 0
        parts[-1][name] = tensor
        filled += size
    return parts
