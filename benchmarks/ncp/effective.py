"""How many independent draws of the true posterior a sampler is worth: effective sample sizes.

A network gives each of its draws a probability, and where the true model is known, each draw has an
importance weight: how much more probable it is in truth. Equal weights mean an exact sampler. Draws
of a Markov chain are exact in the long run, but depend on each other.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from benchmarks.ncp import gibbs
from benchmarks.ncp.laws import Floats, Labels

Row = dict[str, Any]


def effective(log_weight: Floats, count: Floats) -> float:
    """The number of equally weighted draws that these are worth, each drawn so many times.

    >>> effective(np.zeros(3), np.array([2.0, 1, 1]))
    4.0
    """
    w = np.exp(log_weight - log_weight.max())
    return float((count * w).sum() ** 2 / (count * w * w).sum())


def autocorrelation_time(chain: Floats) -> float:
    """Steps of a chain (T,) per independent draw, by Geyer's initial positive sequence.

    1 if it never changes: then nothing says that draws depend on each other.
    """
    moved = chain - chain.mean()
    T, power = len(chain), float(np.square(moved).mean())
    if power <= 0:
        return 1.0
    padded = np.fft.rfft(moved, 2 * T)
    rho = np.fft.irfft(np.abs(padded) ** 2)[:T] / (T * power)
    total = 1.0
    for k in range(1, T - 1, 2):
        pair = rho[k] + rho[k + 1]
        if pair <= 0:
            break
        total += 2 * pair
    return float(max(1.0, total))


def by_network(network: Any, seen: Floats, x: Floats, model: gibbs.Model, draws: int) -> Row:
    """Draws of a pointwise network in one order, weighed by the true model.

    `seen` are the points as the network sees them, `x` as they are.
    """
    from samekind.clusterers.ncp.pointwise import Pointwise

    began = time.process_time()
    found = Pointwise(network, seen.astype(np.float32), None, 0).samples(draws, 1)
    seconds = time.process_time() - began
    labels = found.labels.cpu().numpy().astype(np.intp)
    log_weight = gibbs.log_joint(x, labels, model) - found.log_prob.double().cpu().numpy()
    size = effective(log_weight, found.count.double().cpu().numpy())
    return {"effective": size, "draws": draws, "seconds": seconds, "different": len(labels)}


def by_gibbs(x: Floats, model: gibbs.Model, sweeps: int, rng: np.random.Generator) -> Row:
    """Four chains of Gibbs sampling; the first half of each is left out."""
    began = time.process_time()
    run = gibbs.sample(x[None], model, rng, sweeps=sweeps, keep=sweeps - sweeps // 2)
    seconds = time.process_time() - began
    chains = run.n_groups.shape[1]
    draws = run.draws[0].reshape(-1, chains, x.shape[0])  # (T, chains, N)
    sizes = [
        sum(len(draws) / autocorrelation_time(trace(draws[:, c])) for c in range(chains))
        for trace in (n_groups, pairs_together)
    ]
    return {"effective": min(sizes), "draws": len(draws) * chains, "seconds": seconds}


def n_groups(draws: Labels) -> Floats:
    """(T,) groups of each draw."""
    return np.array([len(np.unique(row)) for row in draws], dtype=float)


def pairs_together(draws: Labels) -> Floats:
    """(T,) share of pairs in one group."""
    return np.array([np.square(np.bincount(row)).sum() / len(row) ** 2 for row in draws])
