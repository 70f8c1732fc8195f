"""Images of classes that no network has seen: the clustering process against k-means with true K.

    python -m benchmarks.ncp.images --data FOLDER --seconds 60 --json ncp_images.json

FOLDER holds mnist-14k.parquet (columns image, label, split). Networks are trained on episodes of
the digits 0-4 and tested on episodes of 5-9 (20 to 100 images, K unknown), and on held-out images
of 0-4 for comparison. Variants: `plain` has five classes to learn from; `views` takes turned,
mirrored and inverted digits (or what --views says) as further classes; `look-alikes` also puts
views that differ by a mirror or a half turn into one episode; `vectors` and `vectors-views` read
frozen vectors (principal components of the pixels of 0-4; a quarter turn makes new classes of them)
instead of images. k-means is told the true K, on h of the same network and on pixels. Of the
posterior come three groupings: the most probable of the samples, the `central` one (wrong about
the fewest pairs), and one sample as it comes. A last table says how surprised the network is by the
true grouping, for images it was trained on, other images of the same digits, and unseen digits.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from benchmarks.measuring import provenance
from samekind.clusterers.ncp.amortized.labelled_episodes import LabelledEpisodes, View
from samekind.clusterers.ncp.amortized.likelihood import log_joint, relabel
from samekind.clusterers.ncp.amortized.network import NCPNetwork, Sizes
from samekind.clusterers.ncp.amortized.sampler import Sampler
from samekind.clusterers.ncp.amortized.samples import Samples, rescored
from samekind.clusterers.ncp.amortized.training import train
from samekind.clusterers.ncp.amortized.weights import load, save
from samekind.compute import best_device
from samekind.sources import open_labelled

NAME = "mnist-14k"
MEAN, STD = 0.1307, 0.3081
ALL_VIEWS: tuple[View, ...] = ("turn", "mirror", "invert")
VARIANTS = ("plain", "views", "look-alikes", "vectors", "vectors-views")
N_VECTORS = 32
Row = dict[str, Any]


class Digits(NamedTuple):
    """Images (M, 1, side, side) as bytes, their digits, and which are held out."""

    images: NDArray[np.uint8]
    digits: NDArray[np.intp]
    test: NDArray[np.bool_]


class Components(NamedTuple):
    """Principal components of pixels: their mean, axes (pixels, N_VECTORS), and first scale."""

    mean: NDArray[np.float32]
    axes: NDArray[np.float64]
    scale: float


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    add = parser.add_argument
    add("--data", required=True, help=f"folder with {NAME}.parquet")
    add("--variants", nargs="*", default=VARIANTS, choices=VARIANTS)
    add("--views", nargs="*", default=ALL_VIEWS, choices=ALL_VIEWS, help="what makes new classes")
    add("--seconds", type=float, default=60.0, help="of training, for each")
    add("--side", type=int, default=28, choices=(28, 14), help="14: half the size, for a CPU")
    add("--points", type=int, nargs=2, default=(20, 100))
    add("--batch", type=int, default=32)
    add("--lr", type=float, default=1e-3)
    add("--episodes", type=int, default=50, help="to test on; 0: only train")
    add("--samples", type=int, default=64)
    add("--seed", type=int, default=0)
    add("--device", default=None)
    add("--weights", default=None, help="folder: weights are read there, or trained and written")
    add("--json", default=None)
    wanted = parser.parse_args()
    data = read_digits(Path(wanted.data), wanted.side)
    low = data.digits < 5
    tests = {"unseen 5-9": ~low, "seen 0-4": low & data.test}
    parts = {**tests, "training images": low & ~data.test}
    components = principal(data.images[low & ~data.test])
    result: dict[str, Any] = {"settings": vars(wanted), "rows": [], "training": {}}
    for variant in wanted.variants:
        network, result["training"][variant] = trained(variant, data, components, wanted)
        read = partial(inputs, network, variant, components=components)
        drawn = {name: list(test_episodes(data, part, wanted)) for name, part in parts.items()}
        methods = methods_of(read, network, wanted.samples)
        for name in tests if wanted.episodes else ():
            found = scored(methods, drawn[name])
            rows = [{"variant": variant, "digits": name, **row} for row in found]
            result["rows"] += rows
            show(f"{variant}, {name}", rows)
        if wanted.episodes:
            surprised = {name: surprise(read, network, drawn[name]) for name in parts}
            result.setdefault("surprise", {})[variant] = surprised
            print("nats per image:", {name: round(v, 4) for name, v in surprised.items()})
    if wanted.json:
        result |= provenance()
        Path(wanted.json).write_text(json.dumps(result, indent=1, default=str))


def read_digits(folder: Path, side: int) -> Digits:
    """All digits; decoded once, then kept beside the file where that is allowed."""
    kept = folder / f"{NAME}.npz"
    if kept.exists():
        with np.load(kept, allow_pickle=False) as found:
            data = Digits(found["images"], found["labels"], found["test"])
    else:
        known = open_labelled(folder / f"{NAME}.parquet")
        apart = known.held_out
        assert apart is not None, "the file marks no item as test"
        images = [np.asarray(item.load().convert("L")) for item in [*known.collection, *apart]]
        columns = (known.orientations["label"], known.held_out_orientations["label"])
        test = np.arange(len(images)) >= len(known.collection)
        data = Digits(np.stack(images)[:, None], np.concatenate(columns).astype(np.intp), test)
        try:
            np.savez_compressed(kept, images=data.images, labels=data.digits, test=data.test)
        except OSError:
            print(f"{kept} cannot be written: images are decoded again next time")
    if side == 14:
        quarters = data.images.reshape(-1, 1, 14, 2, 14, 2).mean((3, 5))
        data = data._replace(images=quarters.astype(np.uint8))
    return data


def trained(
    variant: str, data: Digits, components: Components, wanted: argparse.Namespace
) -> tuple[NCPNetwork, Row]:
    device = best_device(wanted.device).device
    name = f"ncp-images-{variant}.safetensors"
    file = None if wanted.weights is None else Path(wanted.weights) / name
    if file is not None and file.exists():
        network, facts = load(file, device=device)
        return network, facts
    part = (data.digits < 5) & ~data.test
    episodes = training_episodes(variant, data.images[part], data.digits[part], components, wanted)
    torch.manual_seed(wanted.seed)
    sizes = (
        Sizes(inputs=N_VECTORS, encoder_layers=3) if "vectors" in variant
        else Sizes(encoder="images", inputs=1)
    )  # fmt: skip
    network = NCPNetwork(sizes)
    history = train(
        network, episodes, seconds=wanted.seconds, batch=wanted.batch, lr=wanted.lr,
        device=device, seed=wanted.seed, quick=True,
    )  # fmt: skip
    facts = {
        "variant": variant, "command": vars(wanted), "steps": history.steps[-1],
        "nll": history.nll_per_point[-1], "device": device,
    }  # fmt: skip
    print(f"\n{variant}: {history.steps[-1]} steps, {history.nll_per_point[-1]:.4f} nats per image")
    if file is not None:
        save(file, network, facts)
    return network, {**facts, "history": vars(history)}


def training_episodes(
    variant: str,
    images: NDArray[np.uint8],
    digits: NDArray[np.intp],
    components: Components,
    wanted: argparse.Namespace,
) -> LabelledEpisodes:
    """What a variant learns from."""
    device, points = best_device(wanted.device).device, tuple(wanted.points)
    if "vectors" in variant:
        # A quarter turn makes a new class also of a vector, if the image is turned first.
        turns = range(2) if variant == "vectors-views" else range(1)
        rows = np.concatenate([_vectors(np.rot90(images, k, (2, 3)), components) for k in turns])
        kinds = np.concatenate([digits + 5 * k for k in turns])
        return LabelledEpisodes(rows, kinds, points=points, device=device)
    return LabelledEpisodes(
        images, digits, points=points, max_groups=12, mean=MEAN, std=STD, device=device,
        views=() if variant == "plain" else wanted.views, look_alikes=variant == "look-alikes",
    )  # fmt: skip


Images = NDArray[np.uint8]
Method = Callable[[Images, int, int], NDArray[Any]]
"""From images, the true number of groups and a seed to labels."""
Methods = dict[str, Method]


def inputs(
    network: NCPNetwork, variant: str, images: Images, components: Components
) -> torch.Tensor:
    """(1, N, ...) what a network reads of images."""
    device = next(network.parameters()).device
    if "vectors" in variant:
        return torch.from_numpy(_vectors(images, components))[None].to(device)
    return ((torch.from_numpy(images).float() / 255 - MEAN) / STD)[None].to(device)


def methods_of(read: Callable[[Images], torch.Tensor], network: NCPNetwork, n: int) -> Methods:
    """What is compared, by name; the process draws `n` samples, each in an order of its own."""
    from sklearn.cluster import KMeans

    def drawn(images: Images, seed: int, n: int) -> Samples:
        chance = torch.Generator(next(network.parameters()).device).manual_seed(seed)
        (found,) = Sampler(network).sample(read(images), n, orders=n, generator=chance)
        return found

    def process(images: Images, K: int, seed: int) -> NDArray[Any]:
        x = read(images)
        chance = torch.Generator(x.device).manual_seed(seed)
        best = rescored(network, x, drawn(images, seed, n), most=16, orders=8, generator=chance)
        return np.asarray(best.best.cpu())

    def central(images: Images, K: int, seed: int) -> NDArray[Any]:
        return np.asarray(fewest_wrong_pairs(drawn(images, seed, n)).cpu())

    def one_sample(images: Images, K: int, seed: int) -> NDArray[Any]:
        return np.asarray(drawn(images, seed, 1).best.cpu())

    @torch.no_grad()
    def on_h(images: Images, K: int, seed: int) -> NDArray[Any]:
        features = network.h_net(network.encoder(read(images), None))[0].cpu().numpy()
        return np.asarray(KMeans(K, n_init=10, random_state=seed).fit_predict(features))

    def on_pixels(images: Images, K: int, seed: int) -> NDArray[Any]:
        return np.asarray(KMeans(K, n_init=10, random_state=seed).fit_predict(_flat(images)))

    return {
        "ncp": process, "ncp, central": central, "ncp, one sample": one_sample,
        "k-means on h, true K": on_h, "k-means on pixels, true K": on_pixels,
    }  # fmt: skip


def fewest_wrong_pairs(found: Samples) -> torch.Tensor:
    """(N,) the sample that is wrong about the fewest pairs, on average over all of them."""
    lean = 1 - 2 * found.co_membership()  # what it costs to put two images together
    same = found.labels[:, :, None] == found.labels[:, None]  # (P, N, N)
    return found.labels[int((same * lean).sum((1, 2)).argmin())]


def scored(methods: Methods, drawn: list[tuple[Images, NDArray[np.intp]]]) -> Iterator[Row]:
    """Means over the same episodes for each method."""
    from sklearn.metrics import adjusted_mutual_info_score, adjusted_rand_score

    for name, method in methods.items():
        found, numbers = [], Counter[str]()
        for number, (images, truth) in enumerate(drawn):
            K, began = int(truth.max()) + 1, time.perf_counter()
            labels = method(images, K, number)
            seconds = time.perf_counter() - began
            ami = adjusted_mutual_info_score(truth, labels)
            ari = adjusted_rand_score(truth, labels)
            groups = len(np.unique(labels))
            numbers[f"{K} true, {groups} found"] += 1
            found.append([ami, ari, groups - K, seconds])
        values = np.array(found)
        error = values[:, 0].std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
        yield {
            "method": name, "AMI": values[:, 0].mean(), "+-": error, "ARI": values[:, 1].mean(),
            "K right": float((values[:, 2] == 0).mean()), "K - true": values[:, 2].mean(),
            "seconds": values[:, 3].mean(), "numbers of groups": dict(sorted(numbers.items())),
        }  # fmt: skip


@torch.no_grad()
def surprise(
    read: Callable[[Images], torch.Tensor],
    network: NCPNetwork,
    drawn: list[tuple[Images, NDArray[np.intp]]],
) -> float:
    """Mean of -log p(true grouping) per image: what training makes small."""
    values = []
    for images, truth in drawn:
        x = read(images)
        labels = relabel(torch.from_numpy(truth.astype(np.int64))[None].to(x.device))
        values.append(-float(log_joint(network, x, labels)) / len(truth))
    return float(np.mean(values))


def test_episodes(
    data: Digits, part: NDArray[np.bool_], wanted: argparse.Namespace
) -> Iterator[tuple[NDArray[np.uint8], NDArray[np.intp]]]:
    """Images and classes of episodes, the same for every variant."""
    rows = np.flatnonzero(part)
    source = LabelledEpisodes(rows[:, None], data.digits[rows], points=tuple(wanted.points))
    chance = torch.Generator().manual_seed(wanted.seed + 1000)
    count = 0
    while count < wanted.episodes:
        x, labels, mask = source.draw(1, chance)
        size = int(mask.sum())
        if size:
            count += 1
            index = x[0, :size, 0].long().numpy()
            yield data.images[index], labels[0, :size].numpy().astype(np.intp)


def _flat(images: NDArray[np.uint8]) -> NDArray[np.float32]:
    return (images.reshape(len(images), -1) / 255).astype(np.float32)


def principal(images: NDArray[np.uint8]) -> Components:
    """Fitted to some images; signs are fixed, so that trained weights fit on every machine."""
    rows = _flat(images)
    mean = rows.mean(0)
    values, axes = np.linalg.eigh(np.cov((rows - mean).T.astype(np.float64)))
    axes = axes[:, ::-1][:, :N_VECTORS]
    axes = axes * np.sign(axes[np.abs(axes).argmax(0), np.arange(N_VECTORS)])
    return Components(mean, axes, float(np.sqrt(values[-1])))


def _vectors(images: NDArray[np.uint8], components: Components) -> NDArray[np.float32]:
    """Frozen vectors; the first of them has about unit scale."""
    mean, axes, scale = components
    return np.asarray((_flat(images) - mean) @ axes / scale, dtype=np.float32)


def show(title: str, rows: list[Row]) -> None:
    print(f"\n{title}")
    names = [name for name, value in rows[0].items() if isinstance(value, float)]
    print(f"{'':28}" + "".join(f"{name:>10}" for name in names))
    for row in rows:
        print(f"{row['method']:28}" + "".join(f"{row[name]:10.3f}" for name in names), flush=True)


if __name__ == "__main__":
    main()
