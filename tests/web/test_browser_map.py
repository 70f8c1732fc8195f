"""The map in a real browser: drawn, hovered over, lassoed, by keyboard, with and without WebGL."""

from __future__ import annotations

import io
import json
import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from PIL import Image

from browsing import (
    Finger,
    becomes,
    broken_rules,
    expect,
    fits_screen,
    needs_browser,
    stands_still,
)
from samekind.workspace.workspace import Workspace

pytestmark = needs_browser


@pytest.fixture
def open_map(open_page: Callable[..., Any], tile_workspace: Workspace) -> Callable[..., Any]:
    """Opens the map; unless a `stage` is faked, waits for the map by neighbours."""

    def open_with(flag: str = "", stage: str = "", **options: Any) -> Any:
        def before(page: Any) -> None:
            if stage:
                page.route(re.compile("/api/map($|\\?)"), lambda route: staged(route, stage))

        page = open_page(
            tile_workspace, "/map", ready="canvas", flag=flag, before=before, **options
        )
        if not stage:
            drawn(page, wait_for_version(page))
        return page

    return open_with


def staged(route: Any, stage: str) -> None:
    """Answer as the server does, but with another stage."""
    told = route.fetch().json()
    route.fulfill(body=json.dumps({**told, "stage": stage}), content_type="application/json")


def wait_for_version(page: Any, newer_than: int = 0) -> int:
    """Wait for a map by neighbours that is newer than a version."""
    found: dict[str, Any] = {}

    def there() -> bool:
        found.update(page.evaluate("() => fetch('/api/map').then((reply) => reply.json())"))
        return found["stage"] == "neighbours" and found["version"] > newer_than

    becomes(page, there)
    return int(found["version"])


def drawn(page: Any, version: int = 0) -> None:
    """Wait until the page has drawn a version of the map, or a newer one, to its last frame."""
    page.wait_for_function(
        """(version) => {
          const canvas = document.querySelector("canvas");
          return Number(canvas.dataset.version) >= version && !("drawing" in canvas.dataset);
        }""",
        arg=version,
    )


def seen(page: Any) -> Any:
    """(height, width, 3) pixels of the map once nothing moves any more."""
    drawn(page)
    picture = Image.open(io.BytesIO(page.locator("canvas").screenshot())).convert("RGB")
    return np.asarray(picture, dtype=int)


def coloured(page: Any) -> int:
    """Pixels that are neither paper nor grey."""
    pixels = seen(page)
    return int((np.ptp(pixels, axis=2) > 40).sum())


def take_lasso(page: Any) -> None:
    """Turn the lasso on with its key, and wait until the page shows it."""
    page.keyboard.press("l")
    expect(page.get_by_role("button", name="Lasso", pressed=True)).to_be_visible()


def draw_loop(page: Any, share: float = 0.45) -> None:
    """A loop around the middle of the map, with the mouse."""
    stands_still(page, "canvas")
    box = page.locator("canvas").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    radius = min(box["width"], box["height"]) * share
    page.mouse.move(x + radius, y)
    page.mouse.down()
    for k in range(1, 41):
        angle = 2 * math.pi * k / 40
        page.mouse.move(x + radius * math.cos(angle), y + radius * math.sin(angle))
    page.mouse.up()


def test_all_items_are_drawn_in_the_colours_of_their_groups(
    open_map: Any, tile_workspace: Workspace
) -> None:
    page = open_map()
    numbers = tile_workspace.session().clustering.numbers
    expect(page.locator(".legend li")).to_have_count(len(numbers))
    assert coloured(page) > 3000
    assert page.locator("text=Drawn without WebGL").count() == 0
    fits_screen(page)


def test_a_group_chosen_in_the_legend_keeps_its_colour_and_the_others_turn_grey(
    open_map: Any,
) -> None:
    page = open_map()
    everything = coloured(page)
    page.locator(".legend li button").first.press("Enter")
    expect(page.locator(".legend [aria-pressed=true]")).to_have_count(1)
    assert 0 < coloured(page) < everything * 0.7
    corner = seen(page)[2:14, -14:-2]
    assert np.ptp(corner, axis=2).max() <= 40, "what is not drawn lies nowhere in view"
    page.click("text=Show all")
    assert abs(coloured(page) - everything) < everything * 0.05


def test_the_item_under_the_pointer_is_shown(open_map: Any, tile_workspace: Workspace) -> None:
    page = open_map()
    pixels = seen(page)
    rows, columns = np.nonzero(np.ptp(pixels, axis=2) > 40)
    stands_still(page, "canvas")
    box = page.locator("canvas").bounding_box()
    middle = len(rows) // 2
    page.mouse.move(box["x"] + float(columns[middle]), box["y"] + float(rows[middle]))
    page.wait_for_selector(".hover-card img")
    name = page.locator(".hover-card .caption").inner_text()
    assert 0 <= tile_workspace.collection.position(name) < len(tile_workspace.collection)
    page.mouse.move(5, 5)
    page.wait_for_selector(".hover-card", state="detached")


def test_a_loop_marks_items_as_one_kind_after_confirmation(
    open_map: Any, tile_workspace: Workspace
) -> None:
    page = open_map()
    take_lasso(page)
    draw_loop(page)
    page.wait_for_selector(".lasso-bar")
    count = int(re.match(r"\d+", page.locator(".lasso-bar strong").inner_text())[0])  # type: ignore[index]
    assert count >= 2
    expect(page.locator(".lasso-item img")).to_have_count(min(8, count))
    assert tile_workspace.session().answers == (), "nothing is told before it is confirmed"
    page.keyboard.press("Escape")
    page.wait_for_selector(".lasso-bar", state="detached")
    draw_loop(page)
    page.wait_for_selector(".lasso-bar")
    page.keyboard.press("Enter")
    expect(page.locator(".toast")).to_contain_text("the same kind")
    (told,) = tile_workspace.session().answers
    assert len(told.question.items()) <= count
    page.keyboard.press("z")
    expect(page.locator(".toast")).to_contain_text("Undone")
    assert tile_workspace.session().answers == ()


def test_the_points_move_when_the_groups_are_refreshed(
    open_map: Any, tile_workspace: Workspace
) -> None:
    page = open_map()
    before, last = seen(page), wait_for_version(page)
    page.keyboard.press("c")
    page.wait_for_selector(".lasso-bar")
    page.keyboard.press("g")
    page.wait_for_selector("dialog [role=option]")
    page.keyboard.press("Enter")
    page.wait_for_selector(".toast")
    assert len(tile_workspace.session().answers) == 1
    drawn(page, wait_for_version(page, newer_than=last))
    assert (np.abs(seen(page) - before).max(axis=2) > 30).sum() > 500


def test_a_selection_stays_while_the_points_move(open_map: Any, tile_workspace: Workspace) -> None:
    page = open_map()
    page.keyboard.press("c")
    caught = page.locator(".lasso-bar strong").inner_text()
    last = wait_for_version(page)
    page.evaluate(
        "() => fetch('/api/acts/together', {method: 'POST', body: '{\"items\": [0, 1]}',"
        " headers: {'Content-Type': 'application/json'}})"
    )
    drawn(page, wait_for_version(page, newer_than=last))
    assert page.locator(".lasso-bar strong").inner_text() == caught
    page.keyboard.press("Enter")
    expect(page.locator(".toast")).to_contain_text("the same kind")
    assert len(tile_workspace.session().answers) == 2


def test_the_map_is_used_by_keyboard_alone(open_map: Any) -> None:
    page = open_map()
    page.locator("canvas").focus()
    before = seen(page)
    for _ in range(3):
        page.keyboard.press("+")
    page.keyboard.press("ArrowRight")
    near = seen(page)
    assert (np.abs(near - before).max(axis=2) > 30).sum() > 500
    page.keyboard.press("0")
    assert (np.abs(seen(page) - before).max(axis=2) > 60).mean() < 0.01, "all are in view again"
    page.keyboard.press("c")
    page.wait_for_selector(".lasso-bar")
    page.keyboard.press("Escape")
    page.wait_for_selector(".lasso-bar", state="detached")


def test_a_point_has_the_menu_of_its_item_by_key_and_right_click(open_map: Any) -> None:
    page = open_map()
    page.locator("canvas").focus()
    page.keyboard.press("Shift+F10")
    menu = page.get_by_role("menu")
    expect(menu.get_by_role("menuitem")).to_have_text(
        ["Zoom in", "Wrong here", "Move to…", "Show similar", "Why here?"]
    )
    assert broken_rules(page) == []
    id = menu.locator("strong").inner_text()
    circle = page.locator(".lasso-loop circle")
    at = {c: float(circle.get_attribute(f"c{c}")) for c in ("x", "y")}
    page.keyboard.press("Escape")
    expect(menu).to_have_count(0)
    page.locator("canvas").click(button="right", position=at)
    expect(menu.locator("strong")).to_have_text(id)
    menu.get_by_role("menuitem", name="Zoom in").click()
    expect(page.get_by_role("dialog").locator("img")).to_have_attribute("alt", id)


def test_the_map_says_that_it_is_only_a_sketch(open_map: Any) -> None:
    page = open_map(stage="pca")
    expect(page.locator(".map .lead")).to_contain_text("quick sketch")


def test_the_map_is_drawn_without_webgl(open_map: Any) -> None:
    page = open_map(flag="--disable-3d-apis")
    page.wait_for_selector("text=Drawn without WebGL")
    assert coloured(page) > 3000
    draw_loop(page)  # moves the map
    take_lasso(page)
    draw_loop(page)
    page.wait_for_selector(".lasso-bar")


def test_a_phone_draws_a_loop_without_scrolling(open_map: Any) -> None:
    page = open_map(phone=True)
    fits = (
        "() => document.documentElement.scrollHeight <= innerHeight"
        " && document.documentElement.scrollWidth <= innerWidth"
    )
    assert page.evaluate(fits)
    page.get_by_role("button", name="Lasso").tap()
    expect(page.get_by_role("button", name="Lasso", pressed=True)).to_be_visible()
    draw_loop(page)
    page.wait_for_selector(".lasso-bar")
    assert page.evaluate(fits)
    boxes = [
        one.bounding_box() for one in page.locator(".lasso-actions button, .legend li button").all()
    ]
    assert min(box["height"] for box in boxes) >= 44


def test_a_finger_opens_the_menu_of_a_point_by_tapping_and_by_holding(open_map: Any) -> None:
    page = open_map(phone=True)
    stands_still(page, "canvas")
    rows, columns = np.nonzero(np.ptp(seen(page), axis=2) > 40)
    middle = len(rows) // 2
    ratio = page.evaluate("devicePixelRatio")
    box = page.locator("canvas").bounding_box()
    x, y = box["x"] + float(columns[middle]) / ratio, box["y"] + float(rows[middle]) / ratio
    page.touchscreen.tap(x, y)
    card, menu = page.locator(".hover-card"), page.get_by_role("menu")
    page.wait_for_selector(".hover-card img")
    id = card.locator(".caption").inner_text()
    more = card.get_by_role("button", name=f"More about {id}")
    assert more.bounding_box()["height"] >= 44
    more.tap()
    expect(menu.locator("strong")).to_have_text(id)
    page.keyboard.press("Escape")
    expect(menu).to_have_count(0)

    Finger(page).hold(x, y, lambda: page.wait_for_selector(f".zoom img[alt='{id}']"))
    expect(page.locator(".zoom")).to_have_count(0)
    expect(card).to_have_count(0)
    pill = page.get_by_role("button", name="More about this…")
    pill.tap()
    expect(menu.locator("strong")).to_have_text(id)
    expect(menu.get_by_role("menuitem", name="Wrong here")).to_be_visible()
    expect(pill).to_have_count(0)
