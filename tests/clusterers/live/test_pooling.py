"""Several opinions are pooled: by what other groupings have shown, and by the answers."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from samekind.clusterers.live import pooling
from samekind.clusterers.live.estimator import Live
from samekind.clusterers.live.opinions import OPINIONS, Manner, Pile, clouds, opinions
from samekind.clusterers.live.pooling import (
    ANSWERS,
    POWERS,
    fitted_powers,
    held_out_opinions,
    pooled,
    prior_powers,
)
from samekind.clusterers.live.seeds import Plain, Seeds, moved_together, plain_groups
from samekind.constraints import Constraints
from samekind.evaluation import ari

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
MANNER = Manner(0.3, 10, 32, 0.7)


def round_kinds(seed: int = 0, n: int = 300, kinds: int = 6) -> tuple[Floats, Ints]:
    """Round clouds in many dimensions, where the nearest neighbours are often of another kind."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % kinds
    return rng.normal(size=(kinds, 30))[truth] * 0.8 + rng.normal(size=(n, 30)), truth


def placed(truth: Ints, count: int, seed: int = 0) -> Constraints:
    """Random items, each beside the first one of each kind before it."""
    first: dict[int, int] = {}
    links = []
    for item in np.random.default_rng(seed).permutation(len(truth))[:count].tolist():
        links += [(head, item, bool(truth[item] == kind)) for kind, head in first.items()]
        first.setdefault(int(truth[item]), item)
    return Constraints.from_links(len(truth), links)


def pile_of(X: Floats, seeds: Seeds) -> tuple[Pile, Plain]:
    Z = X / np.sqrt((X**2).sum(axis=1).mean())
    gathered = moved_together(Z, 10)
    groups = plain_groups(gathered, 6, 0)
    return Pile(Z, gathered, groups), Plain.of(groups, seeds, 0.0)


def test_every_opinion_is_a_share_of_each_group() -> None:
    X, truth = round_kinds()
    seeds = Seeds.from_answers(placed(truth, 20))
    pile, plain = pile_of(X, seeds)
    found = opinions(pile, seeds, plain, None, MANNER)
    assert found.shape == (len(X), plain.source.shape[1], len(OPINIONS))
    np.testing.assert_allclose(np.exp(found).sum(axis=1), 1, atol=1e-6)


def test_opinions_on_an_answered_item_have_not_seen_its_answer() -> None:
    X, _ = round_kinds()
    rng = np.random.default_rng(2)
    seeds = Seeds(np.arange(60), rng.permutation(np.arange(60) % 2), 2)  # nothing to be learnt
    pile, plain = pile_of(X, seeds)
    logs, columns, places = held_out_opinions(pile, seeds, None, MANNER, 0.0, closed=True)
    right = np.exp(logs[np.arange(len(logs)), columns]).mean(axis=0)
    seen = opinions(pile, seeds, plain, None, MANNER)[seeds.rows, seeds.labels]
    assert (right < 0.55).all() and (np.exp(seen).mean(axis=0)[1:3] > 0.7).all()
    assert len(np.unique(places)) == len(places) == 60


def test_powers_follow_the_answers_away_from_the_prior() -> None:
    rng = np.random.default_rng(0)
    columns = rng.integers(0, 3, 40)
    good = np.log(np.eye(3)[columns] * 0.8 + 0.2 / 3)
    bad = np.log(rng.dirichlet(np.ones(3), size=40))
    logs = np.stack([bad, good], axis=2)
    prior, weight = np.array([1.0, 0.2]), np.ones(40)
    loose = fitted_powers(logs, columns, weight, prior, np.array([1.0, 1.0]))
    firm = fitted_powers(logs, columns, weight, prior, np.array([1e6, 1e6]))
    assert loose[1] > 1 and loose[0] < 0.5
    np.testing.assert_allclose(firm, prior, atol=1e-3)
    right = pooled(logs, loose)[np.arange(40), columns]
    assert right.mean() > pooled(logs, prior)[np.arange(40), columns].mean()


def test_the_prior_is_interpolated_between_numbers_of_answers() -> None:
    low, high = (prior_powers(n)[0] for n in ANSWERS[:2])
    np.testing.assert_allclose(low, POWERS[0])
    between = prior_powers(7)[0]
    assert (np.minimum(low, high) <= between).all() and (between <= np.maximum(low, high)).all()
    np.testing.assert_allclose(prior_powers(1)[0], low)


def test_clouds_find_round_kinds_from_a_poor_start() -> None:
    X, truth = round_kinds()
    seeds = Seeds.from_answers(placed(truth, 24))
    start = np.full((len(X), seeds.n_kinds), 1 / seeds.n_kinds)
    found = clouds(X, start, seeds, None).argmax(axis=1)
    assert ari(truth, found) > 0.8


def test_live_is_good_where_neighbours_say_little() -> None:
    X, truth = round_kinds()
    known = placed(truth, 24)
    alone = Live(random_state=0, borders="spread").fit(X, constraints=known)
    together = Live(random_state=0).fit(X, constraints=known)
    assert ari(truth, together.labels_) > ari(truth, alone.labels_) + 0.1
    assert ari(truth, together.labels_) > 0.8


def test_the_slope_of_the_powers_is_right() -> None:
    """A wrong slope would end at powers that are not the best ones."""
    rng = np.random.default_rng(1)
    logs, columns = (
        np.log(rng.dirichlet(np.ones(4), size=(30, 3)).transpose(0, 2, 1)),
        rng.integers(0, 4, 30),
    )
    prior, firm, weight = np.full(3, 0.5), np.full(3, 2.0), rng.random(30)
    best = fitted_powers(logs, columns, weight, prior, firm)

    def loss(powers: Floats) -> float:
        right = pooled(logs, powers)[np.arange(30), columns]
        return float(
            (firm * (powers - prior) ** 2).sum() / 2 - (weight * np.log(0.97 * right + 0.015)).sum()
        )

    for k in range(3):
        for step in (-0.02, 0.02):
            moved = np.maximum(best + step * np.eye(3)[k], 0)
            assert loss(moved) >= loss(best) - 1e-9


def test_of_many_answers_some_decide_about_the_powers(monkeypatch: pytest.MonkeyPatch) -> None:
    X, truth = round_kinds()
    seeds = Seeds(np.arange(100), truth[:100], 6)
    pile, _ = pile_of(X, seeds)
    monkeypatch.setattr(pooling, "MAX_TRIAL_ANSWERS", 40)
    logs, columns, places = held_out_opinions(pile, seeds, np.ones(100), MANNER, 0.0, closed=True)
    assert len(logs) == len(np.unique(places)) == 40
    assert places.max() > 50, "not just the first ones"
    assert (columns == seeds.labels[places]).all()
