"""What is uncertain, in a real browser: answer a pair, look at another grouping, choose it, undo."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from browsing import AXE, broken_rules, expect, fits_width, needs_browser
from samekind.workspace.workspace import Workspace
from undecided import Undecided
from waiting import until

pytestmark = needs_browser


@pytest.fixture
def workspace(make_workspace: Callable[..., Workspace]) -> Workspace:
    return make_workspace(clusterer=Undecided(), refit_every=1000)


def test_a_pair_is_answered_in_place_and_another_grouping_is_chosen_and_undone(
    page: Any, workspace: Workspace
) -> None:
    session = workspace.session()
    page.click("nav >> text=Groups")
    page.click("text=Show another plausible grouping")
    expect(page.locator(".alternative h3")).to_have_text("Grouping 1 of 2: 3 groups instead of 4")
    page.click("text=Show the next one")
    expect(page.locator(".change p")).to_have_text("Group 4 (12 items) becomes part of Group 3.")
    expect(page.locator(".alternative h3")).to_be_focused()
    if AXE.exists():
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            assert broken_rules(page) == []
    page.click("text=Use this one")
    page.wait_for_selector("text=The groups follow the grouping that you chose.")
    expect(page.locator(".count-chart .current")).to_contain_text("3 groups: 100%")
    page.keyboard.press("z")
    expect(page.locator(".count-chart li")).to_have_count(2)
    until(lambda: session.clustering.n_groups == 4)
    page.set_viewport_size({"width": 390, "height": 844})
    fits_width(page)
    expect(page.locator(".pair-card")).to_have_count(2)
    page.locator(".pair-card").first.focus()
    page.keyboard.press("n")
    expect(page.locator(".pair-card")).to_have_count(1)
    expect(page.locator(".count-words")).to_contain_text("Most likely 4 groups (62%)")
    assert [answer.choice for answer in session.answers] == ["different"]
