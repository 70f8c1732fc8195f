"""The page in a real browser: answering by keyboard, undo, groups, renaming, download, reload."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from browsing import Served, expect, fits_screen, needs_browser, press
from samekind.ledger.store import MemoryStore
from samekind.workspace.workspace import Workspace
from waiting import until

pytestmark = needs_browser


def test_ten_questions_are_answered_by_keyboard_and_survive_a_reload(
    page: Any, workspace: Workspace, served: Served
) -> None:
    keys = ["y", "1", "n", "0", "u", "Space", "n", "2", "u", "3"]
    for k, key in enumerate(keys):
        press(page, key, k + 1)
    told = [answer.choice for answer in workspace.session().answers]
    assert told == [
        *("same", "1", "different", "none", "unsure", "unsure", "different", "2", "unsure", "3")
    ]
    assert all(answer.seconds is not None for answer in workspace.session().answers)
    number = workspace.session().ask().number  # type: ignore[union-attr]
    page.reload()
    page.wait_for_selector(".question .choice")
    expect(page.locator(".progress span").first).to_have_text("10 answers")
    expect(page.locator(".chip")).to_have_count(10)
    assert workspace.session().ask().number == number  # type: ignore[union-attr]


def test_back_undoes_the_last_answer_and_shows_its_question(
    page: Any, workspace: Workspace
) -> None:
    shown = page.locator(".items img").first.get_attribute("alt")
    press(page, "y", 1)
    page.wait_for_selector(".which-group")
    press(page, "z", 0)
    page.wait_for_selector(".items img")
    assert page.locator(".items img").first.get_attribute("alt") == shown
    press(page, "n", 1)
    assert [answer.choice for answer in workspace.session().answers] == ["different"]


def test_back_undoes_the_last_answer_even_if_the_list_on_the_page_is_outdated(
    page: Any, workspace: Workspace
) -> None:
    press(page, "y", 1)
    expect(page.locator(".chip")).to_have_count(1)
    page.route("**/api/answers?offset=0&limit=10", lambda route: route.fulfill(status=503))
    press(page, "u", 2)
    press(page, "z", 1)
    assert [answer.choice for answer in workspace.session().answers] == ["same"]
    page.unroute_all()


def test_skip_help_and_clicks_work(page: Any, workspace: Workspace) -> None:
    with page.expect_response("**/api/skip") as reply:
        page.keyboard.press("s")
    skipped = reply.value.json()
    page.keyboard.press("?")
    assert "None of these" in page.locator("dialog").inner_text()
    page.keyboard.press("y")
    assert workspace.session().answers == (), "keys answer nothing while the help is open"
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog", state="detached")
    page.click("[data-choice=unsure]")
    page.wait_for_selector(".chip")
    (told,) = workspace.session().answers
    assert told.number == skipped["now"]["question"]["number"] != skipped["number"]


def test_an_earlier_answer_is_changed_from_the_strip(page: Any, workspace: Workspace) -> None:
    press(page, "y", 1)
    press(page, "u", 2)
    page.locator(".chip").nth(1).click()
    page.wait_for_selector("dialog")
    page.locator("dialog [data-choice=different]").click()
    expect(page.locator(".chip").nth(1)).to_contain_text("Different")
    assert [answer.choice for answer in workspace.session().answers] == ["different", "unsure"]


def test_a_question_fits_on_the_screen_without_scrolling(page: Any) -> None:
    for answers in range(4):
        fits_screen(page)
        bottom = page.evaluate(
            "() => Math.max(...[...document.querySelectorAll('.choice, .acts button')]"
            ".map(e => e.getBoundingClientRect().bottom))"
        )
        assert bottom <= 800
        press(page, "u", answers + 1)


def test_groups_are_seen_renamed_and_downloaded(page: Any, workspace: Workspace) -> None:
    page.wait_for_selector(".actions button:has-text('Finish')")
    page.keyboard.press("q")
    page.wait_for_selector(".export")
    assert page.url.endswith("/finish"), "where Finish leads as well"
    page.click("nav >> text=Groups")
    page.wait_for_selector(".group-card")
    expect(page.locator(".group-card")).to_have_count(4)
    page.locator(".group-name").first.click()
    page.keyboard.type("Red things")
    page.keyboard.press("Enter")
    page.wait_for_selector(".group-name:has-text('Red things')")
    assert workspace.session().clustering.name(1) == "Red things"
    with page.expect_download() as download:
        page.click("text=CSV")
    assert download.value.suggested_filename == "Drawn-things-main.csv"
    page.locator(".representatives").first.click()
    page.wait_for_selector(".members figure")
    expect(page.locator(".members figure")).to_have_count(12)
    page.reload()
    page.wait_for_selector(".group-name:has-text('Red things')")


def test_answers_are_listed_and_removed(page: Any, workspace: Workspace) -> None:
    press(page, "y", 1)
    press(page, "1", 2)
    page.click("nav >> text=Answers")
    page.wait_for_selector(".answer")
    expect(page.locator(".answer")).to_have_count(2)
    page.locator(".answer button").first.click()
    page.click("text=Delete this answer")
    expect(page.locator(".answer")).to_have_count(1)
    assert len(workspace.session().answers) == 1


def test_a_new_orientation_starts_without_answers(page: Any, workspace: Workspace) -> None:
    press(page, "y", 1)
    page.click("nav >> text=Groupings")
    page.fill(".new-orientation input", "by shape")
    page.keyboard.press("Enter")
    page.wait_for_selector(".question .choice")
    press(page, "n", 1)
    assert [a.choice for a in workspace.session("by shape").answers] == ["different"]
    assert [a.choice for a in workspace.session("main").answers] == ["same"]
    assert page.url.endswith("?session=by%20shape")


def test_an_answer_given_while_the_server_is_away_is_kept_and_sent_later(
    page: Any, workspace: Workspace, served: Served
) -> None:
    served.stop()
    page.keyboard.press("y")
    page.wait_for_selector("text=Your answer is not saved yet")
    assert workspace.session().answers == ()
    served.start()
    page.wait_for_selector(".chip")
    assert [answer.choice for answer in workspace.session().answers] == ["same"]
    expect(page.locator(".notice.warning")).to_have_count(0)


def test_an_unsent_answer_waits_for_its_own_pile_when_another_is_served_instead(
    page: Any,
    workspace: Workspace,
    served: Served,
    make_workspace: Callable[..., Workspace],
    open_page: Callable[..., Any],
) -> None:
    other = make_workspace()
    other.session().ask()  # its first question has the number of the one that is shown
    served.stop()
    page.keyboard.press("y")
    page.wait_for_selector("text=Your answer is not saved yet")
    served.workspace = other
    served.start()
    page.wait_for_selector("text=This page was opened for another pile")
    page.keyboard.press("n")
    page.get_by_role("button", name="Reload").click()
    page.wait_for_selector(".question .choice")
    expect(page.locator(".notice.warning")).to_have_count(0)
    press(page, "n", 1)
    assert [answer.choice for answer in other.session().answers] == ["different"]
    assert workspace.session().answers == ()
    served.stop()
    served.workspace = workspace
    served.start()
    page.reload()
    page.wait_for_selector(".chip")
    assert [answer.choice for answer in workspace.session().answers] == ["same"]
    assert len(other.session().answers) == 1


def test_contradictions_are_shown_with_the_conflicting_answers(
    page: Any, workspace: Workspace, served: Served
) -> None:
    from samekind.protocols import Event

    press(page, "y", 1)
    session = workspace.session()
    a, b = (session.collection.id(i) for i in session.answers[0].question.items())
    again = {"kind": "same-pair", "a": a, "b": b, "why": ""}
    assert isinstance(workspace.store, MemoryStore)
    workspace.store.append("main", Event("proposed", {"snapshot": 0, "questions": [again]}))
    asked = session.ask()
    assert asked is not None
    session.tell(asked.number + 1, "different")
    page.reload()
    page.click(".notice >> text=Review")
    page.wait_for_selector(".conflict .answer")
    expect(page.locator(".conflict .answer")).to_have_count(2)


def test_a_failed_refit_is_explained(
    page: Any, workspace: Workspace, break_refits: Callable[[str], None]
) -> None:
    break_refits("on purpose")
    for k in range(5):
        press(page, "u", k + 1)
    page.wait_for_selector("text=The groups could not be refreshed.")
    press(page, "u", 6)


# -- questions about groups -----------------------------------------------------------------------

about_groups = pytest.mark.parametrize("workspace", ["about groups"], indirect=True)


@about_groups
def test_items_that_do_not_belong_are_marked_by_key_and_sent_together(
    page: Any, workspace: Workspace
) -> None:
    expect(page.locator(".one-group")).to_have_count(2)
    press(page, "y", 1)
    expect(page.locator(".mark")).to_have_count(12)
    expect(page.locator("[data-choice=none]")).to_contain_text("All belong")
    for key in ("5", "=", "0", "2", "5"):  # 5 is marked and unmarked
        page.keyboard.press(key)
    expect(page.locator("[data-choice=none]")).to_contain_text("3 are not")
    expect(page.locator(".mark[aria-checked=true]")).to_have_count(3)
    press(page, "Enter", 2)
    press(page, "n", 3)
    press(page, "Enter", 4)
    told = [answer.choice for answer in workspace.session().answers]
    assert told == ["same", "2,10,12", "different", "none"]


@about_groups
def test_items_are_marked_by_click_and_return_still_sends(page: Any, workspace: Workspace) -> None:
    press(page, "u", 1)
    page.click(".mark[data-choice='3']")
    page.click(".mark[data-choice='1']")
    page.keyboard.press("Space")  # the box that was clicked has the focus: its mark is taken away
    box = page.get_by_role("checkbox", name=re.compile("^3: "))
    expect(box).to_be_checked()
    press(page, "Enter", 2)
    assert [answer.choice for answer in workspace.session().answers] == ["unsure", "3"]


@about_groups
def test_an_answer_with_several_choices_is_listed_and_changed(
    page: Any, workspace: Workspace
) -> None:
    press(page, "u", 1)
    for key in ("2", "7"):
        page.keyboard.press(key)
    press(page, "Enter", 2)
    expect(page.locator(".chip").first).to_contain_text("2 are not")
    page.locator(".chip").first.click()
    expect(page.locator("dialog .mark[aria-checked=true]")).to_have_count(2)
    page.keyboard.press("2")
    page.keyboard.press("9")
    page.keyboard.press("Enter")
    expect(page.locator("dialog")).to_have_count(0)
    until(lambda: workspace.session().answers[1].choice == "7,9")
    page.click("nav >> text=Answers")
    expect(page.locator(".answer").first).to_contain_text("Which of these do not belong?")


@about_groups
@pytest.mark.parametrize(("width", "height"), [(1280, 800), (375, 667)])
def test_questions_about_groups_fit_the_screen(page: Any, width: int, height: int) -> None:
    page.set_viewport_size({"width": width, "height": height})
    for answers in range(4):
        fits_screen(page)
        boxes = [one.bounding_box() for one in page.locator(".question .item").all()]
        assert min(min(box["width"], box["height"]) for box in boxes) >= 40, "large enough to see"
        press(page, "u", answers + 1)


@about_groups
def test_the_help_explains_how_to_mark_several_items(page: Any) -> None:
    press(page, "u", 1)
    page.keyboard.press("?")
    words = page.locator("dialog").inner_text()
    assert "Mark or unmark this item" in words
    assert "With none marked: all belong" in words
    assert "None of these" not in words
