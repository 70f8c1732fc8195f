"""Networks of NCP: from the shipped file, from a file of the user, or from training."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy as np

from samekind.clusterers.ncp.amortized.calibration import Calibrated
from samekind.clusterers.ncp.amortized.clusterwise import ClusterwiseNetwork
from samekind.clusterers.ncp.amortized.generators import Generator
from samekind.clusterers.ncp.amortized.network import NCPNetwork, Sizes
from samekind.clusterers.ncp.amortized.training import train
from samekind.clusterers.ncp.amortized.training_loop import History
from samekind.clusterers.ncp.amortized.weights import load_clusterwise, read_tensors, save
from samekind.clusterers.ncp.readers import Reader, load_with_reader
from samekind.errors import InputError

TrainingReport = Callable[[int, float, float], None]


FILES = {
    "pointwise": "general.safetensors", "clusterwise": "clusterwise.safetensors",
    "acp": "acp.safetensors", "acp-s": "acp-s.safetensors",
}  # fmt: skip
"""Shipped files by variant."""


NAMED = {
    "general": "general.safetensors", "plane": "plane.safetensors",
    "glyphs": "glyphs.safetensors", "photos": "photos.safetensors",
}  # fmt: skip
"""Shipped files by the name that is given as weights."""


class Trained(NamedTuple):
    """A network, whether it was trained on calibrated vectors, and what makes points of the items.

    A `reader` of None takes vectors as they are.
    """

    network: NCPNetwork | ClusterwiseNetwork
    calibrated: bool
    reader: Reader | None = None

    def points(self, X: Any, check: Callable[..., Any]) -> Any:
        """(n, d) vectors, checked by a function of scikit-learn; of pictures and frozen vectors
        what their reader makes of them."""
        if self.reader is not None and self.reader.takes_pictures:
            return self.reader(X)
        X = check(X, dtype=[np.float64, np.float32])
        return X if self.reader is None else self.reader(X)


def shipped(variant: str = "pointwise", columns: int | None = None) -> Path:
    """The weights that come with the package: for general vectors, or for points in the plane."""
    in_plane = variant == "pointwise" and columns == 2
    return _folder() / (NAMED["plane"] if in_plane else FILES[variant])


def _folder() -> Path:
    import samekind.clusterers.ncp.amortized.trained as folder

    return Path(folder.__file__ or "").parent


def variant_of(weights: str | Path) -> str:
    """The variant of the weights in a file."""
    path = weights_file(weights)
    return _variant(str(path.resolve()), path.stat().st_mtime_ns)


def network_of(
    weights: str | Path | None,
    device: str,
    variant: str = "pointwise",
    columns: int | None = None,
) -> Trained:
    """The network in a file (None: the shipped one for vectors of so many columns).

    A file is read once while it stays the same.
    """
    path = weights_file(shipped(variant, columns) if weights is None else weights)
    found = variant_of(path)
    if found != variant:
        raise InputError(
            f"Expected weights of the variant {variant!r}, got {found!r} in {str(path)!r}. "
            f"Leave the variant at 'auto', or give weights of {variant!r}."
        )
    return _read(str(path.resolve()), path.stat().st_mtime_ns, device, variant)


def weights_file(weights: str | Path) -> Path:
    """The file of weights that are given by name or path; InputError if there is none."""
    path = _folder() / NAMED[str(weights)] if str(weights) in NAMED else Path(weights)
    if not path.is_file():
        raise InputError(
            f"Expected a file of weights, found none at {str(path)!r}. Give a file that NCP.train "
            f"wrote, one of {', '.join(NAMED)}, or None for the weights of the package."
        )
    return path


@lru_cache(maxsize=8)
def _variant(path: str, changed: int) -> str:
    facts = read_tensors(path)[1]
    if "variant" not in facts:
        return "pointwise"
    kind = str(facts["sizes"].get("kind", "ccp"))
    return "clusterwise" if kind == "ccp" else kind


@lru_cache(maxsize=4)
def _read(path: str, changed: int, device: str, variant: str) -> Trained:
    network: NCPNetwork | ClusterwiseNetwork
    reader: Reader | None = None
    if variant == "pointwise":
        network, reader, facts = load_with_reader(path, device=device)
    else:
        network, facts = load_clusterwise(path, device=device)
    if reader is None and network.sizes.encoder not in ("points", "none"):
        raise InputError(
            f"Expected weights for vectors, got weights for {network.sizes.encoder!r} in {path!r}. "
            "Give weights that were trained on vectors."
        )
    return Trained(network.requires_grad_(False), bool(facts.get("calibrated", False)), reader)


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
            f"Expected a generator of vectors with their dimension (dim), got "
            f"{type(generator).__name__}. Give one such as GaussianMixtures(dim=3)."
        )
    if calibrate and not isinstance(generator, Calibrated):
        generator = Calibrated(generator, dim)
    if sizes is not None and sizes.inputs != dim:
        raise InputError(
            f"Expected sizes for points of {dim} numbers, as the generator draws them, got "
            f"{sizes.inputs}. Give Sizes(inputs={dim})."
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
