"""LearntNetwork: a self-supervised network in use and in a file, without its training."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from samekind.compute import Compute, best_device, quick_kernels
from samekind.errors import InputError
from samekind.training.augment import Family, Views
from samekind.training.backbone_file import KIND
from samekind.training.bank import SMALLEST, in_use
from samekind.training.checkpoints import (
    Checkpoint,
    checkpoint_exists,
    load_checkpoint,
    save_checkpoint,
)
from samekind.training.compact import save_compact
from samekind.training.heads import CentreShares, ClusterHead
from samekind.training.momentum import projector
from samekind.training.resnet import ResNet
from samekind.training.selflearn_setting import DEPTHS, SelfSetting
from samekind.training.steps import NoMemory, autocast, check_fit, memory_is_enough

Floats = NDArray[np.float32]
Bytes = NDArray[np.uint8]
OUT = 256
"""Width of the projections of BYOL and ProPos."""
CHUNK = 1024


@dataclass(frozen=True, eq=False)
class LearntNetwork:
    """A backbone, and a head where there are groups, that need no training data.

    Parameters
    ----------
    backbone : from pictures to features.
    groups : from features to shares in groups, or None.
    facts : the architecture, and the method it was trained with.
    compute : where it runs.
    """

    backbone: nn.Module
    groups: nn.Module | None
    facts: Mapping[str, Any]
    compute: Compute

    @property
    def width(self) -> int:
        """Numbers per item in :meth:`features`."""
        return int(self.backbone.width)  # type: ignore[arg-type]

    def features(self, images: Bytes | Tensor) -> Floats:
        """Features (n, width) of uint8 pictures (n, 3, height, width), each by itself."""
        return _array(self._read(images, self.backbone, self.width))

    def membership(self, images: Bytes | Tensor) -> Floats | None:
        """Shares (n, k) of each picture in the groups; None where the method has no groups."""
        head = self.groups
        if head is None:
            return None
        k = int(self.facts["groups"])
        return _array(self._read(images, lambda rows: head(self.backbone(rows)), k))

    def _read(self, images: Bytes | Tensor, run: Callable[[Tensor], Tensor], width: int) -> Tensor:
        parts = [part for part in (self.backbone, self.groups) if part is not None]
        return read(images, run, width, parts, int(self.facts["size"]), self.compute)

    def save(self, path: str | Path, *, compact: bool = False) -> None:
        """Write a file that :meth:`load` reads; deep clusterers begin from its backbone.

        Parameters
        ----------
        compact : weights in 16 bits, in parts that :meth:`load` finds by the same name.
        """
        tensors = dict(self.backbone.state_dict())
        if self.groups is not None:
            tensors |= {f"groups.{name}": t for name, t in self.groups.state_dict().items()}
        found = Checkpoint(tensors, {"kind": KIND, **self.facts})
        if compact:
            save_compact(path, found)
        else:
            save_checkpoint(path, found)

    @classmethod
    def load(cls, path: str | Path, *, device: str | None = None) -> Self:
        """Read a file of :meth:`save`; it needs no data."""
        if not checkpoint_exists(path):
            raise InputError(f"There is no file {str(path)!r}. Learn features first.")
        found = load_checkpoint(path, expected={"kind": KIND})
        facts = {name: value for name, value in found.facts.items() if name != "kind"}
        if "method" not in facts:
            raise InputError(
                f"{str(path)!r} holds a backbone only, not how it was trained without answers. "
                "Give it to a deep clusterer (start=...), or learn anew."
            )
        backbone, groups = _empty(facts)
        both = nn.ModuleDict({"backbone": backbone})
        if groups is not None:
            both["groups"] = groups
        weights = {
            name if name.startswith("groups.") else f"backbone.{name}": tensor
            for name, tensor in found.tensors.items()
        }
        check_fit(both, weights)
        both.load_state_dict(weights)
        compute = best_device(device)
        both.to(compute.device).eval()
        return cls(backbone, groups, facts, compute)


def facts_of(setting: SelfSetting) -> dict[str, Any]:
    """Facts about the network that a file holds besides its weights."""
    names = ("backbone", "stem", "channels", "size", "method", "groups", "hidden")
    facts = {name: getattr(setting, name) for name in names}
    if setting.own_linear:
        facts["linear"] = True
    return {**facts, "groups": None if setting.method in ("simclr", "byol") else setting.groups}


def resnet(facts: Mapping[str, Any]) -> ResNet:
    """The backbone of a setting, with fresh weights."""
    return ResNet(
        DEPTHS[facts["backbone"]],
        stem=facts["stem"],
        base=int(facts["channels"]),
        linear=bool(facts.get("linear")),
    )


def _empty(facts: Mapping[str, Any]) -> tuple[ResNet, nn.Module | None]:
    backbone = resnet(facts)
    if facts["groups"] is None:
        return backbone, None
    k = int(facts["groups"])
    if facts["method"] != "propos":
        return backbone, ClusterHead(backbone.width, k, rectified=bool(facts.get("linear")))
    project = projector(backbone.width, int(facts["hidden"]), OUT)
    return backbone, CentreShares(project, torch.zeros(k, OUT))


@torch.no_grad()
def read(
    images: Bytes | Tensor,
    run: Callable[[Tensor], Tensor],
    width: int,
    parts: list[nn.Module],
    size: int,
    compute: Compute,
) -> Tensor:
    """Apply `run` to the plain views of pictures, in pieces, on the device: (n, width).

    Parameters
    ----------
    parts : modules that it uses; they run with their learnt averages.
    size : side of the pictures that the network takes.
    """
    data = (
        torch.from_numpy(np.ascontiguousarray(images)) if isinstance(images, np.ndarray) else images
    )
    # Colours do not change in plain views, so the steps that change them are left out.
    views = Views(Family(size, jitter_p=0.0, gray_p=0.0)).to(compute.device)
    chunk = CHUNK
    together = nn.ModuleList(parts)
    while True:
        try:
            found = [torch.empty(0, width, device=compute.device)]
            with in_use(together), quick_kernels(), autocast(compute):
                for some in torch.split(data, chunk) if len(data) else ():
                    with memory_is_enough(chunk):
                        found.append(run(views.plain(some.to(compute.device))).float())
            return torch.cat(found)
        except NoMemory:
            if chunk <= SMALLEST:
                raise
        chunk //= 4  # the result does not depend on it


def _array(x: Tensor) -> Floats:
    array: Floats = x.cpu().numpy()
    return array
