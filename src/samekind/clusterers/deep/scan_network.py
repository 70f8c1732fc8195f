"""SCAN's network: two passes per batch as in its program, and features from a file."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Literal

import torch
from torch import Tensor

from samekind.errors import InputError
from samekind.training.checkpoints import Checkpoint, checkpoint_exists, load_checkpoint
from samekind.training.heads import LinearShares
from samekind.training.network import Backbone, Network, Output
from samekind.training.selflearn_file import resnet
from samekind.training.steps import check_fit


class ScanNetwork(Network):
    """Backbone, projector and a linear head for groups, in passes as the program makes them.

    Parameters
    ----------
    backbone : from images to vectors. k : groups. out : width of the projections.

    >>> from samekind.training.resnet import ResNet
    >>> network = ScanNetwork(ResNet(18, base=8), k=3)
    >>> network.passes = "teaching"
    >>> [tuple(part.shape) for part in network(torch.zeros(4, 3, 32, 32))]
    [(4, 64), (4, 128), (4, 3)]
    """

    passes: Literal["together", "separate", "teaching"] = "together"
    """Whether the halves of a batch pass the batch norms together or one after the other; in
    ``teaching`` the first half gets no gradient."""

    def __init__(self, backbone: Backbone, *, k: int, out: int = 128) -> None:
        super().__init__(backbone, k=k, out=out, attention=False)
        self.cluster = LinearShares(self.width, k)

    def forward(
        self,
        images: Tensor,
        reference: Tensor | None = None,
        views: int = 2,
        *,
        peers: int | None = None,
        gather: Callable[[Tensor], Tensor] | None = None,
    ) -> Output:
        """As :meth:`Network.forward`."""
        if self.passes == "together" or not self.training:
            return super().forward(images, reference, views, peers=peers, gather=gather)
        first, second = images.chunk(2)
        with torch.no_grad() if self.passes == "teaching" else nullcontext():
            taught = self.of_features(self.backbone(first))
        others = self.of_features(self.backbone(second))
        return Output(*(torch.cat(both) for both in zip(taught, others, strict=True)))


def load_scan_network(path: str | Path, k: int, *, seed: int = 0) -> tuple[ScanNetwork, bool, int]:
    """Read learnt features for SCAN, with a fresh head for k groups.

    Parameters
    ----------
    path : the checkpoint of a SimCLR training (also in compact parts), which holds the projector,
        or a file of features alone.

    Returns
    -------
    The network, whether it has a trained projector, and the side of its pictures.
    """
    if not checkpoint_exists(path):
        raise InputError(f"There is no file {str(path)!r}. Learn features first.")
    found = load_checkpoint(path)
    facts = found.facts.get("setting", found.facts)
    if not {"backbone", "stem", "channels"} <= set(facts):
        raise InputError(
            f"Expected features or the checkpoint of their training in {str(path)!r}, got "
            f"{found.facts.get('kind', 'something else')!r}. Give the --out or the --checkpoint "
            "of recipes/learn.py."
        )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = ScanNetwork(resnet(facts), k=k)
    projector = tensors_of(found, "network.instance.")
    weights = tensors_of(found, "network.backbone.") or {
        name: t for name, t in found.tensors.items() if not name.startswith("groups.")
    }
    for part, values in ((network.backbone, weights), (network.instance, projector)):
        if values:
            check_fit(part, values)
            part.load_state_dict(values)
    return network, bool(projector), int(facts.get("size", 32))


def tensors_of(checkpoint: Checkpoint, prefix: str) -> dict[str, Tensor]:
    """The tensors whose names begin with a prefix, without it."""
    return {
        name.removeprefix(prefix): tensor
        for name, tensor in checkpoint.tensors.items()
        if name.startswith(prefix)
    }
