"""Weights of a backbone in a file: learnt once, the beginning of many trainings."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from torch import nn

from samekind.errors import InputError
from samekind.training.checkpoints import Checkpoint, load_checkpoint, save_checkpoint
from samekind.training.steps import check_fit

KIND = "backbone"


def save_backbone(path: str | Path, facts: Mapping[str, Any], backbone: nn.Module) -> None:
    """Write the weights; `facts` say what a network must agree in to use them."""
    save_checkpoint(path, Checkpoint(dict(backbone.state_dict()), {"kind": KIND, **facts}))


def load_backbone(path: str | Path, facts: Mapping[str, Any], backbone: nn.Module) -> None:
    """Read weights that :func:`save_backbone` wrote into a backbone of the same kind."""
    if not Path(path).exists():
        raise InputError(
            f"There is no file {str(path)!r} to begin from. Write one with save_features, or leave "
            "`start` out."
        )
    found = load_checkpoint(path, expected={"kind": KIND, **facts})
    weights = {n: t for n, t in found.tensors.items() if not n.startswith("groups.")}
    check_fit(backbone, weights)
    backbone.load_state_dict(weights)
