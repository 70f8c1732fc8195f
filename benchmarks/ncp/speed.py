"""How fast the clustering process trains and samples, against the loop of the published program.

    python -m benchmarks.ncp.speed --json ncp_speed.json
    python -m benchmarks.ncp.speed --batch 16 --points 40 --iterations 2     # on a small machine
    python -m benchmarks.ncp.speed --shipped --json FILE     # only draws of shipped weights

Both train the network of the published sizes on 2-D mixtures with several orders of each batch and
one step of the optimiser. The published loop is written anew from its description: all data sets
of a batch share one grouping; for each order and each point, each choice copies H and describes
all groups again; log-probabilities go to the host at each step; each order is followed backwards
by itself. First both score the same batch, and must agree.

The cost of the published loop grows with the square of the number of groups. So that few of its
iterations are enough, their groupings are spread evenly over the law of that cost; what they cost
on average, as a part of the expectation, is told. On a CPU that others use as well, the rates per
second of processor time say more than those per second.

``--shipped`` times ``NCP(variant=...).sample_posterior`` from raw vectors to groupings, for each
shipped file, on data sets of the quality benchmark.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from benchmarks.measuring import emit
from benchmarks.ncp import quality
from benchmarks.ncp.summaries import digest
from samekind.clusterers.ncp.amortized.generators import GaussianMixtures
from samekind.clusterers.ncp.amortized.layers import PReLU
from samekind.clusterers.ncp.amortized.likelihood import log_joint, relabel
from samekind.clusterers.ncp.amortized.network import NCPNetwork, Sizes
from samekind.clusterers.ncp.amortized.priors import CRP
from samekind.clusterers.ncp.amortized.sampler import Sampler
from samekind.clusterers.ncp.amortized.training import train
from samekind.clusterers.ncp.amortized.weights import load
from samekind.clusterers.ncp.estimator import NCP
from samekind.clusterers.ncp.weights import FILES, shipped
from samekind.compute import best_device, n_threads, synchronise


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    add = parser.add_argument
    add("--batch", type=int, default=64)
    add("--points", type=int, default=100)
    add("--permutations", type=int, default=6)
    add("--iterations", type=int, default=20, help="of the published loop; ours does 5 times more")
    add("--samples", type=int, default=5000)
    add("--weights", default=None, help="network to sample from; None: trained for 20 seconds")
    add("--device", default=None)
    add("--seed", type=int, default=0)
    add("--shipped", action="store_true", help="only time draws of the shipped weights")
    add("--sets", type=int, default=3, help="data sets of each world, with --shipped")
    add("--variants", nargs="+", default=[v for v in FILES if shipped(v).is_file()])
    add("--json", default=None)
    wanted = parser.parse_args(arguments)
    if wanted.shipped:
        for variant in wanted.variants:
            for world in quality.WORLDS:
                emit(shipped_row(variant, world, wanted), wanted.json and Path(wanted.json))
        return
    device = best_device(wanted.device).device
    result: dict[str, Any] = {"settings": vars(wanted), "device": device, "threads": n_threads()}
    result["largest difference of NLL per point"] = difference(wanted, device)
    rates = {"published loop": published_rate(wanted, device)}
    for name, sizes in (("published sizes", Sizes.reference()), ("default sizes", Sizes())):
        for quick in (False, True) if device != "cpu" else (False,):
            torch.manual_seed(wanted.seed)
            rate = our_rate(NCPNetwork(sizes), wanted, device, quick)
            rates[f"ours, {name}{', TF32' if quick else ''}"] = rate
    for name, rate in rates.items():
        result[f"{name}, it/s"] = rate.wall
        if device == "cpu":
            result[f"{name}, it/s of processor time"] = rate.processor
    base, ours = rates["published loop"], rates["ours, published sizes"]
    result["its groupings cost, part of the expectation"] = groupings(wanted)[1]
    result["times faster, same sizes"] = ours.wall / base.wall
    if device == "cpu":
        result["times faster, same sizes, processor time"] = ours.processor / base.processor
    result |= sampling(wanted, device)
    for key, value in result.items():
        print(f"{key:45} {value:.4g}" if isinstance(value, float) else f"{key:45} {value}")
    if wanted.json:
        Path(wanted.json).write_text(json.dumps(result, indent=1))


class Rate(NamedTuple):
    """Iterations per second on the clock, and per second that the processors worked."""

    wall: float
    processor: float


def per_second(work: Callable[[], object], times: int, device: str) -> Rate:
    synchronise(device)
    began, worked = time.perf_counter(), time.process_time()
    for _ in range(times):
        work()
    synchronise(device)
    return Rate(times / (time.perf_counter() - began), times / (time.process_time() - worked))


def groupings(wanted: argparse.Namespace) -> tuple[list[Tensor], float]:
    """One grouping per iteration, evenly over the law of the cost, and their part of its mean."""
    chance = torch.Generator().manual_seed(wanted.seed)
    labels = CRP(0.7).draw(2000, wanted.points, chance)
    K = labels.cummax(1).values[:, :-1] + 1  # groups before each step
    cost = (K * K + K + 1).double().sum(1)  # evaluations of g
    at = (torch.arange(wanted.iterations) + 0.5) / wanted.iterations * len(labels)
    taken = cost.argsort()[at.long()]
    return list(labels[taken]), float(cost[taken].mean() / cost.mean())


def difference(wanted: argparse.Namespace, device: str) -> float:
    """How far apart the two scores of one batch are, at most, in nats per point."""
    torch.manual_seed(wanted.seed)
    network = NCPNetwork(Sizes.reference()).to(device)
    labels = groupings(wanted)[0][-1]
    x = torch.randn(4, wanted.points, 2, generator=torch.Generator().manual_seed(1)).to(device)
    with torch.no_grad():
        theirs = torch.stack([published_loss(network, one[None], labels) for one in x])
        ours = -log_joint(network, x, labels.to(device).expand(len(x), -1))
    return float((theirs - ours).abs().max()) / wanted.points


def our_rate(network: NCPNetwork, wanted: argparse.Namespace, device: str, quick: bool) -> Rate:
    """Iterations per second of the training loop as it is used, data drawn within."""
    data = GaussianMixtures(points=(wanted.points, wanted.points), max_groups=12)
    settings: dict[str, Any] = {
        "batch": wanted.batch, "permutations": wanted.permutations, "device": device,
        "quick": quick, "schedule": "constant", "lr": 1e-4,
    }  # fmt: skip
    if device == "cpu":
        steps = max(2, wanted.iterations)
        train(network, data, steps=1, **settings)
        rate = per_second(lambda: train(network, data, steps=steps, **settings), 1, device)
        return Rate(rate.wall * steps, rate.processor * steps)
    looks: list[tuple[float, float]] = []

    def watch(step: int, done: float, loss: float) -> None:
        looks.append((time.perf_counter(), time.process_time()))

    # The rate between two looks at the loss, which wait for the device, leaves out the recording.
    steps = 50 + 50 * -(-5 * wanted.iterations // 50)
    train(network, data, steps=steps, progress=watch, **settings)
    wall, processor = (b - a for a, b in zip(looks[0], looks[-1], strict=True))
    return Rate((steps - 50) / wall, (steps - 50) / processor)


def published_rate(wanted: argparse.Namespace, device: str) -> Rate:
    """Iterations per second of the published loop."""
    torch.manual_seed(wanted.seed)
    network = NCPNetwork(Sizes.reference()).to(device)
    for part in list(network.modules()):  # with torch's own activation
        for name, child in part.named_children():
            if isinstance(child, PReLU):
                setattr(part, name, torch.nn.PReLU().to(device))
    optimiser = torch.optim.Adam(network.parameters(), lr=1e-4, weight_decay=0.01)
    chance = torch.Generator().manual_seed(wanted.seed)
    shelf, _ = groupings(wanted)
    left = list(shelf)

    def iteration() -> None:
        labels = left.pop() if left else shelf[0]
        centres = torch.randn(wanted.batch, int(labels.max()) + 1, 2, generator=chance) * 10
        noise = torch.randn(wanted.batch, wanted.points, 2, generator=chance)
        x = (centres[:, labels] + noise).to(device)
        optimiser.zero_grad()
        for _ in range(wanted.permutations):
            order = torch.randperm(wanted.points, generator=chance)
            published_loss(network, x[:, order], relabel(labels[order][None])[0]).backward()
        optimiser.step()

    if device != "cpu":  # kernels are loaded
        iteration()
        left[:] = shelf
    return per_second(iteration, wanted.iterations, device)


def published_loss(network: NCPNetwork, x: Tensor, labels: Tensor) -> Tensor:
    """Minus mean log-probability of one grouping for a batch, as the published program does it."""
    names = labels.tolist()
    assert network.u_net is not None
    h, u = network.h_net(x), network.u_net(x)
    H, U = h[:, :1].clone(), u[:, 2:].sum(1)
    loss, K, right = torch.zeros((), device=x.device), 1, 0.0
    for n in range(1, len(names)):
        scores = []
        for k in range(K + 1):
            if k == K:
                tried = torch.cat([H, h[:, n : n + 1]], dim=1)
            else:
                tried = H.clone()
                tried[:, k] = tried[:, k] + h[:, n]
            G = network.g_net(tried.flatten(0, 1)).view(len(x), tried.shape[1], -1).sum(1)
            first = network.f_choice(G) + network.f_context(U)  # one layer of (G, U)
            scores.append(network.f_net(first)[:, 0])
        log_probs = torch.stack(scores, dim=1).log_softmax(1)
        right += float((log_probs.detach().cpu().argmax(1) == names[n]).float().mean())
        loss = loss - log_probs[:, names[n]].mean()
        if names[n] == K:
            H, K = torch.cat([H, h[:, n : n + 1]], dim=1), K + 1
        else:
            H[:, names[n]] += h[:, n]
        if n + 1 < len(names):
            U = U - u[:, n + 1]
    return loss


def sampling(wanted: argparse.Namespace, device: str) -> dict[str, float]:
    """Seconds for many samples of one data set: the surer the network, the fewer states."""
    data = GaussianMixtures(points=(5, wanted.points), max_groups=12)
    if wanted.weights:
        network = load(wanted.weights, device=device).network
    else:
        torch.manual_seed(wanted.seed)
        network = NCPNetwork(Sizes())
        train(network, data, seconds=20, lr=2e-3, device=device, seed=wanted.seed)
    chance = torch.Generator(device).manual_seed(wanted.seed)
    x = data.draw(1, chance, (wanted.points, wanted.points)).x
    found: list[Any] = []

    def draw() -> None:
        found[:] = Sampler(network).sample(x, wanted.samples, generator=chance)

    draw()
    rate = per_second(draw, 3, device).wall
    return {
        f"{wanted.samples} samples at N = {wanted.points}, seconds": 1 / rate,
        "different groupings among them": float(len(found[0].labels)),
    }


def shipped_row(variant: str, world: str, wanted: argparse.Namespace) -> dict[str, Any]:
    """Seconds for many groupings of one data set, from raw vectors on: medians over data sets.

    Draws that have made the same choices so far cost as much as one, so the number of different
    groupings among them says why one data set takes longer than another.
    """
    model = NCP(variant=variant, device=wanted.device, random_state=wanted.seed)
    sets, _ = quality.drawn(quality.WORLDS[world], wanted.points, wanted.sets, wanted.seed)
    model.sample_posterior(sets[0], 10)  # reads the weights
    spent, different = [], []
    for x in sets:
        began = np.array([time.perf_counter(), time.process_time()])
        found = model.sample_posterior(x, wanted.samples)
        spent.append(np.array([time.perf_counter(), time.process_time()]) - began)
        different.append(len(np.unique(found, axis=0)))
    wall, processor = np.median(spent, axis=0).tolist()
    return {
        "check": "sampling", "variant": variant, "world": world, "seed": wanted.seed,
        "sha256": digest(str(shipped(variant, 2))), "N": wanted.points, "samples": wanted.samples,
        "sets": len(sets), "threads": n_threads(), "seconds": wall, "processor_seconds": processor,
        "different": float(np.median(different)),
    }  # fmt: skip


if __name__ == "__main__":
    main()
