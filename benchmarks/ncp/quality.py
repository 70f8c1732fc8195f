"""How good the groups of the clustering process are, against what one would use instead.

    python -m benchmarks.ncp.quality --save weights --json ncp_quality.json     # trains first
    python -m benchmarks.ncp.quality --weights weights-{world}.safetensors --json ncp_quality.json

2-D mixtures, number of groups unknown (CRP 0.7), the same data for all. Two worlds: ``clear`` has
centres N(0, 10^2) and unit scale; ``overlapping`` has centres N(0, 4^2) and a scale between 0.5
and 2 for each group. What each method knows:

* ``ncp`` was trained on data sets of the same world (other draws): it knows the law of the data.
* ``ncp shipped`` is the estimator with the weights of the package, trained on no world of these.
* ``gibbs`` is told the true model, with all its constants, and runs long. It is the yardstick.
* ``dp-gmm`` is told the true concentration (0.7) and has 20 components, as many as groups can be;
  ``spherical`` also has the true shape of the groups. Scales and centres it must find.
* ``hdbscan`` and ``k-means silhouette`` know nothing. Points that HDBSCAN calls noise go to the
  group of the nearest point that it does group.

ARI and the number of groups are of the one grouping that a method recommends: the most probable
one, where there is a posterior. Seconds are those of one data set by itself.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import stats

from benchmarks.measuring import provenance, table
from benchmarks.ncp import gibbs
from samekind.clusterers.ncp.amortized.generators import GaussianMixtures
from samekind.clusterers.ncp.amortized.network import NCPNetwork
from samekind.clusterers.ncp.amortized.sampler import Sampler
from samekind.clusterers.ncp.amortized.samples import rescored
from samekind.clusterers.ncp.amortized.training import train
from samekind.clusterers.ncp.amortized.weights import load, save
from samekind.compute import best_device
from samekind.evaluation import ari

Floats = NDArray[np.float64]
Labels = NDArray[np.intp]
Method = Callable[[Floats], Labels]
ALPHA, MOST_GROUPS = 0.7, 20
Row = dict[str, Any]


@dataclass(frozen=True)
class World:
    """Where data come from, and the same as a model for the Gibbs sampler."""

    generator: GaussianMixtures
    model: gibbs.Model


WORLDS = {
    "clear": World(GaussianMixtures(max_groups=MOST_GROUPS), gibbs.Model(ALPHA, 10.0)),
    "overlapping": World(
        GaussianMixtures(spread=4.0, scale=(0.5, 2.0), scales="group", max_groups=MOST_GROUPS),
        gibbs.Model.log_uniform(ALPHA, 4.0, 0.5, 2.0),
    ),
}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    add = parser.add_argument
    add("--worlds", nargs="+", default=list(WORLDS), choices=list(WORLDS))
    add("--sizes", type=int, nargs="+", default=[50, 100, 200, 500])
    add("--draws", type=int, default=50, help="data sets per world and size")
    add("--weights", default=None, help="file, with {world} for the name of the world")
    add("--seconds", type=float, default=60.0, help="of training per world, without --weights")
    add("--points", type=int, nargs=2, default=(5, 60), help="of that training")
    add("--batch", type=int, default=32, help="of that training")
    add("--save", default=None, help="beginning of the files that keep trained weights")
    add("--samples", type=int, default=100, help="of the clustering process")
    add("--sweeps", type=int, default=200, help="of the Gibbs sampler, in four chains")
    add("--without", nargs="*", default=[], help="methods to leave out")
    add("--seed", type=int, default=0)
    add("--device", default=None)
    add("--json", type=Path, default=None)
    wanted = parser.parse_args(arguments)
    rows: list[Row] = []
    for name in wanted.worlds:
        network = network_of(name, wanted)
        for n in wanted.sizes:
            rows += compared(name, n, network, wanted)
            show([row for row in rows if (row["world"], row["N"]) == (name, n)])
    if wanted.json:
        told = {k: str(v) if isinstance(v, Path) else v for k, v in vars(wanted).items()}
        content = {"settings": told, "rows": rows, **provenance()}
        wanted.json.write_text(json.dumps(content, indent=1))


def network_of(name: str, wanted: argparse.Namespace) -> NCPNetwork:
    """The given weights, or a network that is trained here on the world."""
    device = best_device(wanted.device).device
    if wanted.weights:
        return load(wanted.weights.format(world=name), device=device).network
    torch.manual_seed(wanted.seed)
    network, low_high = NCPNetwork(), wanted.points
    data = WORLDS[name].generator.of_size(*low_high)
    history = train(
        network, data, seconds=wanted.seconds, batch=wanted.batch, lr=2e-3, device=device,
        seed=wanted.seed, quick=True,
    )  # fmt: skip
    print(
        f"{name}: trained {history.steps[-1]} steps on {device} in {wanted.seconds:.0f} s,",
        f"{history.nll_per_point[-1]:.4f} nats per point",
        flush=True,
    )
    if wanted.save:
        facts = {"world": name, "steps": history.steps[-1], "points": low_high}
        save(f"{wanted.save}-{name}.safetensors", network, facts)
    return network


def drawn(world: World, n: int, draws: int, seed: int) -> tuple[Floats, Labels]:
    """(draws, n, 2) points and (draws, n) true labels; training has other seeds."""
    chance = torch.Generator().manual_seed(7_000_000 + 1000 * seed + n)
    found: list[tuple[Floats, Labels]] = []
    while sum(len(x) for x, _ in found) < draws:
        x, labels, mask = world.generator.draw(draws, chance, (n, n))
        kept = mask.all(1)  # more than MOST_GROUPS groups: blanked by the generator
        found.append((x[kept].double().numpy(), labels[kept].numpy()))
    points, truth = (np.concatenate(parts)[:draws] for parts in zip(*found, strict=True))
    return points, truth


def compared(name: str, n: int, network: NCPNetwork, wanted: argparse.Namespace) -> list[Row]:
    """All methods on the same data sets of one size."""
    world = WORLDS[name]
    x, truth = drawn(world, n, wanted.draws, wanted.seed)
    rows = []
    for title, method in methods(network, wanted).items():
        if title in wanted.without:
            continue
        found, seconds = [], []
        for points in x:
            began = clocks()
            found.append(method(points))
            seconds.append(clocks() - began)
        rows.append(scored(name, n, title, truth, found, seconds))
    if "gibbs" not in wanted.without:
        rows.append(long_run(name, n, x, truth, wanted))
    return rows


def clocks() -> Floats:
    """Seconds of the clock on the wall, and of processor time: they differ on busy machines."""
    return np.array([time.perf_counter(), time.process_time()])


def scored(
    name: str, n: int, title: str, truth: Labels, found: Sequence[Labels], seconds: Sequence[Floats]
) -> Row:
    """Mean ARI with its 95 % interval (Student), errors of K, seconds (see :func:`clocks`)."""
    scores = np.array([ari(t, f) for t, f in zip(truth, found, strict=True)])
    excess = np.array([len(np.unique(f)) for f in found]) - (truth.max(axis=1) + 1)
    wall, processor = np.mean(seconds, axis=0).tolist()
    half = 0.0
    if len(scores) > 1:
        half = float(stats.t.ppf(0.975, len(scores) - 1) * stats.sem(scores))
    return {
        "world": name, "N": n, "method": title, "draws": len(scores),
        "ari": float(scores.mean()), "ari_half": half, "ari_each": scores.round(4).tolist(),
        "k_error": float(np.abs(excess).mean()), "k_bias": float(excess.mean()),
        "k_right": float((excess == 0).mean()), "seconds": wall, "processor_seconds": processor,
    }  # fmt: skip


def long_run(name: str, n: int, x: Floats, truth: Labels, wanted: argparse.Namespace) -> Row:
    """Gibbs on all data sets side by side, and the first one once more alone, for the time."""
    model = WORLDS[name].model
    rng = np.random.default_rng((wanted.seed, n))
    run = gibbs.sample(x, model, rng, sweeps=wanted.sweeps)
    began = clocks()
    gibbs.sample(x[:1], model, rng, sweeps=wanted.sweeps)
    row = scored(name, n, "gibbs", truth, list(run.best), [clocks() - began])
    return row | {"chains_agree": float((run.spread < 1e-6).mean())}


def methods(network: NCPNetwork, wanted: argparse.Namespace) -> dict[str, Method]:
    """What is compared, by name."""
    device = next(network.parameters()).device
    chance = torch.Generator(device).manual_seed(wanted.seed)

    def ncp(points: Floats) -> Labels:
        x = torch.from_numpy(points[None]).to(device, torch.float32)
        (found,) = Sampler(network).sample(x, wanted.samples, orders=4, generator=chance)
        best = rescored(network, x, found, orders=8, most=20, generator=chance)
        return np.asarray(best.best.cpu().numpy())

    return {
        "ncp": ncp,
        "ncp shipped": lambda points: shipped(points, wanted.seed),
        "dp-gmm full": lambda points: variational(points, "full", wanted.seed),
        "dp-gmm spherical": lambda points: variational(points, "spherical", wanted.seed),
        "hdbscan": hdbscan,
        "k-means silhouette": lambda points: by_silhouette(points, wanted.seed),
    }


def shipped(points: Floats, seed: int) -> Labels:
    from samekind.clusterers.ncp.estimator import NCP

    return np.asarray(NCP(random_state=seed).fit(points).labels_)


def variational(points: Floats, covariance: str, seed: int) -> Labels:
    """scikit-learn's Dirichlet-process mixture; the best of three starts."""
    from sklearn.mixture import BayesianGaussianMixture

    model = BayesianGaussianMixture(
        n_components=min(MOST_GROUPS, len(points)), covariance_type=covariance, n_init=3,
        weight_concentration_prior_type="dirichlet_process", weight_concentration_prior=ALPHA,
        max_iter=500, random_state=seed,
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a start that has not converged is still compared
        return np.asarray(model.fit_predict(points))


def hdbscan(points: Floats) -> Labels:
    """Density clustering as it comes (groups of at least 5); noise joins the nearest group."""
    from sklearn.cluster import HDBSCAN
    from sklearn.neighbors import KNeighborsClassifier

    labels = np.asarray(HDBSCAN(copy=True).fit_predict(points))
    noise = labels < 0
    if noise.all():
        return np.zeros_like(labels)
    if noise.any():
        nearest = KNeighborsClassifier(1).fit(points[~noise], labels[~noise])
        labels[noise] = nearest.predict(points[noise])
    return labels


def by_silhouette(points: Floats, seed: int) -> Labels:
    """k-means with 2 to 20 groups, the number with the best silhouette."""
    from sklearn.cluster import KMeans
    from sklearn.metrics import silhouette_score

    best: tuple[float, Labels] = (-2.0, np.zeros(len(points), dtype=np.intp))
    for k in range(2, min(MOST_GROUPS, len(points) - 1) + 1):
        labels = KMeans(k, n_init=10, random_state=seed).fit_predict(points)
        best = max(best, (float(silhouette_score(points, labels)), labels), key=lambda b: b[0])
    return best[1]


def show(rows: Sequence[Row]) -> None:
    print(f"\n{rows[0]['world']}, N = {rows[0]['N']}, {rows[0]['draws']} draws")
    head = ("method", "ARI", "95 % +-", "|K - true|", "K - true", "K right", "seconds", "processor")
    table([head, *(cells(row) for row in rows)])


def cells(row: Row) -> tuple[str, ...]:
    keys = ("ari", "ari_half", "k_error", "k_bias", "k_right", "seconds", "processor_seconds")
    return (row["method"], *(f"{row[key]:.3f}" for key in keys))


if __name__ == "__main__":
    main()
