"""Grid questions in a real browser: a review and a search, on a desktop and on a phone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from browsing import (
    EveryKind,
    Finger,
    becomes,
    broken_rules,
    expect,
    needs_browser,
    press,
    stands_still,
)
from samekind.questions import AllLike, Answer, OddOnes
from samekind.workspace.workspace import Workspace

pytestmark = needs_browser
REVIEW = OddOnes((0, 4, 8, 12), tuple(range(16, 40)), why="One answer places 24 items.")
SEARCH = AllLike((1,), tuple(range(20, 44)), why="One answer places 24 items.")
INSIDE = """() => {
  const { left, right } = document.querySelector("dialog .edit-answer").getBoundingClientRect();
  const tiles = [...document.querySelectorAll("dialog .mark")].map((one) => one.getBoundingClientRect());
  return tiles.every((tile) => tile.left >= left - 1 && tile.right <= right + 1);
}"""


@pytest.fixture
def workspace(make_workspace: Callable[..., Workspace]) -> Workspace:
    """A review, a search and another review."""
    again = OddOnes((2,), tuple(range(3, 16)))
    return make_workspace(strategy=EveryKind((REVIEW, SEARCH, again)), refit_every=1000)


def told(workspace: Workspace) -> list[tuple[str, str]]:
    answers: tuple[Answer, ...] = tuple(workspace.session().answers)
    return [(answer.question.kind, answer.choice) for answer in answers]


def focused(page: Any) -> str | None:
    return page.evaluate("() => document.activeElement.dataset.tile ?? null")  # type: ignore[no-any-return]


def drag(page: Any, first: str, last: str, *, held: bool = False) -> None:
    """Hold the mouse button down on a tile, perhaps until it is enlarged, and let go on another."""
    stands_still(page, ".mark")
    ends = [page.locator(f".mark[data-tile='{tile}']").bounding_box() for tile in (first, last)]
    points = [(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2) for box in ends]
    page.mouse.move(*points[0])
    page.mouse.down()
    if held:
        page.wait_for_selector(".zoom")
    page.mouse.move(*points[1], steps=3)
    page.mouse.up()


def test_a_review_and_a_search_by_keyboard_and_mouse(
    workspace: Workspace, open_page: Callable[..., Any]
) -> None:
    page = open_page(workspace)
    send, marked = page.locator("[data-choice=none]"), page.locator(".mark[aria-checked=true]")
    expect(page.locator(".mark")).to_have_count(24)
    expect(page.locator("h1")).to_have_text("These look like this group. Tap those that are not.")
    expect(send).to_contain_text("All belong")
    assert focused(page) == "1", "space is for the tile under the cursor"
    for key in ("ArrowRight", "ArrowRight", "Space", "ArrowDown", "Space", "End", "Space", "Space"):
        page.keyboard.press(key)
    assert focused(page) == "24"
    expect(marked).to_have_count(2)
    below = marked.nth(1).get_attribute("data-tile")
    page.keyboard.press("7")
    expect(send).to_contain_text("3 are not")
    press(page, "Enter", 1)
    expect(page.locator("h1")).to_have_text("Tap all that are the same kind as this one.")
    drag(page, "2", "5")
    expect(marked).to_have_count(4)
    drag(page, "4", "5", held=True)  # begins with a marked one: unmarks
    expect(marked).to_have_count(2)
    page.click(".mark[data-tile='24']")
    expect(send).to_contain_text("3 are the same kind")
    page.keyboard.press("l")
    expect(page.locator("dialog")).to_contain_text("25 of 25")
    page.keyboard.press("Escape")
    press(page, "Enter", 2)
    assert told(workspace) == [
        ("odd-ones", ",".join(sorted(["3", str(below), "7"], key=int))),
        ("all-like", "2,3,24"),
    ]
    page.locator(".chip").first.click()
    expect(page.locator("dialog .mark[aria-checked=true]")).to_have_count(3)
    becomes(page, lambda: page.evaluate(INSIDE))  # all tiles are inside the dialog, once laid out
    page.keyboard.press("ArrowRight")
    assert page.evaluate("() => document.activeElement.closest('dialog') !== null")
    page.keyboard.press("Escape")
    press(page, "z", 1)
    expect(page.locator("h1")).to_contain_text("same kind as this one")
    expect(marked).to_have_count(0)
    press(page, "u", 2)
    assert told(workspace)[1:] == [("all-like", "unsure")]
    assert broken_rules(page) == []


def test_a_review_and_a_search_with_a_finger(
    workspace: Workspace, open_page: Callable[..., Any]
) -> None:
    page = open_page(workspace, phone=True)
    finger, tiles = Finger(page), page.locator(".mark")
    expect(tiles).to_have_count(24)
    for k in (1, 14, 1):  # marked and unmarked
        tiles.nth(k).tap()
    expect(page.locator("[data-choice=none]")).to_contain_text("1 is not")
    assert broken_rules(page) == []
    stands_still(page, ".mark")
    middle = tiles.nth(9).bounding_box()
    finger.hold(middle["x"] + 20, middle["y"] + 20, lambda: page.wait_for_selector(".zoom"))
    expect(page.locator(".mark[aria-checked=true]")).to_have_count(1)
    finger.swipe(100, middle["y"] + 20, 200)
    expect(page.locator("h1")).to_contain_text("same kind as this one")
    assert told(workspace) == [("odd-ones", "15")]
    tiles.nth(5).tap()
    finger.swipe(300, middle["y"] + 20, -200)
    page.wait_for_selector(".marks-odd")
    assert told(workspace)[1:] == [("all-like", "unsure")]
    page.click(".action-back")  # Chromium ignores a tap right after a synthetic swipe
    page.wait_for_selector(".marks-alike")
    finger.swipe(100, middle["y"] + 20, 200)
    page.wait_for_selector(".marks-odd")
    assert told(workspace)[1:] == [("all-like", "none")]
