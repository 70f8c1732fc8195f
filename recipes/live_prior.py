"""Learn the prior of the live learner: how much each way of carrying answers counts.

    python -m recipes.live_prior --seeds 0 1 --cards FILE.npz

For each development grouping (``benchmarks/live/development_sets.py``) a simulated person answers
the questions of the strategy ``live``. After some numbers of answers every opinion is formed, and
the powers are found under which the true kinds of all other items are most likely: over all
groupings (the prior), and of each grouping alone (its scatter). Prints the tables of
``samekind/clusterers/live/pooling.py``, and the mean score with powers that were learnt without the
family of the grouping. No suite is measured on these groupings.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from benchmarks.live.development_sets import dataset_of, groupings
from samekind.clusterers.live.estimator import BALANCE, WIDTH, Live, unseen_share
from samekind.clusterers.live.opinions import OPINIONS, Manner, Pile, opinions
from samekind.clusterers.live.orientation import Axes
from samekind.clusterers.live.pooling import (
    ANSWERS,
    ERROR,
    MIN_SCATTER,
    fitted_powers,
    held_out_opinions,
    pooled,
)
from samekind.clusterers.live.seeds import Plain, Seeds, moved_together, plain_count, plain_groups
from samekind.constraints import Constraints
from samekind.evaluation import ari
from samekind.session import Session
from samekind.simulation.runner import Runner
from samekind.simulation.settings import Settings
from samekind.simulation.suite import Person, Run

Floats = NDArray[Any]
Ints = NDArray[np.intp]
MAX_JUDGED = 300
"""Items of each grouping by which powers are judged."""
RIDGE = 1e-3
"""Keeps powers finite that the likelihood leaves open."""


@dataclass(frozen=True, eq=False)
class Case:
    """A grouping after some answers: all opinions on all items, and on answered items held out."""

    name: str
    answers: int
    logs: Floats
    truth: Ints
    seeds: Seeds
    held_out: Floats
    columns: Ints
    judged: tuple[Floats, Ints]

    @property
    def family(self) -> str:
        """Groupings of the same vectors are one family."""
        return self.name.split("-")[0]

    def score(self, powers: Floats) -> float:
        """ARI of the pooled groups."""
        shares = pooled(self.logs, powers)
        shares[self.seeds.rows] = np.eye(shares.shape[1])[self.seeds.labels]
        return ari(self.truth, shares.argmax(axis=1))


def main() -> None:
    wanted = arguments()
    cases = [case for seed in wanted.seeds for case in all_cases(seed, wanted.cards)]
    powers, scatter = [], []
    for n in ANSWERS:
        here = [case for case in cases if case.answers == n]
        own = np.array([best_powers([case]) for case in here])
        powers.append(best_powers(here))
        scatter.append(own.std(axis=0))
        print(f"{n} answers: {report(here, own)}", flush=True)
    for name, rows in (("POWERS", powers), ("SCATTER", scatter)):
        print(f"{name} = (")
        for row in rows:
            print(f"    ({', '.join(f'{value:.2f}' for value in row)}),")
        print(")")


def all_cases(seed: int, cards: Path | None) -> Iterator[Case]:
    """Every grouping at every number of answers."""
    for name, opened in groupings(cards).items():
        dataset = dataset_of(name, *opened())
        truth = dataset.truth("kind")[0]
        known: dict[int, Constraints] = {}

        def keep(session: Session, told: int, known: dict[int, Constraints] = known) -> None:
            known[told] = session.constraints

        settings = Settings(
            "live", "live", max(ANSWERS), questions_per_refit=5, score_at=ANSWERS,
            groups="unknown", held_out=False,
        )  # fmt: skip
        run = Run("prior", name, "kind", "live", Person("right"), seed, settings)
        Runner(run, dataset, on_record=keep).execute()
        for n in ANSWERS:
            case = case_of(name, n, dataset.X, truth, known[n], seed)
            if case is not None:
                yield case


def case_of(
    name: str, n: int, X: Floats, truth: Ints, known: Constraints, seed: int
) -> Case | None:
    """All opinions after some answers; None: fewer than two kinds are known."""
    seeds, learner = Seeds.from_answers(known), Live()
    if seeds.n_kinds < 2:
        return None
    Z = Axes.of(X, np.arange(len(X)), learner.n_components)(X)
    count, gathered = plain_count(Z, seed), moved_together(Z, learner.n_neighbors)
    groups = plain_groups(gathered, count, seed)
    unseen = unseen_share(seeds, count) if unseen_share(seeds) else 0.0
    pile, plain = Pile(Z, gathered, groups), Plain.of(groups, seeds, unseen)
    manner = Manner(learner.shrinkage, learner.n_neighbors, WIDTH, BALANCE)
    logs = opinions(pile, seeds, plain, None, manner)
    held_out, columns, _ = held_out_opinions(pile, seeds, None, manner, unseen, closed=not unseen)
    column = np.full(truth.max() + 1, -1)
    column[truth[seeds.rows]] = seeds.labels
    others = np.setdiff1d(np.flatnonzero(column[truth] >= 0), seeds.rows)
    some = np.random.default_rng(0).permutation(others)[:MAX_JUDGED]
    judged = logs[some], column[truth[some]]
    return Case(name, n, logs, truth, seeds, held_out, columns, judged)


def best_powers(cases: Sequence[Case]) -> Floats:
    """Powers under which the true kinds are most likely, every grouping counting the same."""

    def loss(powers: Floats) -> tuple[float, Floats]:
        value, slope = RIDGE * (powers**2).sum(), 2 * RIDGE * powers
        for case in cases:
            logs, columns = case.judged
            if not len(logs):
                continue
            rows = np.arange(len(logs))
            shares = pooled(logs, powers)
            right = shares[rows, columns]
            likely = (1 - ERROR) * right + ERROR / 2
            away = logs[rows, columns] - (shares[:, :, None] * logs).sum(axis=1)
            value -= np.log(likely).mean() / len(cases)
            slope -= ((1 - ERROR) * right / likely) @ away / len(logs) / len(cases)
        return float(value), slope

    bounds = [(0.0, None)] * len(OPINIONS)
    found = minimize(loss, np.full(len(OPINIONS), 0.5), jac=True, method="L-BFGS-B", bounds=bounds)
    return np.asarray(found.x)


def report(cases: Sequence[Case], own: Floats) -> str:
    """Mean scores of each opinion, of the prior, with the answers, and of the best powers."""
    figures: dict[str, list[float]] = {}
    for family in sorted({case.family for case in cases}):
        others = [case.family != family for case in cases]
        prior = best_powers([case for case, other in zip(cases, others, strict=True) if other])
        firm = 1 / (own[others].std(axis=0) + MIN_SCATTER) ** 2
        for place, case in enumerate(cases):
            if case.family != family:
                continue
            for k, name in enumerate(OPINIONS):
                figures.setdefault(name, []).append(case.score(np.eye(len(OPINIONS))[k]))
            weight, powers = np.ones(len(case.columns)), prior
            if len(weight):
                powers = fitted_powers(case.held_out, case.columns, weight, prior, firm)
            figures.setdefault("prior", []).append(case.score(prior))
            figures.setdefault("pooled", []).append(case.score(powers))
            figures.setdefault("best", []).append(case.score(own[place]))
    return ", ".join(f"{name} {np.mean(values):.3f}" for name, values in figures.items())


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1])
    parser.add_argument("--cards", type=Path, default=None, help="a .npz file of X, colour, suit")
    return parser.parse_args()


if __name__ == "__main__":
    main()
