"""A process with closed-form functions, and slow, plain versions of what is tested."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import torch
from torch import Tensor

from places import VECTORS
from samekind.clusterers.ncp.amortized.network import Functions, NCPNetwork, Points, Sizes

VECTORS: dict[str, Any] = json.loads((VECTORS / "ncp.json").read_text())


def table(values: Any) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


class ClosedForm:
    """The functions that are written down in the test vectors."""

    def __init__(self) -> None:
        f = VECTORS["functions"]
        self.A, self.a, self.B, self.b, self.w = (table(f[name]) for name in "AaBbw")

    def points(self, x: Tensor, mask: Tensor | None) -> Points:
        x1, x2 = x.unbind(-1)
        h = torch.stack([x1, x2, x1 * x2, torch.ones_like(x1)], -1)
        u = torch.stack([x1 + x2, x1 - x2], -1)
        if mask is None:
            return Points(h, u)
        return Points(h * mask[..., None], u * mask[..., None])

    def g(self, H: Tensor) -> Tensor:
        return torch.tanh(H @ self.A + self.a)

    def context(self, U: Tensor, h: Tensor) -> Tensor:
        return U

    def f(self, G: Tensor, context: Tensor) -> Tensor:
        both = torch.cat([G, context.expand(*G.shape[:-1], -1)], -1)
        return torch.tanh(both @ self.B + self.b) @ self.w


def small_network(seed: int = 0, **sizes: Any) -> NCPNetwork:
    """A random network in double precision whose probabilities are far from even."""
    torch.manual_seed(seed)
    settings = {"width": 16, "features": 16, "h_outputs": 8, "g_outputs": 8, **sizes}
    network = NCPNetwork(Sizes(**settings)).double()
    for value in network.parameters():
        value.data.mul_(2.0)
    return network


def slow_step(network: Functions, x: Tensor, labels: list[int], n: int) -> dict[str, Tensor]:
    """One step written from the formulas: every group described anew for every choice."""
    points = network.points(x[None], None)
    h, u = points.h[0], points.u[0]
    K = max(labels[:n], default=-1) + 1
    none = torch.zeros_like(h[0])
    H = [sum((h[i] for i in range(n) if labels[i] == k), none) for k in range(K)]
    U = sum((u[i] for i in range(n + 1, len(x))), torch.zeros_like(u[0]))
    G = []
    for k in range(K + 1):
        tried = [*H, none]
        tried[k] = tried[k] + h[n]
        G.append(sum(network.g(one) for one in tried[: max(K, k + 1)]))
    logits = torch.stack([network.f(one, network.context(U, h[n])) for one in G])
    return {
        "H": torch.stack(H) if H else h[:0],
        "U": U,
        "G_per_choice": torch.stack(G),
        "logits": logits,
        "logp": logits.log_softmax(0),
    }


def slow_joint(network: Functions, x: Tensor, labels: list[int]) -> Tensor:
    steps = [slow_step(network, x, labels, n)["logp"][labels[n]] for n in range(len(x))]
    return torch.stack(steps).sum()


def first_appearance(labels: Any) -> list[int]:
    names: dict[int, int] = {}
    return [names.setdefault(int(k), len(names)) for k in labels]


def honours(partition: np.ndarray, links: list[tuple[int, int, bool]]) -> bool:
    return all((partition[a] == partition[b]) == same for a, b, same in links)
