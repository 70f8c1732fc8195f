"""What a training begins from: a file with a backbone, perhaps with groups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import nn

from samekind.clusterers.deep.settings import FAST, Setting
from samekind.errors import InputError
from samekind.training.backbone_file import KIND
from samekind.training.checkpoints import load_checkpoint
from samekind.training.selflearn_file import LearntNetwork
from samekind.training.steps import check_fit

GROUPS = "groups."
"""Beginning of the names of weights that do not belong to the backbone."""


PICTURE_SETTINGS = (
    "batch_size", "backbone", "stem", "channels", "size", "family",
    "device", "compile", "checkpoint",
)  # fmt: skip
"""Parameters of estimators that :func:`setting_from` takes, where they have them."""


@dataclass(frozen=True, eq=False)
class Start:
    """What a file of features says beside its backbone.

    Parameters
    ----------
    method : that the features were learnt with; empty: a deep clusterer's, or not told.
    groups : from features to shares in groups, or None.
    """

    method: str = ""
    groups: nn.Module | None = None


def start_facts(path: str | Path | None) -> dict[str, Any]:
    """What a file says of its network: backbone, stem, channels, perhaps size; {} without one."""
    if path is None:
        return {}
    if not Path(path).exists():
        raise InputError(
            f"There is no file {str(path)!r} to begin from. Write one with save_features or "
            "`samekind learn`, or leave `start` out."
        )
    return load_checkpoint(path, expected={"kind": KIND}).facts


def load_start(path: str | Path, facts: Mapping[str, Any], backbone: nn.Module) -> Start:
    """Read the weights of a file into a backbone of the same kind; returns what else is there."""
    start_facts(path)
    found = load_checkpoint(path, expected={"kind": KIND, **facts})
    weights = {name: t for name, t in found.tensors.items() if not name.startswith(GROUPS)}
    check_fit(backbone, weights)
    backbone.load_state_dict(weights)
    method = str(found.facts.get("method", ""))
    groups = LearntNetwork.load(path, device="cpu").groups if method else None
    return Start(method, groups)


def setting_from(start: str | None, wanted: Mapping[str, Any]) -> Setting:
    """Settings for pictures: those wanted, else those of the file, else quick ones.

    Parameters
    ----------
    wanted : by name; None: not told.
    """
    names: tuple[str, ...] = ("backbone", "stem", "channels", "size")
    there = {name: value for name, value in start_facts(start).items() if name in names}
    told = {name: value for name, value in wanted.items() if value is not None}
    chosen = {**FAST, **there, **told}
    return Setting(start=start, **chosen)
