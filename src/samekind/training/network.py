"""The whole network: backbone, attention between items, and the two heads."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple, Protocol

import torch
from torch import Tensor, nn

from samekind.errors import InputError
from samekind.training.attention import CrossAttention
from samekind.training.heads import ClusterHead, InstanceHead


class Backbone(Protocol):
    """A module from images to vectors that says how wide these are."""

    width: int

    def __call__(self, images: Tensor) -> Tensor: ...


class Output(NamedTuple):
    """Output of the network for each row."""

    h: Tensor  # (B, width) features of the backbone, before attention
    z: Tensor  # (B, out) unit vectors
    p: Tensor  # (B, k) shares in each group; rows sum to 1


class Network(nn.Module):
    """Backbone, cross-instance attention (or none), instance head and cluster head.

    Parameters
    ----------
    backbone : from images to vectors; has an attribute `width`.
    k : groups.
    out : width of the vectors that are compared.
    attention : whether items of a batch look at each other (PCL) or not (CC, OCC).
    heads : of the attention.
    rectified : both heads begin with a ReLU; see :class:`~samekind.training.heads.ClusterHead`.

    >>> from samekind.training.resnet import ResNet
    >>> network = Network(ResNet(18, base=8), k=3)
    >>> [tuple(part.shape) for part in network(torch.zeros(4, 3, 32, 32))]
    [(4, 64), (4, 128), (4, 3)]
    """

    backbone: nn.Module
    attention: CrossAttention | None

    def __init__(
        self,
        backbone: Backbone,
        *,
        k: int,
        out: int = 128,
        attention: bool = True,
        heads: int = 8,
        rectified: bool = False,
    ) -> None:
        super().__init__()
        if not isinstance(backbone, nn.Module):
            raise InputError(
                f"A backbone is a torch module; this is a {type(backbone).__name__}. "
                "Take samekind.training.resnet.ResNet, or a module with an attribute `width`."
            )
        self.backbone = backbone
        self.width = backbone.width
        self.attention = CrossAttention(self.width, heads) if attention else None
        self.instance = InstanceHead(self.width, out, rectified=rectified)
        self.cluster = ClusterHead(self.width, k, rectified=rectified)

    @property
    def k(self) -> int:
        """Groups that the cluster head tells apart."""
        return self.cluster.k

    def forward(
        self,
        images: Tensor,
        reference: Tensor | None = None,
        views: int = 2,
        *,
        peers: int | None = None,
        gather: Callable[[Tensor], Tensor] | None = None,
    ) -> Output:
        """Return the output for images (views * B, 3, S, S).

        Parameters
        ----------
        reference : None in training: the rows of one view look at each other, views apart.
            Otherwise features (R, width) that every row looks at instead of its neighbours, so
            that a row's result does not depend on them; `views` does not matter then.
        views : how many batches lie one after the other in `images`.
        peers : items of a training batch less one; see :class:`CrossAttention`.
        gather : brings the features of all processes together, views one after the other, before
            items look at each other; the output then has the rows of all processes.
        """
        h = self.backbone(images)
        return self.of_features(h if gather is None else gather(h), reference, views, peers=peers)

    def of_features(
        self,
        h: Tensor,
        reference: Tensor | None = None,
        views: int = 2,
        *,
        peers: int | None = None,
    ) -> Output:
        """The same from features (views * B, width) of the backbone."""
        x = h
        if self.attention is not None and reference is not None:
            x = self.attention(h, reference, peers=peers)
        elif self.attention is not None:
            if views < 1 or len(h) % views:
                raise InputError(
                    f"{len(h)} rows are not {views} views of the same items. "
                    "Give all views of a batch, or say how many there are (views=1)."
                )
            x = self.attention(h.reshape(views, -1, self.width)).flatten(0, 1)
        return Output(h, self.instance(x), self.cluster(x))

    @torch.no_grad()
    def reference_features(self, batches: Iterable[Tensor]) -> Tensor:
        """Features (R, width) of plain images, for others to be placed among.

        They are made as in use (running averages of the batch norms), whatever mode the network is
        in. Some hundred random training items are enough; they belong to the trained network, so
        keep them with its weights and make them anew after more training.
        """
        modes = {module: module.training for module in self.backbone.modules()}
        self.backbone.eval()
        try:
            parts = [self.backbone(images) for images in batches]
        finally:
            for module, mode in modes.items():
                module.training = mode
        if not parts:
            raise InputError("Expected at least one batch of images for a reference set, got none.")
        return torch.cat(parts)

    def regroup(self, k: int) -> None:
        """Start a fresh cluster head for k groups; an optimiser must be told of its parameters."""
        like = next(self.cluster.parameters())
        head = ClusterHead(self.width, k, rectified=self.cluster.rectified)
        self.cluster = head.to(like.device, like.dtype)
