"""Features of CIFAR-10 after some steps of SimCLR on one GPU, with the labels beside them.

    python -m benchmarks.live.step_features --data FOLDER --steps 3000 --out features.npz
    samekind simulate features.npz --orientation personalized --questions 150 --json

The network is that of the suites ``deep-*``, and so are batch and seed: what the live learner makes
of the same training, for a person who answers few questions. Trained on the training part only.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from numpy.typing import NDArray

from samekind.clusterers.deep.selfsupervised import SimCLR
from samekind.sources import open_cifar

WIDTH = 128


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", required=True, help="folder with the pictures")
    parser.add_argument("--steps", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", required=True)
    wanted = parser.parse_args()
    pile = open_cifar("cifar10-2", wanted.data)
    assert pile.held_out_images is not None
    began = time.monotonic()
    model = SimCLR(
        2, steps=wanted.steps, batch_size=256, backbone="resnet18", stem="3x3", size=32,
        compile="record", random_state=wanted.seed,
    ).fit(pile.images)  # fmt: skip
    print(f"trained in {time.monotonic() - began:.0f} s")
    both = np.concatenate([model.transform(part) for part in (pile.images, pile.held_out_images)])
    n = len(pile.images)
    labels = {}
    for name in ("personalized", "default"):
        inside, outside = pile.labelled.truth(name)
        assert outside is not None
        labels[name] = np.concatenate([inside, outside])
    split = np.repeat(["train", "test"], [n, len(both) - n])
    np.savez_compressed(wanted.out, X=main_axes(both, n), split=split, **labels)


def main_axes(vectors: NDArray[np.float32], n: int) -> NDArray[np.float32]:
    """Unit vectors on their main axes, found on every fifth of the first n."""
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    mean = unit[:n].mean(axis=0)
    axes = np.linalg.svd((unit[:n] - mean)[::5], full_matrices=False)[2][:WIDTH]
    return np.asarray((unit - mean) @ axes.T, dtype=np.float32)


if __name__ == "__main__":
    main()
