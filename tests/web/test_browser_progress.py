"""Progress, contradictions and orientations in a real browser."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from browsing import Served, becomes, expect, fits_width, needs_browser, press
from samekind.ledger.store import MemoryStore
from samekind.protocols import Event
from samekind.web.rendering import answer_view
from samekind.workspace.workspace import Workspace

pytestmark = needs_browser


@pytest.fixture
def contradict(workspace: Workspace) -> Callable[..., None]:
    """Tells pairs of items, by position, whether implied or not."""

    def tell(*pairs: tuple[int, int, str]) -> None:
        session = workspace.session()
        name = session.collection.id
        forms = [{"kind": "same-pair", "a": name(a), "b": name(b), "why": ""} for a, b, _ in pairs]
        assert isinstance(workspace.store, MemoryStore)
        open_now = session.ask()
        assert open_now is not None
        workspace.store.append("main", Event("proposed", {"snapshot": 0, "questions": forms}))
        session.ask()
        for k, (_, _, choice) in enumerate(pairs):
            session.tell(open_now.number + 1 + k, choice)

    return tell


def choices(workspace: Workspace) -> list[str]:
    return [answer.choice for answer in workspace.session().answers]


def test_a_contradiction_is_shown_and_settled_by_one_answer(
    page: Any, workspace: Workspace, contradict: Callable[..., None]
) -> None:
    contradict((0, 4, "same"), (9, 4, "same"), (0, 9, "different"))
    page.reload()
    page.click(".notice >> text=Review")
    expect(page.locator(".clash-card")).to_have_count(3)
    expect(page.locator(".clash-card.aside")).to_contain_text("Different, set aside")
    expect(page.locator(".settle h2")).to_have_text("Are these two the same kind?")
    expect(page.locator(".settle [aria-pressed=true]")).to_have_count(0)
    page.keyboard.press("n")  # 9 and 4, which look unlike
    page.wait_for_selector("text=No answers contradict each other.")
    assert choices(workspace) == ["same", "different", "different"]
    page.click("text=Undo")
    expect(page.locator(".clash-card")).to_have_count(3)
    assert choices(workspace) == ["same", "same", "different"]


def test_confirming_all_but_one_answer_settles_a_contradiction(
    page: Any, workspace: Workspace, contradict: Callable[..., None]
) -> None:
    contradict((0, 4, "same"), (9, 4, "same"), (0, 9, "different"))
    page.reload()
    page.click(".notice >> text=Review")
    page.wait_for_selector(".settle")
    page.keyboard.press("y")
    page.wait_for_selector("text=Then look at this one again.")
    expect(page.locator(".clash-card:has-text('confirmed')")).to_have_count(1)
    asked = page.locator(".settle .items img").evaluate_all("(all) => all.map((one) => one.alt)")
    name = workspace.session().collection.id
    page.keyboard.press("n" if asked == [name(0), name(9)] else "y")
    page.wait_for_selector("text=was changed to fit the others")
    assert workspace.session().constraints.conflicts == ()


def test_not_sure_settles_a_contradiction_too(
    page: Any, workspace: Workspace, contradict: Callable[..., None]
) -> None:
    contradict((0, 5, "same"), (0, 5, "different"))
    page.reload()
    page.click(".notice >> text=Review")
    page.wait_for_selector(".settle")
    page.click(".settle [data-choice=unsure]")
    page.wait_for_selector("text=No answers contradict each other.")
    assert "unsure" in choices(workspace) and len(choices(workspace)) == 2


def test_progress_shows_answers_time_and_the_curve_as_a_table(
    page: Any, workspace: Workspace
) -> None:
    for k, key in enumerate("y1nu"):
        press(page, key, k + 1)
    page.click("nav >> text=Progress")
    expect(page.get_by_role("region", name="Answers", exact=True)).to_contain_text("4")
    kinds = page.locator(".breakdown tbody tr")
    expect(kinds).to_have_count(2)
    expect(kinds.first).to_contain_text("2")
    page.wait_for_selector(".curve svg")
    rows = page.locator(".quality-curve tbody tr")
    expect(rows).to_have_count(2)
    expect(rows.last.locator("th")).to_have_text("4")
    assert "100% at 4" in page.locator(".curve svg").get_attribute("aria-label")
    expect(page.locator(".breakdown meter").first).to_have_attribute("aria-label", "Same: 1")


def test_two_orientations_are_started_switched_and_compared(
    page: Any, workspace: Workspace
) -> None:
    press(page, "y", 1)
    page.click("nav >> text=Groupings")
    page.fill(".new-orientation input", "by form")
    page.keyboard.press("Enter")
    page.wait_for_selector(".question .choice")
    press(page, "n", 1)
    press(page, "u", 2)
    page.click("nav >> text=Groupings")
    expect(page.locator(".orientation-list li").first).to_contain_text("1 answer")
    expect(page.locator(".orientation-list li").last).to_contain_text("current · 2 answers")
    page.click(".orientation-list >> text=main")
    expect(page.locator(".progress span").first).to_have_text("1 answer")
    page.click("nav >> text=Groupings")
    page.click("text=Compare side by side")
    cells = page.locator(".crosstab td button")
    expect(cells).to_have_count(4)
    page.get_by_role("button", name="12 items in Group 2 and Group 2").click()
    expect(page.locator(".cell .item")).to_have_count(12)
    expect(page.locator(".compare .lead")).to_contain_text("nearly the same grouping")


def test_no_view_scrolls_horizontally_on_a_phone(
    page: Any, served: Served, workspace: Workspace, contradict: Callable[..., None]
) -> None:
    contradict((0, 4, "same"), (9, 4, "same"), (0, 9, "different"))
    workspace.begin("by form")
    page.set_viewport_size({"width": 390, "height": 844})
    views = {
        "/progress": ".curve svg",
        "/conflicts": ".clash-card",
        "/groupings": ".orientation-list li",
        "/compare": ".crosstab td",
        "/answers": ".answer-list .answer",
    }
    for path, ready in views.items():
        page.goto(served.address + path)
        page.wait_for_selector(ready)
        fits_width(page)


def test_an_odd_answer_is_changed_or_confirmed_for_good(page: Any, workspace: Workspace) -> None:
    press(page, "y", 1)
    press(page, "1", 2)

    def doubts(route: Any) -> None:  # what a learner that weighs answers would say
        session = workspace.session()
        told = [answer_view(workspace, session, one).model_dump() for one in session.answers]
        rest = {"said": 1, "likely": 2, "others": 7}
        odd = [{"answer": one, "words": f"Odd: {one['number']}.", **rest} for one in told]
        route.fulfill(json={"odd": odd})

    page.route("**/api/odd*", doubts)
    page.click("nav >> text=Answers")
    page.click("text=2 answers are worth a second look")
    expect(page.locator(".odd-answer")).to_have_count(2)
    page.get_by_role("button", name="Answer 2 is correct").click()
    expect(page.locator(".odd-answer")).to_have_count(1)
    page.click(".odd-answer >> text=Review")
    page.locator("dialog [data-choice=different]").click()
    page.wait_for_selector("dialog", state="detached")
    expect(page.locator(".odd-answer")).to_have_count(1)
    becomes(page, lambda: choices(workspace) == ["different", "1"])
    page.reload()
    expect(page.locator(".odd-answer")).to_have_count(1)
    expect(page.locator(".odd-answer")).to_contain_text("Odd: 1.")
