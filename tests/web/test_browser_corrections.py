"""Corrections that outrank answers, and the menu of a picture, in a real browser."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from browsing import becomes, broken_rules, expect, needs_browser
from samekind.simulation.loop import run
from samekind.simulation.people import Truth
from samekind.workspace.workspace import Workspace

pytestmark = needs_browser


@pytest.fixture
def sorted_workspace(make_workspace: Any) -> Workspace:
    """A workspace in which 20 answers tell four kinds apart."""
    workspace: Workspace = make_workspace(clusterer="live")
    run(workspace.session(), Truth(np.arange(48) % 4), 20)
    workspace.session().refit()
    return workspace


def test_a_merge_asks_before_it_sets_answers_aside_and_is_then_obeyed(
    sorted_workspace: Workspace, open_page: Any
) -> None:
    session = sorted_workspace.session()
    page = open_page(sorted_workspace, "/groups", ready=".group-card")
    before = len(session.answers)

    def merge() -> None:
        for k in (0, 1):
            page.locator(".card-select input").nth(k).check()
        page.locator(".selection-bar .primary").click()
        page.wait_for_selector("dialog")

    merge()
    dialog = page.get_by_role("dialog")
    expect(dialog.locator("h2")).to_contain_text("Merge and set aside")
    assert broken_rules(page) == []
    dialog.get_by_role("button", name="Cancel").click()
    expect(dialog).to_have_count(0)
    assert len(session.answers) == before and session.clustering.n_groups == 4
    page.reload()
    page.wait_for_selector(".group-card")
    merge()
    page.get_by_role("dialog").get_by_role("button", name="Merge").click()
    expect(page.locator(".toast")).to_contain_text("the same kind")
    expect(page.locator(".group-card")).to_have_count(3)
    merge_answer = session.answers[-1].number
    assert session.precedence.by(merge_answer), "the answers that said otherwise are set aside"
    page.locator(".toast").get_by_role("button", name="Undo").click()
    expect(page.locator(".group-card")).to_have_count(4)
    assert len(session.answers) == before and session.constraints.conflicts == ()


def entries(page: Any) -> list[str]:
    page.wait_for_selector(".item-menu [role=menuitem]:has-text('Why here?')")
    return page.locator(".item-menu [role=menuitem]").all_inner_texts()


MENU = ["Zoom in", "Wrong here", "Move to…", "Show similar", "Why here?"]


def test_the_menu_of_a_picture_opens_by_keyboard_and_obeys(
    sorted_workspace: Workspace, open_page: Any
) -> None:
    page = open_page(sorted_workspace, "/groups/1", ready=".members figure")
    page.locator(".members").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Shift+F10")
    assert entries(page) == MENU
    second = page.locator("#member-1 .caption").inner_text()
    expect(page.locator(".item-menu-head strong")).to_have_text(second)
    assert broken_rules(page) == []
    for key in ("ArrowUp", "Enter"):  # the last one
        page.keyboard.press(key)
    expect(page.get_by_role("dialog")).to_contain_text("Why is it in")
    assert broken_rules(page) == []
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.keyboard.press("ContextMenu")
    entries(page)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_selector(".toast, dialog")
    if page.query_selector("dialog"):  # it had been answered about
        page.get_by_role("dialog").locator(".primary").click()
    expect(page.locator(".toast")).to_contain_text("not belong")
    moved = sorted_workspace.collection.position(second)
    becomes(page, lambda: sorted_workspace.session().clustering.labels[moved] != 1)
