"""Where the networks of NCP come from: the shipped file, a file of one's own, or training."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from samekind.amortized.calibration import Calibrated
from samekind.amortized.generators import Generator
from samekind.amortized.network import NCPNetwork, Sizes
from samekind.amortized.training import History, train
from samekind.amortized.weights import load, save
from samekind.errors import InputError

Told = Callable[[int, float, float], None]


class Trained(NamedTuple):
    """A network, and whether it was trained on calibrated vectors."""

    network: NCPNetwork
    calibrated: bool


def shipped() -> Path:
    """The weights for general vectors that come with the package."""
    import samekind.amortized.trained as folder

    return Path(folder.__file__ or "").parent / "general.safetensors"


def network_of(weights: str | Path | None, device: str) -> Trained:
    """The network in a file (None: the shipped one); read once while the file stays the same."""
    path = shipped() if weights is None else Path(weights)
    if not path.is_file():
        raise InputError(
            f"There are no weights at {str(path)!r}. Give a file that NCP.train wrote, or None "
            "for those that come with the package."
        )
    return _read(str(path.resolve()), path.stat().st_mtime_ns, device)


@lru_cache(maxsize=4)
def _read(path: str, changed: int, device: str) -> Trained:
    network, facts = load(path, device=device)
    if network.sizes.encoder not in ("points", "none"):
        raise InputError(
            f"The weights in {path!r} are for {network.sizes.encoder!r}, not for vectors. Give "
            "weights that were trained on vectors."
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
    progress: Told | None,
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
