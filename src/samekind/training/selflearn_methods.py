"""The self-supervised methods: network, views, losses, and labels of their own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from samekind.compute import COMPILE_MODES, Compute
from samekind.training.augment import Views, family_named
from samekind.training.device_kmeans import cosine_kmeans
from samekind.training.heads import CentreShares
from samekind.training.losses import BoostLoss, BYOLLoss, CCLoss, ProPosLoss
from samekind.training.momentum import Momentum
from samekind.training.network import Network
from samekind.training.pseudo_labels import PseudoLabels
from samekind.training.selflearn_file import OUT, facts_of, resnet
from samekind.training.selflearn_setting import AVERAGE_SHORT, SelfSetting
from samekind.training.simclr import ItemContrast
from samekind.training.strong import TCL, StrongFamily, WeakStrong

Read = Callable[[Callable[[Tensor], Tensor], int, list[nn.Module]], Tensor]
"""Reads all items: from what is to be said of plain pictures, and its width, to (n, width)."""
RESTARTS = 10
"""Starts of the k-means by which ProPos' groups are told in the end."""


@dataclass(frozen=True, eq=False)
class Method:
    """A method, ready to be trained.

    Parameters
    ----------
    network, views : as the trainer takes them.
    loss : of most of the training. last : of its last part, or None.
    memory : holds a label for each item, from the method itself, or None.
    starts : share of the epochs after which `memory` is filled, and after which `last` begins.
    """

    network: nn.Module
    views: Views | WeakStrong
    loss: nn.Module
    last: nn.Module | None = None
    memory: PseudoLabels | ProPosLoss | None = None
    starts: float = 1.0

    @property
    def backbone(self) -> nn.Module:
        """The part that makes features; for BYOL and ProPos the one that follows."""
        network = self.network
        found: Any = network.backbone
        if isinstance(network, Momentum):
            found = network.target_backbone
        assert isinstance(found, nn.Module)
        return found

    def relabel(self, read: Read, order: Tensor, batch: int, seed: int) -> None:
        """Fill the memory anew from what the network says of all items.

        Parameters
        ----------
        order : (n,) all items in the order in which they are looked at.
        batch : items that are looked at together.
        seed : of the k-means.
        """
        memory, network = self.memory, self.network
        if isinstance(memory, ProPosLoss):
            assert isinstance(network, Momentum)
            found = cosine_kmeans(read_projections(network, read), memory.k, seed=seed)
            memory.labels.copy_(found.labels)  # in place: a recorded step looks there
        elif isinstance(memory, PseudoLabels):
            assert isinstance(network, Network)
            backbone, head = network.backbone, network.cluster
            p = read(lambda rows: head(backbone(rows)), memory.k, [network])
            for items in torch.split(order, batch):
                memory.update(items, p[items])

    def groups(self, read: Read, seed: int) -> nn.Module | None:
        """From features to shares in groups."""
        network = self.network
        if isinstance(network, Momentum) and isinstance(self.memory, ProPosLoss):
            z = read_projections(network, read)
            found = cosine_kmeans(z, self.memory.k, seed=seed, n_init=RESTARTS)
            return CentreShares(network.target_projector, found.centres)
        if isinstance(self.loss, CCLoss) and isinstance(network, Network):
            return network.cluster
        return None


def read_projections(network: Momentum, read: Read) -> Tensor:
    """Projections (n, out) of all items by the followers."""
    return read(network.project, network.out, [network])


def method_of(setting: SelfSetting, items: int, compute: Compute) -> Method:
    """The method of a setting, for so many items, with fresh weights drawn by its seed."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(setting.seed)
        return _METHODS[setting.method](setting, items, compute)


def _views(setting: SelfSetting, compute: Compute) -> Views:
    family = replace(family_named("cc-small").at(setting.size), scale=(setting.crop, 1.0))
    dtype = torch.bfloat16 if compute.dtype == "bfloat16" else torch.float32
    return Views(family, dtype=dtype, compiled=setting.compile in COMPILE_MODES)


def _contrasting(setting: SelfSetting) -> Network:
    backbone, linear = resnet(facts_of(setting)), setting.own_linear
    return Network(backbone, k=setting.groups or 1, attention=False, rectified=linear)


def _simclr(setting: SelfSetting, items: int, compute: Compute) -> Method:
    loss = ItemContrast(temperature=setting.own_temperature)
    return Method(_contrasting(setting), _views(setting, compute), loss)


def _cc(setting: SelfSetting, items: int, compute: Compute) -> Method:
    loss = CCLoss(temperature=setting.own_temperature)
    return Method(_contrasting(setting), _views(setting, compute), loss)


def _tcl(setting: SelfSetting, items: int, compute: Compute) -> Method:
    assert setting.groups is not None
    network = _contrasting(setting)
    for layer in network.cluster.modules():
        if isinstance(layer, nn.Linear):  # groups begin nearly equal, as published
            nn.init.trunc_normal_(layer.weight, std=0.02)
            nn.init.zeros_(layer.bias)
    dtype = torch.bfloat16 if compute.dtype == "bfloat16" else torch.float32
    views = WeakStrong(
        TCL.at(setting.size),
        StrongFamily(setting.size),
        dtype=dtype,
        compiled=setting.compile in COMPILE_MODES,
    )
    memory = PseudoLabels(items, setting.groups, share=0.5, threshold=setting.sure)
    boosting = BoostLoss(memory, temperature=setting.own_temperature)
    loss = CCLoss(temperature=setting.own_temperature)
    return Method(network, views, loss, boosting, memory, 1 - setting.boost)


def _momentum(setting: SelfSetting, noise: float) -> Momentum:
    return Momentum(
        resnet(facts_of(setting)),
        hidden=setting.hidden,
        out=OUT,
        average=AVERAGE_SHORT if setting.average is None else setting.average,
        rising=setting.rising,
        noise=noise,
        noise_from=setting.warm,
    )


def _byol(setting: SelfSetting, items: int, compute: Compute) -> Method:
    return Method(_momentum(setting, 0.0), _views(setting, compute), BYOLLoss())


def _propos(setting: SelfSetting, items: int, compute: Compute) -> Method:
    assert setting.groups is not None
    loss = ProPosLoss(
        items, setting.groups, weight=setting.scatter, temperature=setting.own_temperature
    )
    network = _momentum(setting, setting.noise)
    views = _views(setting, compute)
    return Method(network, views, loss, memory=loss, starts=setting.warm)


_METHODS: dict[str, Callable[[SelfSetting, int, Compute], Method]] = {
    "simclr": _simclr,
    "byol": _byol,
    "cc": _cc,
    "tcl": _tcl,
    "propos": _propos,
}
