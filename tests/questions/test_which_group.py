"""WhichGroup: a few groups, or all of them."""

from __future__ import annotations

import pytest

from samekind.errors import InputError
from samekind.questions import WhichGroup, question_from_json, wording

MANY = WhichGroup(40, tuple((k,) for k in range(37)), all_groups=True)


def test_none_of_all_groups_is_a_new_group() -> None:
    few = WhichGroup(40, ((0,), (1,)))
    assert wording.label("none", MANY.words) == wording.short_label("none", MANY.words)
    assert wording.label("none", MANY.words) == "New group"
    assert wording.label("none", few.words) == "None of these"
    assert len(MANY.links("none")) == 37


def test_a_question_about_all_groups_says_so_in_its_json_and_an_older_one_is_read_as_before() -> (
    None
):
    written = MANY.to_json(str)
    assert written["all_groups"] is True
    back = question_from_json(written, int)
    assert isinstance(back, WhichGroup)
    assert back == MANY and back.all_groups
    older = {key: value for key, value in written.items() if key != "all_groups"}
    assert WhichGroup.from_json(older, int).words == {}
    assert "all_groups" not in WhichGroup(40, ((0,), (1,))).to_json(str)


def test_only_the_first_nine_of_many_groups_have_a_key() -> None:
    keys = wording.keys(MANY.choices())
    assert [keys[str(k)] for k in (1, 9, 10, 37)] == [("1",), ("9",), (), ()]
    assert keys["none"] == ("0",)
    taken = [key for given in keys.values() for key in given]
    assert len(taken) == len(set(taken))


def test_more_groups_than_anyone_looks_through_are_refused() -> None:
    WhichGroup(200, tuple((k,) for k in range(100)))
    with pytest.raises(InputError, match="Expected 1 to 100 groups"):
        WhichGroup(200, tuple((k,) for k in range(101)))
