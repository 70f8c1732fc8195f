"""Self-supervised features on one page: what there is to see in CIFAR-10 before any question.

    python recipes/learn.py --set cifar10 --data FOLDER --method simclr --epochs 150 --out FILE

As in IDC, training and test pictures are one pile of 60,000. Methods: simclr, byol, cc, tcl and
propos; the last three are told the number of groups. Groups are those of the method itself, and
those of k-means on the features. The file is what the other recipes take as ``--start``. With a
``--checkpoint`` a training goes on where an earlier run of this command stopped, and with more
epochs it is prolonged; ``--start`` begins a new training from the features of another.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.functional import normalize

from samekind.compute import best_device
from samekind.evaluation import score
from samekind.sources import CIFAR_SETS, open_cifar
from samekind.training.device_kmeans import cosine_kmeans
from samekind.training.progress import Monitor, TrainingReport
from samekind.training.selflearn import METHODS, SelfLearner, SelfSetting
from samekind.training.selflearn_setting import GROUPING

Floats = NDArray[np.float32]
Ints = NDArray[np.intp]
NEAREST = 20
"""Neighbours that vote in the nearest-neighbour accuracy."""


def main() -> None:
    wanted = arguments()
    began = time.monotonic()
    pile = open_cifar(wanted.set, wanted.data)
    images, _, truth = pile.whole(wanted.orientation)
    images, truth = images[: wanted.items], truth[: wanted.items]
    groups = pile.n_groups if wanted.method in GROUPING else None
    print(f"{wanted.set}: {len(images)} pictures, {wanted.method}", flush=True)
    own = {name: getattr(wanted, name) for name in ("learning_rate", "temperature", "weight_decay")}
    setting = SelfSetting(
        wanted.method, groups, backbone=wanted.backbone, channels=wanted.channels,
        size=wanted.size, seed=wanted.seed, batch_size=wanted.batch_size, compile=wanted.compile,
        device=wanted.device, **own,
    )  # fmt: skip
    monitor = Monitor(report=shown, every=wanted.tell_every)
    learner = SelfLearner(
        setting, images, monitor=monitor, checkpoint=wanted.checkpoint, start=wanted.start
    )
    begun, before = time.monotonic(), learner.epochs_done
    learner.run(wanted.epochs)
    spent = time.monotonic() - begun
    row: dict[str, Any] = {
        "epochs": learner.epochs_done,
        "seconds": round(time.monotonic() - began, 1),
        "training_seconds": round(spent, 1),
        "items_per_second": round(len(images) * (wanted.epochs - before) / spent),
    }
    if wanted.out:
        learner.save(wanted.out)
    h = learner.features()
    row |= scores(h, truth, pile.n_groups, wanted.seed, wanted.device)
    own_groups = learner.membership()
    if own_groups is not None:
        row |= {f"own_{k}": v for k, v in score(truth, own_groups.argmax(axis=1)).items()}
    print({k: round(v, 4) if isinstance(v, float) else v for k, v in row.items()}, flush=True)
    if wanted.vectors:
        keep_vectors(wanted.vectors, h)
    if wanted.json:
        Path(wanted.json).write_text(json.dumps({**vars(wanted), **row}, default=str, indent=1))


def scores(h: Floats, truth: Ints, k: int, seed: int, device: str | None) -> dict[str, float]:
    """Groups of k-means, and how often the neighbours of an item are of its kind."""
    x = normalize(torch.from_numpy(h - h.mean(axis=0))).to(best_device(device).device)
    found = cosine_kmeans(x, k, seed=seed, n_init=10).labels.cpu().numpy()
    labels = torch.from_numpy(truth.astype(np.int64)).to(x.device)
    right = 0
    for part in torch.split(torch.arange(len(x), device=x.device), 4096):
        likeness = x[part] @ x.T
        likeness[torch.arange(len(part), device=x.device), part] = -1  # not itself
        near = labels[likeness.topk(min(NEAREST, len(x) - 1), dim=1).indices]
        right += int((near.mode(dim=1).values == labels[part]).sum())
    return {**score(truth, found), "nearest_acc": right / len(x)}


def keep_vectors(path: str, h: Floats, width: int = 128) -> None:
    """Principal components in 8 bits: small enough to take along, 1 % error."""
    x = h - h.mean(axis=0)
    _, turn = np.linalg.eigh(np.cov(x.T))
    x = x @ turn[:, ::-1][:, :width]
    scale = float(np.abs(x).max() / 127)
    np.savez_compressed(path, q=np.round(x / scale).astype(np.int8), scale=scale)


def shown(told: TrainingReport) -> None:
    print(f"epoch {told.epoch}", {k: round(v, 4) for k, v in told.parts.items()}, flush=True)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    add = parser.add_argument
    add("--set", default="cifar10", choices=CIFAR_SETS)
    add("--orientation", default="default")
    add("--data", default=None, help="folder with the pictures (or SAMEKIND_DATA)")
    add("--method", default="simclr", choices=METHODS)
    add("--epochs", type=float, default=150)
    add("--items", type=int, default=None, help="only the first so many pictures")
    add("--batch-size", type=int, default=512)
    add("--learning-rate", type=float, default=None)
    add("--weight-decay", type=float, default=None)
    add("--temperature", type=float, default=None)
    add("--backbone", default="resnet18", choices=("resnet18", "resnet34"))
    add("--channels", type=int, default=64)
    add("--size", type=int, default=32)
    add("--compile", default="", choices=("", "record", "plain", "tuned", "graphs"))
    add("--device", default=None)
    add("--seed", type=int, default=0)
    add("--tell-every", type=int, default=1000, help="steps between two lines")
    add("--checkpoint", default=None)
    add("--start", default=None, help="features to begin from: the --out of an earlier run")
    add("--out", default=None, help="file for the network: --start of the other recipes")
    add("--vectors", default=None, help=".npz file for 128 principal components of the features")
    add("--commit", default="", help="noted in the result")
    add("--json", default=None, help="file for the result")
    return parser.parse_args()


if __name__ == "__main__":
    main()
