"""Laws that data sets come from: draws, and new points for a grouping that is given."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from benchmarks.ncp.exact import DirichletGaussians
from samekind.clusterers.ncp.amortized.calibration import Calibrated
from samekind.clusterers.ncp.amortized.likelihood import relabel
from samekind.clusterers.ncp.amortized.mixed_vectors import MixedVectors, general_vectors
from samekind.clusterers.ncp.amortized.priors import Prior

Floats = NDArray[np.float64]
Labels = NDArray[np.intp]


class Law(Protocol):
    """A distribution of groupings and points."""

    def draw(self, sets: int, n: int, rng: np.random.Generator) -> tuple[Floats, Labels]:
        """Points (sets, n, d) and labels (sets, n)."""
        ...

    def redraw(self, labels: Labels, rng: np.random.Generator) -> Floats:
        """New points (sets, n, d), given the groupings (sets, n)."""
        ...


@dataclass(frozen=True)
class Enumerable:
    """Dirichlet-process Gaussians: small sets have an exact posterior."""

    model: DirichletGaussians

    def draw(self, sets: int, n: int, rng: np.random.Generator) -> tuple[Floats, Labels]:
        """From the model."""
        return self.model.draw(sets, n, rng)

    def redraw(self, labels: Labels, rng: np.random.Generator) -> Floats:
        """New centres and new points around them."""
        sets, n = labels.shape
        centres = rng.normal(0, self.model.spread, (sets, int(labels.max()) + 1, 2))
        mine = np.take_along_axis(centres, labels[:, :, None], axis=1)
        return np.asarray(mine + rng.normal(0, self.model.scale, (sets, n, 2)))


class TrainingLaw:
    """What shipped weights were trained on, before the calibration, which NCP does itself.

    Parameters
    ----------
    seen : that law after the calibration; None: the one of general vectors.
    """

    def __init__(self, seen: Calibrated | None = None) -> None:
        generator = (seen or general_vectors()).generator
        assert isinstance(generator, MixedVectors)
        self.vectors = generator

    def draw(self, sets: int, n: int, rng: np.random.Generator) -> tuple[Floats, Labels]:
        """Data sets with at most as many groups as in training; the others are not used there."""
        chance = _generator(rng)
        points: list[Floats] = []
        labels: list[Labels] = []
        while sum(len(part) for part in points) < sets:
            x, named, mask = self.vectors.draw(sets, chance, (n, n))
            points.append(x[mask.all(1)].double().numpy())
            labels.append(named[mask.all(1)].numpy())
        return np.concatenate(points)[:sets], np.concatenate(labels)[:sets]

    def redraw(self, labels: Labels, rng: np.random.Generator) -> Floats:
        """A new law of the points, new centres and new points; only the grouping is kept."""
        named = relabel(torch.from_numpy(labels.astype(np.int64)))
        most = max(self.vectors.kinds, int(named.max()) + 1)
        given = _Given(**vars(replace(self.vectors, kinds=most)), labels=_Fixed(named))
        x, _, mask = given.draw(len(labels), _generator(rng), (labels.shape[1],) * 2)
        assert bool(mask.all())
        return np.asarray(x.double().numpy())


@dataclass(frozen=True)
class _Fixed:
    """A prior that has one value for each data set."""

    labels: torch.Tensor

    def draw(self, batch: int, n: int, generator: torch.Generator) -> torch.Tensor:
        return self.labels[:batch, :n]


@dataclass(frozen=True)
class _Given(MixedVectors):
    """The same law for groupings that are given."""

    labels: _Fixed | None = None

    @property
    def prior(self) -> Prior:  # type: ignore[override]
        assert self.labels is not None
        return self.labels


def _generator(rng: np.random.Generator) -> torch.Generator:
    return torch.Generator().manual_seed(int(rng.integers(2**62)))
