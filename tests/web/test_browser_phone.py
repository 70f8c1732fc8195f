"""A phone through the address that ``samekind serve --phone`` prints."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from browsing import Served, broken_rules, counts, expect, fits_width, needs_browser
from samekind.web.app import create_app
from samekind.web.phone import Phone
from samekind.workspace.workspace import Workspace
from samekind.workspace.workspaces import Workspaces

pytestmark = needs_browser


class WithPhone(Served):
    """A server that opens files for the computer, and lets a phone in."""

    phone = Phone("127.0.0.1")

    def app(self) -> Any:
        assert self.workspace is not None
        workspaces = Workspaces(paths=True)
        workspaces.add(self.workspace, first=True)
        own = "a-token-that-is-long-enough-for-a-test"
        hosts = (self.phone.host,)
        return create_app(
            workspaces, hosts=hosts, port=self.port, token=own, phone=self.phone.token
        )

    @property
    def printed(self) -> str:
        """The address in what is printed."""
        said = " ".join(self.phone.announcements(self.port))
        return re.findall(r"http://\S+", said)[0]


@pytest.fixture
def served(workspace: Workspace) -> Iterator[WithPhone]:
    server = WithPhone(workspace)
    yield server
    server.stop()


def test_a_phone_answers_names_and_downloads_but_opens_and_writes_no_files(
    served: WithPhone, workspace: Workspace, open_page: Callable[..., Any]
) -> None:
    page = open_page(served.printed, phone=True)
    for k in range(3):
        page.tap(".question [data-choice=unsure]")
        counts(page, k + 1)
    assert len(workspace.session().answers) == 3
    page.tap("nav >> text=Groups")
    page.wait_for_selector(".group-card")
    page.goto(f"{served.address}/finish")  # the cookie of the first visit is enough
    page.wait_for_selector(".export")
    expect(page.locator("input[value=folders]")).to_be_disabled()
    expect(page.locator("#target")).to_have_count(0)
    with page.expect_download() as download:
        page.tap("text=Download")
    assert download.value.path().read_text().startswith("id,group")
    fits_width(page)
    assert broken_rules(page) == []
    page.goto(f"{served.address}/start")
    expect(page.locator("[role=alert]")).to_contain_text("A phone cannot open or write files")
    expect(page.locator(".drop-zone")).to_have_count(0)
    page.tap("text=Answer questions")
    page.wait_for_selector(".question .choice")
    fits_width(page)
    page.context.clear_cookies()
    assert page.goto(f"{served.address}/groups").status == 403
    expect(page.locator("body")).to_contain_text("token")
