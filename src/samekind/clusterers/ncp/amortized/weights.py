"""Weights in a file: safetensors, with the sizes of the network and how it was trained.

No pickle is written or read. Files are written atomically.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from samekind.atomic_files import draft_name, sync_folder
from samekind.clusterers.ncp.amortized.clusterwise import ClusterwiseNetwork, ClusterwiseSizes
from samekind.clusterers.ncp.amortized.network import NCPNetwork, Sizes
from samekind.errors import InputError

FORMAT = "samekind-ncp-1"
CLUSTERWISE = "clusterwise"
"""Variant in the facts of a file of clusterwise weights; files of pointwise weights have none."""


class Loaded(NamedTuple):
    """A pointwise network from a file, and what the file says about it."""

    network: NCPNetwork
    facts: dict[str, Any]


class LoadedClusterwise(NamedTuple):
    """A clusterwise network from a file, and what the file says about it."""

    network: ClusterwiseNetwork
    facts: dict[str, Any]


def save(
    path: str | Path,
    network: NCPNetwork | ClusterwiseNetwork,
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
            f"Expected finite weights, got others in {odd[0]!r} (or too large for 16 bits). "
            "Train again with a smaller learning rate, or save with half=False."
        )
    variant = {"variant": CLUSTERWISE} if isinstance(network, ClusterwiseNetwork) else {}
    write_tensors(path, kept, {**variant, "sizes": network.sizes.as_json(), **(facts or {})})


def load(path: str | Path, *, encoder: nn.Module | None = None, device: str = "cpu") -> Loaded:
    """Read a pointwise network, ready for use. An encoder of your own is passed in and filled."""
    tensors, facts = read_tensors(path)
    network = NCPNetwork(Sizes.from_json(facts.pop("sizes")), encoder)
    fill(network, tensors, path)
    return Loaded(network.to(device).eval(), facts)


def load_clusterwise(
    path: str | Path, *, encoder: nn.Module | None = None, device: str = "cpu"
) -> LoadedClusterwise:
    """Read a clusterwise network, ready for use."""
    tensors, facts = read_tensors(path)
    if facts.pop("variant", None) != CLUSTERWISE:
        raise InputError(
            f"{str(path)!r} holds weights of the pointwise process. Read it with load, or give "
            "weights of the clusterwise one."
        )
    network = ClusterwiseNetwork(ClusterwiseSizes.from_json(facts.pop("sizes")), encoder)
    fill(network, tensors, path)
    return LoadedClusterwise(network.to(device).eval(), facts)


def write_tensors(
    path: str | Path, tensors: Mapping[str, Tensor], facts: Mapping[str, Any]
) -> None:
    """Write one safetensors file atomically."""
    from safetensors.torch import save_file

    final = Path(path)
    final.parent.mkdir(parents=True, exist_ok=True)
    draft = draft_name(final)
    plain = {name: value.detach().cpu().contiguous() for name, value in tensors.items()}
    try:
        save_file(plain, draft, {"format": FORMAT, "facts": json.dumps(facts, default=list)})
        with draft.open("rb") as file:
            os.fsync(file.fileno())
        draft.replace(final)
    finally:
        draft.unlink(missing_ok=True)
    sync_folder(final.parent)


def read_tensors(path: str | Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Read tensors and facts of a file that :func:`write_tensors` wrote."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="pt") as file:
            stated = file.metadata() or {}
            if stated.get("format") != FORMAT:
                raise InputError(
                    f"{str(path)!r} does not hold weights of the clustering process (or those of "
                    "another version). Give another file, or train a network."
                )
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError) as error:
        raise InputError(
            f"{str(path)!r} cannot be read as weights ({error}). Give another file, or train a "
            "network."
        ) from error
    facts: dict[str, Any] = json.loads(stated["facts"])
    return tensors, facts


def fill(network: nn.Module, tensors: Mapping[str, Tensor], path: str | Path) -> None:
    """Put weights into a network, in its own precision; InputError if they do not fit."""
    wanted = network.state_dict()
    odd = [
        name
        for name in {**wanted, **tensors}
        if name not in wanted or name not in tensors or wanted[name].shape != tensors[name].shape
    ]
    if odd:
        raise InputError(
            f"The weights in {str(path)!r} belong to another network: {odd[0]!r} differs "
            f"({len(odd)} of {len(wanted)} parts do). Use the same sizes and encoder."
        )
    network.load_state_dict({name: value.to(wanted[name].dtype) for name, value in tensors.items()})
