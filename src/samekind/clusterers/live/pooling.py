"""Pooling: one opinion from several, weighed by what other sessions and the answers have shown.

Shares are multiplied, each raised to a power (a logarithmic pool). A power of 0 ignores an opinion,
one above 1 makes it surer. The powers that were best over many other groupings are the prior; how
well each opinion predicts answers that it has not seen moves them away from it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from samekind.clusterers.live.opinions import Manner, Pile, following, opinions
from samekind.clusterers.live.seeds import Plain, Seeds
from samekind.clusterers.live.steadying import steadied

Floats = NDArray[Any]
Ints = NDArray[np.intp]
Bools = NDArray[np.bool_]

ANSWERS = (5, 10, 20, 30, 40, 60)
"""Placed items for which the prior was learnt (recipes/live_prior.py); it is interpolated."""
POWERS = (
    (2.00, 0.00, 0.00, 0.13, 0.18),
    (1.65, 0.05, 0.00, 0.28, 0.12),
    (1.65, 0.19, 0.00, 0.40, 0.00),
    (2.05, 0.21, 0.00, 0.43, 0.00),
    (2.08, 0.21, 0.11, 0.43, 0.00),
    (1.61, 0.23, 0.15, 0.47, 0.06),
)
"""The best powers of each opinion over all groupings."""
SCATTER = (
    (2.10, 0.47, 0.43, 0.38, 0.20),
    (1.62, 0.38, 0.21, 0.30, 0.15),
    (1.29, 0.37, 0.25, 0.48, 0.11),
    (1.31, 0.38, 0.38, 0.53, 0.15),
    (1.20, 0.36, 0.41, 0.44, 0.13),
    (0.99, 0.38, 0.43, 0.50, 0.19),
)
"""Standard deviation of the best powers of single groupings."""
MIN_SCATTER, MAX_SCATTER = 0.1, 0.7
"""Added to the scatter, and its bound: powers that may go anywhere make groups waver."""
FOLDS = 5
MIN_PLACED = 8
"""Placed items below which the prior is kept as it is."""
MAX_TRIAL_ITEMS = 1000
"""Items on which opinions are formed that have not seen some of the answers."""
MAX_TRIAL_ANSWERS = 3000
"""Placed items by which the powers are judged: five numbers need no more."""
ERROR = 0.03
"""Share of answers that may be wrong: none of them outweighs all others."""


def prior_powers(n_placed: int) -> tuple[Floats, Floats]:
    """The powers (opinions,) that were best with so many placed items, and how firmly they hold."""
    at = np.log(np.clip(n_placed, ANSWERS[0], ANSWERS[-1]))
    powers, scatter = (
        np.array([np.interp(at, np.log(ANSWERS), each) for each in np.transpose(table)])
        for table in (POWERS, SCATTER)
    )
    return powers, 1 / (np.minimum(scatter, MAX_SCATTER) + MIN_SCATTER) ** 2


def pooled_strength(
    pile: Pile,
    seeds: Seeds,
    told: Seeds,
    plain: Plain,
    weight: Floats | None,
    manner: Manner,
    found: tuple[Floats, Floats],
) -> tuple[Floats, Floats]:
    """Shares (m, k) of all opinions together, and the powers by which they were pooled.

    Parameters
    ----------
    seeds : all items with a known group. told : those of them that the person has placed.
    weight : (s,) how much each seed is believed. found : space, and what has spread in it (m, k).
    """
    logs = following(pile, seeds, plain, weight, manner, *found)
    powers, strength = prior_powers(len(told.rows))
    believed = np.ones(len(told.rows)) if weight is None else weight[: len(told.rows)]
    if len(told.rows) >= MIN_PLACED:
        held_out, columns, places = held_out_opinions(
            pile, told, believed, manner, plain.unseen, closed=not plain.unseen
        )
        if len(columns):
            powers = fitted_powers(held_out, columns, believed[places], powers, strength)

    def shares_of(known: Seeds, then: Plain, kept: Ints) -> Floats:
        return pooled(opinions(pile, known, then, believed[kept], manner), powers)

    shares = pooled(logs, powers)
    doubted = 1 - float(believed.mean())
    return steadied(shares, told, plain, pile.groups, pile.latest, shares_of, doubted), powers


def pooled(logs: Floats, powers: Floats) -> Floats:
    """(m, k) shares from the logarithms (m, k, opinions) of the shares in each opinion."""
    scores = logs @ powers
    scores -= scores.max(axis=1, keepdims=True)
    shares = np.exp(scores)
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def held_out_opinions(
    pile: Pile, seeds: Seeds, weight: Floats | None, manner: Manner, unseen: float, *, closed: bool
) -> tuple[Floats, Ints, Ints]:
    """Opinions (s, k, opinions) on answered items that have not seen their answers.

    With their columns (s,), and their places (s,) among the seeds. Groups that an opinion does not
    have get the smallest share.
    """
    order = np.random.default_rng(0).permutation(len(pile.Z))  # with each answer nearly the same
    if len(seeds.rows) > MAX_TRIAL_ANSWERS:
        some_seeds = _first_seeds(seeds, order)
        fewer = Seeds(seeds.rows[some_seeds], seeds.labels[some_seeds], seeds.n_kinds)
        chosen = None if weight is None else weight[some_seeds]
        found, column, place = held_out_opinions(pile, fewer, chosen, manner, unseen, closed=closed)
        return found, column, some_seeds[place]
    others = order[~np.isin(order, seeds.rows)]
    rows = np.union1d(seeds.rows, others[: max(0, MAX_TRIAL_ITEMS - len(seeds.rows))])
    some, at = pile.at(rows), np.searchsorted(rows, seeds.rows)
    believed = np.ones(len(at)) if weight is None else weight
    logs, columns, places = [], [], []
    for out in _folds(seeds, order):
        kept = np.flatnonzero(~out)
        kinds, labels = np.unique(seeds.labels[kept], return_inverse=True)
        asked = np.flatnonzero(out & np.isin(seeds.labels, kinds))
        if len(kinds) < 2 or not len(asked):
            continue
        known = Seeds(at[kept], labels.astype(np.intp), len(kinds))
        plain = Plain.of(some.groups, known, unseen, closed=closed)
        found = opinions(some, known, plain, believed[kept], manner)
        logs.append(found[at[asked]])
        columns.append(np.searchsorted(kinds, seeds.labels[asked]))
        places.append(asked)
    if not logs:
        return np.empty((0, 2, 1)), np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp)
    widest = max(each.shape[1] for each in logs)
    filled = [
        np.pad(each, ((0, 0), (0, widest - each.shape[1]), (0, 0)), constant_values=-50.0)
        for each in logs
    ]
    return np.concatenate(filled), np.concatenate(columns), np.concatenate(places)


def fitted_powers(
    logs: Floats, columns: Ints, weight: Floats, prior: Floats, strength: Floats
) -> Floats:
    """Powers (opinions,) that predict the answers best, drawn to `prior` by `strength`."""
    own = logs[np.arange(len(logs)), columns]  # (s, opinions)

    def loss(powers: Floats) -> tuple[float, Floats]:
        shares = pooled(logs, powers)
        right = shares[np.arange(len(shares)), columns]
        likely = (1 - ERROR) * right + ERROR / 2
        slope = weight * (1 - ERROR) * right / likely
        away = powers - prior
        mean = (shares[:, :, None] * logs).sum(axis=1)  # (s, opinions)
        value = (strength * away**2).sum() / 2 - (weight * np.log(likely)).sum()
        return float(value), strength * away - (slope[:, None] * (own - mean)).sum(axis=0)

    found = minimize(
        loss, prior, jac=True, method="L-BFGS-B", bounds=[(0.0, None)] * len(prior)
    )  # fmt: skip
    return np.asarray(found.x)


def _first_seeds(seeds: Seeds, order: Ints) -> Ints:
    """Places of the seeds that come first in an order of all items."""
    place = np.empty(len(order), dtype=np.intp)
    place[order] = np.arange(len(order))
    return np.sort(np.argsort(place[seeds.rows])[:MAX_TRIAL_ANSWERS])


def _folds(seeds: Seeds, order: Ints) -> list[Bools]:
    """Masks of the items held out in each fold; each kind is spread over all of them.

    One more answer changes the folds of few others, so that powers change little.
    """
    place = np.empty(len(order), dtype=np.intp)
    place[order] = np.arange(len(order))
    fold = np.empty(len(seeds.rows), dtype=np.intp)
    for kind in range(seeds.n_kinds):
        here = np.flatnonzero(seeds.labels == kind)
        fold[here[np.argsort(place[seeds.rows[here]])]] = (np.arange(len(here)) + kind) % FOLDS
    return [fold == k for k in range(FOLDS)]
