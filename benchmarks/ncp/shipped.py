"""Are the probabilities of the shipped clustering processes right? Rows for each file of weights.

    python -m benchmarks.ncp.shipped --json                        # all files, all checks
    python -m benchmarks.ncp.shipped --variants pointwise plane --checks joint effective

``pointwise`` is the file for general vectors, ``plane`` the one that ``NCP()`` takes for two
columns, each on the law that it was trained on.

The weights were trained on a law that has no closed form (mixed_vectors.py: data sets of unknown
kind, seen after a calibration), so no enumeration says what their posterior should be. What can be
checked on data sets drawn from that law, through the estimator ``NCP``:

* ``calibration``, two rows: ``groups``, the distribution of the number of groups against the true
  numbers, and ``pairs``, the probability that two items are together against how often they are.
* ``steps``: the probability of the most probable choice against how often it is right (pointwise).
* ``joint``: Geweke's test, see joint.py.

On two laws that are known, with all their constants, which the network is not told:

* ``effective``: what its draws are worth by importance weights, beside Gibbs sampling (plane;
  those that take out groups have no probability of a draw in closed form).
* ``enumeration``: the error of p(same group) of 6 points against all 203 groupings.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch

from benchmarks.measuring import arguments as common_arguments
from benchmarks.measuring import emit
from benchmarks.ncp import effective, quality
from benchmarks.ncp.exact import DirichletGaussians
from benchmarks.ncp.joint import (
    Row,
    expected_error,
    groups_calibration,
    joint_test,
    reliability,
)
from benchmarks.ncp.laws import Enumerable, Floats, Labels, Law, TrainingLaw
from benchmarks.ncp.summaries import FILE_OF, digest
from samekind.clusterers.ncp.amortized.calibration import Calibration
from samekind.clusterers.ncp.amortized.likelihood import step_log_probs
from samekind.clusterers.ncp.amortized.mixed_vectors import general_vectors, plane_vectors
from samekind.clusterers.ncp.estimator import NCP
from samekind.clusterers.ncp.weights import FILES, network_of, shipped

WEIGHTS = {variant: shipped(variant) for variant in FILES} | {"plane": shipped(columns=2)}
POINTWISE = ("pointwise", "plane")
EXACT = DirichletGaussians(alpha=0.7, scale=1.0, spread=10.0)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = common_arguments(__doc__ or "", FILE_OF["shipped"])
    add = parser.add_argument
    add("--variants", nargs="+", default=[v for v, file in WEIGHTS.items() if file.is_file()])
    add("--checks", nargs="+", default=list(CHECKS), choices=list(CHECKS))
    add("--sizes", type=int, nargs="+", default=[20, 100], help="points of a data set")
    add("--sets", type=int, default=150, help="data sets of groups, pairs and steps")
    add("--joint-sets", type=int, default=200)
    add("--joint-points", type=int, default=20)
    add("--rounds", type=int, default=4, help="of the joint test")
    add("--draws", type=int, default=1000, help="of a network for its effective size")
    add("--sweeps", type=int, default=400, help="of the Gibbs sampler, in four chains")
    add("--known-sets", type=int, default=12, help="data sets of each known law")
    wanted = parser.parse_args(arguments)
    for variant in wanted.variants:
        about = {"variant": variant, "seed": wanted.seed, "sha256": digest(str(WEIGHTS[variant]))}
        for check in wanted.checks:
            for row in CHECKS[check](variant, wanted):
                emit({"check": check, **about, **row}, wanted.json)


def model_of(variant: str, seed: int) -> NCP:
    """The estimator as it comes, with one of the shipped files."""
    return NCP(weights=str(WEIGHTS[variant]), random_state=seed)


def law_of(variant: str) -> TrainingLaw:
    """What the file was trained on."""
    return TrainingLaw(plane_vectors() if variant == "plane" else general_vectors())


def fitted(variant: str, n: int, wanted: argparse.Namespace) -> Iterator[tuple[NCP, Labels]]:
    """The estimator after each data set of the training law, with the true labels."""
    x, truth = law_of(variant).draw(wanted.sets, n, np.random.default_rng((wanted.seed, n)))
    for k, (points, labels) in enumerate(zip(x, truth, strict=True)):
        yield model_of(variant, k).fit(points), labels


def check_groups_and_pairs(variant: str, wanted: argparse.Namespace) -> Iterator[Row]:
    """Both come from the same fits."""
    for n in wanted.sizes:
        upper = np.triu_indices(n, 1)
        laws, counts, said, true = [], [], [], []
        for model, labels in fitted(variant, n, wanted):
            laws.append(model.n_clusters_posterior_)
            counts.append(len(np.unique(labels)))
            said.append(np.asarray(model.co_membership_, dtype=float)[upper])
            true.append((labels[:, None] == labels)[upper].astype(float))
        about = {"N": n, "sets": wanted.sets}
        bins = reliability(said, true)
        yield {**about, "check": "groups", **groups_calibration(laws, counts)}
        yield {**about, "check": "pairs", "error": expected_error(bins), "bins": bins}


@torch.no_grad()
def check_steps(variant: str, wanted: argparse.Namespace) -> Iterator[Row]:
    """The most probable choice of each step, given the true choices before it."""
    if variant not in POINTWISE:
        return
    network = network_of(WEIGHTS[variant], "cpu").network
    for n in wanted.sizes:
        x, truth = law_of(variant).draw(wanted.sets, n, np.random.default_rng((wanted.seed, n, 1)))
        said, right = [], []
        for points, labels in zip(x, truth, strict=True):
            seen = Calibration.of(points, network.sizes.inputs)(points)
            named = torch.from_numpy(labels.astype(np.int64))[None]
            found: Any = step_log_probs(network, torch.from_numpy(seen)[None], named)  # type: ignore[arg-type]
            top, choice = found[0, 1:].max(1)
            said.append(top.double().exp().numpy())
            right.append((choice == named[0, 1:]).double().numpy())
        bins = reliability(said, right)
        yield {"N": n, "sets": wanted.sets, "error": expected_error(bins), "bins": bins}


def check_joint(variant: str, wanted: argparse.Namespace) -> Iterator[Row]:
    """Geweke's test on the training law."""
    yield {
        "N": wanted.joint_points, "sets": wanted.joint_sets, "rounds": wanted.rounds,
        "statistics": joint_of(variant, law_of(variant), wanted),
    }  # fmt: skip


def joint_of(variant: str, law: Law, wanted: argparse.Namespace) -> list[Row]:
    """The joint test of the estimator on a law."""

    def draw(points: Floats, seed: int) -> Labels:
        return np.asarray(model_of(variant, seed).sample_posterior(points, 1)[0])

    rng = np.random.default_rng(wanted.seed)
    return joint_test(law, draw, wanted.joint_points, wanted.joint_sets, wanted.rounds, rng)


def check_effective(variant: str, wanted: argparse.Namespace) -> Iterator[Row]:
    """Effective draws of the network and of Gibbs sampling on the same data sets."""
    if variant != "plane":
        return
    network = network_of(WEIGHTS[variant], "cpu").network
    for name, world in quality.WORLDS.items():
        for n in (10, *wanted.sizes):
            x, _ = quality.drawn(world, n, wanted.known_sets, wanted.seed)
            rng = np.random.default_rng((wanted.seed, n))
            ours, theirs = [], []
            for points in x:
                seen = Calibration.of(points, network.sizes.inputs)(points).astype(float)
                ours.append(effective.by_network(network, seen, points, world.model, wanted.draws))
                theirs.append(effective.by_gibbs(points, world.model, wanted.sweeps, rng))
            yield {"world": name, "N": n, "sets": len(x), "ncp": _medians(ours),
                   "gibbs": _medians(theirs)}  # fmt: skip


def _medians(rows: Sequence[Row]) -> Row:
    """Medians over data sets: a few with one lucky draw would rule a mean."""
    found = {key: float(np.median([row[key] for row in rows])) for key in rows[0]}
    rate = [row["effective"] / row["seconds"] for row in rows]
    share = [row["effective"] / row["draws"] for row in rows]
    return {**found, "per_second": float(np.median(rate)), "share": float(np.median(share))}


def check_enumeration(variant: str, wanted: argparse.Namespace) -> Iterator[Row]:
    """p(same group) of 6 points of a law whose posterior is known."""
    n, upper = 6, np.triu_indices(6, 1)
    x, _ = Enumerable(EXACT).draw(wanted.sets, n, np.random.default_rng(wanted.seed))
    exact = EXACT.posterior(x).co_membership()
    errors = []
    for k, points in enumerate(x):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            said = model_of(variant, k).fit(points).co_membership_
        errors.append(float(np.abs(np.asarray(said) - exact[k])[upper].mean()))
    yield {"N": n, "sets": len(x), "error": float(np.mean(errors))}


CHECKS = {
    "calibration": check_groups_and_pairs, "steps": check_steps, "joint": check_joint,
    "effective": check_effective, "enumeration": check_enumeration,
}  # fmt: skip


if __name__ == "__main__":
    main()
