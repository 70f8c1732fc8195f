"""What is said about the number of groups, uncertain pairs, and other plausible groupings."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

from piles import clouds
from samekind.questions import SamePair
from samekind.session import Session
from samekind.session.acts import perform
from samekind.sources import vectors_collection
from samekind.workspace.alternatives import alternatives, choose_kinds, representative
from samekind.workspace.posterior import PosteriorReport, describe_basis, posterior_report
from undecided import Undecided


def session_of(method: Any, X: Any, **options: Any) -> Session:
    X = np.asarray(X, dtype=np.float32)
    chosen = {"strategy": "random", "seed": 0, **options}
    return Session(vectors_collection("things", X, "things"), X, clusterer=method, **chosen)


def undecided(n: int = 48, **options: Any) -> Session:
    X = np.random.default_rng(0).normal(scale=0.1, size=(n, 4)) + np.eye(4)[np.arange(n) % 4]
    return session_of(Undecided(**options), X)


def report(session: Session) -> PosteriorReport:
    found = posterior_report(session)
    assert found is not None
    return found


def tell(session: Session, a: int, b: int, choice: str) -> None:
    session.tell(session.put_first(SamePair(a, b)).number, choice)


def blocks(pair: Any) -> set[int]:
    return {pair.a % 4, pair.b % 4}


def test_a_method_without_draws_has_nothing_to_report() -> None:
    session = session_of("kmeans", clouds(30)[0])
    assert posterior_report(session) is None and alternatives(session) == ()


def test_the_report_is_that_of_the_fitted_model_before_further_answers() -> None:
    session = session_of("ncp", clouds(24)[0], strategy="posterior")
    found, model = report(session), session.model
    whole = np.zeros_like(model.n_clusters_posterior_)
    whole[list(found.n_groups)] = list(found.n_groups.values())
    assert whole == pytest.approx(model.n_clusters_posterior_, abs=1e-6)
    for pair in found.pairs:
        assert pair.together == pytest.approx(model.co_membership_[pair.a, pair.b], abs=1e-5)


def test_each_uncertain_pair_settles_something_else() -> None:
    found = report(undecided())
    assert found.n_groups == pytest.approx({3: 0.6, 4: 0.4})
    assert [blocks(pair) for pair in found.pairs] == [{0, 1}, {2, 3}]
    assert [pair.together for pair in found.pairs] == pytest.approx([0.35, 0.25])


def test_answers_count_before_the_next_refit() -> None:
    session = undecided()
    tell(session, 0, 1, "different")
    assert session.changes == 1, "nothing was refitted"
    found = report(session)
    assert found.n_groups == pytest.approx({3: 0.25 / 0.65, 4: 0.4 / 0.65})
    assert [blocks(pair) for pair in found.pairs] == [{2, 3}]
    tell(session, found.pairs[0].a, found.pairs[0].b, "unsure")
    again = report(session).pairs[0]
    assert {again.a, again.b} != {found.pairs[0].a, found.pairs[0].b}, "that one was passed on"
    tell(session, 2, 3, "same")
    assert report(session).n_groups == pytest.approx({3: 1.0}) and not report(session).pairs


def test_a_few_draws_that_happen_to_fit_are_not_mistaken_for_certainty() -> None:
    session = undecided()
    told = [(0, 1, "same"), (2, 3, "same"), (4, 6, "same")]  # no draw honours all of these
    for a, b, choice in told:
        tell(session, a, b, choice)
    found = report(session)
    assert not found.enough and "rough until" in describe_basis(found)
    assert min(found.n_groups.values()) > 0.01 and describe_basis(report(undecided())) == ""


def test_another_grouping_says_what_it_would_change_and_which_answers_lead_there() -> None:
    session = undecided()
    first, second = alternatives(session)
    assert (first.share, second.share) == pytest.approx((0.35, 0.25), abs=0.02)
    assert [change.words for change in first.changes] == [
        "Group 2 (12 items) becomes part of Group 1."
    ]
    assert first.n_groups == 3 and first.more == 0
    assert [blocks(q) for one in (first, second) for q in one.questions] == [{0, 1}, {2, 3}]
    tell(session, first.questions[0].a, first.questions[0].b, "same")
    assert alternatives(session)[0].changes[0].words.startswith("Group 2"), "shown until a refit"
    session.refit()
    assert session.clustering.n_groups == 3 and alternatives(session) == ()


def test_a_chosen_grouping_becomes_the_groups_and_can_be_undone() -> None:
    session = undecided()
    tell(session, 0, 4, "same")
    chosen = alternatives(session)[1]
    number = perform(session, choose_kinds(chosen.kinds))
    session.refit()
    assert session.clustering.n_groups == 3 and not session.constraints.conflicts
    labels = session.clustering.labels
    assert labels[2] == labels[3] and len(set(labels[:3].tolist())) == 3
    assert session.answers[0].question.items() == (0, 4), "no answer is lost"
    session.undo(number)
    session.refit()
    assert session.clustering.n_groups == 4 and len(session.answers) == 1


def test_items_that_leave_a_group_are_told_from_groups_that_join() -> None:
    now = np.repeat([0, 1], 20)
    split, one = np.repeat([0, 1, 2], [10, 10, 20]), np.zeros(40, dtype=int)
    rows, share = representative(now, np.array([now, split, one]), np.array([0.5, 0.3, 0.2]))
    assert rows == [1, 2] and share == pytest.approx([0.3, 0.2])


def test_the_time_of_a_report_does_not_grow_with_the_pile() -> None:
    session = undecided(20_000, sample=5_000)
    posterior_report(session)
    begun = time.process_time()
    found, others = report(session), alternatives(session)
    assert time.process_time() - begun < 5
    assert (found.placed, found.items) == (5_000, 20_000) and len(others) == 2
