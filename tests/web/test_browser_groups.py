"""Groups changed by hand in a real browser: merged, split, moved, taken out, undone."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from browsing import becomes, expect, fits_width, needs_browser, stands_still
from samekind.items import Collection, Item, Preview
from samekind.workspace.workspace import Workspace

pytestmark = needs_browser


class Line(Item):
    """A line of text."""

    kind = "text"

    def __init__(self, id: str) -> None:
        self.id = id

    def load(self) -> str:
        return self.id

    def preview(self) -> Preview:
        return Preview("text/plain", self.id.encode())


def labels(workspace: Workspace) -> Any:
    return workspace.session().clustering.labels


def position(page: Any, workspace: Workspace, index: int) -> int:
    name = page.locator(f"#member-{index} .caption").inner_text()
    return workspace.collection.position(name)


def refreshed(page: Any, workspace: Workspace, snapshot: int) -> None:
    """Wait until the groups are newer than a snapshot."""
    becomes(
        page,
        lambda: (
            workspace.session().clustering.snapshot > snapshot
            and not workspace.refitter.busy("main")
        ),
    )


def test_the_gallery_shows_purity_and_doubtful_items(
    tile_workspace: Workspace, open_page: Any
) -> None:
    page = open_page(tile_workspace, "/groups", ready=".group-card")
    numbers = tile_workspace.session().clustering.numbers
    expect(page.locator(".group-card")).to_have_count(len(numbers))
    expect(page.locator(".purity").first).to_have_text(
        re.compile("(about|over) \\d+% fit|fit not known yet")
    )
    page.locator(".doubtful-items").first.click()
    page.wait_for_selector(".members figure")
    expect(page.get_by_role("radio", name="Uncertain first")).to_be_checked()
    page.go_back()
    page.wait_for_selector(".group-card")


def test_two_groups_are_merged_by_keyboard_and_the_merge_is_undone(
    tile_workspace: Workspace, open_page: Any
) -> None:
    page = open_page(tile_workspace, "/groups", ready=".group-card")
    one, other = (
        int(page.locator(".group-card").nth(k).get_attribute("data-group")) for k in (0, 1)
    )
    snapshot = tile_workspace.session().clustering.snapshot
    first, second = (np.flatnonzero(labels(tile_workspace) == group) for group in (one, other))
    page.locator(".card-select input").first.focus()
    page.keyboard.press("Space")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Space")
    expect(page.locator(".selection-bar .primary")).to_be_enabled()
    page.keyboard.press("m")
    expect(page.locator(".toast")).to_contain_text("the same kind")
    (told,) = tile_workspace.session().answers
    assert set(told.question.items()) <= {*first.tolist(), *second.tolist()}
    refreshed(page, tile_workspace, snapshot)
    merged = labels(tile_workspace)[[*first, *second]]
    share = np.mean(merged == np.bincount(merged).argmax())
    assert share > 0.8, "both groups are one now"
    page.keyboard.press("z")
    expect(page.locator(".toast")).to_contain_text("Undone")
    assert tile_workspace.session().answers == ()


def test_a_group_dragged_onto_another_is_merged_with_it(
    tile_workspace: Workspace, open_page: Any
) -> None:
    page = open_page(tile_workspace, "/groups", ready=".group-card")
    stands_still(page, ".group-card")
    page.locator(".group-card .group-size").nth(2).drag_to(page.locator(".group-card").nth(0))
    expect(page.locator(".toast")).to_contain_text("the same kind")
    assert len(tile_workspace.session().answers) == 1
    page.click(".toast >> text=Undo")
    expect(page.locator(".toast")).to_contain_text("Undone")
    assert tile_workspace.session().answers == ()


def test_chosen_items_become_a_kind_of_their_own(tile_workspace: Workspace, open_page: Any) -> None:
    page = open_page(tile_workspace, "/groups/1", ready=".members figure")
    snapshot = tile_workspace.session().clustering.snapshot
    page.locator("#member-0").click()
    page.locator("#member-2").click(modifiers=["Shift"])
    expect(page.locator(".members figure[aria-selected=true]")).to_have_count(3)
    page.keyboard.press("Escape")
    expect(page.locator(".members figure[aria-selected=true]")).to_have_count(0)
    page.locator(".members").focus()
    page.keyboard.press("Home")
    page.keyboard.press("Space")
    for _ in range(3):
        page.keyboard.press("Shift+ArrowRight")
    expect(page.locator(".members figure[aria-selected=true]")).to_have_count(4)
    chosen = [position(page, tile_workspace, k) for k in range(4)]
    rest = [position(page, tile_workspace, k) for k in range(4, 9)]
    page.keyboard.press("k")
    expect(page.locator(".toast")).to_contain_text("a kind of their own")
    (told,) = tile_workspace.session().answers
    assert set(chosen) <= set(told.question.items())
    refreshed(page, tile_workspace, snapshot)
    own = set(labels(tile_workspace)[chosen].tolist())
    assert len(own) == 1, "they are one group"
    assert own.isdisjoint(labels(tile_workspace)[rest].tolist()), "and not that of the others"


def test_an_item_is_moved_to_a_group_chosen_from_a_list(
    tile_workspace: Workspace, open_page: Any
) -> None:
    page = open_page(tile_workspace, "/groups/1", ready=".members figure")
    snapshot = tile_workspace.session().clustering.snapshot
    moved = position(page, tile_workspace, 1)
    page.locator("#member-1").click()
    page.keyboard.press("g")
    page.wait_for_selector("dialog [role=option]")
    page.keyboard.press("ArrowDown")
    name = page.locator("dialog [aria-selected=true] .picker-name").inner_text()
    page.keyboard.press("Enter")
    expect(page.locator(".toast")).to_contain_text(name)
    (told,) = tile_workspace.session().answers
    assert moved in told.question.items()
    refreshed(page, tile_workspace, snapshot)
    others = [i for i in told.question.items() if i != moved]
    assert labels(tile_workspace)[moved] in labels(tile_workspace)[others]


def test_items_are_dragged_to_another_group_and_taken_out(
    tile_workspace: Workspace, open_page: Any
) -> None:
    page = open_page(tile_workspace, "/groups/1", ready=".members figure")
    page.wait_for_selector(".sidebar-row")
    for k in (0, 1):
        page.locator(f"#member-{k}").click()
    chosen = {position(page, tile_workspace, k) for k in (0, 1)}
    expect(page.locator(".selection-bar")).to_contain_text("2 selected")
    stands_still(page, "#member-0, .sidebar-row")
    page.locator("#member-0").drag_to(page.locator(".sidebar-row").first)
    page.wait_for_selector(".toast")
    (told,) = tile_workspace.session().answers
    assert chosen <= set(told.question.items()), "all that was chosen is moved with it"
    page.click(".toast >> text=Undo")
    expect(page.locator(".toast")).to_contain_text("Undone")
    assert tile_workspace.session().answers == ()
    page.locator("#member-3").click()
    page.keyboard.press("x")
    expect(page.locator(".toast")).to_contain_text("not belong")
    assert len(tile_workspace.session().answers) == 1
    page.click("nav >> text=Answers")
    expect(page.locator(".answer")).to_have_count(1)


def test_of_a_hundred_thousand_items_only_those_in_view_are_on_the_page(
    make_workspace: Any, open_page: Any
) -> None:
    lines = Collection("Lines", [Line(f"line {k:06d}") for k in range(100_000)])
    workspace = make_workspace(collection=lines)
    page = open_page(workspace, "/groups/1", ready=".members figure")
    size = int((labels(workspace) == 1).sum())
    assert size > 20_000
    page.evaluate("() => scrollTo(0, document.documentElement.scrollHeight / 2)")
    middle = page.locator(".members figure[aria-posinset]").first
    page.wait_for_function("() => document.querySelector('.members figure')?.ariaPosInSet > 5000")
    assert int(middle.get_attribute("aria-setsize")) == size
    assert page.locator(".members figure").count() < 150
    page.locator(".members").focus()
    page.keyboard.press("End")
    page.wait_for_selector(f"#member-{size - 1}")
    page.keyboard.press("Space")
    expect(page.locator(".selection-bar")).to_contain_text("1 selected")
    page.keyboard.press("Home")
    page.wait_for_selector("#member-0")
    expect(page.locator(".selection-bar")).to_contain_text("1 selected")


@pytest.mark.parametrize("path", ["/groups", "/groups/1"])
def test_a_phone_scrolls_only_vertically_and_has_large_targets(
    tile_workspace: Workspace, open_page: Any, path: str
) -> None:
    page = open_page(tile_workspace, path, phone=True, ready=".group-card, .members figure")
    fits_width(page)
    if path == "/groups":
        for k in (0, 1):
            page.locator(".card-select").nth(k).tap()
    else:
        page.locator("#member-0").tap()
    boxes = [
        one.bounding_box() for one in page.locator(".selection-bar button, .card-select").all()
    ]
    assert min(min(box["width"], box["height"]) for box in boxes) >= 44
    page.locator(".selection-bar .primary").tap()
    page.wait_for_selector(".toast")
    assert len(tile_workspace.session().answers) == 1
