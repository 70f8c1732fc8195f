"""How fast the clustering process trains and samples, against the loop of the published program.

    python benchmarks/ncp_speed.py --json ncp_speed.json
    python benchmarks/ncp_speed.py --batch 16 --points 40 --iterations 2     # on a small machine

Both train the network of the published sizes on 2-D mixtures with several orders of each batch and
one step of the optimiser. The published loop is written anew from its description: all data sets
of a batch share one grouping; for each order and each point, each choice copies H and describes
all groups again; log-probabilities go to the host at each step; each order is followed backwards
by itself.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from samekind.amortized.generators import GaussianMixtures
from samekind.amortized.likelihood import relabel
from samekind.amortized.network import NCPNetwork, Sizes
from samekind.amortized.priors import CRP
from samekind.amortized.sampler import Sampler
from samekind.amortized.training import train
from samekind.amortized.weights import load
from samekind.compute import best_device, n_threads, synchronise


def main() -> None:
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
    add("--json", default=None)
    wanted = parser.parse_args()
    device = best_device(wanted.device).device
    result: dict[str, Any] = {"settings": vars(wanted), "device": device, "threads": n_threads()}
    result["published loop, it/s"] = published_rate(wanted, device)
    for name, sizes in (("published sizes", Sizes.reference()), ("default sizes", Sizes())):
        for quick in (False, True):
            torch.manual_seed(wanted.seed)
            rate = our_rate(NCPNetwork(sizes), wanted, device, quick)
            result[f"ours, {name}{', TF32' if quick else ''}, it/s"] = rate
    result["times faster, same sizes"] = (
        result["ours, published sizes, it/s"] / result["published loop, it/s"]
    )
    result |= sampling(wanted, device)
    for key, value in result.items():
        print(f"{key:45} {value:.4g}" if isinstance(value, float) else f"{key:45} {value}")
    if wanted.json:
        Path(wanted.json).write_text(json.dumps(result, indent=1))


def per_second(work: Callable[[], None], times: int, device: str) -> float:
    synchronise(device)
    began = time.perf_counter()
    for _ in range(times):
        work()
    synchronise(device)
    return times / (time.perf_counter() - began)


def our_rate(network: NCPNetwork, wanted: argparse.Namespace, device: str, quick: bool) -> float:
    """Iterations per second of the training loop as it is used, data drawn within."""
    data = GaussianMixtures(points=(wanted.points, wanted.points), max_groups=12)
    settings: dict[str, Any] = {
        "batch": wanted.batch, "permutations": wanted.permutations, "device": device,
        "quick": quick, "schedule": "constant", "lr": 1e-4,
    }  # fmt: skip
    warm, many = max(4, wanted.iterations // 2), 5 * wanted.iterations
    begun = [0.0]

    def watch(step: int, done: float, loss: float) -> None:
        begun.append(time.perf_counter())

    # The rate between two looks at the loss leaves out starting and recording; on a small machine,
    # where there is only one look, it is that of all steps.
    if device == "cpu":
        train(network, data, steps=1, **settings)
        began = time.perf_counter()
        train(network, data, steps=max(2, wanted.iterations), **settings)
        return max(2, wanted.iterations) / (time.perf_counter() - began)
    train(network, data, steps=50 + 50 * -(-(warm + many) // 50), progress=watch, **settings)
    return 50 * (len(begun) - 2) / (begun[-1] - begun[1])


def published_rate(wanted: argparse.Namespace, device: str) -> float:
    """Iterations per second of the published loop."""
    torch.manual_seed(wanted.seed)
    network = NCPNetwork(Sizes.reference()).to(device)
    optimiser = torch.optim.Adam(network.parameters(), lr=1e-4, weight_decay=0.01)
    chance = torch.Generator().manual_seed(wanted.seed)

    def iteration() -> None:
        labels = CRP(0.7).draw(1, wanted.points, chance)[0]
        centres = torch.randn(wanted.batch, int(labels.max()) + 1, 2, generator=chance) * 10
        noise = torch.randn(wanted.batch, wanted.points, 2, generator=chance)
        x = (centres[:, labels] + noise).to(device)
        optimiser.zero_grad()
        for _ in range(wanted.permutations):
            order = torch.randperm(wanted.points, generator=chance)
            published_loss(network, x[:, order], relabel(labels[order][None])[0]).backward()
        optimiser.step()

    iteration()
    return per_second(iteration, wanted.iterations, device)


def published_loss(network: NCPNetwork, x: Tensor, labels: Tensor) -> Tensor:
    """Minus mean log-probability of one grouping for a batch, as the published program does it."""
    names = labels.tolist()
    assert network.u_net is not None
    h, u = network.h_net(x), network.u_net(x)
    H, U = h[:, :1], u[:, 2:].sum(1)
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
            H = H.clone()
            H[:, names[n]] = H[:, names[n]] + h[:, n]
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
    rate = per_second(draw, 3, device)
    return {
        f"{wanted.samples} samples at N = {wanted.points}, seconds": 1 / rate,
        "different groupings among them": float(len(found[0].labels)),
    }


if __name__ == "__main__":
    main()
