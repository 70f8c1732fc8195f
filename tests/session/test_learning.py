"""Placement and propagation together: few answers, the person's orientation, every answer honoured."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from piles import clouds, points
from samekind.clusterers.live.propagation import Propagation
from samekind.constraints import Constraints
from samekind.errors import InputError
from samekind.evaluation import acc, ari
from samekind.questions import WhichGroup
from samekind.session import Session
from samekind.simulation import simulate
from samekind.simulation.loop import run
from samekind.simulation.people import Noisy, Truth


def test_the_persons_orientation_is_found_where_the_default_is_another() -> None:
    X, kinds = clouds(200)
    by_row = (np.arange(200) % 4) // 2
    for wanted in (kinds, by_row):
        session = Session(points(200), X, seed=1)
        run(session, Truth(wanted), 10)
        assert acc(wanted, session.clustering.labels) > 0.97


def test_digits_need_fifty_questions_and_no_number_of_groups() -> None:
    row = simulate("digits", orientation="digit", questions=50, seed=3)
    final = row["curve"][-1]
    assert final["questions"] == 50
    assert final["ari"] > 0.88
    assert final["groups"] == 10
    assert row["curve"][0]["ari"] < final["ari"] - 0.05


def test_after_none_of_these_the_other_groups_are_shown_before_a_new_one_is_opened() -> None:
    rng = np.random.default_rng(0)
    kinds = np.arange(160) % 7  # from eight on, all groups are shown at once
    X = (rng.normal(scale=0.3, size=(160, 7)) + 5 * np.eye(7)[kinds]).astype(np.float32)
    session = Session(points(160), X)
    run(session, Truth(kinds), 60)
    assert len(session.constraints.kinds) == 7
    sizes = {len(a.question.groups) for a in session.answers if isinstance(a.question, WhichGroup)}
    assert max(sizes) == WhichGroup.usual_groups
    assert ari(kinds, session.clustering.labels) == 1.0


def test_an_unsure_person_is_not_asked_the_same_again() -> None:
    X, _ = clouds(80)
    session = Session(points(80), X)
    seen = []
    for _ in range(10):
        asked = session.ask()
        assert asked is not None
        seen.append(asked.question.items()[0])
        session.tell(asked.number, "unsure")
    assert len(set(seen)) == 10


def test_asking_ends_only_when_every_item_is_placed() -> None:
    X, kinds = clouds(12)
    session = Session(points(12), X, refit_every=2)
    log = run(session, Truth(kinds), 500)
    assert log.n_answers == 11, "each item but the first is asked about once"
    assert session.ask() is None
    assert len(session.constraints.touched) == 12


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_every_answer_is_honoured_whatever_was_asked(data: st.DataObject) -> None:
    n = data.draw(st.integers(4, 25))
    kinds = data.draw(st.lists(st.integers(0, 4), min_size=n, max_size=n))
    pair = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).filter(lambda p: p[0] != p[1])
    pairs = data.draw(st.lists(pair, max_size=20))
    known = Constraints.from_links(n, [(a, b, kinds[a] == kinds[b]) for a, b in pairs])
    X = np.random.default_rng(n).normal(size=(n, 3))
    model = Propagation(random_state=0).fit(X, constraints=known)
    links = known.links(implied=True)
    assert ((model.labels_[links.a] == model.labels_[links.b]) == links.same).all()


def test_a_sample_stands_for_a_large_pile_and_answers_outside_it_count() -> None:
    X, kinds = clouds(3000)
    links = [(a, b, bool(kinds[a] == kinds[b])) for a, b in [(2990, 2991), (2990, 2992), (5, 2991)]]
    links += [(0, 1, False), (0, 2, True), (1, 3, True), (0, 2990, bool(kinds[0] == kinds[2990]))]
    known = Constraints.from_links(3000, links)
    model = Propagation(n_reference=300, random_state=0).fit(X, constraints=known)
    assert acc(kinds, model.labels_) > 0.97
    for a, b, same in links:
        assert (model.labels_[a] == model.labels_[b]) == same
    assert acc(kinds, model.predict(X)) > 0.97


def test_a_given_number_of_groups_is_kept_unless_the_answers_prove_more() -> None:
    X, _ = clouds(60)
    known = Constraints.from_links(60, [(0, 1, False), (0, 2, False), (1, 2, False)])
    assert Propagation(4, random_state=0).fit(X, constraints=known).n_clusters_ == 4
    assert Propagation(2, random_state=0).fit(X, constraints=known).n_clusters_ == 3
    assert Propagation(1, random_state=0).fit(X).n_clusters_ == 1
    with pytest.raises(InputError, match=r"from 1 to 60 .* got 61 groups"):
        Propagation(61).fit(X)


def test_items_that_are_all_alike_do_no_harm() -> None:
    session = Session(points(10), np.ones((10, 3)))
    run(session, Truth(np.arange(10) % 2), 6)
    assert len(session.answers) == 6


def test_wrong_answers_are_survived(pile: Any) -> None:
    collection, X, kinds = pile
    session = Session(collection, X, seed=2)
    run(session, Noisy(Truth(kinds), 0.2, 1), 25)
    session.refit()
    assert len(session.answers) == 25
    assert set(session.clustering.sizes().values())


def test_noise_gives_the_asked_share_of_wrong_answers_and_repeats() -> None:
    kinds = np.arange(50) % 2
    question = WhichGroup(0, ((1,), (2,)))
    truth = Truth(kinds).answer(question)
    noisy = Noisy(Truth(kinds), 0.3, seed=5)
    answers = [noisy.answer(question) for _ in range(1000)]
    assert 0.25 < np.mean([a != truth for a in answers]) < 0.35
    assert "unsure" not in answers
    again = Noisy(Truth(kinds), 0.3, seed=5)
    assert answers == [again.answer(question) for _ in range(1000)]
    with pytest.raises(InputError, match="from 0 to 1"):
        Noisy(Truth(kinds), 1.5)


def test_a_person_who_does_not_know_says_unsure() -> None:
    assert Truth(np.array([0, -1, 0])).answer(WhichGroup(0, ((1,),))) == "unsure"
    assert Truth(np.array([0, -1, 0])).answer(WhichGroup(0, ((1,), (2,)))) == "2"
