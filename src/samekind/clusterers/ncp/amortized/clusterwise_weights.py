"""Weights of a clusterwise network in a file: safetensors, numbers of 16 bits if wanted."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import nn

from samekind.clusterers.ncp.amortized.clusterwise import ClusterwiseNetwork, ClusterwiseSizes
from samekind.clusterers.ncp.amortized.weights import fill, read_tensors, write_tensors
from samekind.errors import InputError

VARIANT = "clusterwise"
"""What the facts of a file say, so that weights of the pointwise process are told apart."""


class LoadedClusterwise(NamedTuple):
    """A network from a file, and what the file says about it."""

    network: ClusterwiseNetwork
    facts: dict[str, Any]


def save_clusterwise(
    path: str | Path,
    network: ClusterwiseNetwork,
    facts: Mapping[str, Any] | None = None,
    *,
    half: bool = False,
) -> None:
    """Write a network; `facts` (plain JSON) say how it was trained.

    Parameters
    ----------
    half : store 16 bits per number, half the size; they are read back as 32.
    """
    kept = {
        name: value.half() if half and value.is_floating_point() else value
        for name, value in network.state_dict().items()
    }
    odd = [name for name, value in kept.items() if not bool(torch.isfinite(value).all())]
    if odd:
        raise InputError(
            f"{odd[0]!r} has numbers that are not finite or too large for 16 bits. Train again "
            "with a smaller learning rate, or save with half=False."
        )
    stated = {"variant": VARIANT, "sizes": network.sizes.as_json(), **(facts or {})}
    write_tensors(path, kept, stated)


def load_clusterwise(
    path: str | Path, *, encoder: nn.Module | None = None, device: str = "cpu"
) -> LoadedClusterwise:
    """Read a network, ready to be used. An encoder of one's own is handed over and filled."""
    tensors, facts = read_tensors(path)
    if facts.pop("variant", None) != VARIANT:
        raise InputError(
            f"{str(path)!r} holds weights of the pointwise process. Read it with "
            "samekind.clusterers.ncp.amortized.weights.load, or give weights of "
            "the clusterwise one."
        )
    network = ClusterwiseNetwork(ClusterwiseSizes.from_json(facts.pop("sizes")), encoder)
    fill(network, tensors, path)
    return LoadedClusterwise(network.to(device).eval(), facts)
