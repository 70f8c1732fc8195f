"""Two people in two real browsers on one server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from browsing import Served, counts, expect, needs_browser
from samekind.session.people import People
from samekind.web.app import create_app
from samekind.web.security import person_tokens
from samekind.workspace.workspace import Workspace
from samekind.workspace.workspaces import Workspaces

pytestmark = needs_browser
TOKENS = person_tokens("s" * 32, ["anna", "ben"])


class ServedToPeople(Served):
    """A server at which everybody has a token of their own."""

    def app(self) -> Any:
        assert self.workspace is not None
        return create_app(Workspaces.around(self.workspace), port=self.port, people=TOKENS)


@pytest.fixture
def pages(
    make_workspace: Callable[..., Workspace], open_page: Callable[..., Any]
) -> Iterator[list[Any]]:
    """The page of anna, and that of ben."""
    workspace = make_workspace()
    workspace.people = People(overlap=1.0)
    server = ServedToPeople(workspace)
    yield [open_page(server, f"/?token={token}") for token in TOKENS.values()]
    server.stop()


def question_of(page: Any) -> int:
    return int(page.evaluate("fetch('/api/question').then((r) => r.json())")["question"]["number"])


def test_people_answer_side_by_side_and_see_how_far_they_agree(pages: list[Any]) -> None:
    anna, ben = pages
    for page, name in zip(pages, TOKENS, strict=True):
        expect(page.locator("header .brand")).to_contain_text(f"· {name}")
    first, other = question_of(anna), question_of(ben)
    assert first != other
    anna.keyboard.press("y")
    counts(anna, 1)
    counts(ben, 1)  # the other page is told, and its question stays
    assert question_of(ben) == other
    expect(anna.locator(".chip")).to_have_count(1)
    expect(ben.locator(".chip")).to_have_count(0)
    ben.keyboard.press("n")
    counts(ben, 2)
    assert question_of(ben) == first, "a second opinion"
    ben.keyboard.press("n")
    expect(ben.locator(".chip")).to_have_count(2)
    ben.click("nav >> text=Progress")
    expect(ben.locator(".people")).to_contain_text("1 question was answered by two people")
    row = ben.locator(".people tbody tr", has_text="ben")
    expect(row.locator("td")).to_have_text(["1", "1", "0 of 1", "\N{EN DASH}"])
    ben.click("nav >> text=Answers")
    expect(ben.locator(".answer")).to_have_count(3)
    expect(ben.locator(".answer button")).to_have_count(2)
    ben.check("text=Only mine")
    expect(ben.locator(".answer")).to_have_count(2)
