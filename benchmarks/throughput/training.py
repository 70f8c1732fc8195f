"""How many items per second the training loop takes in, two views each, and where time goes.

    python -m benchmarks.throughput.training       # ResNet-34, 128 x 128, batches of 128 and 256
    python -m benchmarks.throughput.training --compile tuned --json throughput.json
    python -m benchmarks.throughput.training --learn simclr byol --batch 512 --compile record

One run: `whole` is the loop as it trains (batches, answers, augmentation, network, loss,
optimiser); `with questions` adds, per epoch, the features of all items and the choice of that
epoch's pairs by the strategy ``pcl``. Where the time of the device goes is read off its own clock
over a few steps; `idle` is when it had nothing to do. ``--learn`` measures self-supervised
training instead: ResNet-18 with a 3x3 stem at 32 x 32. `labels of all` is what TCL and ProPos do
once per epoch: read all items, and k-means for ProPos. It counts in full in `items/s`.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from samekind.clusterers.deep.pcl import PCLLoss
from samekind.clustering import Clustering
from samekind.compute import COMPILE_MODES, best_device, synchronise
from samekind.constraints import Constraints
from samekind.protocols import View
from samekind.strategies.pairs import pcl
from samekind.training.answered import batch_links
from samekind.training.augment import FAMILIES, Views
from samekind.training.bank import Reader
from samekind.training.loop import Plan, SchedulePoint, Trainer
from samekind.training.network import Network
from samekind.training.resnet import ResNet
from samekind.training.selflearn import METHODS, SelfLearner, SelfSetting
from samekind.training.selflearn_setting import GROUPING

PEAK = 790e12
"""Products and sums per second of the card in bf16."""
PER_ITEM = {(34, "7x7"): 14.4e9 / 128**2, (18, "7x7"): 7.1e9 / 128**2}
"""Products and sums per item and pixel: two views, forward and backward."""
SMALL_WORK = 6.7e9
"""Products and sums per item of ResNet-18 with a 3x3 stem at 32 x 32, likewise."""
KINDS = {
    "convolutions": (
        "conv",
        "xmma",
        "cudnn",
        "implicit",
        "sm90",
        "sm80",
        "nvjet",
        "dgrad",
        "wgrad",
    ),
    "products": ("gemm", "cublas", "flash", "fmha", "attention"),
    "optimiser": ("adam", "multi_tensor", "foreach", "lpnorm"),
    "copies": ("memcpy", "memset"),
    "norms, activations, loss, views (fused)": ("triton",),
}
"""Kinds of work by parts of the names of kernels; the first that fits."""


def main() -> None:
    wanted = arguments()
    results = (
        [self_supervised(wanted, name, batch) for name in wanted.learn for batch in wanted.batch]
        if wanted.learn
        else [measured(wanted, batch) for batch in wanted.batch]
    )
    if wanted.json:
        Path(wanted.json).write_text(json.dumps(results, indent=1))


def measured(wanted: argparse.Namespace, batch: int) -> dict[str, Any]:
    trainer = made(wanted, batch)
    device = trainer.compute.device
    point = SchedulePoint(1, 500)
    clock = Clock(device, wanted.steps)
    began = time.monotonic()
    for _ in range(wanted.warm):
        trainer.one_step(point)
    synchronise(device)
    rows: dict[str, Any] = {
        "batch": batch,
        "device": trainer.compute.reason,
        "compile": wanted.compile,
        "first steps, s": round(time.monotonic() - began, 1),
    }
    rows["step, s"] = clock(lambda: trainer.one_step(point))
    rows["host: batch and links, s"] = clock(lambda: host_side(trainer))
    here = torch.from_numpy(trainer.batches.items(3).astype(np.int64)).to(trainer.device)
    rows["views by themselves, s"] = clock(
        lambda: trainer.views(trainer.data[here], trainer._chance)
    )
    if torch.device(device).type != "cpu":
        rows["device time per step, ms"] = device_time(lambda: trainer.one_step(point))
    rows |= questions(trainer)
    steps = trainer.batches.steps
    epoch = rows["step, s"] * steps + rows["features of all, s"] + rows["choosing pairs, s"]
    rows["items/s"] = batch / rows["step, s"]
    rows["items/s with questions"] = batch * steps / epoch
    work = PER_ITEM.get((wanted.depth, wanted.stem))
    if work:
        rows["share of peak"] = rows["items/s"] * work * wanted.size**2 / PEAK
    show(rows)
    return rows


def self_supervised(wanted: argparse.Namespace, method: str, batch: int) -> dict[str, Any]:
    """Items per second of a method without answers, its own labels included."""
    rng = np.random.default_rng(0)
    data = rng.integers(0, 256, (wanted.items, 3, 32, 32), dtype=np.uint8)
    groups = 10 if method in GROUPING else None
    setting = SelfSetting(
        method, groups, channels=wanted.channels, batch_size=batch, compile=wanted.compile,
        device=wanted.device,
    )  # fmt: skip
    learner = SelfLearner(setting, data)
    began = time.monotonic()
    learner.timing()  # compiles and records
    rows: dict[str, Any] = {
        "method": method,
        "batch": batch,
        "device": learner.reason,
        "compile": wanted.compile,
        "first steps, s": round(time.monotonic() - began, 1),
    }
    rows["step, s"], rows["labels of all, s"] = learner.timing()
    steps = wanted.items / batch
    rows["items/s of steps"] = batch / rows["step, s"]
    rows["items/s"] = wanted.items / (steps * rows["step, s"] + rows["labels of all, s"])
    trainer = learner._trainer
    if trainer.device.type != "cpu":
        trainer.network.train()
        point = SchedulePoint(50, 100)
        for _ in range(wanted.warm):  # recorded anew after the measurement was undone
            trainer.one_step(point)
        rows["device time per step, ms"] = device_time(lambda: trainer.one_step(point))
    # Two views, forward and backward; a slow copy adds a third of it.
    work = SMALL_WORK * (4 / 3 if method in ("byol", "propos") else 1) * (wanted.channels / 64) ** 2
    rows["share of peak"] = rows["items/s"] * work / PEAK
    show(rows)
    return rows


def show(rows: dict[str, Any]) -> None:
    for name, value in rows.items():
        if name.startswith("items/s"):
            value = f"{value:,.0f}"
        elif name == "share of peak":
            value = f"{100 * value:.1f} %"
        elif isinstance(value, float):
            value = f"{value:.4f}"
        if isinstance(value, dict):
            value = "".join(f"\n    {kind:40} {spent:.2f}" for kind, spent in value.items())
        print(f"{name:28} {value}", flush=True)


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


def device_time(work: Callable[[], Any], calls: int = 8) -> dict[str, float]:
    """Milliseconds per call by kind of kernel, and idle time between the first and the last."""
    from torch.profiler import DeviceType, ProfilerActivity, profile

    work()
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as watched:
        for _ in range(calls):
            work()
        torch.cuda.synchronize()
    spent: dict[str, float] = defaultdict(float)
    events = [e for e in watched.events() if e.device_type == DeviceType.CUDA]
    for event in events:
        spent[kind_of(event.name)] += event.time_range.elapsed_us() / 1e3 / calls
    begun = min(e.time_range.start for e in events)
    ended = max(e.time_range.end for e in events)
    busy = sum(spent.values())
    spent["idle (under the profiler)"] = max(0.0, (ended - begun) / 1e3 / calls - busy)
    return dict(sorted(spent.items(), key=lambda pair: -pair[1]))


def kind_of(kernel: str) -> str:
    name = kernel.lower()
    return next((k for k, parts in KINDS.items() if any(p in name for p in parts)), "other")


def made(wanted: argparse.Namespace, batch: int) -> Trainer:
    compute = best_device(wanted.device)
    rng = np.random.default_rng(0)
    kinds = rng.integers(0, 2, wanted.items)
    data = torch.randint(256, (wanted.items, 3, wanted.pixels, wanted.pixels), dtype=torch.uint8)
    dtype = torch.bfloat16 if compute.dtype == "bfloat16" else torch.float32
    family = FAMILIES["pcl"].at(wanted.size)
    views = Views(family, dtype=dtype, compiled=wanted.compile in COMPILE_MODES)
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
    batch_links(items, trainer.known).masks(len(items))  # type: ignore[arg-type]


def questions(trainer: Trainer) -> dict[str, float]:
    """Seconds for the features of all items, and for one epoch's pairs chosen from them."""
    n, known = len(trainer.data), Constraints(len(trainer.data))
    spent: dict[str, float] = {}
    for _ in range(2):  # the first time compiles
        synchronise(trainer.compute.device)
        began = time.perf_counter()
        reader = Reader.of(
            trainer.network, trainer.data, trainer.views.plain, trainer.compute,
            peers=trainer.batches.size - 1, seed=0, recorded=trainer.recorded_network,
        )  # fmt: skip
        bank = reader.bank(trainer.data)
        middle = time.perf_counter()
        now = Clustering.first(bank.p.argmax(axis=1), bank.z, None)
        view = View(now, known, np.random.default_rng(0), budget=10_000)
        pcl.PCL().propose(view, n // trainer.batches.size)
        spent["features of all, s"] = middle - began
        spent["choosing pairs, s"] = time.perf_counter() - middle
    return spent


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--batch", type=int, nargs="+", default=[128, 256])
    add("--learn", nargs="*", default=(), choices=METHODS, help="self-supervised methods instead")
    add("--size", type=int, default=128, help="pixels a side of a view")
    add("--pixels", type=int, default=32, help="pixels a side of a stored picture")
    add("--items", type=int, default=50_000)
    add("--answers", type=int, default=10_000)
    add("--depth", type=int, default=34, choices=(18, 34))
    add("--stem", default="7x7", choices=("7x7", "3x3"))
    add("--channels", type=int, default=64)
    add("--compile", default="graphs", choices=("", "record", "plain", "tuned", "graphs"))
    add("--steps", type=int, default=60)
    add("--warm", type=int, default=15)
    add("--device", default=None)
    add("--json", default=None)
    return parser.parse_args()


if __name__ == "__main__":
    main()
