"""Weights of a backbone in a file: trained once, the start of many trainings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import Tensor, nn

from samekind.errors import InputError
from samekind.training.checkpoints import (
    Checkpoint,
    checkpoint_exists,
    load_checkpoint,
    save_checkpoint,
)
from samekind.training.steps import check_fit

KIND = "backbone"
GROUPS = "groups."
"""Prefix of the names of weights that belong to the head for groups, not to the backbone."""
LINEAR = "fc."
"""Prefix of the names of weights of the linear layer that a backbone may end with."""


@dataclass(frozen=True, eq=False)
class Start:
    """Contents of a file with a backbone besides the backbone.

    Parameters
    ----------
    method : the method that learnt the features; empty if the file does not name one.
    groups : a head from features to memberships, or None.
    """

    method: str = ""
    groups: nn.Module | None = None


def save_backbone(path: str | Path, facts: Mapping[str, Any], backbone: nn.Module) -> None:
    """Write the weights; `facts` describe the architecture that can load them."""
    weights = dict(backbone.state_dict())
    linear = {"linear": True} if any(name.startswith(LINEAR) for name in weights) else {}
    save_checkpoint(path, Checkpoint(weights, {"kind": KIND, **facts, **linear}))


def backbone_facts(path: str | Path | None) -> dict[str, Any]:
    """Describe the network of a file: backbone, stem, channels, perhaps size. {} for no file."""
    if path is None:
        return {}
    if not checkpoint_exists(path):
        raise InputError(
            f"There is no file {str(path)!r} to start from. Write one with save_features or "
            "`samekind learn`, or omit `start`."
        )
    return load_checkpoint(path, expected={"kind": KIND}).facts


def load_backbone(path: str | Path, facts: Mapping[str, Any], *backbones: nn.Module) -> Start:
    """Read the weights of a file into backbones of its architecture; return the rest of it.

    A backbone that ends with a linear layer (TCL) keeps its own where the file has none.
    """
    from samekind.training.selflearn_file import LearntNetwork

    backbone_facts(path)
    found = load_checkpoint(path, expected={"kind": KIND, **facts})
    weights: dict[str, Tensor] = {
        name: tensor for name, tensor in found.tensors.items() if not name.startswith(GROUPS)
    }
    for backbone in backbones:
        mine = backbone.state_dict()
        fresh = {name: mine[name] for name in mine if name.startswith(LINEAR)}
        check_fit(backbone, {**fresh, **weights})
        backbone.load_state_dict({**fresh, **weights})  # also from 16 bits
    method = str(found.facts.get("method", ""))
    return Start(method, LearntNetwork.load(path, device="cpu").groups if method else None)
