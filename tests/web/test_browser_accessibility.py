"""Every view passes axe's rules of WCAG 2.1 AA, in light and dark and on a phone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from browsing import AXE, Served, broken_rules, needs_browser, press

VIEWS = {
    "/": ".question .choice",
    "/groups": ".group-card",
    "/groups/1": ".members figure",
    "/map": "canvas",
    "/progress": ".curve svg",
    "/answers": ".answer-list .answer",
    "/conflicts": "main h1",
    "/groupings": ".orientation-list li",
    "/finish": ".export",
    "/review": ".review .verdict",
    "/polish": ".polish",
}
"""Every view, and what it shows once it is ready."""

pytestmark = [
    *needs_browser,
    pytest.mark.skipif(not AXE.exists(), reason="axe-core is not there: `make page` installs it"),
]


@pytest.mark.parametrize(
    ("scheme", "width", "height"), [("light", 1280, 800), ("dark", 1280, 800), ("light", 390, 844)]
)
def test_no_view_breaks_a_rule(
    served: Served, open_page: Callable[..., Any], scheme: str, width: int, height: int
) -> None:
    size = {"width": width, "height": height}
    page = open_page(served, viewport=size, color_scheme=scheme, reduced_motion="reduce")
    found: list[str] = []
    for k in range(3):  # so that there are answers to list
        press(page, "u", k + 1)
    for view, ready in VIEWS.items():
        page.goto(served.address + view)
        page.wait_for_selector(ready)
        found += [f"{view}: {broken}" for broken in broken_rules(page)]
    assert found == []
