"""The tests of `make check`: chosen by measured time, and none of the rooms is left out."""

from __future__ import annotations

import json
from pathlib import Path, PurePath

import pytest

import samekind
from places import TESTS
from quick_tests import DURATIONS, SECONDS_PER_FILE, choose_slow, file_of, longest_by_file

ROOMS = sorted(file.parent.name for file in Path(samekind.__file__).parent.glob("*/__init__.py"))


def test_a_file_keeps_the_tests_that_fit_in_its_order() -> None:
    limit = SECONDS_PER_FILE
    seconds = {"a::first": limit / 2, "a::long": 9 * limit, "a::third": limit / 2, "a::late": 0.01}
    assert choose_slow(seconds, seconds) == {"a::long", "a::late"}


def test_files_do_not_share_their_time_and_unmeasured_tests_are_chosen() -> None:
    seconds = {"a::one": SECONDS_PER_FILE, "b::one": SECONDS_PER_FILE}
    assert choose_slow(seconds, [*seconds, "c::new", "a::new"]) == set()


def test_files_begin_in_the_order_of_their_longest_tests(request: pytest.FixtureRequest) -> None:
    assert longest_by_file({"a::one": 1.0, "a::two": 3.0, "b::one": 2.0}) == {"a": 3.0, "b": 2.0}
    longest = longest_by_file(json.loads(DURATIONS.read_text(encoding="utf-8")))
    found = [longest.get(file_of(item.nodeid), 0.0) for item in request.session.items]
    assert found == sorted(found, reverse=True)


def test_make_check_has_a_test_of_every_room(request: pytest.FixtureRequest) -> None:
    """Run over the whole suite, with slow tests left out or not."""
    if request.config.args != request.config.getini("testpaths"):
        pytest.skip("Only some of the tests were asked for.")
    chosen = {item.path.parent for item in request.session.items if item.path.is_relative_to(TESTS)}
    tested = {folder.relative_to(TESTS).as_posix() for folder in chosen}
    tested |= {parent.as_posix() for folder in tested for parent in PurePath(folder).parents}
    assert not {*ROOMS, "clusterers/live", "clusterers/deep", "clusterers/ncp"} - tested
