"""NCP on images, on one page: learn from some classes what a class is, group images of others.

    python recipes/ncp_images.py --data digits.npz --train 0 1 2 3 4 --seconds 600

The file holds `images` (M, height, width) or (M, channels, height, width) as bytes, and `labels`
(M,). Episodes are drawn from the classes named by --train; turned, mirrored and inverted images
count as further classes, because a few classes do not teach what a class is. In the end images of
the classes that were left out are grouped, and their number of groups is guessed.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from samekind.clusterers.ncp.amortized.labelled_episodes import LabelledEpisodes
from samekind.clusterers.ncp.amortized.network import NCPNetwork, Sizes
from samekind.clusterers.ncp.amortized.sampler import Sampler
from samekind.clusterers.ncp.amortized.samples import rescored
from samekind.clusterers.ncp.amortized.training import train
from samekind.clusterers.ncp.amortized.weights import save
from samekind.compute import best_device
from samekind.evaluation import ari


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    add = parser.add_argument
    add("--data", required=True, help="a .npz file with images and labels")
    add("--train", type=int, nargs="+", required=True, help="classes to learn from")
    add("--views", nargs="*", default=("turn", "mirror", "invert"))
    add("--points", type=int, nargs=2, default=(20, 100))
    add("--seconds", type=float, default=600.0)
    add("--batch", type=int, default=32)
    add("--lr", type=float, default=1e-3)
    add("--seed", type=int, default=0)
    add("--device", default=None)
    add("--out", default="ncp-images.safetensors")
    wanted = parser.parse_args()
    device = best_device(wanted.device).device
    images, labels = read(wanted.data)
    known = np.isin(labels, wanted.train)
    look: dict[str, Any] = {
        "points": tuple(wanted.points), "device": device,
        "mean": float(images.mean() / 255), "std": float(images.std() / 255),
    }  # fmt: skip
    episodes = LabelledEpisodes(
        images[known], labels[known], views=wanted.views, max_groups=12, **look
    )
    torch.manual_seed(wanted.seed)
    network = NCPNetwork(Sizes(encoder="images", inputs=images.shape[1]))
    history = train(
        network, episodes, seconds=wanted.seconds, batch=wanted.batch, lr=wanted.lr,
        device=device, seed=wanted.seed, quick=True,
        progress=lambda step, done, nll: print(
            f"{done:5.0%} step {step} {nll:.4f} nats per image", flush=True
        ),
    )  # fmt: skip
    save(wanted.out, network, {"command": vars(wanted), "steps": history.steps[-1]})
    if known.all():
        return
    others = LabelledEpisodes(images[~known], labels[~known], **look)
    chance = torch.Generator(device).manual_seed(wanted.seed + 1)
    for _ in range(5):
        show(network, others, chance)


def read(file: str) -> tuple[NDArray[np.uint8], NDArray[Any]]:
    """Images (M, channels, height, width) and their classes."""
    with np.load(file, allow_pickle=False) as found:
        images, labels = found["images"], found["labels"]
    return (images if images.ndim == 4 else images[:, None]), labels


def show(network: NCPNetwork, others: LabelledEpisodes, chance: torch.Generator) -> None:
    """Group one episode of classes that were never seen."""
    x, labels, mask = others.draw(1, chance)
    n = int(mask.sum())
    if n == 0:  # more groups than there are classes
        return
    (found,) = Sampler(network).sample(x[:, :n], 200, orders=50, generator=chance)
    best = rescored(network, x[:, :n], found, generator=chance).best.cpu().numpy()
    truth = labels[0, :n].cpu().numpy()
    law = {k: round(float(p), 2) for k, p in enumerate(found.n_groups_distribution()) if p > 0.005}
    fit = ari(truth, best)
    print(f"{n} images of {truth.max() + 1} unseen classes: groups {law}, ARI {fit:.3f}")


if __name__ == "__main__":
    main()
