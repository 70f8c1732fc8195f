"""The clusterwise process on many points: seconds and ARI, against k-means that is told K.

    python -m benchmarks.ncp.large --weights clusterwise.safetensors --json ncp_large.json
    python -m benchmarks.ncp.large --seconds 240 --out clusterwise.safetensors   # trains first

Mixtures of Gaussians in 2 and 8 dimensions (centres N(0, 10^2), groups of width 0.5 to 2, MFM prior
of the number of groups), 1,000 to 100,000 points, the same data for all. The network was trained
on data sets of a few hundred general vectors and is not told K. Seconds hold everything from raw
vectors to labels. Methods: `once`, one grouping with the mean of z and a threshold; `best`, the
most probable (over all orders of its groups) of several such groupings from different anchors;
`drawn`, the most probable of as many posterior samples; each of them also after a sweep.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import torch

from samekind.clusterers.ncp.amortized.calibration import Calibration
from samekind.clusterers.ncp.amortized.clusterwise import ClusterwiseNetwork, ClusterwiseSizes
from samekind.clusterers.ncp.amortized.clusterwise_sampler import ClusterwiseSampler, reassigned
from samekind.clusterers.ncp.amortized.clusterwise_training import train_clusterwise
from samekind.clusterers.ncp.amortized.generators import GaussianMixtures
from samekind.clusterers.ncp.amortized.mixed_vectors import general_vectors
from samekind.clusterers.ncp.amortized.priors import MFM
from samekind.clusterers.ncp.amortized.weights import load_clusterwise, save
from samekind.compute import best_device, synchronise
from samekind.evaluation import ari

Row = dict[str, Any]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    add = parser.add_argument
    add("--weights", default=None)
    add("--seconds", type=float, default=240.0, help="of training, if there are no weights")
    add("--kind", default="ccp", choices=("ccp", "acp-s", "acp"))
    add("--width", type=int, default=128)
    add("--train-points", type=int, nargs=2, default=(8, 400))
    add("--kinds", type=int, default=16, help="most groups of a data set in training")
    add("--batch", type=int, default=32)
    add("--lr", type=float, default=1.5e-3)
    add("--passes", type=int, default=4)
    add("--draws", type=int, default=8)
    add("--out", default=None, help="file for the weights that were trained")
    add("--sizes", type=int, nargs="*", default=(1_000, 10_000, 100_000))
    add("--dims", type=int, nargs="*", default=(2, 8))
    add("--sets", type=int, default=10, help="data sets of each size and dimension")
    add("--samples", type=int, default=8)
    add("--seed", type=int, default=0)
    add("--device", default=None)
    add("--json", default=None)
    wanted = parser.parse_args(arguments)
    device = best_device(wanted.device).device
    network = network_of(wanted, device)
    rows = []
    for dim in wanted.dims:
        for n in wanted.sizes:
            rows += table(network, dim, n, wanted, device)
            show(rows[-len(METHODS) - 1 :])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"\npeak memory {peak:.0f} MiB on the host, {device}")
    if wanted.json:
        result = {"settings": vars(wanted), "device": device, "peak_mib": peak, "rows": rows}
        Path(wanted.json).write_text(json.dumps(result, indent=1, default=str))


def network_of(wanted: argparse.Namespace, device: str) -> ClusterwiseNetwork:
    if wanted.weights:
        return load_clusterwise(wanted.weights, device=device).network
    torch.manual_seed(wanted.seed)
    sizes = ClusterwiseSizes(kind=wanted.kind, inputs=16, width=wanted.width, features=wanted.width)
    network = ClusterwiseNetwork(sizes)
    low, high = wanted.train_points
    history = train_clusterwise(
        network, general_vectors((low, high), wanted.kinds), seconds=wanted.seconds,
        batch=wanted.batch, lr=wanted.lr, passes=wanted.passes, draws=wanted.draws, device=device,
        seed=wanted.seed, quick=True,
        progress=lambda step, done, loss: print(f"{step:6d} {done:5.0%} {loss:.4f}", flush=True),
    )  # fmt: skip
    print(f"{history.steps[-1]} steps on {device}")
    if wanted.out:
        facts = {
            "command": {k: v for k, v in vars(wanted).items() if k not in ("out", "json")},
            "calibrated": True, "points": [low, high], "steps": history.steps[-1],
            "nll": median(history.nll_per_point[-10:]),
        }  # fmt: skip
        save(wanted.out, network, facts, half=True)
        print(f"{wanted.out}: {Path(wanted.out).stat().st_size / 1e6:.2f} MB")
        network = load_clusterwise(wanted.out, device=device).network
    return network


Group = Callable[[ClusterwiseNetwork, torch.Tensor, int, torch.Generator], torch.Tensor]


def once(
    network: ClusterwiseNetwork, x: torch.Tensor, samples: int, chance: torch.Generator
) -> torch.Tensor:
    sampler = ClusterwiseSampler(network, latent="mean", join="threshold")
    (found,) = sampler.sample(x, 1, generator=chance, most_scored=0)
    return found.labels[:1]


def best(
    network: ClusterwiseNetwork, x: torch.Tensor, samples: int, chance: torch.Generator
) -> torch.Tensor:
    sampler = ClusterwiseSampler(network, latent="mean", join="threshold")
    (found,) = sampler.sample(x, samples, generator=chance, orders=2, draws=2)
    return found.labels[:1]


def drawn(
    network: ClusterwiseNetwork, x: torch.Tensor, samples: int, chance: torch.Generator
) -> torch.Tensor:
    (found,) = ClusterwiseSampler(network).sample(x, samples, generator=chance, orders=2, draws=2)
    return found.labels[:1]


METHODS: dict[str, tuple[Group, bool]] = {
    "once": (once, False),
    "once, reassigned": (once, True),
    "best": (best, False),
    "best, reassigned": (best, True),
    "drawn": (drawn, False),
    "drawn, reassigned": (drawn, True),
}


def table(
    network: ClusterwiseNetwork, dim: int, n: int, wanted: argparse.Namespace, device: str
) -> list[Row]:
    """One row per method: means over the data sets."""
    data = GaussianMixtures(
        dim=dim, prior=MFM(5.0, 1.5, 16), points=(n, n), max_groups=16, scale=(0.5, 2.0),
        scales="group",
    )  # fmt: skip
    found: dict[str, list[tuple[float, float, int, int]]] = {}
    for number in range(wanted.sets):
        chance = torch.Generator().manual_seed(1000 * wanted.seed + number)
        episode = data.draw(1, chance)
        X, truth = episode.x[0].numpy(), episode.labels[0].numpy()
        K = int(truth.max()) + 1
        for name in METHODS:
            labels, seconds = grouped(network, X, name, wanted, device, number)
            found.setdefault(name, []).append((ari(truth, labels), seconds, labels.max() + 1, K))
        labels, seconds = k_means(X, K, number)
        found.setdefault("k-means, true K", []).append((ari(truth, labels), seconds, K, K))
    return [summary(dim, n, name, np.array(values, float)) for name, values in found.items()]


def grouped(
    network: ClusterwiseNetwork,
    X: np.ndarray,
    name: str,
    wanted: argparse.Namespace,
    device: str,
    number: int,
) -> tuple[np.ndarray, float]:
    group, sweep = METHODS[name]
    began = time.perf_counter()
    x = torch.from_numpy(Calibration.of(X, network.sizes.inputs)(X)).to(device)[None]
    chance = torch.Generator(device).manual_seed(number)
    labels = group(network, x, wanted.samples, chance)
    if sweep:
        labels = reassigned(network, x, labels, generator=chance)
    result = labels[0].cpu().numpy()
    synchronise(device)
    return result, time.perf_counter() - began


def k_means(X: np.ndarray, K: int, number: int) -> tuple[np.ndarray, float]:
    from sklearn.cluster import MiniBatchKMeans

    began = time.perf_counter()
    labels = MiniBatchKMeans(K, n_init=3, random_state=number).fit_predict(X)
    return labels, time.perf_counter() - began


def summary(dim: int, n: int, name: str, values: np.ndarray) -> Row:
    score, seconds, found, true = values.T
    half = 1.96 * score.std(ddof=1) / np.sqrt(len(score)) if len(score) > 1 else float("nan")
    return {
        "d": dim, "N": n, "method": name, "ARI": float(score.mean()), "+-": float(half),
        "seconds": float(np.median(seconds)), "K": float(found.mean()),
        "true K": float(true.mean()), "|K error|": float(np.abs(found - true).mean()),
    }  # fmt: skip


def show(rows: list[Row]) -> None:
    print("\n" + "  ".join(f"{key:>15}" for key in rows[0]))
    for row in rows:
        cells = (f"{v:15.3f}" if isinstance(v, float) else f"{v!s:>15}" for v in row.values())
        print("  ".join(cells), flush=True)


if __name__ == "__main__":
    main()
