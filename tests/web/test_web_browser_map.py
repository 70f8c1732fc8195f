"""The map in a real browser: drawn, hovered over, lassoed, by keyboard, with and without WebGL."""

from __future__ import annotations

import io
import json
import math
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from PIL import Image

from browsing import CHROMIUM, FLAGS, Served, expect, needs_browser, playwright_api
from samekind.workspace.workspace import Workspace

pytestmark = needs_browser


@pytest.fixture(scope="module")
def browsers() -> Iterator[Callable[[str], Any]]:
    """Chromium with or without WebGL."""
    with playwright_api.sync_playwright() as playwright:
        running: dict[str, Any] = {}

        def browser(flag: str) -> Any:
            if flag not in running:
                flags = [*FLAGS, flag] if flag else FLAGS
                running[flag] = playwright.chromium.launch(executable_path=CHROMIUM, args=flags)
            return running[flag]

        yield browser
        for one in running.values():
            one.close()


@pytest.fixture
def open_map(browsers: Any, tile_desk: Workspace) -> Iterator[Callable[..., Any]]:
    """Opens the map; anything that the page complains about fails the test."""
    server = Served(tile_desk)
    contexts: list[Any] = []
    complaints: list[str] = []

    def open_with(
        flag: str = "", width: int = 1280, height: int = 800, stage: str = "", **more: Any
    ) -> Any:
        viewport = {"width": width, "height": height}
        contexts.append(browsers(flag).new_context(viewport=viewport, **more))
        page = contexts[-1].new_page()
        page.set_default_timeout(20_000)
        page.on("pageerror", lambda problem: complaints.append(str(problem)))
        page.on("console", lambda message: complaints.append(message.text))
        if stage:
            page.route(re.compile("/api/map($|\\?)"), lambda route: staged(route, stage))
        page.goto(f"{server.address}/map")
        page.wait_for_selector("canvas")
        if not stage:
            page.wait_for_selector("text=Items that look alike")
            page.wait_for_timeout(1500)  # the way from the first sketch to this layout
        return page

    yield open_with
    for context in contexts:
        context.close()
    server.stop()
    allowed = ("Failed to load resource", "GL Driver Message")
    assert [text for text in complaints if not any(one in text for one in allowed)] == []


def staged(route: Any, stage: str) -> None:
    """The reply of the server, as it was at another stage."""
    told = route.fetch().json()
    route.fulfill(body=json.dumps({**told, "stage": stage}), content_type="application/json")


def seen(page: Any) -> Any:
    """(height, width, 3) what is on the map right now."""
    page.wait_for_timeout(150)
    picture = Image.open(io.BytesIO(page.locator("canvas").screenshot())).convert("RGB")
    return np.asarray(picture, dtype=int)


def coloured(page: Any) -> int:
    """Pixels that are neither paper nor grey."""
    pixels = seen(page)
    return int((np.ptp(pixels, axis=2) > 40).sum())


def draw_loop(page: Any, share: float = 0.45) -> None:
    """A loop around the middle of the map, with the mouse."""
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
    open_map: Any, tile_desk: Workspace
) -> None:
    page = open_map()
    numbers = tile_desk.session().clustering.numbers
    expect(page.locator(".legend li")).to_have_count(len(numbers))
    assert coloured(page) > 3000
    assert page.locator("text=Drawn without WebGL").count() == 0
    assert page.evaluate("() => document.documentElement.scrollHeight <= innerHeight")


def test_a_group_that_is_pressed_in_the_list_keeps_its_colour_and_the_others_are_grey(
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


def test_the_item_under_the_pointer_is_shown(open_map: Any, tile_desk: Workspace) -> None:
    page = open_map()
    pixels = seen(page)
    rows, columns = np.nonzero(np.ptp(pixels, axis=2) > 40)
    box = page.locator("canvas").bounding_box()
    middle = len(rows) // 2
    page.mouse.move(box["x"] + float(columns[middle]), box["y"] + float(rows[middle]))
    page.wait_for_selector(".hover-card img")
    name = page.locator(".hover-card .caption").inner_text()
    assert 0 <= tile_desk.collection.position(name) < len(tile_desk.collection)
    page.mouse.move(5, 5)
    page.wait_for_selector(".hover-card", state="detached")


def test_a_loop_says_that_items_are_one_kind_after_a_confirmation(
    open_map: Any, tile_desk: Workspace
) -> None:
    page = open_map()
    page.keyboard.press("l")
    draw_loop(page)
    page.wait_for_selector(".lasso-bar")
    count = int(re.match(r"\d+", page.locator(".lasso-bar strong").inner_text())[0])  # type: ignore[index]
    assert count >= 2
    expect(page.locator(".lasso-item img")).to_have_count(min(8, count))
    assert tile_desk.session().answers == (), "nothing is told before it is confirmed"
    page.keyboard.press("Escape")
    page.wait_for_selector(".lasso-bar", state="detached")
    draw_loop(page)
    page.wait_for_selector(".lasso-bar")
    page.keyboard.press("Enter")
    expect(page.locator(".toast")).to_contain_text("one kind")
    (told,) = tile_desk.session().answers
    assert len(told.question.items()) <= count
    page.keyboard.press("z")
    expect(page.locator(".toast")).to_contain_text("Undone")
    assert tile_desk.session().answers == ()


def version(page: Any) -> int:
    """Of the finished layouts, the one that there is now; 0 while one is being made."""
    told = page.evaluate("() => fetch('/api/map').then((reply) => reply.json())")
    return told["version"] if told["stage"] == "neighbours" else 0


def test_the_points_move_when_the_groups_have_been_learnt_anew(
    open_map: Any, tile_desk: Workspace
) -> None:
    page = open_map()
    before, last = seen(page), version(page)
    page.keyboard.press("c")
    page.wait_for_selector(".lasso-bar")
    page.keyboard.press("g")
    page.wait_for_selector("dialog [role=option]")
    page.keyboard.press("Enter")
    page.wait_for_selector(".toast")
    assert len(tile_desk.session().answers) == 1
    for _ in range(100):
        page.wait_for_timeout(200)
        if version(page) > last:
            break
    page.wait_for_timeout(2500)  # told to the page by the server; then the points travel
    assert version(page) > last
    assert (np.abs(seen(page) - before).max(axis=2) > 30).sum() > 500


def test_what_a_loop_has_caught_stays_caught_while_the_points_move(
    open_map: Any, tile_desk: Workspace
) -> None:
    page = open_map()
    page.keyboard.press("c")
    caught = page.locator(".lasso-bar strong").inner_text()
    last = version(page)
    page.evaluate(
        "() => fetch('/api/acts/together', {method: 'POST', body: '{\"items\": [0, 1]}',"
        " headers: {'Content-Type': 'application/json'}})"
    )
    for _ in range(100):
        page.wait_for_timeout(200)
        if version(page) > last:
            break
    page.wait_for_timeout(2500)
    assert page.locator(".lasso-bar strong").inner_text() == caught
    page.keyboard.press("Enter")
    expect(page.locator(".toast")).to_contain_text("one kind")
    assert len(tile_desk.session().answers) == 2


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
    page.wait_for_timeout(500)
    assert (np.abs(seen(page) - before).max(axis=2) > 60).mean() < 0.01, "all are in view again"
    page.keyboard.press("c")
    page.wait_for_selector(".lasso-bar")
    page.keyboard.press("Escape")
    page.wait_for_selector(".lasso-bar", state="detached")


def test_while_there_is_only_a_sketch_the_map_says_so(open_map: Any) -> None:
    page = open_map(stage="pca")
    expect(page.locator(".map .lead")).to_contain_text("quick sketch")


def test_without_webgl_the_map_is_drawn_all_the_same(open_map: Any) -> None:
    page = open_map("--disable-3d-apis")
    page.wait_for_selector("text=Drawn without WebGL")
    assert coloured(page) > 3000
    draw_loop(page)  # moves the map
    page.keyboard.press("l")
    draw_loop(page)
    page.wait_for_selector(".lasso-bar")


def test_a_phone_draws_a_loop_without_scrolling(open_map: Any) -> None:
    page = open_map(width=390, height=844, has_touch=True, is_mobile=True)
    fits = (
        "() => document.documentElement.scrollHeight <= innerHeight"
        " && document.documentElement.scrollWidth <= innerWidth"
    )
    assert page.evaluate(fits)
    page.get_by_role("button", name="Lasso").tap()
    draw_loop(page)
    page.wait_for_selector(".lasso-bar")
    assert page.evaluate(fits)
    boxes = [
        one.bounding_box() for one in page.locator(".lasso-actions button, .legend li button").all()
    ]
    assert min(box["height"] for box in boxes) >= 44
