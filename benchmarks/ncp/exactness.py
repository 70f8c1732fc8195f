"""Is the posterior of a trained clustering process right? Against enumeration and the prior.

    python -m benchmarks.ncp.exactness --weights ncp.safetensors --json ncp_exactness.json
    python -m benchmarks.ncp.exactness --seconds 60 --points 4 8     # trains a small one first
    python -m benchmarks.ncp.exactness --seconds 150 --batch 256 --out ncp.safetensors   # a GPU

The weights must have been trained on 2-D mixtures with CRP(0.7), centres N(0, 10^2) and points of
unit scale, not centred (`recipes/ncp.py` does that). Four tables: mean NLL of the true grouping
against the least that any model can reach, in one order and with its probability averaged over
several (a mean of posteriors is a posterior, so that is fair); co-membership against the exact
posterior, placed in one order and averaged over several; the number of groups of samples against
the CRP (data drawn from the model, so the two laws must agree); and how often the most probable
choice is right.
"""

from __future__ import annotations

import argparse
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.measuring import provenance
from benchmarks.ncp.exact import DirichletGaussians
from samekind.clusterers.ncp.amortized.generators import GaussianMixtures
from samekind.clusterers.ncp.amortized.likelihood import (
    log_joint,
    random_order,
    relabel,
    step_log_probs,
)
from samekind.clusterers.ncp.amortized.network import NCPNetwork, Sizes
from samekind.clusterers.ncp.amortized.priors import CRP
from samekind.clusterers.ncp.amortized.sampler import Sampler
from samekind.clusterers.ncp.amortized.training import train
from samekind.clusterers.ncp.amortized.training_loop import doubling_ranges
from samekind.clusterers.ncp.amortized.weights import load, save
from samekind.compute import best_device

MODEL = DirichletGaussians(alpha=0.7, scale=1.0, spread=10.0)
ORDERS = (8, 16)
"""Orders over which the probability of the truth is averaged."""
ROWS = 200
"""Data sets that are looked at together."""
Row = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    add = parser.add_argument
    add("--weights", default=None)
    add("--seconds", type=float, default=60.0, help="of training, if there are no weights")
    add("--points", type=int, nargs=2, default=(4, 100), help="of that training")
    add("--batch", type=int, default=64, help="data sets per step of it")
    add("--lr", type=float, default=2e-3)
    add("--width", type=int, default=128)
    add("--mix", default="doubling", choices=("doubling", "even"), help="sizes of its data sets")
    add("--quick", action="store_true", help="TF32 in training on a GPU; less exact")
    add("--out", default=None, help="file for the trained weights")
    add("--draws", type=int, default=2000, help="data sets per line of the first table")
    add("--sets", type=int, default=200, help="data sets per line of the second")
    add("--law-sets", type=int, default=2000, help="data sets per line of the third")
    add("--law-points", type=int, nargs="*", default=(10, 20, 50, 100))
    add("--samples", type=int, default=2000, help="of each data set in the second")
    add("--seed", type=int, default=0)
    add("--device", default=None)
    add("--json", default=None)
    wanted = parser.parse_args()
    network, facts = network_of(wanted)
    device = next(network.parameters()).device
    rng = np.random.default_rng(wanted.seed)
    result = {
        "settings": vars(wanted),
        "nll": [nll_row(network, n, wanted.draws, rng) for n in range(4, 9)],
        "co_membership": [
            pairs_row(network, n, wanted.sets, wanted.samples, rng) for n in (5, 6, 7)
        ],
        "groups": [groups_row(network, n, wanted.law_sets, rng) for n in wanted.law_points],
        "calibration": calibration(network, max(wanted.law_points), 400, rng),
        "device": str(device),
        "training": facts,
    }
    for name in ("nll", "co_membership", "groups", "calibration"):
        show(name, result[name])
    if wanted.json:
        result |= provenance()
        Path(wanted.json).write_text(json.dumps(result, indent=1, default=str))


def network_of(wanted: argparse.Namespace) -> tuple[NCPNetwork, Row]:
    """The network to be looked at, and how it was trained."""
    device = best_device(wanted.device).device
    if wanted.weights:
        return load(wanted.weights, device=device)
    torch.manual_seed(wanted.seed)
    (low, high), width = wanted.points, wanted.width
    network = NCPNetwork(Sizes(features=width, width=width, h_outputs=width, g_outputs=width))
    data = GaussianMixtures(points=(low, high), max_groups=min(16, high))
    history = train(
        network, data, seconds=wanted.seconds, batch=wanted.batch, lr=wanted.lr, device=device,
        seed=wanted.seed, quick=wanted.quick,
        ranges=doubling_ranges(data.points) if wanted.mix == "doubling" else 4,
        progress=lambda step, done, loss: print(f"{step:6d} {done:5.0%} {loss:.4f}", flush=True)
        if step % 500 == 0 else None,
    )  # fmt: skip
    facts: Row = {"steps": history.steps[-1], "seconds": history.seconds[-1], "device": device}
    facts |= {"nll per point": float(np.mean(history.nll_per_point[-20:]))}
    print(facts)
    if wanted.out:
        save(wanted.out, network, {"command": vars(wanted), **facts})
    return network, facts


def tensors(network: NCPNetwork, *arrays: Any) -> list[torch.Tensor]:
    device = next(network.parameters()).device
    kinds = {"f": torch.float32, "i": torch.long}
    return [torch.from_numpy(a).to(device, kinds[a.dtype.kind]) for a in arrays]


@torch.no_grad()
def nll_row(network: NCPNetwork, n: int, draws: int, rng: np.random.Generator) -> Row:
    """Mean NLL of the truth under the network and under the exact posterior, same data."""
    ours, floor, mixed = [], [], []
    chance = torch.Generator(next(network.parameters()).device).manual_seed(n)
    for begin in range(0, draws, ROWS):
        x, labels = MODEL.draw(min(ROWS, draws - begin), n, rng)
        floor.append(-MODEL.posterior(x).log_prob_of(labels))
        given = tensors(network, x, labels)
        ours.append(-log_joint(network, *given).cpu().numpy())
        mixed.append(-over_orders(network, *given, chance).cpu().numpy())  # (averages, rows)
    a, b = np.concatenate(ours), np.concatenate(floor)
    row = {"N": n, "nll": a.mean(), "floor": b.mean(), "gap": (a - b).mean(), "+-": error_of(a - b)}
    for orders, c in zip(ORDERS, np.concatenate(mixed, axis=1), strict=True):
        row |= {f"gap, {orders} orders": (c - b).mean(), f"+- {orders}": error_of(c - b)}
    return row


def error_of(values: Any) -> float:
    """Standard error of a mean."""
    return float(values.std(ddof=1) / np.sqrt(len(values)))


def over_orders(
    network: NCPNetwork, x: torch.Tensor, labels: torch.Tensor, chance: torch.Generator
) -> torch.Tensor:
    """(len(ORDERS), B) log of the probability averaged over so many random orders."""
    found = []
    everywhere = torch.ones_like(labels, dtype=torch.bool)
    for _ in range(max(ORDERS)):
        order = random_order(everywhere, chance)
        named = relabel(labels.gather(1, order))
        found.append(log_joint(network, x.take_along_dim(order[..., None], 1), named))
    each = torch.stack(found)
    return torch.stack([each[:k].logsumexp(0) - np.log(k) for k in ORDERS])


def pairs_row(
    network: NCPNetwork, n: int, sets: int, samples: int, rng: np.random.Generator
) -> Row:
    """Mean absolute error of p(same group) over pairs and data sets."""
    x, _ = MODEL.draw(sets, n, rng)
    exact = MODEL.posterior(x).co_membership()
    upper = np.triu_indices(n, 1)
    chance = torch.Generator(next(network.parameters()).device).manual_seed(n)
    errors: dict[str, list[float]] = {"listed, one order": [], "sampled, 8 orders": []}
    for b in range(sets):
        (given,) = tensors(network, x[b : b + 1])
        (listed,) = Sampler(network).beam(given, None, generator=chance)
        (drawn,) = Sampler(network).sample(given, samples, orders=8, generator=chance)
        for name, found in zip(errors, (listed, drawn), strict=True):
            together = found.co_membership().cpu().numpy()
            errors[name].append(float(np.abs(together - exact[b])[upper].mean()))
    return {"N": n, **{name: float(np.mean(values)) for name, values in errors.items()}}


def groups_row(network: NCPNetwork, n: int, sets: int, rng: np.random.Generator) -> Row:
    """Law of K: data from the model, one sample of each; it must be the prior's."""
    prior = CRP(MODEL.alpha)
    mean, variance = prior.moments(n)
    chance = torch.Generator(next(network.parameters()).device).manual_seed(n)
    found: list[int] = []
    for begin in range(0, sets, ROWS):
        x, _ = MODEL.draw(min(ROWS, sets - begin), n, rng)
        drawn = Sampler(network).sample(tensors(network, x)[0], 1, generator=chance)
        found += [int(s.n_groups[0]) for s in drawn]
    K = np.array(found)
    law = np.array(prior.n_groups_distribution(n))
    share = np.bincount(K, minlength=n + 1) / len(K)
    return {
        "N": n, "mean K": K.mean(), "CRP": mean, "var K": K.var(ddof=1), "CRP var": variance,
        "z": (K.mean() - mean) / np.sqrt(variance / len(K)),
        "total variation": 0.5 * np.abs(share - law).sum(),
    }  # fmt: skip


@torch.no_grad()
def calibration(network: NCPNetwork, n: int, sets: int, rng: np.random.Generator) -> list[Row]:
    """The probability of the most probable choice, and how often it is right."""
    sure, right = [], []
    for begin in range(0, sets, ROWS):
        x, labels = MODEL.draw(min(ROWS, sets - begin), n, rng)
        given = tensors(network, x, labels)
        top, choice = step_log_probs(network, *given)[:, 1:].max(2)
        sure.append(top.exp().cpu().numpy().ravel())
        right.append((choice == given[1][:, 1:]).cpu().numpy().ravel())
    p, hit = np.concatenate(sure), np.concatenate(right)
    edges = [0.0, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0 + 1e-6]
    rows = []
    for low, high in pairwise(edges):
        mine = (p >= low) & (p < high)
        if mine.any():
            rows.append({
                "from": low, "to": min(high, 1.0), "steps": int(mine.sum()),
                "said": p[mine].mean(), "right": hit[mine].mean(),
            })  # fmt: skip
    return rows


def show(name: str, rows: list[Row]) -> None:
    print(f"\n{name}")
    print("  ".join(f"{key:>17}" for key in rows[0]))
    for row in rows:
        print("  ".join(f"{v:17d}" if isinstance(v, int) else f"{v:17.4f}" for v in row.values()))


if __name__ == "__main__":
    main()
