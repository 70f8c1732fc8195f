"""Links stated only by omission never outrank explicit ones, in whatever order they come."""

from __future__ import annotations

from itertools import product

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from samekind.constraints import Constraints
from samekind.questions import AllLike, Answer, Link, OddOnes, Question, SamePair, WhichGroup

N = 6
GROUPINGS = [
    p
    for p in product(range(N), repeat=N)
    if all(x <= max((*p[:i], -1)) + 1 for i, x in enumerate(p))
]


def possible(links: list[Link]) -> bool:
    return any(all((p[a] == p[b]) == same for a, b, same in links) for p in GROUPINGS)


@st.composite
def answers(draw: st.DrawFn) -> list[Answer]:
    told: list[Answer] = []
    for number in range(1, draw(st.integers(0, 6)) + 1):
        p = draw(st.permutations(range(N)))
        question: Question = draw(
            st.sampled_from(
                [
                    SamePair(p[0], p[1]),
                    WhichGroup(p[0], ((p[1],), (p[2],))),
                    OddOnes((p[0],), tuple(p[1:4])),
                    AllLike((p[0],), tuple(p[1:4])),
                ]
            )
        )
        choices = ["none", "1", "2", "1,3", "2,3", "1,2,3"] if question.many else None
        told.append(Answer(number, question, draw(st.sampled_from(choices or question.choices()))))
    return told


def by_brute_force(told: list[Answer]) -> tuple[list[Answer], list[Link], list[Link]]:
    """Conflicts, links that hold, and omitted links that are overruled."""
    conflicts, in_force, links, overruled = list[Answer](), list[Answer](), list[Link](), []
    for answer in told:
        fits = possible([*links, *answer.explicit])
        (in_force if fits else conflicts).append(answer)
        links += answer.explicit if fits else ()
    for answer in in_force:
        for link in answer.omitted:
            fits = possible([*links, link])
            (links if fits else overruled).append(link)
    return conflicts, links, overruled


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(answers())
def test_explicit_links_come_first_and_each_omission_counts_alone(told: list[Answer]) -> None:
    known = Constraints.from_answers(N, told)
    conflicts, links, overruled = by_brute_force(told)
    assert [c.answer for c in known.conflicts] == conflicts
    assert [link for _, link in known.overruled] == overruled
    found = known.links()
    held = zip(found.a.tolist(), found.b.tolist(), found.same.tolist(), strict=True)
    assert sorted(held) == sorted(tuple(link) for link in links)
    assert known.touched.tolist() == sorted({i for link in links for i in link[:2]})
    assert all(known.same(a, b) is same for a, b, same in links)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(answers())
def test_one_by_one_is_the_same_as_all_at_once(told: list[Answer]) -> None:
    versions = [Constraints(N)]
    for answer in told:
        versions.append(versions[-1].with_answer(answer))
    for k, one in enumerate(versions):
        again = Constraints.from_answers(N, told[:k])
        assert one.components.tolist() == again.components.tolist()
        assert one.component_links().tolist() == again.component_links().tolist()
        assert one.conflicts == again.conflicts and one.overruled == again.overruled
        assert one.touched.tolist() == again.touched.tolist()
        assert one.unconfirmed.tolist() == again.unconfirmed.tolist()
        assert [x.tolist() for x in one.kinds] == [x.tolist() for x in again.kinds]


REVIEW = Answer(1, OddOnes((0,), (1, 2, 3)), "3")


def test_a_later_answer_overrules_an_omission_without_a_conflict() -> None:
    known = Constraints.from_answers(6, [REVIEW, Answer(2, SamePair(1, 0), "different")])
    assert not known.conflicts
    assert known.same(0, 1) is False
    assert known.same(0, 2) is True, "the rest of the answer holds"
    assert known.overruled == ((REVIEW, Link(1, 0, True)),)


def test_an_omission_that_contradicts_an_earlier_answer_is_set_aside_alone() -> None:
    said = [Answer(1, SamePair(2, 4), "same"), Answer(2, SamePair(4, 0), "different")]
    known = Constraints.from_answers(6, [*said, Answer(3, REVIEW.question, "3")])
    assert not known.conflicts
    assert [known.same(i, 0) for i in (1, 2, 3)] == [True, False, False]


def test_what_was_overruled_comes_back_when_the_other_answer_is_taken_back() -> None:
    known = Constraints.from_answers(6, [REVIEW, Answer(2, SamePair(1, 0), "different")])
    assert known.same(0, 1) is False
    assert Constraints.from_answers(6, [REVIEW]).same(0, 1) is True


def test_named_items_that_contradict_are_a_conflict_as_in_any_answer() -> None:
    (conflict,) = Constraints.from_answers(
        6, [Answer(1, SamePair(3, 0), "same"), Answer(2, REVIEW.question, "3")]
    ).conflicts
    assert [answer.number for answer in conflict.clash] == [1, 2]


def test_items_are_unconfirmed_until_a_person_names_them() -> None:
    known = Constraints.from_answers(8, [Answer(1, SamePair(0, 5), "same"), REVIEW])
    assert known.unconfirmed.tolist() == [1, 2]
    search = Answer(3, AllLike((4,), (1, 6, 7)), "2")
    known = known.with_answer(search)
    assert known.unconfirmed.tolist() == [1, 2, 7], "1 and 7 were not named, 6 was"
    known = known.with_answer(Answer(4, SamePair(1, 5), "same"))
    assert known.unconfirmed.tolist() == [2, 7]
    assert Constraints.from_links(4, [(0, 1, True), (1, 2, False)]).unconfirmed.tolist() == []


def test_an_item_named_as_odd_and_then_left_unnamed_elsewhere_is_unconfirmed() -> None:
    elsewhere = Answer(2, OddOnes((4,), (3, 5)), "none")
    known = Constraints.from_answers(6, [REVIEW, elsewhere, Answer(3, SamePair(4, 0), "different")])
    assert known.same(3, 4) is True
    assert known.unconfirmed.tolist() == [1, 2, 3, 5], "0 and 4 stand for their groups"
