"""Many groups in a real browser: 37 breeds are sorted by typing their names; a sheet on a phone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from breeds import KINDS, NAMES, breeds, until_all_groups
from browsing import becomes, expect, needs_browser
from samekind.ledger.store import MemoryStore
from samekind.questions import WhichGroup
from samekind.session import Session
from samekind.simulation.people import Truth
from samekind.workspace.workspace import Workspace

pytestmark = needs_browser
ANSWERS = 25


@pytest.fixture
def animals() -> Iterator[Workspace]:
    """Animals of which 20 breeds are known; all of them but the nearest one have a name."""
    store = MemoryStore()
    session = breeds(store)
    _, question = until_all_groups(session, 20)
    for group in question.groups[1:]:
        session.naming.name_kind(group[0], breed(group[0]))
    workspace = Workspace(session.collection, lambda name: breeds(store, name), store=store)
    yield workspace
    workspace.close()


def breed(item: int) -> str:
    return NAMES[KINDS[item]]


def open_question(session: Session) -> WhichGroup:
    asked = session.ask()
    assert asked is not None and isinstance(asked.question, WhichGroup)
    return asked.question


def names(session: Session) -> dict[str, str]:
    """The names of the groups in the open question, by choice."""
    groups = enumerate(open_question(session).groups, start=1)
    return {str(k): session.naming.of_kind(group[0]) for k, group in groups}


def test_37_breeds_are_sorted_by_typing_their_names(
    animals: Workspace, open_page: Callable[..., Any]
) -> None:
    session = animals.session()
    page = open_page(animals)
    rows = page.locator(".group-list li")
    expect(rows).to_have_count(len(open_question(session).groups))
    rows.first.hover()
    rows.first.locator(".row-rename").click()
    page.keyboard.type(first := breed(open_question(session).groups[0][0]))
    page.keyboard.press("Enter")
    expect(rows.first).to_contain_text(first)
    page.keyboard.press("/")
    before = len(session.answers)
    for count in range(before, before + ANSWERS):
        answer_by_name(page, session, count)
    started = [a for a in session.answers[before:] if a.choice == "none"]
    assert len(started) >= 5
    assert [session.naming.with_answer(a.number) for a in started] == [
        breed(a.question.items()[0]) for a in started
    ]
    expect_typing_about(page, open_question(session))
    page.keyboard.press("Control+z")
    becomes(page, lambda: len(session.answers) == before + ANSWERS - 1)
    page.locator(".chip").first.click()
    page.locator("dialog input[type=search]").focus()
    page.keyboard.type("u01")  # keys of choices, but here they are typed
    expect(page.locator("dialog")).to_contain_text("No group matches.")


def expect_typing_about(page: Any, question: WhichGroup) -> None:
    """Wait until this question is shown and its field is empty and has the focus."""
    expect(page.locator(".subject .item")).to_have_attribute("title", f"animal-{question.item:03d}")
    field = page.get_by_label("Find or name a group")
    expect(field).to_be_focused()
    expect(field).to_have_value("")


def answer_by_name(page: Any, session: Session, count: int) -> None:
    """Type the breed of the open question, or enough of it, and press Return."""
    question, known = open_question(session), names(session)
    truth = Truth(KINDS).answer(question)
    name = breed(question.item)
    expect_typing_about(page, question)
    if truth == "none":
        page.keyboard.type(name)
        expect(page.locator(".create")).to_contain_text(f"Create group “{name}”")
    else:
        assert known[truth] == name
        page.keyboard.type(name[:-1].lower())
        expect(page.locator(".group-row").first).to_contain_text(name)
    page.keyboard.press("Enter")
    becomes(page, lambda: len(session.answers) > count)
    assert session.answers[-1].choice == truth


def test_on_a_phone_all_groups_are_in_a_sheet(
    animals: Workspace, open_page: Callable[..., Any]
) -> None:
    session = animals.session()
    page = open_page(animals, phone=True)
    count = len(open_question(session).groups)
    page.get_by_role("button", name=f"All {count} groups").tap()
    rows = page.locator("dialog .group-row")
    expect(rows).to_have_count(count)
    known = names(session)
    page.locator("dialog").get_by_label("Find or name a group").fill(known["7"].upper())
    expect(rows).to_have_count(1)
    box = rows.first.bounding_box()
    assert box is not None and box["height"] >= 44
    before = len(session.answers)
    rows.first.tap()
    becomes(page, lambda: len(session.answers) > before)
    assert session.answers[-1].choice == "7"
    expect(page.locator("dialog")).to_have_count(0)
