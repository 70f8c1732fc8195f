"""The gap of a loss to its fully answered self, what an answer does to it, what a score says of it.

The losses are those of ``samekind.objectives``; the scores are the functions by which the
strategies of ``samekind.strategies`` rank pairs.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.stats import spearmanr
from torch import Tensor

from samekind.clustering import Clustering
from samekind.constraints import Constraints
from samekind.objectives import ActiveContrast, BatchLinks, ConstrainedContrast
from samekind.objectives.links import LinkMasks
from samekind.protocols import QueryStrategy, View
from samekind.questions import Answer, SamePair
from samekind.simulation.people import Truth
from samekind.strategies.pairs.candidates import Candidates, inner
from samekind.strategies.pairs.csd import CSD, discrepancy
from samekind.strategies.pairs.hardness import Hardness, hardness, with_evidence
from samekind.strategies.pairs.pcl import PCL, joint
from samekind.strategies.pairs.pcl_reference import known_answers
from samekind.strategies.pairs.random import Random
from samekind.strategies.pairs.uncertainty import Uncertainty, uncertainty

Floats = NDArray[np.float64]
Labels = NDArray[np.intp]
Loss = Callable[[Tensor, BatchLinks | LinkMasks], Tensor]

LAM = 25.0
"""OCC's weight of same-answers half way through its schedule; at its end all gaps are 0."""
OBJECTIVES: dict[str, Loss] = {
    "pcl-paper": ConstrainedContrast(profile="paper").instance,
    "pcl-reference": ConstrainedContrast(profile="reference").instance,
    "occ": lambda z, links: ActiveContrast()(z, links, LAM),
}
STRATEGIES: dict[str, QueryStrategy] = {
    "random": Random(),
    "S_up": Uncertainty(),
    "S_hp": Hardness(),
    "joint": PCL(),
    "csd": CSD(),
}


class Stage(NamedTuple):
    """Features of a batch in two views (2, n, d), and those of one epoch earlier if there are."""

    now: NDArray[np.float32]
    before: NDArray[np.float32] | None


@dataclass(frozen=True)
class Gap:
    """The gap of one loss on one batch with fixed features.

    Parameters
    ----------
    z : (2n, d) features, view a on view b. labels : (n,) what the person has in mind.
    """

    loss: Loss
    z: Tensor
    labels: Labels

    def at(self, known: Constraints) -> float:
        """The loss with what is known, closed under implication."""
        with torch.inference_mode():
            return float(self.loss(self.z, links_of(known)))

    @property
    def full(self) -> float:
        """The loss with every pair answered."""
        return self.at(everything(self.labels))

    def of(self, known: Constraints, full: float | None = None) -> float:
        """``|L_q - L_Q|``."""
        return abs(self.at(known) - (self.full if full is None else full))

    def changes(self, known: Constraints, a: Labels, b: Labels) -> Floats:
        """(m,) ``L_(q+1) - L_q`` when each of the pairs, alone, is answered truthfully."""
        group = known.components
        both = group[a] * known.n_items + group[b]  # all pairs of two components say one thing
        _, first, which = np.unique(both, return_index=True, return_inverse=True)
        answered = [answers_of(told(known, int(a[k]), int(b[k]), self.labels)) for k in first]
        with torch.inference_mode(), warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of an operation that is slow in vmap
            many = torch.vmap(lambda *masks: self.loss(self.z, LinkMasks(*masks)))
            parts = torch.from_numpy(np.stack(answered)).split(64)
            values = torch.cat([many(part == 1, part == -1, part > 1) for part in parts])
        return np.asarray(values.numpy()[which], dtype=np.float64) - self.at(known)

    def closings(self, known: Constraints, a: Labels, b: Labels) -> Floats:
        """(m,) by how much each answer would close the gap; below 0 where it would widen it."""
        apart = self.at(known) - self.full
        return abs(apart) - np.abs(apart + self.changes(known, a, b))


def answers_of(known: Constraints) -> NDArray[np.int8]:
    """(n, n) 1 for pairs that are known to be the same kind, -1 for different, else 0."""
    a, b = np.triu_indices(known.n_items, 1)
    found = np.zeros((known.n_items, known.n_items), dtype=np.int8)
    found[a, b] = found[b, a] = known_answers(known, a, b)
    return found


def links_of(known: Constraints, items: Labels | None = None) -> BatchLinks:
    """All that answers say and imply about some items, by their place; else about all items."""
    items = np.arange(known.n_items) if items is None else items
    a, b = np.triu_indices(len(items), 1)
    pairs, answer = np.stack([a, b], axis=1), known_answers(known, items[a], items[b])
    same, different = (torch.from_numpy(pairs[answer == sign]) for sign in (1, -1))
    return BatchLinks(same, different, torch.zeros(0, 2, dtype=torch.long))


def told(known: Constraints, a: int, b: int, labels: Labels) -> Constraints:
    """What is known once a truthful person has been asked about a pair."""
    question = SamePair(min(a, b), max(a, b))
    choice = Truth(labels).answer(question)
    return known.with_answer(Answer(len(known.answers) + 1, question, choice))


def everything(labels: Labels) -> Constraints:
    """Answers from which every pair follows: each item with the first of each kind."""
    firsts = [int(np.flatnonzero(labels == kind)[0]) for kind in np.unique(labels)]
    links = [
        (first, item, bool(labels[first] == labels[item]))
        for first in firsts
        for item in range(len(labels))
        if item != first
    ]
    return Constraints.from_links(len(labels), links)


def view_of(stage: Stage, known: Constraints, seed: int, budget: int) -> View:
    """What a strategy sees of a batch: its features now and one epoch earlier, and the answers."""

    def snapshot(views: NDArray[np.float32], number: int) -> Clustering:
        groups = np.zeros(views.shape[1], dtype=np.intp)  # none of these strategies reads groups
        return Clustering.first(groups, views.mean(axis=0), views=views, snapshot=number)

    return View(
        clustering=snapshot(stage.now, 1),
        previous=None if stage.before is None else snapshot(stage.before, 0),
        constraints=known,
        rng=np.random.default_rng((seed, len(known.answers))),
        spent=len(known.answers),
        budget=budget,
        seed=seed,
    )


def scores(view: View) -> tuple[Labels, Labels, dict[str, Floats]]:
    """Every pair that is still open, and what each published score says about it."""
    pairs = Candidates()
    pool, evidence = with_evidence(view, pairs, 1, summed=False)
    unclear, hard = uncertainty(pool.similarity), hardness(pool.similarity, evidence)
    found = {"similarity": pool.similarity, "S_up": unclear}
    if view.spent:
        found |= {"S_hp": hard, "joint": joint(unclear, hard, 1 - view.spent / (view.budget or 1))}
    if view.previous is not None:
        points = pairs.bank(view.previous)
        found["csd"] = discrepancy(pool.similarity, inner(points, pool.a, points, pool.b))
    still_open = known_answers(view.constraints, pool.a, pool.b) == 0
    return (
        pool.a[still_open],
        pool.b[still_open],
        {name: np.asarray(score[still_open], dtype=np.float64) for name, score in found.items()},
    )


def relations(gap: Gap, stage: Stage, answers: int, seed: int, budget: int) -> dict[str, float]:
    """Spearman's correlations of the scores with what an answer does, after some random answers.

    ``closes NAME`` is with the closing of the gap, over all open pairs. ``same NAME`` and
    ``different NAME`` are with the size of the change of the loss among pairs with that answer:
    Theorem 3.3 speaks of these, for S_up.
    """
    known = asked(gap, stage, "random", answers, seed, budget)[0]
    a, b, found = scores(view_of(stage, known, seed, budget))
    change = gap.changes(known, a, b)
    apart = gap.at(known) - gap.full
    closing = abs(apart) - np.abs(apart + change)
    same = gap.labels[a] == gap.labels[b]
    row = {
        "up by same": float((change[same] > 0).mean()),
        "up by different": float((change[~same] > 0).mean()),
        "size of same": float(np.abs(change[same]).mean()),
        "size of different": float(np.abs(change[~same]).mean()),
        "widens": float((closing < -1e-9).mean()),
    }
    for name, score in found.items():
        row[f"closes {name}"] = correlation(score, closing)
        row[f"same {name}"] = correlation(score[same], np.abs(change[same]))
        row[f"different {name}"] = correlation(score[~same], np.abs(change[~same]))
    return row


def correlation(score: Floats, effect: Floats) -> float:
    """Spearman's, or NaN where one of the two is the same for all."""
    effect = np.round(effect, 9)  # a change of 1e-10 is rounding, and must not be ranked
    if np.ptp(score) == 0 or np.ptp(effect) == 0:
        return float("nan")
    return float(spearmanr(score, effect).statistic)


def asked(
    gap: Gap, stage: Stage, name: str, answers: int, seed: int, budget: int
) -> tuple[Constraints, list[float]]:
    """Ask by a strategy; what is known at the end, and ``L_q - L_Q`` after each answer."""
    known, full = Constraints(len(gap.labels)), gap.full
    signed = [gap.at(known) - full]
    for _ in range(answers):
        pair = next_pair(gap, stage, name, known, seed, budget)
        if pair is not None:  # else everything is implied already, and nothing changes any more
            known = told(known, *pair, gap.labels)
        signed.append(gap.at(known) - full)
    return known, signed


def next_pair(
    gap: Gap, stage: Stage, name: str, known: Constraints, seed: int, budget: int
) -> tuple[int, int] | None:
    """What a strategy asks next; "greedy" knows the truth and takes the best of 60 open pairs."""
    view = view_of(stage, known, seed, budget)
    if name != "greedy":
        questions = STRATEGIES[name].propose(view, 1)
        return questions[0].items() if questions else None  # type: ignore[return-value]
    a, b = np.triu_indices(len(gap.labels), 1)
    left = np.flatnonzero(known_answers(known, a, b) == 0)
    some = view.rng.permutation(left)[:60]
    if not len(some):
        return None
    best = some[int(np.argmax(gap.closings(known, a[some], b[some])))]
    return int(a[best]), int(b[best])
