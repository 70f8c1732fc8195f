"""Constraints against brute force: closure, conflicts with the smallest clash, refold."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from samekind.constraints import Constraints
from samekind.errors import InputError
from samekind.questions import Answer, Link, Question, SamePair, WhichGroup

N = 5
PARTITIONS = [
    p
    for p in product(range(N), repeat=N)
    if all(x <= max((*p[:i], -1)) + 1 for i, x in enumerate(p))
]


def worlds(links: list[Link]) -> list[tuple[int, ...]]:
    """All groupings of the N items in which every link is true."""
    return [p for p in PARTITIONS if all((p[a] == p[b]) == same for a, b, same in links)]


@st.composite
def answers(draw: st.DrawFn, most: int = 7) -> list[Answer]:
    told = []
    for number in range(1, draw(st.integers(0, most)) + 1):
        order = draw(st.permutations(range(N)))
        question: Question
        if draw(st.booleans()):
            question = SamePair(order[0], order[1])
        else:
            question = WhichGroup(order[0], ((order[1], order[3]), (order[2],)))
        told.append(Answer(number, question, draw(st.sampled_from(question.choices()))))
    return told


def folded_by_brute_force(told: list[Answer]) -> tuple[list[Answer], list[Answer]]:
    in_force: list[Answer] = []
    aside: list[Answer] = []
    for answer in told:
        links = [link for a in (*in_force, answer) for link in a.links]
        (in_force if worlds(links) else aside).append(answer)
    return in_force, aside


@settings(max_examples=150, deadline=None)
@given(answers())
def test_what_is_known_is_exactly_what_all_possible_groupings_agree_on(told: list[Answer]) -> None:
    known = Constraints.from_answers(N, told)
    in_force, aside = folded_by_brute_force(told)
    assert [c.answer for c in known.conflicts] == aside
    possible = worlds([link for a in in_force for link in a.links])
    for i, j in combinations(range(N), 2):
        told_same = {world[i] == world[j] for world in possible}
        # "Different" by counting (five items, four groups taken) is not what the closure promises.
        if known.same(i, j) is not None:
            assert told_same == {known.same(i, j)}
        elif told_same == {True}:
            raise AssertionError("a same-link was not found")


@settings(max_examples=150, deadline=None)
@given(answers())
def test_a_contradiction_is_kept_aside_with_the_smallest_set_of_clashing_answers(
    told: list[Answer],
) -> None:
    known = Constraints.from_answers(N, told)
    for conflict in known.conflicts:
        before = [a for a in told if a.number < conflict.answer.number]
        in_force, _ = folded_by_brute_force(before)
        clash = [link for a in conflict.clash for link in a.links]
        assert conflict.answer in conflict.clash
        assert not worlds(clash)
        smallest = next(
            size
            for size in range(len(in_force) + 1)
            for chosen in combinations(in_force, size)
            if not worlds([link for a in (*chosen, conflict.answer) for link in a.links])
        )
        assert len(conflict.clash) == smallest + 1


@settings(max_examples=100, deadline=None)
@given(answers(), st.integers(0, 7))
def test_one_by_one_and_refold_agree_and_older_versions_stay_untouched(
    told: list[Answer], at: int
) -> None:
    versions = [Constraints(N)]
    for answer in told:
        versions.append(versions[-1].with_answer(answer))
    for k in (min(at, len(told)), len(told)):
        again = Constraints.from_answers(N, told[:k])
        assert versions[k].components.tolist() == again.components.tolist()
        assert versions[k].component_links().tolist() == again.component_links().tolist()
        assert versions[k].conflicts == again.conflicts
        assert [x.tolist() for x in versions[k].kinds] == [x.tolist() for x in again.kinds]


@settings(max_examples=60, deadline=None)
@given(answers())
def test_implied_links_are_all_known_pairs_and_kinds_are_told_apart(told: list[Answer]) -> None:
    known = Constraints.from_answers(N, told)
    links = known.links(implied=True)
    listed = {
        (int(a), int(b)): bool(s) for a, b, s in zip(links.a, links.b, links.same, strict=True)
    }
    expected = {
        (i, j): known.same(i, j)
        for i, j in combinations(range(N), 2)
        if known.same(i, j) is not None
    }
    assert listed == expected
    for one, other in combinations(known.kinds, 2):
        assert known.same(int(one[0]), int(other[0])) is False


def test_a_long_chain_is_shortened_to_the_answers_that_matter() -> None:
    chain = [(k, k + 1, True) for k in range(50)]
    known = Constraints.from_links(100, [*chain, (0, 50, True), (50, 60, False), (0, 60, True)])
    assert [a.number for a in known.conflicts[0].clash] == [51, 52, 53]


def test_a_none_of_these_answer_is_kept_aside_whole() -> None:
    told = [
        Answer(1, SamePair(0, 1), "same"),
        Answer(2, WhichGroup(0, ((1,), (2,))), "none"),
    ]
    known = Constraints.from_answers(4, told)
    assert known.conflicts[0].answer.number == 2
    assert known.same(0, 2) is None
    assert len(known.links().a) == 1
    assert len(known.asked_links().a) == 3


def test_components_are_numbered_by_first_item_without_gaps() -> None:
    known = Constraints.from_links(6, [(4, 1, True), (5, 2, False)])
    assert known.components.tolist() == [0, 1, 2, 3, 1, 4]
    assert known.component_links().tolist() == [[2, 4]]
    assert known.component(4).tolist() == [1, 4]
    assert known.touched.tolist() == [1, 2, 4, 5]
    assert np.asarray(known.links().weight).tolist() == [1.0, 1.0]


def test_an_answer_about_items_that_are_not_there_is_refused() -> None:
    with pytest.raises(InputError, match="from 0 to 2, got 0 and 7"):
        Constraints.from_links(3, [(0, 7, True)])


def test_what_follows_through_an_item_that_is_gone_still_holds() -> None:
    told = [Answer(1, SamePair(0, 3), "same"), Answer(2, SamePair(3, 1), "same")]
    told.append(Answer(3, SamePair(4, 2), "different"))
    known = Constraints.from_answers(3, told, n_gone=2)
    assert known.same(0, 1) is True
    assert known.components.tolist() == [0, 0, 1]
    assert known.component_links().tolist() == []
    assert known.links().a.tolist() == []
    assert known.links(implied=True).a.tolist() == [0]


@settings(max_examples=100, deadline=None)
@given(answers(), st.integers(0, N))
def test_arrays_of_components_links_and_kinds_say_what_the_closure_says(
    told: list[Answer], n_gone: int
) -> None:
    here = N - n_gone
    known = Constraints.from_answers(here, told, n_gone=n_gone)
    component = known.components.tolist()
    firsts = [min(j for j in range(here) if known.same(i, j)) for i in range(here)]
    assert component == [sorted(set(firsts)).index(first) for first in firsts]
    pairs = combinations(range(here), 2)
    apart = {(component[i], component[j]) for i, j in pairs if known.same(i, j) is False}
    expected = sorted({(min(pair), max(pair)) for pair in apart})
    assert [tuple(pair) for pair in known.component_links().tolist()] == expected
    in_force = [a for a in told if a not in [c.answer for c in known.conflicts]]
    linked = {i for a in in_force for link in a.links for i in link[:2]}
    assert known.touched.tolist() == sorted(i for i in linked if i < here)
    for one, other in combinations(known.kinds, 2):
        assert known.same(int(one[0]), int(other[0])) is False
    for i in range(here):  # greedy: whatever differs from all the kinds is one of them
        if known.kinds and all(known.same(i, int(kind[0])) is False for kind in known.kinds):
            raise AssertionError("a kind was left out")
