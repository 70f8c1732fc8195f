"""From answers to chosen and refused columns."""

from __future__ import annotations

import json

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from places import VECTORS
from samekind.clusterers.deep.idc_feedback import feedback_of, stated_feedback, voted
from samekind.constraints import Constraints
from samekind.questions import Answer, WhichGroup


def shares(*rows: tuple[float, ...]) -> np.ndarray:
    p = np.array(rows, dtype=np.float64)
    return p / p.sum(axis=1, keepdims=True)


def test_who_stands_for_a_group_is_not_outvoted_by_hard_items_placed_beside_it() -> None:
    p = shares((0.999, 0.0005, 0.0005), *[(0.02, 0.97, 0.01)] * 6, (0.01, 0.98, 0.01))
    links = [(0, i, True) for i in range(1, 7)]
    found = feedback_of(p, Constraints.from_links(8, links))
    assert found.items.tolist() == list(range(7)) and set(found.chosen.tolist()) == {0}
    plain_votes = np.log(p[:7]).sum(axis=0).argmax()
    assert plain_votes == 1, "with one vote each they would have carried it away"


def test_an_item_that_fits_none_of_the_groups_refuses_all_of_them() -> None:
    p = shares((0.9, 0.05, 0.03, 0.02), (0.05, 0.9, 0.03, 0.02), (0.02, 0.03, 0.9, 0.05), (0.6, 0.2, 0.1, 0.1))  # fmt: skip
    none = Answer(1, WhichGroup(3, ((0,), (1,), (2,))), "none")
    found = feedback_of(p, Constraints.from_answers(4, [none]))
    at = found.items.tolist().index(3)
    assert found.chosen[at] == -1
    assert found.refused[at].tolist() == [True, True, True, False]


def test_choosing_a_group_refuses_nothing() -> None:
    p = shares((0.9, 0.1), (0.1, 0.9), (0.4, 0.6))
    chosen = Answer(1, WhichGroup(2, ((0,), (1,))), "1")
    found = feedback_of(p, Constraints.from_answers(3, [chosen]))
    assert found.items.tolist() == [0, 2] and found.chosen.tolist() == [0, 0]
    assert not found.refused.any()


def test_pairs_alone_give_feedback_and_two_different_ones_get_different_columns() -> None:
    p = shares((0.8, 0.2), (0.7, 0.3), (0.6, 0.4), (0.55, 0.45))
    known = Constraints.from_links(4, [(0, 1, True), (2, 3, True), (0, 2, False)])
    found = feedback_of(p, known)
    assert found.chosen.tolist() == [0, 0, 1, 1]


def test_a_mere_guess_about_the_other_item_refuses_nothing() -> None:
    p = shares((0.9, 0.05, 0.05), (0.9, 0.06, 0.04))
    found = feedback_of(p, Constraints.from_links(2, [(0, 1, False)]))
    moved = [i for i in range(2) if i in found.items.tolist()]
    assert len(moved) == 1, "one of them is sure and stands for column 0, the other must leave it"
    assert found.refused.tolist() == [[True, False, False]]


def test_kinds_beyond_the_number_of_columns_have_no_feedback() -> None:
    p = np.ones((4, 1))
    known = Constraints.from_links(4, [(0, 1, True), (2, 3, True), (0, 2, False)])
    found = feedback_of(p, known)
    assert len(found) == 2 and set(found.chosen.tolist()) == {0}


def test_contradictions_and_no_answers_are_no_trouble() -> None:
    p = shares((0.9, 0.1), (0.2, 0.8), (0.3, 0.7))
    torn = Constraints.from_links(3, [(0, 1, True), (1, 2, True), (0, 2, False)])
    assert torn.conflicts
    assert len(set(feedback_of(p, torn).chosen.tolist())) == 1
    assert len(feedback_of(p, Constraints(3))) == 0
    assert voted(p, Constraints(3)) is p


def test_the_oracles_answers_become_the_published_columns() -> None:
    """Thirty items, two groups offered, answers as IDC's user gives them."""
    vectors = json.loads((VECTORS / "idc.json").read_text())
    asked, stands = vectors["questions"], vectors["questions"]["centre_image"]
    p = np.eye(3)[vectors["kmeans"]["labels"]]
    for key in ("answers", "answers_T1"):
        given = []
        for number, one in enumerate(asked[key], start=1):
            question = WhichGroup(one["sample"], tuple((stands[k],) for k in one["offered"]))
            chosen = one["offered"].index(one["chosen"]) + 1 if one["positive"] else "none"
            given.append(Answer(number, question, str(chosen)))
        found = stated_feedback(p, Constraints.from_answers(30, given))
        row = {item: at for at, item in enumerate(found.items.tolist())}
        assert len(row) == len(given) == 8, "the items that stand for groups do not learn"
        for one in asked[key]:
            at = row[one["sample"]]
            assert found.chosen[at] == (one["chosen"] if one["positive"] else -1)
            offered = [] if one["positive"] else one["offered"]
            assert np.flatnonzero(found.refused[at]).tolist() == sorted(offered)


def test_as_published_one_answer_says_nothing_about_another_item() -> None:
    p = shares((0.99, 0.01), (0.4, 0.6), (0.3, 0.7), (0.3, 0.7))
    linked = [Answer(1, WhichGroup(1, ((0,),)), "1"), Answer(2, WhichGroup(2, ((1,),)), "1")]
    known = Constraints.from_answers(4, linked)
    found = stated_feedback(p, known)
    assert found.items.tolist() == [1, 2] and found.chosen.tolist() == [0, 1]
    assert set(feedback_of(p, known).chosen.tolist()) == {0}, "as links all three are one kind"


def test_an_unsure_answer_says_nothing_and_pairs_count_where_nothing_else_was_asked() -> None:
    p = shares((0.9, 0.1), (0.4, 0.6), (0.2, 0.8), (0.3, 0.7))
    unsure = Constraints.from_answers(4, [Answer(1, WhichGroup(1, ((0,),)), "unsure")])
    assert len(stated_feedback(p, unsure)) == 0
    pairs = Constraints.from_links(4, [(0, 1, True)])
    assert stated_feedback(p, pairs).chosen.tolist() == feedback_of(p, pairs).chosen.tolist()


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_no_answer_is_broken_by_the_columns(data: st.DataObject) -> None:
    n, k = 9, data.draw(st.integers(1, 4))
    kinds = data.draw(st.lists(st.integers(0, k - 1), min_size=n, max_size=n))
    pairs = data.draw(
        st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=12)
    )
    links = [(a, b, kinds[a] == kinds[b]) for a, b in pairs if a != b]
    p = np.random.default_rng(data.draw(st.integers(0, 99))).dirichlet(np.ones(k), n)
    known = Constraints.from_links(n, links)
    found = feedback_of(p, known)
    chosen = dict(zip(found.items.tolist(), found.chosen.tolist(), strict=True))
    told = known.links(implied=True)
    for a, b, same in zip(told.a.tolist(), told.b.tolist(), told.same.tolist(), strict=True):
        if chosen.get(a, -1) >= 0 and chosen.get(b, -1) >= 0:
            assert (chosen[a] == chosen[b]) == same
    assert not (found.refused.any(axis=1) & (found.chosen >= 0)).any()
    assert (found.refused.any(axis=1) | (found.chosen >= 0)).all()
    assert not found.refused.all(axis=1).any()
