"""How many items per second the training loop takes in, two views each, and where time goes.

    python benchmarks/throughput.py       # ResNet-34, 128 x 128, batches of 128 and 256
    python benchmarks/throughput.py --compile tuned --json throughput.json

One run: `whole` is the loop as it trains (batches, answers, augmentation, network, loss,
optimiser); `with questions` adds, per epoch, the features of all items and the choice of that
epoch's pairs by the strategy ``pcl``. The parts are timed by themselves, so they need not add up:
on a device they overlap with the host.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from samekind.clustering import Clustering
from samekind.compute import best_device, synchronise
from samekind.constraints import Constraints
from samekind.protocols import View
from samekind.strategies import pcl
from samekind.training.answered import batch_links
from samekind.training.augment import FAMILIES, Views
from samekind.training.bank import Reader
from samekind.training.loop import Moment, Plan, Trainer
from samekind.training.losses import PCLLoss
from samekind.training.network import Network, Output
from samekind.training.resnet import ResNet
from samekind.training.steps import autocast

PEAK = 790e12
"""Products and sums per second of the card in bf16."""
PER_ITEM = {(34, "7x7"): 14.4e9 / 128**2, (18, "7x7"): 7.1e9 / 128**2}
"""Products and sums per item and pixel: two views, forward and backward."""


def main() -> None:
    wanted = arguments()
    results = [measured(wanted, batch) for batch in wanted.batch]
    if wanted.json:
        Path(wanted.json).write_text(json.dumps(results, indent=1))


def measured(wanted: argparse.Namespace, batch: int) -> dict[str, Any]:
    trainer = made(wanted, batch)
    device = trainer.compute.device
    moment = Moment(1, 500)
    clock = Clock(device, wanted.steps)
    began = time.monotonic()
    for _ in range(wanted.warm):
        trainer.one_step(moment)
    synchronise(device)
    warm = time.monotonic() - began
    rows: dict[str, Any] = {
        "batch": batch,
        "device": trainer.compute.reason,
        "warm_s": round(warm, 1),
    }
    rows["whole"] = clock(lambda: trainer.one_step(moment))
    items = trainer.batches.items(3, trainer.known)
    here = torch.from_numpy(items.astype(np.int64)).to(trainer.device)
    links = batch_links(items, trainer.known, device=trainer.device)
    rows["host: batch and links"] = clock(lambda: host_side(trainer))
    rows["augmentation"] = clock(lambda: trainer.views(trainer.data[here], trainer._chance))
    views = trainer.views(trainer.data[here], trainer._chance)
    rows["forward"] = clock(lambda: forward(trainer, views))
    rows["forward and backward"] = clock(lambda: (forward(trainer, views).z.sum() * 0.1).backward())
    rows["loss and its gradient"] = clock(lambda: loss_only(trainer, views, links))
    rows["optimiser"] = clock(lambda: trainer.optimiser.step())
    rows["questions per epoch, s"] = questions(trainer)
    steps = trainer.batches.steps
    epoch = rows["whole"] * steps + rows["questions per epoch, s"]
    rows["items/s whole"] = batch / rows["whole"]
    rows["items/s with questions"] = batch * steps / epoch
    work = PER_ITEM.get((wanted.depth, wanted.stem))
    if work:
        rows["share of peak"] = rows["items/s whole"] * work * wanted.size**2 / PEAK
    for name, value in rows.items():
        shown = f"{value * 1e3:.2f} ms" if isinstance(value, float) and value < 1 else value
        if name.startswith("items/s"):
            shown = f"{value:,.0f}"
        elif name == "share of peak":
            shown = f"{100 * value:.1f} %"
        print(f"{name:28} {shown}", flush=True)
    return rows


class Clock:
    """Seconds per call, measured from an idle device to an idle device."""

    def __init__(self, device: str, calls: int) -> None:
        self.device, self.calls = device, calls

    def __call__(self, work: Callable[[], Any]) -> float:
        for _ in range(3):
            work()
        synchronise(self.device)
        began = time.perf_counter()
        for _ in range(self.calls):
            work()
        synchronise(self.device)
        return (time.perf_counter() - began) / self.calls


def made(wanted: argparse.Namespace, batch: int) -> Trainer:
    compute = best_device(wanted.device)
    rng = np.random.default_rng(0)
    kinds = rng.integers(0, 2, wanted.items)
    data = torch.randint(256, (wanted.items, 3, wanted.pixels, wanted.pixels), dtype=torch.uint8)
    dtype = torch.bfloat16 if compute.dtype == "bfloat16" else torch.float32
    family = FAMILIES["pcl"].at(wanted.size)
    views = Views(family, dtype=dtype, compiled=bool(wanted.compile))
    network = Network(ResNet(wanted.depth, stem=wanted.stem, base=wanted.channels), k=2)
    plan = Plan(batch_size=batch, compile=wanted.compile)
    trainer = Trainer(network, PCLLoss(), data, views, plan, compute=compute)
    pairs = rng.integers(0, wanted.items, (wanted.answers, 2))
    links = [(int(a), int(b), bool(kinds[a] == kinds[b])) for a, b in pairs if a != b]
    trainer.learn_from(Constraints.from_links(wanted.items, links))
    network.train()
    return trainer


def host_side(trainer: Trainer) -> None:
    items = trainer.batches.items(trainer.step + 1, trainer.known)
    batch_links(items, trainer.known, device=trainer.device)  # type: ignore[arg-type]


def forward(trainer: Trainer, views: torch.Tensor) -> Output:
    trainer.optimiser.zero_grad(set_to_none=False)
    with autocast(trainer.compute):
        return trainer._forward(views, gather=None)


def loss_only(trainer: Trainer, views: torch.Tensor, links: Any) -> None:
    n, network = len(views), trainer.network
    chance = torch.Generator(views.device).manual_seed(0)
    z = torch.randn(n, 128, device=views.device, generator=chance, requires_grad=True)
    logits = torch.randn(n, network.k, device=views.device, generator=chance, requires_grad=True)
    parts = trainer.objective(Output(z, z, logits.softmax(dim=1)), links, Moment(1, 500))
    torch.stack(list(parts.values())).sum().backward()


def questions(trainer: Trainer) -> float:
    """Seconds for the features of all items and one epoch's questions."""
    n, known = len(trainer.data), Constraints(len(trainer.data))

    def ask() -> None:
        reader = Reader.of(
            trainer.network, trainer.data, trainer.views.plain, trainer.compute,
            peers=trainer.batches.size - 1, seed=0,
        )  # fmt: skip
        bank = reader.bank(trainer.data)
        now = Clustering.first(bank.p.argmax(axis=1), bank.z, None)
        view = View(now, known, np.random.default_rng(0), budget=10_000)
        pcl.PCL().propose(view, n // trainer.batches.size)

    ask()
    synchronise(trainer.compute.device)
    began = time.perf_counter()
    ask()
    synchronise(trainer.compute.device)
    return time.perf_counter() - began


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--batch", type=int, nargs="+", default=[128, 256])
    add("--size", type=int, default=128, help="pixels a side of a view")
    add("--pixels", type=int, default=32, help="pixels a side of a stored picture")
    add("--items", type=int, default=50_000)
    add("--answers", type=int, default=10_000)
    add("--depth", type=int, default=34, choices=(18, 34))
    add("--stem", default="7x7", choices=("7x7", "3x3"))
    add("--channels", type=int, default=64)
    add("--compile", default="plain", choices=("", "plain", "tuned", "graphs"))
    add("--steps", type=int, default=60)
    add("--warm", type=int, default=15)
    add("--device", default=None)
    add("--json", default=None)
    return parser.parse_args()


if __name__ == "__main__":
    main()
