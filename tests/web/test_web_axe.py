"""Every view passes axe's rules of WCAG 2.1 AA, in light and dark and on a phone."""

from __future__ import annotations

from typing import Any

import pytest

from browsing import Served, needs_browser
from places import ROOT
from samekind.workspace.workspace import Workspace

AXE = ROOT / "page" / "node_modules" / "axe-core" / "axe.min.js"
VIEWS = ("/", "/groups", "/groups/1", "/map", "/progress", "/answers", "/conflicts",
         "/orientations", "/finish")  # fmt: skip
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]

pytestmark = [
    *needs_browser,
    pytest.mark.slow,
    pytest.mark.skipif(not AXE.exists(), reason="axe-core is not there: `make page` installs it"),
]


@pytest.mark.parametrize(
    ("scheme", "width", "height"), [("light", 1280, 800), ("dark", 1280, 800), ("light", 390, 844)]
)
def test_no_view_breaks_a_rule(
    browser: Any, workspace: Workspace, scheme: str, width: int, height: int
) -> None:
    server = Served(workspace)
    size = {"width": width, "height": height}
    context = browser.new_context(viewport=size, color_scheme=scheme, reduced_motion="reduce")
    page = context.new_page()
    found: list[str] = []
    try:
        page.goto(server.address)
        page.wait_for_selector(".question .choice")
        for _ in range(3):  # so that there are answers to be listed
            page.keyboard.press("1")
            page.wait_for_timeout(300)
        for view in VIEWS:
            page.goto(server.address.split("?")[0].rstrip("/") + view)
            page.wait_for_selector("h1, .group-head")
            page.wait_for_timeout(600)
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
    finally:
        context.close()
        server.stop()
    assert found == []
