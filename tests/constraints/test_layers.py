"""Layers behave as a dict and a tuple, and a copy never changes what it was copied from."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from samekind.constraints import Constraints
from samekind.constraints.layers import LayeredDict, LayeredTuple
from samekind.questions import Answer, SamePair

STEPS = st.lists(st.tuples(st.sampled_from(["set", "pop", "copy"]), st.integers(0, 200)))


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 300), STEPS)
def test_a_layered_dict_is_a_dict(begun: int, steps: list[tuple[str, int]]) -> None:
    layered, plain = LayeredDict[int](), dict[int, int]()
    for key in range(begun):
        layered[key] = plain[key] = -key
    kept: list[tuple[LayeredDict[int], dict[int, int]]] = []
    for number, (what, key) in enumerate(steps):
        if what == "copy":
            kept.append((layered, dict(plain)))
            layered = layered.copy()
        elif what == "set":
            layered[key] = plain[key] = number
        else:
            assert layered.pop(key, None) == plain.pop(key, None)
        assert (key in layered) == (key in plain)
        assert layered.get(key, "no") == plain.get(key, "no")
    kept.append((layered, plain))
    assert all(one.joined() == other for one, other in kept)


def test_what_is_not_there_is_an_error() -> None:
    layered = LayeredDict[int]()
    layered[1] = 2
    after = layered.copy()
    assert after.pop(1) == 2
    for missing in (lambda: after[1], lambda: after.pop(1)):
        with pytest.raises(KeyError):
            missing()
    assert layered[1] == 2


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(1, 100), max_size=20))
def test_a_layered_tuple_is_a_tuple(sizes: list[int]) -> None:
    layered, plain = LayeredTuple[int](), ()
    for size in sizes:
        more: Any = tuple(range(size))
        longer = layered + more
        assert layered.joined() == plain
        layered, plain = longer, (*plain, *more)
    assert layered.joined() == plain and len(layered) == len(plain)
    assert [layered[k] for k in range(len(plain))] == list(plain)


def pair_answers(n_items: int, count: int, wrong: float = 0.0) -> list[Answer]:
    rng = np.random.default_rng(0)
    kinds = rng.integers(0, 2, n_items)
    pairs = [rng.choice(n_items, 2, replace=False).tolist() for _ in range(count)]
    same = [bool(kinds[a] == kinds[b]) ^ bool(rng.random() < wrong) for a, b in pairs]
    return [
        Answer(k + 1, SamePair(a, b), "same" if alike else "different")
        for k, ((a, b), alike) in enumerate(zip(pairs, same, strict=True))
    ]


def test_answers_one_by_one_give_what_all_at_once_give_and_leave_the_earlier_as_they_were() -> None:
    answers = pair_answers(150, 400, wrong=0.05)
    grown, passed = Constraints(150), []
    for answer in answers:
        passed.append(grown)
        grown = grown.with_answer(answer)
    for count in (0, 1, 65, 200, 399):
        known, anew = passed[count], Constraints.from_answers(150, answers[:count])
        assert known.answers == anew.answers and known.n_answers == count
        assert known.conflicts == anew.conflicts
        np.testing.assert_array_equal(known.components, anew.components)
        np.testing.assert_array_equal(known.component_links(), anew.component_links())
        assert [kind.tolist() for kind in known.kinds] == [kind.tolist() for kind in anew.kinds]
    assert grown.conflicts, "the wrong answers contradict others"


def test_an_answer_after_many_copies_only_a_small_part() -> None:
    known = Constraints.from_answers(4_000, pair_answers(4_000, 3_000))
    largest = joins = 0
    for k in range(300):
        shared = known._closure.parent._shared
        after = known.with_answer(Answer(0, SamePair(2 * k, 2 * k + 1), "different"))
        joins += after._closure.parent._shared is not shared
        largest = max(largest, len(after._closure.parent._own), len(after._answers._own))
        known = after
    assert 0 < joins < 20 and largest < 80
