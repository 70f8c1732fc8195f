"""Weights in a file: safetensors, with the sizes of the network and what it was trained on.

No pickle is written or read. The file appears whole or not at all.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from torch import Tensor, nn

from samekind.atomic_files import draft_name, sync_folder
from samekind.clusterers.ncp.amortized.network import NCPNetwork, Sizes
from samekind.errors import InputError

FORMAT = "samekind-ncp-1"


class Loaded(NamedTuple):
    """A network from a file, and what the file says about it."""

    network: NCPNetwork
    facts: dict[str, Any]


def save(path: str | Path, network: NCPNetwork, facts: Mapping[str, Any] | None = None) -> None:
    """Write a network; `facts` (plain JSON) say how it was trained."""
    stated = {"sizes": network.sizes.as_json(), **(facts or {})}
    write_tensors(path, dict(network.state_dict()), stated)


def load(path: str | Path, *, encoder: nn.Module | None = None, device: str = "cpu") -> Loaded:
    """Read a network, ready to be used. An encoder of one's own is handed over and filled."""
    tensors, facts = read_tensors(path)
    sizes = Sizes.from_json(facts.pop("sizes"))
    network = NCPNetwork(sizes, encoder)
    fill(network, tensors, path)
    return Loaded(network.to(device).eval(), facts)


def write_tensors(
    path: str | Path, tensors: Mapping[str, Tensor], facts: Mapping[str, Any]
) -> None:
    """One safetensors file in place of the one before; a kill leaves the old or the new one."""
    from safetensors.torch import save_file

    final = Path(path)
    final.parent.mkdir(parents=True, exist_ok=True)
    written = draft_name(final)
    plain = {name: value.detach().cpu().contiguous() for name, value in tensors.items()}
    try:
        save_file(plain, written, {"format": FORMAT, "facts": json.dumps(facts, default=list)})
        with written.open("rb") as file:
            os.fsync(file.fileno())
        written.replace(final)
    finally:
        written.unlink(missing_ok=True)
    sync_folder(final.parent)


def read_tensors(path: str | Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Tensors and facts of a file that :func:`write_tensors` wrote."""
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
    """Put weights into a network in its own precision; a sentence if they are not its own."""
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
