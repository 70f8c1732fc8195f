"""Whether recorded steps do what plain ones do: the same losses from the same beginning.

    python -m benchmarks.throughput.recorded_steps --data FOLDER

Both run for some hundred steps on real pictures; the columns should differ by rounding and by the
order of sums only, at first in the last digits, later in the first.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import torch

from samekind.compute import best_device
from samekind.constraints import Constraints
from samekind.sources import open_cifar
from samekind.training.answered import Answered
from samekind.training.augment import FAMILIES, Views
from samekind.training.bank import Reader
from samekind.training.finetune import Tuner, Tuning
from samekind.training.loop import Plan, Trainer
from samekind.training.network import Network
from samekind.training.progress import Monitor, TrainingReport
from samekind.training.resnet import ResNet
from samekind.training.simclr import ItemContrast


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default=None)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--items", type=int, default=20_000)
    parser.add_argument("--channels", type=int, default=64)
    wanted = parser.parse_args()
    pile = open_cifar("cifar10-2", wanted.data)
    data = torch.from_numpy(pile.images[: wanted.items].copy())
    truth = pile.labelled.truth("personalized")[0][: wanted.items]
    test = torch.from_numpy(pile.held_out_images[:2000].copy())
    test_truth = np.asarray(pile.labelled.truth("personalized")[1])[:2000]
    network = None
    for mode in ("", "record"):
        network = contrast(data, mode, wanted)
    assert network is not None
    for mode in ("", "record"):
        tuned(network, data, np.asarray(truth), test, test_truth, mode, wanted)


def contrast(data: torch.Tensor, mode: str, wanted: argparse.Namespace) -> Network:
    torch.manual_seed(0)
    network = Network(ResNet(18, stem="3x3", base=wanted.channels), k=2, attention=False)
    compute = best_device()
    dtype = torch.bfloat16 if compute.dtype == "bfloat16" else torch.float32
    plan = Plan(512, 0.25, 5e-4, "sgd", "cosine", None, compile=mode)  # type: ignore[arg-type]
    seen: list[str] = []
    monitor = Monitor(report=lambda told: seen.append(f"{told.parts['loss']:.3f}"), every=50)
    views = Views(FAMILIES["cc-small"], dtype=dtype)
    trainer = Trainer(
        network, ItemContrast(temperature=0.2), data, views, plan, compute=compute, monitor=monitor
    )
    began = time.monotonic()
    trainer.run(wanted.steps / trainer.batches.steps)
    print(f"contrast {mode or 'plain':8}", *seen, f"{time.monotonic() - began:.1f} s", flush=True)
    return trainer.network


def tuned(
    network: Network,
    data: torch.Tensor,
    truth: np.ndarray,
    test: torch.Tensor,
    test_truth: np.ndarray,
    mode: str,
    wanted: argparse.Namespace,
) -> None:
    compute = best_device()
    rng = np.random.default_rng(0)
    pairs = rng.integers(0, len(data), (3000, 2))
    links = [(int(a), int(b), bool(truth[a] == truth[b])) for a, b in pairs if a != b]
    known = Constraints.from_links(len(data), links)
    rows = known.touched
    seen: list[str] = []

    def note(told: TrainingReport) -> None:
        seen.append(f"{told.parts['loss']:.3f}")

    here = data.to(compute.device)
    tuner = Tuner(
        network.to(compute.device), here, rows, truth[rows].astype(np.intp),
        Answered.from_constraints(known), FAMILIES["cc-small"],
        Tuning(epochs=2 * wanted.steps * 512 / len(data)),
        compute=compute, seed=0, compiled=mode, monitor=Monitor(report=note, every=100),
    )  # fmt: skip
    began = time.monotonic()
    result = tuner.run()
    spent = time.monotonic() - began
    reader = Reader(result, tuner.weak.views.plain, compute)
    right = float((reader.bank(test.to(compute.device)).p.argmax(axis=1) == test_truth).mean())
    print(f"tuning {mode or 'plain':8}", *seen, f"test {right:.3f}, {spent:.1f} s", flush=True)


if __name__ == "__main__":
    main()
