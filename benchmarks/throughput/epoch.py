"""Where the time of an epoch of PCL goes, through the session: training, reading, questions.

    python -m benchmarks.throughput.epoch --json epoch.json              # on a GPU
    python -m benchmarks.throughput.epoch --draw BEFORE.json AFTER.json --out epoch-profile.png

The published setting (ResNet-34, 128 x 128, batches of 128) on 50,000 pictures of noise with 10,000
answers. Two kinds of epochs are timed: those between which an epoch's pairs are asked, and those
after the last question, of which several make one refit.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks.throughput.training import PEAK, PER_ITEM, device_time
from samekind.clusterers.deep import base as deep_base
from samekind.clusterers.deep.pcl import PCL
from samekind.compute import synchronise
from samekind.session import Session
from samekind.simulation.loop import LoopLog, run
from samekind.simulation.people import Truth
from samekind.sources.files.rows import RowCollection, Rows
from samekind.strategies.pairs import pcl
from samekind.training.loop import SchedulePoint, Trainer

PHASES: tuple[tuple[str, Any, str], ...] = (
    ("training", Trainer, "run_until"),
    ("reading all items", deep_base.Learner, "_reading"),
    ("honouring the answers", deep_base, "settled"),
    ("choosing questions", pcl.PCL, "propose"),
)
"""What is timed, and which function does it."""
FUSED = "norms, activations, loss, views (fused)"
COLOURS = {
    "training: convolutions": "#0072b2",
    "training: norms, loss, views": "#56b4e9",
    "training: optimiser, idle": "#bcd9ea",
    "reading all items": "#e69f00",
    "honouring the answers": "#cc79a7",
    "choosing questions": "#009e73",
    "other": "#55554f",
    "not split": "#c4c4c0",
}
"""Parts of an epoch in the picture; colours after Okabe and Ito."""


def main() -> None:
    wanted = arguments()
    if wanted.draw:
        draw([json.loads(Path(file).read_text()) for file in wanted.draw], wanted.out)
        return
    result = measured(wanted)
    print(json.dumps(result, indent=1), flush=True)
    if wanted.json:
        Path(wanted.json).write_text(json.dumps(result, indent=1))


def measured(wanted: argparse.Namespace) -> dict[str, Any]:
    session, truth, first = begun(wanted)
    quota = session.refit_every
    with phases() as spent:
        asking = timed(lambda: run(session, Truth(truth), 2 * quota, log=LoopLog()), spent, 2)
    left = wanted.answers - len(session.answers)
    session.refit_every = session.ahead = max(1, left)
    run(session, Truth(truth), left)  # all other answers at once
    session.model.set_params(epochs=wanted.block)
    with phases() as spent:
        after = timed(session.refit, spent, wanted.block)
    trainer = session.model._learner._trainer
    work = PER_ITEM[(34, "7x7")] * wanted.size**2 * len(truth)
    result = {
        "label": wanted.label,
        "items": wanted.items,
        "answers": wanted.answers,
        "device": trainer.compute.reason,
        "compile": wanted.compile,
        "first fit of one epoch, s": first,
        "epoch with questions, s": asking,
        "epoch after the last question, s": after,
        "share of peak": work / after["whole"] / PEAK,
    }
    if trainer.device.type == "cuda":
        point = SchedulePoint(1, 500)
        result["device time per step, ms"] = device_time(lambda: trainer.one_step(point))
    return result


def begun(wanted: argparse.Namespace) -> tuple[Session, Any, float]:
    """A session after its first fit, the truth, and the seconds of that fit."""
    rng = np.random.default_rng(0)
    images = rng.integers(0, 256, (wanted.items, 3, 32, 32), dtype=np.uint8)
    truth = rng.integers(0, 2, wanted.items)
    model = PCL(
        2, epochs=1, first_epochs=1, horizon=501, compile=wanted.compile, size=wanted.size,
        channels=wanted.channels, device=wanted.device, random_state=0,
    )  # fmt: skip
    quota = max(1, wanted.items // 128)
    collection = RowCollection("noise", Rows(np.zeros((wanted.items, 1), np.float32)), ready=True)
    started = time.perf_counter()
    session = Session(
        collection, images, clusterer=model, strategy="pcl", seed=0, refit_every=quota,
        ahead=quota, budget=wanted.answers,
    )  # fmt: skip
    return session, truth, round(time.perf_counter() - started, 2)


@contextmanager
def phases() -> Iterator[dict[str, float]]:
    """Seconds per phase within this context; the device is waited for at the end of each."""
    spent: dict[str, float] = defaultdict(float)
    originals = [(name, owner, at, getattr(owner, at)) for name, owner, at in PHASES]

    def watched(name: str, work: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any, **options: Any) -> Any:
            started = time.perf_counter()
            try:
                return work(*given, **options)
            finally:
                if name == "training":
                    synchronise(given[0].compute.device)
                spent[name] += time.perf_counter() - started

        return call

    patches = [patch.object(owner, at, watched(name, work)) for name, owner, at, work in originals]
    for one in patches:
        one.start()
    try:
        yield spent
    finally:
        for one in patches:
            one.stop()


def timed(work: Callable[[], Any], spent: dict[str, float], epochs: int) -> dict[str, float]:
    """Seconds per epoch of some work: the whole, each phase, and the rest."""
    started = time.perf_counter()
    work()
    whole = time.perf_counter() - started
    found = {name: round(seconds / epochs, 4) for name, seconds in spent.items()}
    found["other"] = round((whole - sum(spent.values())) / epochs, 4)
    return {"whole": round(whole / epochs, 4), **found}


def draw(results: Sequence[dict[str, Any]], out: str) -> None:
    """Bars of an epoch by phase, one pair per result."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

    kinds = ("epoch with questions, s", "epoch after the last question, s")
    figure = Figure(figsize=(9, 1.2 + 0.62 * len(results) * len(kinds)), layout="constrained")
    axes = figure.add_subplot()
    pairs = [(result, kind) for result in results for kind in kinds]
    for place, (result, kind) in enumerate(pairs):
        left = 0.0
        for name, seconds in segments(result, kind).items():
            axes.barh(place, seconds, left=left, color=COLOURS[name], height=0.62)
            left += seconds
        axes.text(left + 0.06, place, f"{result[kind]['whole']:.2f} s", va="center", fontsize=9)
    labels = [f"{one['label']}\n{kind.removesuffix(', s')}" for one, kind in pairs]
    axes.set_yticks(range(len(pairs)), labels, fontsize=9)
    axes.invert_yaxis()
    axes.set_xlim(0, 1.12 * max(result[kind]["whole"] for result, kind in pairs))
    axes.set_xlabel("seconds per epoch of 390 steps (50,000 pictures, two views each)", fontsize=9)
    axes.spines[["top", "right"]].set_visible(False)
    handles = [Patch(color=colour, label=name) for name, colour in COLOURS.items()]
    figure.legend(handles=handles, loc="outside lower center", ncols=4, frameon=False, fontsize=9)
    FigureCanvasAgg(figure)
    figure.savefig(out, dpi=160)


def segments(result: dict[str, Any], kind: str) -> dict[str, float]:
    """Seconds of an epoch by name of a colour; training is split by the kernels of a step."""
    spent = {name: seconds for name, seconds in result[kind].items() if name != "whole"}
    kernels = dict(result.get("device time per step, ms", {}))
    training = spent.pop("training", 0.0)
    parts = {
        "training: convolutions": kernels.pop("convolutions", 0.0),
        "training: norms, loss, views": kernels.pop(FUSED, 0.0),
    }
    parts["training: optimiser, idle"] = sum(kernels.values())
    whole = sum(parts.values()) or 1.0
    split = {name: training * ms / whole for name, ms in parts.items()}
    return {name: (split | spent).get(name, 0.0) for name in COLOURS}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--items", type=int, default=50_000)
    add("--answers", type=int, default=10_000)
    add("--block", type=int, default=5, help="epochs per refit after the last question")
    add("--size", type=int, default=128, help="pixels a side of a view")
    add("--channels", type=int, default=64)
    add("--compile", default="graphs", choices=("", "record", "plain", "tuned", "graphs"))
    add("--device", default=None)
    add("--label", default="now", help="of the bars, such as a commit")
    add("--json", default=None)
    add("--draw", nargs="+", default=(), help="files of results to draw")
    add("--out", default="epoch-profile.png")
    return parser.parse_args()


if __name__ == "__main__":
    main()
