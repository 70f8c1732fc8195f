"""Every view passes axe's rules of WCAG 2.1 AA, in light and dark and on a phone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from browsing import Served, needs_browser, press
from places import ROOT

AXE = ROOT / "page" / "node_modules" / "axe-core" / "axe.min.js"
VIEWS = {
    "/": ".question .choice",
    "/groups": ".group-card",
    "/groups/1": ".members figure",
    "/map": "canvas",
    "/progress": ".curve svg",
    "/answers": ".answer-list .answer",
    "/conflicts": "main h1",
    "/orientations": ".orientation-list li",
    "/finish": ".polish",
}
"""Every view, and what it shows once it is ready."""
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]

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
        page.wait_for_function("() => [...document.images].every((one) => one.complete)")
        page.evaluate(AXE.read_text())
        result = page.evaluate(
            "rules => axe.run(document, {runOnly: {type: 'tag', values: rules}})", RULES
        )
        assert result["passes"]  # it really ran
        found += [
            f"{view}: {one['id']} ({one['impact']}): {node['html'][:150]} {node['failureSummary']}"
            for one in result["violations"]
            for node in one["nodes"][:3]
        ]
    assert found == []
