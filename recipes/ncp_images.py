"""NCP on images, on one page: learn from some classes what a class is, group images of others.

    python recipes/ncp_images.py --data glyphs.npz --distort strokes --views turn --seconds 600

The file holds `images` (M, height, width[, channels]) as bytes or `vectors` (M, d), and `labels`
(M,). `python -m benchmarks.ncp.image_data` writes such files: glyphs of fonts, images of CIFAR-100,
and their frozen vectors. Episodes are drawn from all classes but those of --held-out: how surprised
the network is by those is printed as training goes. Vectors are projected onto the axes in which
classes differ. With `--start` a network for general vectors goes on learning with them, or with
images behind an encoder: it can group already, and learns here what a kind is. The weights hold
what is needed to read pictures or vectors: `NCP(weights=...)`.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from samekind.clusterers.ncp.amortized.calibration import Calibrated
from samekind.clusterers.ncp.amortized.distortions import Distortion, Photos, Strokes
from samekind.clusterers.ncp.amortized.generators import Generator
from samekind.clusterers.ncp.amortized.labelled_episodes import LabelledEpisodes
from samekind.clusterers.ncp.amortized.likelihood import log_joint
from samekind.clusterers.ncp.amortized.network import NCPNetwork, Sizes
from samekind.clusterers.ncp.amortized.priors import CRP, EvenKinds, MixedPrior
from samekind.clusterers.ncp.amortized.training import train
from samekind.clusterers.ncp.amortized.weights import load
from samekind.clusterers.ncp.readers import VectorReader, kind_axes, save_with_reader
from samekind.compute import best_device

DISTORTIONS: dict[str, Distortion | None] = {
    "none": None, "strokes": Strokes(), "photos": Photos(),
}  # fmt: skip
CHECKS = 10
"""Times that the surprise by held-out classes is measured, over a training."""


def main() -> None:
    wanted = arguments()
    device = best_device(wanted.device).device
    with np.load(wanted.data, allow_pickle=False) as file:
        data = dict(file)
    items = data["vectors"] if "vectors" in data else images_first(data["images"])
    names = np.unique(data["labels"])
    held = np.random.default_rng(wanted.seed).permutation(names)[: wanted.held_out]
    known = ~np.isin(data["labels"], held)
    reader: dict[str, Any]
    if items.ndim == 2:
        items, reader = projected(data, known, wanted.axes)
    look = settings(items, wanted, device)
    if items.ndim == 4:
        told = {name: look[name] for name in ("mean", "std")}
        reader = {"kind": "pictures", "side": items.shape[2], "channels": items.shape[1], **told}
        reader["fitted"] = wanted.fitted
    episodes: Generator = LabelledEpisodes(
        items[known], data["labels"][known], views=wanted.views, moved=wanted.moved,
        distort=DISTORTIONS[wanted.distort], **look,
    )  # fmt: skip
    print(f"{known.sum()} items of {len(names) - len(held)} classes, {len(held)} held out")
    torch.manual_seed(wanted.seed)
    dim = None
    if wanted.start is not None:  # a process that can group already learns what a kind is here
        network = begun(wanted.start, items)
        if items.ndim == 2:
            dim = network.sizes.inputs
            episodes = Calibrated(episodes, dim)
    else:
        network = NCPNetwork(
            Sizes(
                encoder="points" if items.ndim == 2 else wanted.encoder, inputs=items.shape[1],
                encoder_layers=wanted.blocks, attention=wanted.attention,
            )
        )  # fmt: skip
    watch = Watch(network, items[~known], data["labels"][~known], look, dim) if len(held) else None
    history = train(
        network, episodes, seconds=wanted.seconds, batch=wanted.batch, lr=wanted.lr,
        most_points=wanted.most_points,
        weight_decay=wanted.weight_decay, average=wanted.average, device=device, seed=wanted.seed,
        quick=True, progress=lambda step, done, nll: report(watch, step, done, nll),
    )  # fmt: skip
    names_only = {key: getattr(wanted, key) for key in ("data", "start")}
    command = {k: v for k, v in vars(wanted).items() if k not in ("out", "device", *names_only)}
    command |= {key: value and Path(value).name for key, value in names_only.items()}
    facts = {
        "command": command, "steps": history.steps[-1], "points": list(wanted.points),
        "held_out": held.tolist(), "calibrated": dim is not None,
    }  # fmt: skip
    if watch is not None:
        print(f"in the end {watch.surprise():.4f} nats per held-out item")
    save_with_reader(wanted.out, network, reader, facts)


def begun(file: str, items: NDArray[Any]) -> NCPNetwork:
    """A network for general vectors; for images an encoder is put before it, which is new.

    A network that this recipe has trained on images goes on as it is.
    """
    start = load(file).network.requires_grad_(True)
    if items.ndim == 2 or start.sizes.encoder == "image-points":
        return start
    sizes = replace(start.sizes, encoder="image-points", inputs=items.shape[1])
    network = NCPNetwork(sizes)
    known = {k.replace("encoder.", "encoder.points.", 1): v for k, v in start.state_dict().items()}
    new = network.load_state_dict(known, strict=False)
    if new.unexpected_keys:
        raise SystemExit(f"{file} does not hold weights for general vectors.")
    return network


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    add = parser.add_argument
    add("--data", required=True, help="a .npz file with images or vectors, and labels")
    add("--held-out", type=int, default=0, help="classes that are not learnt from, at random")
    add("--distort", choices=list(DISTORTIONS), default="none")
    add("--views", nargs="*", default=(), choices=("turn", "mirror", "invert"))
    add("--moved", type=float, default=0.0, help="of vectors: see LabelledEpisodes")
    add("--points", type=int, nargs=2, default=(10, 200))
    add("--most", type=int, default=20, help="largest number of groups")
    add("--axes", type=int, default=64, help="of vectors: how many are kept")
    add("--fitted", type=int, default=None, help="of signs: pixels that the longer side fills")
    add("--encoder", choices=("residual", "images"), default="residual",
        help="of pictures: images is ten times as fast and less deep")  # fmt: skip
    add("--blocks", type=int, default=1, help="residual blocks, or layers for vectors")
    add("--attention", type=int, default=2)
    add("--seconds", type=float, default=600.0)
    add("--batch", type=int, default=32)
    add("--most-points", type=int, default=None, help="fewer data sets per step, if they are large")
    add("--lr", type=float, default=1e-3)
    add("--weight-decay", type=float, default=1e-2)
    add("--average", type=float, default=0.999)
    add("--seed", type=int, default=0)
    add("--device", default=None)
    add("--start", default=None, help="weights for general vectors to begin with")
    add("--out", default="ncp-images.safetensors")
    return parser.parse_args()


def images_first(images: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """(M, channels, height, width)"""
    return images[:, None] if images.ndim == 3 else np.ascontiguousarray(np.moveaxis(images, 3, 1))


def settings(items: NDArray[Any], wanted: argparse.Namespace, device: str) -> dict[str, Any]:
    """What the episodes to learn from and those to check on share."""
    is_bytes = items.dtype == np.uint8
    return {
        "points": tuple(wanted.points), "device": device, "max_groups": wanted.most,
        "prior": MixedPrior(CRP((0.3, 3.0)), EvenKinds(most=wanted.most, gamma=(1.0, 10.0)), 0.3),
        "mean": float(items.mean() / 255) if is_bytes else 0.0,
        "std": float(items.std() / 255) if is_bytes else 1.0,
    }  # fmt: skip


def projected(
    data: dict[str, NDArray[Any]], known: NDArray[np.bool_], count: int
) -> tuple[NDArray[np.float32], dict[str, Any]]:
    """Vectors along the axes in which the known classes differ, and how to read further ones."""
    rows = data["vectors"].astype(np.float32)  # along principal axes, see image_data
    axes = kind_axes(rows[known], data["labels"][known], count).astype(np.float32)
    features, mean = str(data["features"]), data["mean"].astype(np.float32)
    all_axes = (data["axes"].astype(np.float32) @ axes).astype(np.float32)
    items = VectorReader(features, np.zeros(rows.shape[1], np.float32), axes).along(rows)
    return items, {"kind": "vectors", "features": features, "mean": mean, "axes": all_axes}


class Watch:
    """Measures how surprised a network is by episodes of classes that it does not learn from."""

    def __init__(
        self,
        network: NCPNetwork,
        items: NDArray[Any],
        labels: NDArray[Any],
        look: dict[str, Any],
        dim: int | None = None,
    ) -> None:
        source: Generator = LabelledEpisodes(items, labels, **{**look, "points": (100, 100)})
        source = source if dim is None else Calibrated(source, dim)
        self.network, self.last = network, 0.0
        chance = torch.Generator(look["device"]).manual_seed(1)
        self.episodes = [source.draw(16, chance) for _ in range(4)]

    @torch.no_grad()
    def surprise(self) -> float:
        """Mean of -log p(true grouping) per item."""
        found = [log_joint(self.network, x, y, mask).sum() for x, y, mask in self.episodes]
        count = sum(int(mask.sum()) for _, _, mask in self.episodes)
        return -float(sum(found)) / max(1, count)


def report(watch: Watch | None, step: int, done: float, nll: float) -> None:
    text = f"{time.strftime('%H:%M:%S')} {done:5.0%} step {step} {nll:.4f} nats per item"
    if watch is not None and done >= watch.last + 1 / CHECKS:
        watch.last = done
        text += f", {watch.surprise():.4f} per held-out item"
        print(text, flush=True)
    elif watch is None:
        print(text, flush=True)


if __name__ == "__main__":
    main()
