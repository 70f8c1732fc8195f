"""Weights of a backbone in a file: learnt once, the beginning of many trainings."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from torch import nn

from samekind.training.checkpoints import Checkpoint, save_checkpoint

KIND = "backbone"


def save_backbone(path: str | Path, facts: Mapping[str, Any], backbone: nn.Module) -> None:
    """Write the weights; `facts` say what a network must agree in to use them."""
    save_checkpoint(path, Checkpoint(dict(backbone.state_dict()), {"kind": KIND, **facts}))
