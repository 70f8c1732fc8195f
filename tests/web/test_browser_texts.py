"""Texts and rows on the page, and every view on a phone, in a real browser."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from browsing import Served, becomes, expect, fits_width, needs_browser
from samekind.items import Collection
from samekind.sources import RowItem
from samekind.sources.files.texts import TextItem
from samekind.workspace.workspace import Workspace

pytestmark = needs_browser
WORDS = ("extraordinarily", "incomprehensible", "caramelised", "goalkeeper", "tagliatelle", "and")


def texts() -> Collection:
    items = []
    for k in range(48):
        text = " ".join(WORDS[(k + i * (1 + k % 3)) % len(WORDS)] for i in range(30))
        items.append(TextItem(f"text-{k}", text=text))
    return Collection("Texts", items)


def rows() -> Collection:
    items = []
    for k in range(48):
        cells = (("city", ("Berlin", "Munich")[k % 2]), ("rooms", "2"), ("rent", str(500 + 90 * k)))
        items.append(RowItem(f"flat-{k}", np.array([k], dtype=np.float32), cells))
    return Collection("Flats", items)


@pytest.fixture
def workspace(
    make_workspace: Callable[..., Workspace], request: pytest.FixtureRequest
) -> Workspace:
    return make_workspace(collection=request.param())


@pytest.mark.parametrize("workspace", [texts], indirect=True)
@pytest.mark.parametrize("phone", [False, True])
def test_cards_end_with_whole_words_and_show_the_whole_text_when_pointed_at(
    served: Served, open_page: Any, phone: bool
) -> None:
    page = open_page(served, "/groups", ready=".group-card .words[data-full]", phone=phone)
    cards = page.locator(".words[data-full]")
    becomes(page, lambda: cards.count() > 5)  # texts come one by one
    for text in cards.all_inner_texts():
        *words, mark = text.split()
        assert mark == "…" and set(words) <= set(WORDS), text
    fits = "(all) => all.every((one) => one.scrollHeight <= one.clientHeight + 1)"
    becomes(page, lambda: page.locator(".words").evaluate_all(fits))
    if not phone:
        card = page.locator(".item:has([data-full])").first
        card.hover()
        expect(page.locator(".full-text")).to_have_text(
            card.locator("[data-full]").get_attribute("data-full")
        )
        page.mouse.move(0, 0)
        expect(page.locator(".full-text")).to_have_count(0)


@pytest.mark.parametrize("workspace", [rows], indirect=True)
@pytest.mark.parametrize("phone", [False, True])
def test_rows_are_aligned_and_marked_where_they_differ(
    served: Served, open_page: Any, phone: bool
) -> None:
    page = open_page(served, ready=".question .row-fields dd", phone=phone)
    marked = page.locator(".question .items .different dt")
    page.wait_for_function("() => document.querySelector('.question .different')")
    names = set(marked.all_inner_texts())
    assert "rent" in names and "rooms" not in names
    first, second = (page.locator(".question .row-fields").nth(k) for k in (0, 1))
    columns = [
        one.locator("dt").evaluate_all(
            "(all) => all.map((dt) => dt.offsetLeft - dt.closest('.row-fields').offsetLeft)"
        )
        for one in (first, second)
    ]
    assert columns[0] == columns[1]
    fits_width(page)


@pytest.mark.parametrize("workspace", [texts], indirect=True)
def test_every_view_is_reached_by_taps_on_a_phone(served: Served, open_page: Any) -> None:
    page = open_page(served, "/groups", ready=".group-card", phone=True)
    shown = page.locator("nav > a").all_inner_texts()
    page.tap(".more-views > button")
    hidden = page.locator(".views-menu a").all_inner_texts()
    assert {"Questions", "Groups", "Map"} <= set(shown)
    assert {"Progress", "Answers", "Groupings"} <= set(hidden)
    page.keyboard.press("Escape")
    expect(page.locator(".views-menu")).to_have_count(0)
    for name in hidden:
        page.tap(".more-views > button")
        page.tap(f".views-menu >> text={name}")
        expect(page.locator(".more-views > button")).to_contain_text(name)
    inside = "(all) => all.every((one) => one.getBoundingClientRect().right <= innerWidth)"
    assert page.locator("nav > *").evaluate_all(inside), "nothing is beyond the edge"
    for name in shown:
        page.tap(f"nav >> text={name}")
        expect(page.locator("nav a[aria-current]")).to_have_text(name)
