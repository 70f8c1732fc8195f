"""Spike sorting on one page: train NCP on simulated spikes, group the spikes of new recordings.

    python recipes/spikes.py --seconds 300 --out spikes.safetensors --json spikes.jsonl
    python recipes/spikes.py --weights spikes.safetensors --recordings 1 --plot spikes.png

An electrode with a few channels records the spikes of some neurons nearby, which are called units.
A spike is a short piece of the recording around a trough. Spikes of one unit look alike up to
noise, slow changes of amplitude and other spikes that fall into the same piece. Nobody knows how
many units there are. That is what a clustering process is for, and spike sorting was the first
application of its authors (arXiv 1811.09747).

:class:`Spikes` draws such recordings in units of the standard deviation of the noise. The network
reads waveforms as they are, since here scale and place mean something. It is compared with a
Dirichlet-process mixture on principal components, whose settings were chosen on other recordings,
and with the weights for general vectors that come with the package.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from samekind.clusterers.ncp.amortized.generators import Episode, draw_grouping
from samekind.clusterers.ncp.amortized.network import Sizes
from samekind.clusterers.ncp.amortized.priors import MFM, Prior, between
from samekind.clusterers.ncp.estimator import NCP
from samekind.evaluation import ari

Floats = NDArray[np.float64]
Labels = NDArray[np.intp]
RATE = 20.0
"""Samples per millisecond."""
TROUGH = 0.5
"""Milliseconds from the beginning of a spike to its trough."""
CHANNELS, SIDE = 4, 25.0
"""Channels of a tetrode, at the corners of a square of so many micrometres."""
FEW = 5
"""Groups with fewer spikes are drawn thin."""
COMPONENTS, CONCENTRATION = 3, 1.0
"""Of the Dirichlet-process mixture: chosen on the recordings of seed 1, see the lab notes."""


class Units(NamedTuple):
    """Shapes of K units in each of B recordings: all (B, K, 1), but `gain` and `delay` (B, K, C).

    A shape is a trough, a slower hump after it and a small one before it; times in milliseconds.
    """

    gain: Tensor
    """Depth of the trough on each channel."""
    delay: Tensor
    """How much later it arrives there."""
    width: Tensor
    after: Tensor
    after_delay: Tensor
    after_width: Tensor
    before: Tensor
    before_lead: Tensor


@dataclass(frozen=True)
class Spikes:
    """Spikes of a tetrode: pieces of `samples` numbers on four channels, flattened.

    Parameters
    ----------
    points : smallest and largest number of spikes in a recording.
    prior : of the units.
    depth : trough of a unit on its best channel, in standard deviations of the noise; between.
    overlap : share of the spikes into which a spike of another unit falls.
    drift : largest change of the amplitude of a unit over the recording, as a part of it.
    jitter : standard deviation of the alignment, in milliseconds.
    together : share of the noise that all channels have in common.

    >>> x, labels, mask = Spikes(points=(5, 5)).draw(2, torch.Generator().manual_seed(0))
    >>> x.shape, labels.shape
    (torch.Size([2, 5, 128]), torch.Size([2, 5]))
    """

    points: tuple[int, int] = (20, 300)
    prior: Prior = MFM(rate=3.0, gamma=1.5, most=12)  # noqa: RUF009 - a frozen value
    max_groups: int = 12
    samples: int = 32
    depth: tuple[float, float] = (4.0, 16.0)
    overlap: float = 0.1
    drift: float = 0.4
    jitter: float = 0.02
    together: float = 0.3

    @property
    def dim(self) -> int:
        """Numbers per spike."""
        return self.samples * CHANNELS

    def draw(
        self, batch: int, generator: torch.Generator, points: tuple[int, int] | None = None
    ) -> Episode:
        """A batch of recordings; nothing waits for the device, so that it can be recorded."""
        low, high = points or self.points
        labels, mask = draw_grouping(self.prior, batch, (low, high), self.max_groups, generator)
        units = self._units(batch, generator)
        shape, device = (batch, high), generator.device

        def normal(*more: int) -> Tensor:
            return torch.randn(*shape, *more, generator=generator, device=device)

        def uniform(*more: int) -> Tensor:
            return torch.rand(*shape, *more, generator=generator, device=device)

        change = torch.rand(batch, self.max_groups, generator=generator, device=device) - 0.5
        change = (2 * self.drift * change).gather(1, labels)  # (B, N) of its unit
        size = (1 + change * (uniform() - 0.5)) * (0.05 * normal()).exp()
        x = self._waveforms(units, labels, self.jitter * normal()) * size[..., None, None]
        # Another spike of any unit of the recording, somewhere in the same piece.
        present = labels.amax(1, keepdim=True) + 1
        other = (uniform() * present).long().clamp_max(self.max_groups - 1)
        shift = (uniform() - 0.5) * self.samples / RATE
        there = (uniform() < self.overlap).float()[..., None, None]
        x = x + there * self._waveforms(units, other, shift)
        x = (x + self._noise(shape, generator)).flatten(2)
        return Episode(torch.where(mask[..., None], x, 0.0), labels, mask)

    def _units(self, batch: int, generator: torch.Generator) -> Units:
        """Units around the electrode: closer channels see a deeper trough, and see it earlier."""
        one = (batch, self.max_groups, 1)

        def of(low: float, high: float) -> Tensor:
            return between((low, high), one, generator)

        place = torch.randn(batch, self.max_groups, 1, 3, generator=generator,
                            device=generator.device) * 30.0  # fmt: skip
        c = torch.arange(CHANNELS, device=generator.device)
        corners = torch.stack([c // 2 - 0.5, c % 2 - 0.5, 0.0 * c], dim=1) * SIDE
        far = (place - corners).square().sum(-1).sqrt() + 10.0  # (B, K, C) micrometres
        near = far.amin(2, keepdim=True)
        return Units(
            gain=of(*self.depth) * (near / far).pow(1.5), delay=(far - near) / 500.0,
            width=of(0.06, 0.15), after=of(0.1, 0.6), after_delay=of(0.25, 0.55),
            after_width=of(0.12, 0.3), before=of(0.02, 0.25), before_lead=of(0.18, 0.3),
        )  # fmt: skip

    def _waveforms(self, units: Units, labels: Tensor, shift: Tensor) -> Tensor:
        """(B, N, C, T) spikes without noise, each so many milliseconds late."""
        u = Units(*(part.take_along_dim(labels[..., None], 1)[..., None] for part in units))
        time = torch.arange(self.samples, device=labels.device) / RATE - TROUGH
        t = time - u.delay - shift[..., None, None]  # (B, N, C, T)

        def hump(t: Tensor, width: Tensor) -> Tensor:
            return torch.exp(-0.5 * (t / width).square())

        shape = u.after * hump(t - u.after_delay, u.after_width) - hump(t, u.width)
        return u.gain * (shape + u.before * hump(t + u.before_lead, u.width))

    def _noise(self, shape: tuple[int, int], generator: torch.Generator) -> Tensor:
        """(B, N, C, T) noise of unit variance, correlated over time and channels."""
        C, T = CHANNELS, self.samples
        white = torch.randn(*shape, C + 1, T + 2, generator=generator, device=generator.device)
        smooth = (white[..., :-2] + 2 * white[..., 1:-1] + white[..., 2:]) / 6**0.5
        own, common = smooth[..., :C, :], smooth[..., C:, :]
        return (1 - self.together) ** 0.5 * own + self.together**0.5 * common


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    add = parser.add_argument
    add("--weights", default=None, help="file of an earlier training; None: train now")
    add("--seconds", type=float, default=300.0, help="of training")
    add("--points", type=int, nargs=2, default=(20, 150), help="spikes of its recordings")
    add("--batch", type=int, default=16)
    add("--lr", type=float, default=2e-3)
    add("--width", type=int, default=64)
    add("--out", default="spikes.safetensors", help="file for the trained weights")
    add("--sizes", type=int, nargs="+", default=[100, 300], help="spikes of a new recording")
    add("--recordings", type=int, default=50, help="new recordings of each size; 0: none")
    add("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    add("--seed", type=int, default=0, help="of the training; new recordings have others")
    add("--device", default=None)
    add("--json", type=Path, default=None, help="append rows to this file")
    add("--plot", default=None, help="picture of one recording (needs matplotlib)")
    wanted = parser.parse_args(arguments)
    file = wanted.weights or train(wanted)
    model = NCP(weights=file, random_state=0)
    for n in wanted.sizes if wanted.recordings else ():
        recordings = recorded(n, wanted.recordings, wanted.seed)
        for name in wanted.methods:
            row = {"spikes": n, "method": name, **scored(METHODS[name], model, recordings)}
            print(line(row), flush=True)
            if wanted.json:
                keep(wanted.json, row, file)
    if wanted.plot:
        draw_picture(wanted.plot, recorded(wanted.sizes[-1], 1, wanted.seed + 5)[0], model)


def train(wanted: argparse.Namespace) -> str:
    """Train a network on recordings that are drawn; return the file of its weights."""
    spikes, w = Spikes(points=tuple(wanted.points)), wanted.width
    sizes = Sizes(inputs=spikes.dim, features=w, encoder_layers=3, width=w, h_outputs=w,
                  g_outputs=w)  # fmt: skip
    NCP.train(
        spikes, wanted.out, seconds=wanted.seconds, calibrate=False, sizes=sizes, lr=wanted.lr,
        batch=wanted.batch, device=wanted.device, seed=wanted.seed,
        progress=lambda step, done, nll: print(f"{done:5.0%} step {step} {nll:.4f} nats per spike",
                                               flush=True),
    )  # fmt: skip
    return str(wanted.out)


class Recording(NamedTuple):
    """Spikes (n, 128), and the unit of each, which only the score sees."""

    X: Floats
    units: Labels


def recorded(n: int, count: int, seed: int) -> list[Recording]:
    """New recordings of n spikes each; training draws others."""
    chance = torch.Generator().manual_seed(9_000_000 + 1000 * seed + n)
    x, labels, mask = Spikes().draw(count, chance, (n, n))
    assert bool(mask.all()), "the prior has no more units than fit"
    return [Recording(a.double().numpy(), b.numpy()) for a, b in zip(x, labels, strict=True)]


def by_ncp(X: Floats, model: NCP) -> Labels:
    """The process that was trained on spikes."""
    return np.asarray(model.fit(X).labels_)


def by_shipped(X: Floats, model: NCP) -> Labels:
    """The process for general vectors, which has seen no spikes."""
    return np.asarray(NCP(random_state=0).fit(X).labels_)


def by_mixture(
    X: Floats, model: NCP, components: int = COMPONENTS, alpha: float = CONCENTRATION,
    covariance: str = "full",
) -> Labels:  # fmt: skip
    """A Dirichlet-process mixture on the first principal components."""
    from sklearn.decomposition import PCA
    from sklearn.mixture import BayesianGaussianMixture

    Z = PCA(components, random_state=0).fit_transform(X)
    mixture = BayesianGaussianMixture(
        n_components=12, covariance_type=covariance, weight_concentration_prior=alpha,
        weight_concentration_prior_type="dirichlet_process", n_init=3, max_iter=500, random_state=0,
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a start that has not converged is still compared
        return np.asarray(mixture.fit_predict(Z))


METHODS: dict[str, Callable[[Floats, NCP], Labels]] = {
    "ncp": by_ncp, "ncp shipped": by_shipped, "dp-gmm": by_mixture,
}  # fmt: skip


def scored(
    method: Callable[[Floats, NCP], Labels], model: NCP, recordings: Sequence[Recording]
) -> dict[str, Any]:
    """ARI and number of units of each recording."""
    found = [method(recording.X, model) for recording in recordings]
    pairs = list(zip(recordings, found, strict=True))
    return {
        "ari": [round(ari(recording.units, labels), 4) for recording, labels in pairs],
        "units": [len(np.unique(labels)) for labels in found],
        "true_units": [len(np.unique(recording.units)) for recording in recordings],
    }


def line(row: dict[str, Any]) -> str:
    """Mean ARI with twice its standard error, and the error of the number of units."""
    scores, excess = np.array(row["ari"]), np.subtract(row["units"], row["true_units"])
    error = 2 * scores.std() / np.sqrt(len(scores))
    return (
        f"{row['spikes']} spikes, {row['method']:12} ARI {scores.mean():.3f} +- {error:.3f}, "
        f"units {excess.mean():+.2f}, right in {(excess == 0).mean():.0%}"
    )


def keep(path: Path, row: dict[str, Any], weights: str) -> None:
    """Append a row with the digest of the weights and the provenance."""
    import hashlib
    import sys

    from samekind.simulation.provenance import command_line, commit, provenance

    sha = hashlib.sha256(Path(weights).read_bytes()).hexdigest()[:12]
    whole = {**row, "sha256": sha if row["method"] == "ncp" else None}
    whole |= provenance(command_line("python recipes/spikes.py", sys.argv[1:]), commit())
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(whole) + "\n")


def draw_picture(file: str, recording: Recording, model: NCP) -> None:
    """The mean waveforms of the groups, and the spikes on two principal axes, true and found."""
    import matplotlib.pyplot as plt
    from sklearn.decomposition import PCA

    X, units = recording
    found = by_ncp(X, model)
    sure = model.n_clusters_posterior_
    colours = matching_colours(units, found)
    Z = PCA(2, random_state=0).fit_transform(X)
    figure = plt.figure(figsize=(10, 5.6), layout="constrained")
    above, below = figure.subfigures(2, 1, height_ratios=(1, 1.15))
    time = np.arange(X.shape[1] // CHANNELS) / RATE - TROUGH
    rows = above.subplots(1, CHANNELS, sharey=True)
    for c, axis in enumerate(rows):
        for k, colour in enumerate(colours):
            inside = X[found == k]
            mean = inside.mean(0).reshape(CHANNELS, -1)[c]
            few = len(inside) < FEW
            named = f"{len(inside)} spike{'s' if len(inside) > 1 else ''}"
            axis.plot(time, mean, color=colour, linewidth=0.6 if few else 1.8, label=named)
        axis.set(title=f"channel {c + 1}", xlabel="milliseconds")
    rows[0].set_ylabel("noise standard deviations")
    rows[-1].legend(fontsize=8, frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
    left, middle, right = below.subplots(1, 3)
    true = [f"C{k % 10}" for k in units]
    said = [colours[k] for k in found]
    for axis, shown, labels, title in (
        (left, true, units, "units"),
        (middle, said, found, "groups found"),
    ):
        axis.scatter(*Z.T, c=shown, s=7, linewidths=0)
        axis.set(title=f"{len(np.unique(labels))} {title}", xticks=[], yticks=[])
    right.bar(np.arange(len(sure)), sure, color="0.6")
    right.set(title="probability of the number of groups", xlim=(0.5, len(sure) - 0.5))
    figure.savefig(file, dpi=110)


def matching_colours(units: Labels, found: Labels) -> list[str]:
    """The colour of the unit that each group has most of, or others; few spikes are black."""
    K, U = int(found.max()) + 1, int(units.max()) + 1
    shared = np.zeros((K, U), dtype=int)
    np.add.at(shared, (found, units), 1)
    colours, free = [""] * K, list(range(U))
    spare = iter(range(U, U + K))
    for k in np.argsort(-shared.sum(axis=1)):
        best = int(shared[k].argmax())
        if shared[k].sum() < FEW:
            colours[k] = "0.2"
        elif best in free:
            free.remove(best)
            colours[k] = f"C{best % 10}"
        else:
            colours[k] = f"C{next(spare) % 10}"
    return colours


if __name__ == "__main__":
    main()
