"""Where the networks of NCP come from: the shipped file, a file of one's own, or training."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from samekind.clusterers.ncp.amortized.calibration import Calibrated
from samekind.clusterers.ncp.amortized.clusterwise import ClusterwiseNetwork
from samekind.clusterers.ncp.amortized.clusterwise_weights import load_clusterwise
from samekind.clusterers.ncp.amortized.generators import Generator
from samekind.clusterers.ncp.amortized.network import NCPNetwork, Sizes
from samekind.clusterers.ncp.amortized.training import History, train
from samekind.clusterers.ncp.amortized.weights import load, read_tensors, save
from samekind.errors import InputError

TrainingReport = Callable[[int, float, float], None]


FILES = {"pointwise": "general.safetensors", "clusterwise": "clusterwise.safetensors"}
"""What is shipped, by variant."""


class Trained(NamedTuple):
    """A network, and whether it was trained on calibrated vectors."""

    network: NCPNetwork | ClusterwiseNetwork
    calibrated: bool


def shipped(variant: str = "pointwise") -> Path:
    """The weights for general vectors that come with the package."""
    import samekind.clusterers.ncp.amortized.trained as folder

    return Path(folder.__file__ or "").parent / FILES[variant]


def variant_of(weights: str | Path) -> str:
    """Which variant a file holds weights of."""
    path = _there(weights)
    return _variant(str(path.resolve()), path.stat().st_mtime_ns)


def network_of(weights: str | Path | None, device: str, variant: str = "pointwise") -> Trained:
    """The network in a file (None: the shipped one); read once while the file stays the same."""
    path = _there(shipped(variant) if weights is None else weights)
    found = variant_of(path)
    if found != variant:
        raise InputError(
            f"{str(path)!r} holds weights of the variant {found!r}, not {variant!r}. Leave the "
            f"variant at 'auto', or give weights of {variant!r}."
        )
    return _read(str(path.resolve()), path.stat().st_mtime_ns, device, variant)


def _there(weights: str | Path) -> Path:
    path = Path(weights)
    if not path.is_file():
        raise InputError(
            f"There are no weights at {str(path)!r}. Give a file that NCP.train wrote, or None "
            "for those that come with the package."
        )
    return path


@lru_cache(maxsize=8)
def _variant(path: str, changed: int) -> str:
    return str(read_tensors(path)[1].get("variant", "pointwise"))


@lru_cache(maxsize=4)
def _read(path: str, changed: int, device: str, variant: str) -> Trained:
    network: NCPNetwork | ClusterwiseNetwork
    network, facts = (load_clusterwise if variant == "clusterwise" else load)(path, device=device)
    if network.sizes.encoder not in ("points", "none"):
        raise InputError(
            f"The weights in {path!r} are for {network.sizes.encoder!r}, not for vectors. Give "
            "weights that were trained on vectors."
        )
    if isinstance(network, ClusterwiseNetwork) and network.sizes.kind != "ccp":
        raise InputError(
            f"The weights in {path!r} are of the kind {network.sizes.kind!r}, where an item is "
            "seen only together with all others, so that no further item can be placed. Give "
            "weights of the kind 'ccp'."
        )
    return Trained(network.requires_grad_(False), bool(facts.get("calibrated", False)))


def train_network(
    generator: Generator,
    path: str | Path,
    *,
    sizes: Sizes | None,
    calibrate: bool,
    steps: int | None,
    seconds: float | None,
    batch: int,
    lr: float,
    device: str | None,
    seed: int,
    progress: TrainingReport | None,
) -> History:
    """Train a network on what a generator draws, and write it to a file."""
    import torch

    dim = getattr(generator, "dim", None)
    if not isinstance(dim, int):
        raise InputError(
            f"{type(generator).__name__} does not say of how many numbers its points are (dim). "
            "NCP groups vectors: give a generator of vectors, such as GaussianMixtures(dim=3)."
        )
    if calibrate and not isinstance(generator, Calibrated):
        generator = Calibrated(generator, dim)
    if sizes is not None and sizes.inputs != dim:
        raise InputError(
            f"The network would read {sizes.inputs} numbers per point, the generator draws {dim}. "
            f"Give Sizes(inputs={dim})."
        )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = NCPNetwork(sizes or Sizes(inputs=dim))
    history = train(
        network, generator, steps=steps, seconds=seconds, batch=batch, lr=lr, device=device,
        seed=seed, progress=progress,
    )  # fmt: skip
    facts: dict[str, Any] = {
        "calibrated": isinstance(generator, Calibrated), "points": list(generator.points),
        "steps": history.steps[-1], "nll": median(history.nll_per_point[-10:]), "seed": seed,
    }  # fmt: skip
    save(path, network, facts)
    return history
