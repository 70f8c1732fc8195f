"""Parts of a self-supervised training that need no learner: its pictures, its clock."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from samekind.compute import synchronise
from samekind.errors import InputError
from samekind.training.checkpoints import Checkpoint
from samekind.training.selflearn_setting import SelfSetting

Bytes = NDArray[np.uint8]
PATIENCE = 2.0
"""Seconds for which something is timed."""


class Timing(NamedTuple):
    """Seconds of one step, and of making new labels for all items (0 where none are made)."""

    step: float
    labelling: float


def over(started: float, seconds: float | None) -> bool:
    """Whether so many seconds have gone by since a moment; None: never."""
    return seconds is not None and time.monotonic() - started >= seconds


def check_pictures(data: Bytes, setting: SelfSetting) -> None:
    """Refuse what is not enough pictures to learn from."""
    if data.dtype != np.uint8 or data.ndim != 4 or data.shape[1] != 3:
        raise InputError(
            "Features are learnt from uint8 pictures of shape (n, 3, height, width); these are "
            f"{data.dtype} of shape {data.shape}."
        )
    least = max(2, setting.groups or 2)
    if len(data) < least or setting.batch_size < 2:
        raise InputError(
            f"{len(data)} pictures in batches of {setting.batch_size} are too few to learn from. "
            f"Give at least {least}, and batches of at least 2."
        )


def digest_of(data: Bytes) -> str:
    """Tells piles apart by their number and by a thousand of their pictures."""
    some = np.ascontiguousarray(data[:: max(1, len(data) // 1000)])
    return f"{len(data)} {hashlib.sha256(some.tobytes()).hexdigest()[:16]}"


def copied(checkpoint: Checkpoint) -> Checkpoint:
    """The same in memory of its own."""
    tensors = {name: tensor.clone() for name, tensor in checkpoint.tensors.items()}
    return Checkpoint(tensors, checkpoint.facts)


def clocked(
    work: Callable[[], object], most: int, device: str, patience: float = PATIENCE
) -> float:
    """Seconds of one call, over at most so many calls or about so many seconds."""
    synchronise(device)
    begun = time.monotonic()
    for calls in range(1, most + 1):
        work()
        if calls % 10 == 0 or device == "cpu":
            synchronise(device)
            if time.monotonic() - begun > patience:
                break
    synchronise(device)
    return (time.monotonic() - begun) / calls
