"""The tests of `make check`: chosen by measured time, and none of the rooms is left out."""

from __future__ import annotations

from pathlib import Path, PurePath

import pytest

import samekind
from places import TESTS
from quick_tests import SECONDS_PER_FILE, choose_slow

ROOMS = sorted(file.parent.name for file in Path(samekind.__file__).parent.glob("*/__init__.py"))


def test_a_file_keeps_the_tests_that_fit_in_its_order() -> None:
    limit = SECONDS_PER_FILE
    seconds = {"a::first": limit / 2, "a::long": 9 * limit, "a::third": limit / 2, "a::late": 0.01}
    assert choose_slow(seconds, seconds) == {"a::long", "a::late"}


def test_files_do_not_share_their_time_and_unmeasured_tests_are_chosen() -> None:
    seconds = {"a::one": SECONDS_PER_FILE, "b::one": SECONDS_PER_FILE}
    assert choose_slow(seconds, [*seconds, "c::new", "a::new"]) == set()


def test_make_check_has_a_test_of_every_room(request: pytest.FixtureRequest) -> None:
    """Run over the whole suite, with slow tests left out or not."""
    if request.config.args != request.config.getini("testpaths"):
        pytest.skip("Only some of the tests were asked for.")
    chosen = {item.path.parent for item in request.session.items if item.path.is_relative_to(TESTS)}
    tested = {folder.relative_to(TESTS).as_posix() for folder in chosen}
    tested |= {parent.as_posix() for folder in tested for parent in PurePath(folder).parents}
    assert not {*ROOMS, "clusterers/live", "clusterers/deep", "clusterers/ncp"} - tested
