"""Similarities of rows in full precision, and the checks that all losses share."""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn.functional import normalize

from samekind.errors import InputError


def cosines(x: Tensor) -> Tensor:
    """Cosine of every two rows of x (R, D), as (R, R). A row of zeros is like no other."""
    return dots(normalize(full_precision(x), dim=1))


def dots(x: Tensor) -> Tensor:
    """Dot product of every two rows of x (R, D), as (R, R)."""
    x = full_precision(x)
    # Autocast would turn this one product back into bf16, whatever the dtype of x.
    with torch.autocast(device_type=x.device.type, enabled=False):
        return x @ x.T


def full_precision(x: Tensor) -> Tensor:
    """x in float32; float64 stays as it is."""
    return x if x.dtype == torch.float64 else x.float()


def without_self(similarity: Tensor) -> Tensor:
    """The similarities with the diagonal taken out of any log-sum-exp."""
    diagonal = torch.eye(len(similarity), dtype=torch.bool, device=similarity.device)
    return similarity.masked_fill(diagonal, -math.inf)


def items_of(rows: Tensor) -> int:
    """How many items N stand behind 2N rows."""
    if rows.ndim != 2 or len(rows) == 0 or len(rows) % 2:
        raise InputError(
            f"A loss over two views needs a matrix of 2N rows; the shape is {tuple(rows.shape)}. "
            "Stack view a of all items on view b of the same items."
        )
    return len(rows) // 2


def positive(name: str, value: float) -> float:
    """The value, if it can divide."""
    if not (math.isfinite(value) and value > 0):
        raise InputError(f"Expected {name} to be a number above 0, got {value!r}. Try 0.5 or 1.0.")
    return float(value)
