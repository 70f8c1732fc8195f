"""The question screen in a real browser: every kind fits, touch, shortcuts, undo, two windows."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from browsing import (
    EveryKind,
    Finger,
    expect,
    fits_screen,
    lays_out,
    needs_browser,
    press,
    stands_still,
)
from samekind.questions import AllLike, OddOnes, Question, SameGroups, SamePair, WhichGroup
from samekind.workspace.workspace import Workspace

pytestmark = needs_browser


def groups_of(n: int, exemplars: int) -> WhichGroup:
    items = range(1, 1 + n * exemplars)
    groups = tuple(tuple(items[k * exemplars : (k + 1) * exemplars]) for k in range(n))
    return WhichGroup(0, groups, why="This one lies between several groups, so it says much.")


KINDS: tuple[Question, ...] = (
    SamePair(0, 1, why="These two look alike, and nothing is known about them yet."),
    *(groups_of(n, exemplars) for n in (2, 3, 4, 5) for exemplars in (1, 4, 5)),
    SameGroups((0,), (1,), why="They are near each other."),
    SameGroups((0, 1, 2, 3, 4), (5, 6, 7, 8, 9), why="They are near each other."),
    OddOnes((0,), (1,), why="A check."),
    OddOnes((0, 1, 2, 3, 4), tuple(range(5, 12)), why="The least sure ones."),
    OddOnes((0, 1, 2, 3, 4), tuple(range(5, 29)), why="The least sure ones."),
    AllLike((0,), tuple(range(1, 25)), why="The likeliest ones."),
)

FITS = """(touch) => {
  const found = [];
  const box = (one) => one.getBoundingClientRect();
  const name = (one) => one.className || one.tagName;
  const page = document.documentElement;
  if (page.scrollHeight > innerHeight || page.scrollWidth > innerWidth) found.push("scrolls");
  const boxes = ".choice, .mark, .actions button, .prompt, .recent-answers";
  const controls = [...document.querySelectorAll(boxes)]
    .filter((one) => box(one).width > 0);
  const items = [...document.querySelectorAll(".question .item")];
  for (const one of [...controls, ...items]) {
    const { left, top, right, bottom } = box(one);
    if (left < -1 || top < -1 || right > innerWidth + 1 || bottom > innerHeight + 1)
      found.push(`${name(one)} is cut off`);
  }
  controls.forEach((one, k) => controls.slice(k + 1).forEach((other) => {
    const [a, b] = [box(one), box(other)];
    const apart = a.right <= b.left + 1 || b.right <= a.left + 1 ||
      a.bottom <= b.top + 1 || b.bottom <= a.top + 1;
    if (!apart) found.push(`${name(one)} lies on ${name(other)}`);
  }));
  for (const one of items) {
    const [inside, around] = [box(one), box(one.closest("button, section, .items, .subject"))];
    if (inside.right > around.right + 1 || inside.bottom > around.bottom + 1)
      found.push(`an item hangs out of ${name(one.closest("button, section, .items, .subject"))}`);
    if (Math.min(inside.width, inside.height) < (touch ? 40 : 60)) found.push("an item is tiny");
  }
  const targets = [...document.querySelectorAll(".choice, .mark, .actions button")];
  if (touch && targets.some((one) => box(one).width > 0 && box(one).height < 44))
    found.push("a target is too small for a finger");
  return [...new Set(found)];
}"""


# -- every kind of question fits the screen -------------------------------------------------------


@pytest.mark.parametrize("phone", [False, True], ids=["1280x800", "390x844"])
def test_every_kind_of_question_fits_the_screen(
    make_workspace: Callable[..., Workspace], open_page: Callable[..., Any], phone: bool
) -> None:
    page = open_page(make_workspace(strategy=EveryKind(KINDS), refit_every=1000), phone=phone)
    for k, question in enumerate(KINDS):
        page.wait_for_function(
            "(n) => document.querySelectorAll('.question .item').length === n",
            arg=len(question.items()),
        )
        page.wait_for_function("() => [...document.images].every((one) => one.complete)")
        lays_out(page, FITS, phone)
        press(page, "u", k + 1)


def test_a_question_fits_with_notices_above_it(
    make_workspace: Callable[..., Workspace],
    open_page: Callable[..., Any],
    break_refits: Callable[[str], None],
) -> None:
    workspace = make_workspace(
        strategy=EveryKind((KINDS[0], KINDS[-1], groups_of(5, 5))), refit_every=1
    )
    page = open_page(workspace)
    break_refits("on purpose")
    press(page, "u", 1)
    page.wait_for_selector("text=The groups could not be refreshed.")
    fits_screen(page)
    press(page, "u", 2)
    page.wait_for_selector(".which-group")
    fits_screen(page)


# -- fingers --------------------------------------------------------------------------------------


def test_a_single_group_is_an_answer_in_words_with_a_key(
    make_workspace: Callable[..., Workspace], open_page: Callable[..., Any]
) -> None:
    workspace = make_workspace(strategy=EveryKind((WhichGroup(0, ((1,),)),)), refit_every=1000)
    page = open_page(workspace)
    expect(page.locator("h1")).to_have_text("Are these the same kind?")
    same = page.locator(".group-choice")
    expect(same.locator(".choice-label")).to_contain_text("Same kind")
    page.set_viewport_size({"width": 1000, "height": 760})  # too narrow for words below pictures
    expect(same.locator(".group-caption")).to_have_text("Same kind")
    press(page, same.locator("kbd").inner_text(), 1)
    assert [answer.choice for answer in workspace.session().answers] == ["1"]


def test_swiping_right_means_same_and_left_different(
    make_workspace: Callable[..., Workspace], open_page: Callable[..., Any]
) -> None:
    pairs = tuple(SamePair(2 * k, 2 * k + 1) for k in range(6))
    workspace = make_workspace(strategy=EveryKind(pairs))
    page = open_page(workspace, phone=True)
    finger = Finger(page)
    finger.swipe(120, 330, 200)
    expect(page.locator(".chip")).to_have_count(1)
    finger.swipe(300, 330, -200)
    expect(page.locator(".chip")).to_have_count(2)
    assert [answer.choice for answer in workspace.session().answers] == ["same", "different"]


def test_a_short_or_vertical_swipe_answers_nothing(
    make_workspace: Callable[..., Workspace], open_page: Callable[..., Any]
) -> None:
    workspace = make_workspace(strategy=EveryKind((SamePair(0, 1), SamePair(2, 3), SamePair(4, 5))))
    page = open_page(workspace, phone=True)
    finger = Finger(page)
    finger.swipe(150, 330, 50)
    finger.swipe(150, 400, 20, -200)
    expect(page.locator(".swipe-label")).to_have_count(0)
    page.tap("[data-choice=same]")
    expect(page.locator(".chip")).to_have_count(1)
    assert [answer.choice for answer in workspace.session().answers] == ["same"]


def test_while_swiping_the_page_shows_what_letting_go_would_mean(
    make_workspace: Callable[..., Workspace], open_page: Callable[..., Any]
) -> None:
    workspace = make_workspace(strategy=EveryKind((SamePair(0, 1),)))
    page = open_page(workspace, phone=True)
    finger = Finger(page)
    finger._send("touchStart", (100, 330))
    finger._send("touchMove", (160, 330))
    finger._send("touchMove", (260, 332))
    expect(page.locator(".swipe-label")).to_have_text("Same")
    expect(page.locator(".swipe-label .sure")).to_have_count(1)
    finger._send("touchCancel")
    expect(page.locator(".swipe-label")).to_have_count(0)
    assert workspace.session().answers == ()


def test_holding_a_picture_enlarges_it_and_letting_go_chooses_nothing(
    make_workspace: Callable[..., Workspace], open_page: Callable[..., Any]
) -> None:
    workspace = make_workspace(strategy=EveryKind((groups_of(3, 3),)))
    page = open_page(workspace, phone=True)
    stands_still(page, ".exemplars .item")
    box = page.locator(".exemplars .item").first.bounding_box()

    def look() -> None:
        page.wait_for_selector(".zoom img")
        shown = page.locator(".zoom .item").bounding_box()
        assert shown["width"] > 300

    Finger(page).hold(box["x"] + 10, box["y"] + 10, look)
    expect(page.locator(".zoom")).to_have_count(0)
    assert workspace.session().answers == ()
    page.tap(".group-choice[data-choice='2']")
    page.wait_for_selector(".chip")
    assert [answer.choice for answer in workspace.session().answers] == ["2"]


# -- keys -----------------------------------------------------------------------------------------


def test_a_shortcut_is_changed_and_kept_and_a_duplicate_is_refused(
    make_workspace: Callable[..., Workspace], open_page: Callable[..., Any]
) -> None:
    workspace = make_workspace(
        strategy=EveryKind(tuple(SamePair(2 * k, 2 * k + 1) for k in range(6)))
    )
    page = open_page(workspace)
    page.keyboard.press("?")
    page.click("text=Customise shortcuts")
    page.click(".shortcut:has-text('Same')")
    page.keyboard.press("n")
    expect(page.locator(".key-conflict")).to_contain_text("N is already used for “Different”")
    page.keyboard.press("j")
    expect(page.locator(".key-conflict")).to_be_empty()
    page.click(".shortcut:has-text('Not sure')")
    page.keyboard.press("Enter")
    expect(page.locator(".key-conflict")).to_contain_text("Submit marked items")
    page.keyboard.press("Escape")
    page.click("dialog >> text=Done")
    expect(page.locator("[data-choice=same] kbd")).to_have_text("J")
    press(page, "j", 1)
    page.keyboard.press("y")
    page.reload()
    page.wait_for_selector(".question .choice")
    press(page, "j", 2)
    assert [answer.choice for answer in workspace.session().answers] == ["same", "same"]
    page.keyboard.press("?")
    expect(page.locator("dialog .help")).to_contain_text("JSame")
    page.click("text=Customise shortcuts")
    page.click("text=Reset to defaults")
    page.click("dialog >> text=Done")
    press(page, "y", 3)


def test_items_are_enlarged_by_keyboard(
    make_workspace: Callable[..., Workspace], open_page: Callable[..., Any]
) -> None:
    workspace = make_workspace(strategy=EveryKind((groups_of(2, 2),)))
    page = open_page(workspace)
    page.keyboard.press("l")
    expect(page.locator("dialog h2")).to_have_text("Look closer: 1 of 5")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("1")
    expect(page.locator("dialog h2")).to_have_text("Look closer: 2 of 5")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    expect(page.locator("dialog h2")).to_have_text("Look closer: 5 of 5")
    assert page.locator("dialog .item").bounding_box()["height"] > 550
    page.keyboard.press("l")
    page.wait_for_selector("dialog", state="detached")
    assert workspace.session().answers == ()


def test_thirty_answers_are_undone_one_by_one(
    make_workspace: Callable[..., Workspace], open_page: Callable[..., Any]
) -> None:
    workspace = make_workspace()
    page = open_page(workspace)
    first = page.locator(".items img").first.get_attribute("alt")
    for k in range(30):
        first_group = page.locator(".choice kbd").first.inner_text()  # a group keeps its key
        keys = (first_group, "0", "u") if k % 2 else ("y", "n", "u")
        press(page, keys[k % 3], k + 1)
    expect(page.locator(".chip")).to_have_count(10)
    for k in range(30):
        press(page, "z" if k % 2 else "Backspace", 29 - k)
    assert page.locator(".items img").first.get_attribute("alt") == first
    expect(page.locator(".action-back")).to_be_disabled()
    assert workspace.session().answers == ()


# -- several windows ------------------------------------------------------------------------------


def test_answers_of_one_window_appear_in_the_other(
    make_workspace: Callable[..., Workspace], open_page: Callable[..., Any]
) -> None:
    page = open_page(make_workspace())
    other = page.context.new_page()
    other.goto(page.url)
    other.wait_for_selector(".question .choice")
    page.bring_to_front()
    for k, key in enumerate("y1n"):
        press(page, key, k + 1)
    expect(other.locator(".progress span").first).to_have_text("3 answers")
    expect(other.locator(".chip")).to_have_count(3)
    page.close()  # its connection served both windows: the other one takes over
    third = other.context.new_page()
    third.goto(other.url)
    third.wait_for_selector(".question .choice")
    press(third, "u", 4)
    expect(other.locator(".progress span").first).to_have_text("4 answers")


def test_a_second_answer_from_another_window_is_refused_with_an_explanation(
    make_workspace: Callable[..., Workspace], open_page: Callable[..., Any]
) -> None:
    workspace = make_workspace()
    page = open_page(workspace)
    other = page.context.new_page()
    other.goto(page.url)
    other.wait_for_selector(".question .choice")
    press(page, "y", 1)
    other.bring_to_front()
    other.keyboard.press("n")
    notice = other.locator(".notice.warning")
    expect(notice).to_contain_text("was already answered in another window")
    assert [answer.choice for answer in workspace.session().answers] == ["same"]
    other.wait_for_selector(".which-group")
    other.wait_for_selector(".chip")
    other.keyboard.press("u")
    expect(other.locator(".progress span").first).to_have_text(re.compile("^2 answers$"))
    expect(notice).to_have_count(0)
    assert [answer.choice for answer in workspace.session().answers] == ["same", "unsure"]
