"""Refits: what comes first, when the quality is estimated, and from how many items."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

from piles import clouds, points
from samekind.clusterers.kmeans.constrained import KMeans
from samekind.clustering import Clustering
from samekind.constraints import Constraints
from samekind.questions import Answer, WhichGroup
from samekind.session import Session, quality
from samekind.session.quality import (
    MIN_CHECKS,
    Quality,
    QualityEstimate,
    constraints_without,
    cross_check,
    random_checks,
)
from samekind.session.refit import with_names
from samekind.simulation.loop import run
from samekind.simulation.people import Truth

PATIENCE = 300.0
"""Seconds to wait for another thread, however busy the machine is."""


class Recorded(KMeans):  # type: ignore[misc]
    """Notes what it was fitted on."""

    fits: list[tuple[int, Constraints]] = []

    def fit(self, X: Any, y: Any = None, *, constraints: Any = None) -> Any:
        self.fits.append((len(X), constraints))
        return super().fit(X, y, constraints=constraints)


@pytest.fixture(autouse=True)
def no_fits() -> None:
    Recorded.fits.clear()


def checked(n: int, kinds: Any, checks: int) -> Constraints:
    """Answers about a pile of two kinds: ten items that were chosen, and some drawn at random."""
    links = [(0, k, bool(kinds[0] == kinds[k])) for k in range(1, 10)]
    known = Constraints.from_links(n, links)
    for number, item in enumerate(range(n - checks, n)):
        question = WhichGroup(item, ((0,), (1,)), at_random=True)
        choice = "1" if kinds[item] == kinds[0] else "2"
        known = known.with_answer(Answer(100 + number, question, choice))
    return known


def test_the_quality_is_estimated_again_only_when_a_check_was_answered_since() -> None:
    X, kinds = clouds(200)
    estimate = QualityEstimate()
    few, some = checked(200, kinds, MIN_CHECKS), checked(200, kinds, MIN_CHECKS + 1)
    estimate.update(Recorded(2), X, few, 0)
    assert estimate.quality is not None and estimate.quality.checks == MIN_CHECKS
    more = few.with_answer(Answer(300, WhichGroup(20, ((0,), (1,))), "1"))
    estimate.update(Recorded(2), X, more, 0)
    assert len(Recorded.fits) == 1, "the answer was not to a random check"
    estimate.update(Recorded(2), X, some, 0)
    assert len(Recorded.fits) == 2 and estimate.quality.checks == MIN_CHECKS + 1
    estimate.update(Recorded(2), X, checked(200, kinds, MIN_CHECKS - 1), 0)
    assert estimate.quality is None, "checks were taken back"


def test_a_large_pile_is_checked_by_a_part_that_holds_all_answers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X, kinds = clouds(400)
    known = checked(400, kinds, 8)
    whole = cross_check(Recorded(2, random_state=0), X, known, 0)
    monkeypatch.setattr(quality, "MAX_SAMPLED_ITEMS", 120)
    part = cross_check(Recorded(2, random_state=0), X, known, 0)
    (n, all_known), (m, some_known) = Recorded.fits
    assert n == 400 and 120 <= m <= 120 + 18
    assert len(some_known.touched) == len(all_known.touched) == 10
    assert len(some_known.kinds) == 2 and whole == part


def test_knowledge_about_some_rows_counts_them_from_zero() -> None:
    known = Constraints.from_links(
        50, [(3, 9, True), (9, 40, False), (40, 41, True), (3, 30, True)]
    )
    rows = np.array([1, 3, 9, 20, 30, 40, 41])
    some = constraints_without(known, [9], rows)
    assert some.n_items == 7 and some.touched.tolist() == [1, 4, 5, 6]
    assert some.same(1, 4) is True and some.same(4, 6) is False


def test_new_groups_are_in_place_before_the_quality_is_estimated(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X, kinds = clouds(200)
    session = Session(points(200), X, clusterer="live", strategy="live", refit_every=10**6)
    run(session, Truth(kinds), 8 * MIN_CHECKS + 8)
    checking, go_on = threading.Event(), threading.Event()
    found = Quality(7, 7, 0.5, 1.0)

    def slow(*things: Any) -> Quality:
        checking.set()
        assert go_on.wait(PATIENCE)
        return found

    monkeypatch.setattr(quality, "cross_check", slow)
    worker = threading.Thread(target=session.refit)
    worker.start()
    assert checking.wait(PATIENCE)
    assert session.clustering.snapshot == 1 and session.quality is None
    run(session, Truth(kinds), 8)
    again = session.refit()  # another refit is not held up by the check that still runs
    assert again.snapshot == 2 and session.quality is None
    go_on.set()
    worker.join(PATIENCE)
    assert session.quality == found == session.check()


def test_a_refit_that_is_due_comes_before_the_estimate() -> None:
    X, kinds = clouds(200)
    session = Session(points(200), X, clusterer="live", strategy="live", refit_every=10**6)
    run(session, Truth(kinds), 8 * MIN_CHECKS + 8)
    session.refit_every = 5
    assert session.due and session.check() is None
    session.refit(check=False)
    assert session.quality is None
    checks = random_checks(session.answers)
    estimate = session.check()
    assert estimate is not None and estimate.checks == len(checks) >= MIN_CHECKS


def test_names_are_those_of_the_ledger_and_what_was_derived_is_kept() -> None:
    found = Clustering.first([0, 0, 1], np.zeros((3, 1)))
    assert with_names(found, {9: "gone"}) is found
    found.memo("derived", lambda: 5)
    named = with_names(found, {1: "one", 2: "two"})
    assert named.names == {1: "one", 2: "two"} and named.memo("derived", lambda: 6) == 5
    assert with_names(named, {1: "", 2: "two"}).names == {2: "two"}


def test_a_group_may_be_named_while_the_first_refit_runs() -> None:
    X, kinds = clouds(60)
    before, meanwhile = (Session(points(60), X, refit_every=10**6) for _ in range(2))
    for session in (before, meanwhile):
        run(session, Truth(kinds), 6)
    before.rename(1, "left")
    before.refit()
    prepare = meanwhile._warm_up

    def rename_meanwhile(clustering: Clustering) -> None:
        prepare(clustering)
        meanwhile.rename(1, "left")

    meanwhile._warm_up = rename_meanwhile  # type: ignore[method-assign]
    meanwhile.refit()
    assert before.clustering.lineage, "a named group keeps its number: numbers are inherited"
    assert meanwhile.clustering.lineage == before.clustering.lineage
    assert meanwhile.clustering.labels.tolist() == before.clustering.labels.tolist()
    assert meanwhile.clustering.names == before.clustering.names
