"""Logistic head, margin and entropy sampling: what is learnt, what is asked, and when K is told."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from samekind.clusterers.logistic import Logistic
from samekind.clustering import Clustering
from samekind.constraints import Constraints
from samekind.errors import InputError
from samekind.evaluation import ari
from samekind.protocols import View
from samekind.questions import Answer, WhichGroup
from samekind.session import Session
from samekind.simulation.loop import run
from samekind.simulation.people import Noisy, Truth
from samekind.sources import open_source
from samekind.strategies.placement.margin import ItemEntropy, Margin


def clouds(n: int = 90, seed: int = 0) -> tuple[NDArray[Any], NDArray[Any]]:
    rng = np.random.default_rng(seed)
    kind = np.arange(n) % 3
    return (rng.normal(size=(n, 4)) + 5 * np.eye(3, 4)[kind]).astype(np.float32), kind


def placed(kind: NDArray[Any], items: list[int]) -> Constraints:
    """These items said to be of their kinds, and the kinds told apart."""
    first: dict[int, int] = {}
    links: list[tuple[int, int, bool]] = []
    for i in items:
        if (k := int(kind[i])) in first:
            links.append((first[k], i, True))
        else:
            links += [(i, other, False) for other in first.values()]
            first[k] = i
    return Constraints.from_links(len(kind), links)


def test_it_is_scikit_learns_regression_on_the_answered_items() -> None:
    X, kind = clouds()
    known = placed(kind, list(range(15)))
    found = Logistic().fit(X, constraints=known)
    scale = np.linalg.norm(X, axis=1).mean()
    plain = LogisticRegression(C=10.0, max_iter=500).fit(X[:15] / scale, kind[:15])
    rest = np.arange(15, 90)
    assert ari(plain.predict(X[rest] / scale), found.labels_[rest]) == pytest.approx(1.0)
    expected = np.sort(plain.predict_proba(X[rest] / scale), axis=1)
    np.testing.assert_allclose(np.sort(found.membership_[rest], axis=1), expected, atol=1e-4)
    assert ari(kind, found.predict(clouds(seed=1)[0])) > 0.9


def test_the_kinds_seen_are_the_groups_and_answers_are_honoured() -> None:
    X, kind = clouds()
    odd = 40  # said to be of a kind of its own, wherever it lies
    links = placed(kind, list(range(12))).links()
    rows = list(zip(links.a.tolist(), links.b.tolist(), links.same.tolist(), strict=True))
    known = Constraints.from_links(90, rows + [(odd, i, False) for i in (0, 1, 2)])
    labels = Logistic().fit(X, constraints=known).labels_
    assert len(set(labels.tolist())) == 4 and (labels == labels[odd]).sum() >= 1


def test_told_the_number_of_groups_it_never_makes_more() -> None:
    X, kind = clouds()
    links = placed(kind, list(range(12))).links()
    rows = list(zip(links.a.tolist(), links.b.tolist(), links.same.tolist(), strict=True))
    known = Constraints.from_links(90, rows + [(40, i, False) for i in (0, 1, 2)])
    assert len(known.kinds) == 4
    found = Logistic(3).fit(X, constraints=known)
    assert len(set(found.labels_.tolist())) == 3
    assert found.membership_.shape == (90, 3)
    assert ari(kind, found.labels_) > 0.9


def test_before_two_kinds_are_known_the_groups_are_those_of_k_means() -> None:
    X, kind = clouds()
    for known in (None, Constraints.from_links(90, [(0, 3, True)])):
        found = Logistic(3, random_state=0).fit(X, constraints=known)
        assert ari(kind, found.labels_) > 0.9 and not hasattr(found, "membership_")
        assert len(found.predict(X[:5])) == 5


def test_a_penalty_without_strength_is_refused() -> None:
    with pytest.raises(InputError, match="strength"):
        Logistic(strength=0.0).fit(clouds()[0])
    with pytest.raises(InputError, match="99 groups"):
        Logistic(99).fit(clouds()[0])


def belief_view(p: list[list[float]], known: Constraints) -> View:
    membership = np.array(p)
    labels = membership.argmax(axis=1)
    X = np.random.default_rng(0).normal(size=(len(p), 2)).astype(np.float32)
    return View(Clustering.first(labels, X, membership), known, np.random.default_rng(0))


P = [
    [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0],  # placed
    [0.5, 0.49, 0.01],  # two groups are nearly equal
    [0.4, 0.3, 0.3],  # the least clear membership
    [0.9, 0.05, 0.05], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8],
]  # fmt: skip


def test_margin_asks_about_the_border_and_entropy_about_the_least_clear() -> None:
    known = placed(np.arange(8) % 3, [0, 1, 2])
    view = belief_view(P, known)
    assert Margin(first=2).propose(view)[0].items()[0] == 3
    assert ItemEntropy(first=2).propose(view)[0].items()[0] == 4
    assert [q.items()[0] for q in Margin(first=2).propose(view, 2)] == [3, 4]


def test_the_likeliest_kinds_are_shown_in_their_places_and_the_others_after_none() -> None:
    n_kinds = 7
    known = placed(np.arange(9), list(range(n_kinds)))
    p = np.full((9, n_kinds), 0.01)
    p[np.arange(n_kinds), np.arange(n_kinds)] = 0.94
    p[7] = [0.01, 0.02, 0.03, 0.04, 0.05, 0.42, 0.43]
    p[8] = p[0]
    view = belief_view(p.tolist(), known)
    first = Margin(first=2).propose(view)[0]
    assert isinstance(first, WhichGroup) and first.item == 7
    assert [g[0] for g in first.groups] == [2, 3, 4, 5, 6]
    refused = known.with_answer(Answer(99, first, "none"))
    again = Margin(first=2).propose(replace(view, constraints=refused))[0]
    assert isinstance(again, WhichGroup) and again.item == 7
    assert [g[0] for g in again.groups] == [1, 0]


@pytest.mark.parametrize("strategy", ["margin", "item-entropy"])
@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_few_answers_are_enough_and_some_may_be_wrong(strategy: str, noise: float) -> None:
    X, kind = clouds(240)
    pile = open_source("tiles").take(range(240))
    session = Session(pile, X, clusterer=Logistic(3), strategy=strategy, seed=0)
    run(session, Noisy(Truth(kind), noise, seed=2), 60)
    before = session.refit()
    assert ari(kind, before.labels) > (0.9 if noise == 0 else 0.7)
    run(session, Noisy(Truth(kind), noise, seed=3), 10)
    assert (session.refit().labels == before.labels).mean() > 0.9
