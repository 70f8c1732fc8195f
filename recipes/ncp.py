"""NCP on one page: train a clustering process, write its weights, look at posterior samples.

    python recipes/ncp.py --seconds 600 --out ncp.safetensors --plot samples.png

Data sets are drawn from a mixture of Gaussians with an unknown number of groups (CRP); the network
learns to place their points one after the other. Afterwards a new data set is grouped in the five
most probable ways, and once more after it was told that two of its points are different.

The weights that the package ships come from `ncp_weights.py`.
"""

from __future__ import annotations

import argparse
from statistics import median
from typing import Any

import torch

from samekind.clusterers.ncp.amortized.conditioning import Answers
from samekind.clusterers.ncp.amortized.generators import GaussianMixtures
from samekind.clusterers.ncp.amortized.network import NCPNetwork, Sizes
from samekind.clusterers.ncp.amortized.sampler import Sampler
from samekind.clusterers.ncp.amortized.samples import Samples, averaged, rescored
from samekind.clusterers.ncp.amortized.training import train
from samekind.clusterers.ncp.amortized.weights import save
from samekind.compute import best_device
from samekind.constraints import Constraints

PROFILES = {
    "exact": GaussianMixtures(points=(4, 100)),
    "pytorch": GaussianMixtures.pytorch_like(),
    "tf2": GaussianMixtures.tf2_like(),
}
"""What is drawn: not centred, so that the exact posterior is known; and as published."""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    add = parser.add_argument
    add("--profile", default="exact", choices=PROFILES)
    add("--sizes", default="default", choices=("default", "reference"))
    add("--points", type=int, nargs=2, default=None, help="smallest and largest data set")
    add("--width", type=int, default=128, help="of every layer (sizes default)")
    add("--seconds", type=float, default=600.0)
    add("--batch", type=int, default=64)
    add("--lr", type=float, default=2e-3)
    add("--permutations", type=int, default=1)
    add("--seed", type=int, default=0)
    add("--device", default=None)
    add("--out", default="ncp.safetensors")
    add("--plot", default=None, help="picture of the samples (needs matplotlib)")
    wanted = parser.parse_args()
    device = best_device(wanted.device).device
    data = PROFILES[wanted.profile]
    data = data.of_size(*wanted.points) if wanted.points else data
    torch.manual_seed(wanted.seed)
    w = wanted.width
    sizes = Sizes(inputs=data.dim, features=w, width=w, h_outputs=w, g_outputs=w)
    network = NCPNetwork(sizes if wanted.sizes == "default" else Sizes.reference(data.dim))
    history = train(
        network, data, seconds=wanted.seconds, batch=wanted.batch, lr=wanted.lr, device=device,
        permutations=wanted.permutations, seed=wanted.seed, quick=True,
        progress=lambda step, done, nll: print(f"{done:5.0%} step {step} {nll:.4f} nats per point"),
    )  # fmt: skip
    facts = {
        "command": {k: v for k, v in vars(wanted).items() if k not in ("out", "plot")},
        "calibrated": False, "points": data.points, "steps": history.steps[-1],
        "nll": median(history.nll_per_point[-10:]),
    }  # fmt: skip
    save(wanted.out, network, facts)
    print(f"{wanted.out}: {history.steps[-1]} steps on {device}")

    chance = torch.Generator(device).manual_seed(wanted.seed + 1)
    n = min(30, data.points[1])
    x = data.draw(1, chance, (n, n)).x
    (before,) = Sampler(network).sample(x, 2000, orders=8, generator=chance)
    show(network, x, before, "2000 samples", chance)
    p = before.co_membership()
    doubt = (p - 0.5).abs() + torch.eye(n, device=p.device)
    a, b = divmod(int(doubt.argmin()), n)
    answers = Answers(Constraints.from_links(n, [(a, b, False)]))
    (after,) = Sampler(network).sample(
        x, 2000, order=answers.order(8, chance), orders=8, allowed=answers, generator=chance
    )
    told = f"{a} and {b} (together with probability {float(p[a, b]):.2f}) are different"
    show(network, x, after, told, chance)
    if wanted.plot:
        draw(wanted.plot, x[0].cpu(), [before, after])


def show(network: NCPNetwork, x: Any, found: Samples, title: str, chance: Any) -> None:
    """The most probable groupings, with their probability over many orders."""
    print(f"\n{title}: {len(found.labels)} different groupings")
    print(
        "groups:",
        {k: round(float(p), 3) for k, p in enumerate(found.n_groups_distribution()) if p > 0},
    )
    best = rescored(network, x, found, most=5, generator=chance)
    _, spread = averaged(network, x, best.labels, generator=chance)
    for row, count, log_p, s in zip(best.labels, best.count, best.log_prob, spread, strict=True):
        p = f"p = {float(log_p.exp()):.3f}, log p differs by {float(s):.2f} between orders"
        print(f"drawn {int(count):4d} times, {p}:", " ".join(str(int(k)) for k in row))


def draw(file: str, points: torch.Tensor, found: list[Samples]) -> None:
    """The five most probable groupings, before and after the answer."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(len(found), 5, figsize=(15, 3 * len(found)), squeeze=False)
    for row, samples in zip(axes, found, strict=True):
        for axis, labels, share in zip(row, samples.labels, samples.weights, strict=False):
            axis.scatter(*points[:, :2].T, c=labels.cpu(), cmap="tab10", vmin=0, vmax=9)
            axis.set_title(f"share {float(share):.2f}, K = {int(labels.max()) + 1}")
    figure.tight_layout()
    figure.savefig(file, dpi=110)


if __name__ == "__main__":
    main()
