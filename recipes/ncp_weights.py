"""The weights that the package ships: all variants of NCP on one law of general vectors.

    python recipes/ncp_weights.py --variant pointwise --seconds 800 --out pointwise.safetensors
    python recipes/ncp_weights.py --variant acp-s --draws 40 --seconds 800 --out acp-s.safetensors
    python recipes/ncp_weights.py --law plane --start pointwise.safetensors --out plane.safetensors

Data sets of 4 to 500 points come from :class:`MixedVectors` and are seen as the estimator sees real
vectors. Small data sets are as frequent as large ones. What is written are averaged weights in 16
bits; `--checkpoint` lets an interrupted training continue.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from statistics import median
from typing import Any

import torch

from samekind.clusterers.ncp.amortized.clusterwise import ClusterwiseNetwork, ClusterwiseSizes
from samekind.clusterers.ncp.amortized.clusterwise_training import train_clusterwise
from samekind.clusterers.ncp.amortized.mixed_vectors import general_vectors, plane_vectors
from samekind.clusterers.ncp.amortized.network import NCPNetwork, Sizes
from samekind.clusterers.ncp.amortized.training import train
from samekind.clusterers.ncp.amortized.training_loop import History
from samekind.clusterers.ncp.amortized.weights import load, save
from samekind.compute import best_device

LAWS = {"general": general_vectors, "plane": plane_vectors}
KINDS = {"clusterwise": "ccp", "acp-s": "acp-s", "acp": "acp"}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    add = parser.add_argument
    add("--variant", default="pointwise", choices=("pointwise", *KINDS))
    add("--law", default="general", choices=list(LAWS), help="what data sets are drawn from")
    add("--start", default=None, help="weights to begin with (pointwise)")
    add("--points", type=int, nargs=2, default=(4, 500), help="smallest and largest data set")
    add("--groups", type=int, default=20, help="most groups of a data set")
    add("--axes", type=int, default=16, help="principal axes that the network sees")
    add("--width", type=int, default=128, help="of every layer")
    add("--attention", type=int, default=2, help="blocks before h and u (pointwise)")
    add("--feed-point", action="store_true", help="f sees the point to be placed (pointwise)")
    add("--inducing", type=int, default=32, help="points through which a set is seen")
    add("--passes", type=int, default=4, help="groups of each data set per step (others)")
    add("--draws", type=int, default=8, help="of z for each of them (others)")
    add("--seconds", type=float, default=600.0)
    add("--batch", type=int, default=96, help="data sets per step")
    add(
        "--most-points", type=int, default=9_000, help="fewer data sets per step, if they are large"
    )
    add("--lr", type=float, default=1e-3)
    add("--schedule", default="cosine", choices=("cosine", "constant"))
    add("--average", type=float, default=0.999, help="memory of the averaged weights per step")
    add("--seed", type=int, default=0)
    add("--device", default=None)
    add("--checkpoint", default=None)
    add("--out", default="ncp.safetensors")
    wanted = parser.parse_args(arguments)
    torch.manual_seed(wanted.seed)
    network, history = trained(wanted)
    hidden = ("out", "checkpoint", "device")
    facts = {
        "command": {k: v for k, v in vars(wanted).items() if k not in hidden},
        "calibrated": True, "points": wanted.points, "steps": history.steps[-1],
        "nll": median(history.nll_per_point[-10:]),
    }  # fmt: skip
    save(wanted.out, network, facts, half=True)
    count = sum(value.numel() for value in network.parameters())
    print(f"{wanted.out}: {history.steps[-1]} steps, {count} parameters")


def trained(wanted: argparse.Namespace) -> tuple[NCPNetwork | ClusterwiseNetwork, History]:
    """A network of the variant, and the course of its training."""
    data = LAWS[wanted.law](tuple(wanted.points), wanted.groups, wanted.axes)
    settings: dict[str, Any] = {
        "seconds": wanted.seconds, "batch": wanted.batch, "lr": wanted.lr, "seed": wanted.seed,
        "device": best_device(wanted.device).device, "ranges": ranges(tuple(wanted.points)),
        "average": wanted.average, "schedule": wanted.schedule, "checkpoint": wanted.checkpoint,
        "most_points": wanted.most_points, "quick": True, "progress": report,
    }  # fmt: skip
    w = wanted.width
    if wanted.variant == "pointwise":
        network = NCPNetwork(Sizes(
            inputs=wanted.axes, features=w, width=w, h_outputs=w, g_outputs=w,
            attention=wanted.attention, inducing=wanted.inducing, feed_point=wanted.feed_point,
        ))  # fmt: skip
        if wanted.start is not None:
            network = load(wanted.start).network.requires_grad_(True)
        return network, train(network, data, **settings)
    kind: Any = KINDS[wanted.variant]
    by_group = ClusterwiseNetwork(ClusterwiseSizes(
        kind=kind, inputs=wanted.axes, features=w, width=w, inducing=wanted.inducing
    ))  # fmt: skip
    settings |= {"passes": wanted.passes, "draws": wanted.draws}
    return by_group, train_clusterwise(by_group, data, **settings)


def ranges(points: tuple[int, int]) -> list[tuple[int, int]]:
    """Sizes in four ranges: each up to twice as large as the one before, small ones together.

    >>> ranges((4, 500))
    [(4, 62), (63, 125), (126, 250), (251, 500)]
    """
    low, high = points
    ends = [high // 8, high // 4, high // 2, high]
    begins = [low, *(end + 1 for end in ends[:-1])]
    return [(a, b) for a, b in zip(begins, ends, strict=True) if a <= b]


def report(step: int, done: float, nll: float) -> None:
    if step % 500 == 0 or done >= 1:
        print(f"{done:5.0%} step {step} {nll:.4f} nats per point", flush=True)


if __name__ == "__main__":
    main()
