"""Start and Finish in a real browser: open by path, answer, restart, export, undo."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from browsing import broken_rules, counts, expect, fits_width, needs_browser
from samekind.encoders.pixels import Pixels
from samekind.workspace.opening import MIN_WAITING, Opening
from start_page import Started
from waiting import PATIENCE

pytestmark = needs_browser


@pytest.fixture
def photos(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SAMEKIND_HOME", str(tmp_path / "home"))
    monkeypatch.setattr("samekind.encoders._for_images", lambda n: ("pixels", "it is quick"))
    folder = tmp_path / "photos"
    folder.mkdir()
    for k in range(40):
        shade = [(200, 3 * k, 20), (20, 3 * k, 200)][k % 2]
        Image.new("RGB", (48, 32), shade).save(folder / f"photo-{k:02}.png")
    (folder / "notes.pdf").write_bytes(b"%PDF")
    return folder


@pytest.fixture
def served(photos: Path) -> Iterator[Started]:
    server = Started()
    yield server
    server.stop()


@pytest.fixture
def page(served: Started, open_page: Callable[..., Any]) -> Any:
    """The start page."""
    return open_page(served, ready="text=What would you like to sort?")


def open_by_keyboard(page: Any, path: Path, encoder: str = "pixels") -> None:
    """Type a path, choose an encoder and open the pile, without a mouse."""
    page.focus("#path")
    page.keyboard.type(str(path))
    page.keyboard.press("Enter")
    page.focus(".inspection .advanced summary")
    page.keyboard.press("Enter")
    page.focus(f"input[value={encoder}]")
    page.keyboard.press("Space")
    page.keyboard.press("Enter")


def test_from_a_path_to_exported_folders_and_back(
    page: Any, served: Started, photos: Path, tmp_path: Path
) -> None:
    page.fill("#path", "/etc")
    page.keyboard.press("Enter")
    expect(page.locator("[role=alert]")).to_contain_text("This page may only open what is in")
    page.fill("#path", str(photos / "nowhere"))
    page.keyboard.press("Enter")
    expect(page.locator("[role=alert]")).to_contain_text("There is no file or folder")
    page.fill("#path", "")
    open_by_keyboard(page, photos)
    page.wait_for_selector(".question .choice")
    assert "?pile=photos-" in page.url
    for k in range(3):
        page.keyboard.press("u")
        counts(page, k + 1)
    page.reload()
    page.wait_for_selector(".question .choice")
    counts(page, 3)
    page.click("nav >> text=Finish")
    page.wait_for_selector(".export")
    expect(page.locator("input[value=folders]")).to_be_checked()
    page.check("input[value=csv]")
    with page.expect_download() as download:
        page.click("text=Download")
    assert download.value.suggested_filename == "photos-main.csv"
    target = tmp_path / "sorted"
    page.check("input[value=folders]")
    page.fill("#target", str(target))
    page.click("form button >> text=Preview")
    expect(page.locator(".plan")).to_contain_text("40 files")
    assert not target.exists()
    page.click(".plan > button")
    page.wait_for_selector("text=40 files written")
    assert len(list(target.rglob("*.png"))) == 40
    page.click("text=Undo export")
    page.wait_for_selector("text=40 files were removed.")
    assert not target.exists()


def test_a_folder_is_chosen_by_browsing(page: Any, photos: Path) -> None:
    page.click(".drop-zone button.primary")
    top = os.environ["SAMEKIND_ROOTS"]
    for name in (top, *photos.relative_to(top).parts):
        page.locator(".picker-row").get_by_text(name).click()
    expect(page.locator(".picker-foot")).to_contain_text("40 pictures here")
    page.click("text=Open this folder")
    expect(page.locator(".inspection h2")).to_have_text("40 pictures in photos")


def test_questions_begin_while_most_pictures_are_still_being_analysed(
    page: Any, photos: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for k in range(MIN_WAITING):
        Image.new("RGB", (8, 8), (200 * (k % 2), k % 250, 90)).save(photos / f"more-{k:03}.png")
    go_on, whole = threading.Event(), Opening.whole

    def waiting(self: Opening, progress: Any = None) -> Any:
        while not go_on.wait(0.05):
            progress(60, 184)
        return whole(self, progress)

    monkeypatch.setattr(Opening, "whole", waiting)
    # Else nearly all of such small pictures are analysed already to announce the time.
    monkeypatch.setattr("samekind.workspace.inspection.MIN_TIMED_SECONDS", 0.0)
    open_by_keyboard(page, photos)
    page.wait_for_selector(".question .choice")
    expect(page.locator(".analysis")).to_contain_text("Analysed 60 of 184 items")
    page.keyboard.press("u")
    counts(page, 1)
    go_on.set()
    expect(page.locator(".analysis")).to_have_count(0)
    counts(page, 1)
    page.click("nav >> text=Groups")
    expect(page.locator("main")).to_contain_text("184")


def test_a_folder_is_shown_with_skipped_files_and_a_measured_time(page: Any, photos: Path) -> None:
    page.fill("#path", f'"{photos}"')
    page.click(".path-form button")
    expect(page.locator("h2").first).to_have_text("40 pictures in photos")
    page.click("text=1 file skipped")
    expect(page.locator(".skipped")).to_contain_text("notes.pdf")
    page.click("text=Advanced")
    page.check("input[value=pixels]")
    measured = "for 40 items, measured on"  # after the one that was suggested
    expect(page.locator(".estimate")).to_contain_text(measured)
    page.click("text=Back")
    expect(page.locator("h1")).to_have_text("What would you like to sort?")


def test_a_tab_recovers_after_a_restart_of_the_server(
    page: Any, served: Started, photos: Path
) -> None:
    open_by_keyboard(page, photos)
    page.wait_for_selector(".question .choice")
    for k in range(2):
        page.keyboard.press("u")
        counts(page, k + 1)
    served.stop()
    served.start()
    page.reload()
    page.wait_for_selector(".question .choice")
    counts(page, 2)
    page.click("a.to-start")
    expect(page.locator(".recent .collection-name")).to_have_text("photos")


def test_opening_is_cancelled_and_resumed_later(
    page: Any, served: Started, photos: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, go_on = Pixels.read, threading.Event()

    def slowly(self: Pixels, items: Any) -> Any:
        go_on.wait(PATIENCE)
        return whole(self, items)

    monkeypatch.setattr(Pixels, "read", slowly)
    page.focus("#path")
    page.keyboard.type(str(photos))
    page.keyboard.press("Enter")
    page.wait_for_selector(".inspection")
    found = served.workspaces.recent.all()
    assert found == [], "looking leaves no trace"
    # The estimate would wait for the slow encoder too: the choice alone is what counts here.
    monkeypatch.setattr("samekind.workspace.inspection.measured", _at_once)
    page.click("text=Advanced")
    page.check("input[value=pixels]")
    page.click("text=Start sorting")
    page.wait_for_selector(".job progress")
    with page.expect_response("**/cancel"):  # else the job may end before it hears of it
        page.click("text=Cancel")
    go_on.set()
    page.wait_for_selector("text=Finished steps are kept.")
    page.goto(served.address + "/start")
    page.click(".recent .collection-card")
    page.wait_for_selector(".question .choice")


def _at_once(*arguments: Any) -> Any:
    from samekind.workspace.inspection import Measured

    return Measured(1.0, 0.1, 4, 0, "A second.")


def test_two_tabs_work_on_two_piles(
    page: Any, served: Started, photos: Path, tmp_path: Path
) -> None:
    words = tmp_path / "words.txt"
    words.write_text("\n".join(f"{['red', 'blue'][k % 2]} thing number {k}" for k in range(30)))
    open_by_keyboard(page, photos)
    page.wait_for_selector(".question .choice")
    other = page.context.new_page()
    other.goto(served.address + "/start")
    other.wait_for_selector(".recent")
    open_by_keyboard(other, words, "tfidf")
    other.wait_for_selector(".question .choice")
    page.keyboard.press("u")
    counts(page, 1)
    for k in range(2):
        other.keyboard.press("u")
        counts(other, k + 1)
    page.reload()
    counts(page, 1)
    expect(page.locator(".brand")).to_contain_text("photos")
    expect(other.locator(".brand")).to_contain_text("words")


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_start_and_finish_fit_a_phone_and_everything_has_a_name(
    open_page: Callable[..., Any], served: Started, photos: Path, colours: str
) -> None:
    page = open_page(served, ready=".demo", phone=True, is_mobile=False, color_scheme=colours)
    check = partial(_fits_and_is_named, page)
    check("start")
    page.tap(".drop-zone button.primary")
    page.wait_for_selector(".picker-list")
    check("choosing a folder")
    page.tap("[aria-label=Close]")
    page.fill("#path", str(photos))
    page.tap(".path-form button")
    page.tap(".inspection >> text=Advanced")
    check("what was found")
    page.check("input[value=pixels]")
    page.tap("text=Start sorting")
    page.wait_for_selector(".question .choice")
    page.goto(page.url.replace("/?", "/finish?"))
    page.wait_for_selector(".export")
    page.check("input[value=folders]")
    page.tap("form button >> text=Preview")
    page.wait_for_selector(".plan")
    check("finish")
    page.select_option("#other-format", "coco")
    expect(page.locator(".plan")).to_have_count(0)
    expect(page.locator(".option-card input:checked")).to_have_count(0)
    page.tap("text=Preview")
    expect(page.locator(".plan")).to_contain_text("-coco")
    check("other formats")


def _fits_and_is_named(page: Any, where: str) -> None:
    fits_width(page)
    nameless = page.evaluate(
        """() => [...document.querySelectorAll('main button, main input, main select, main a')]
        .filter(e => !(e.ariaLabel || e.textContent.trim() || e.labels?.length))
        .map(e => e.outerHTML)"""
    )
    assert nameless == [], where
    small = page.evaluate(
        """() => [...document.querySelectorAll('main button, main .option-card')]
        .filter(e => e.getBoundingClientRect().height < 44).map(e => e.textContent)"""
    )
    assert small == [], where


def test_twenty_new_photos_are_announced_looked_at_corrected_and_done(
    page: Any, served: Started, photos: Path
) -> None:
    open_by_keyboard(page, photos)
    page.wait_for_selector(".question .choice")
    page.keyboard.press("u")
    counts(page, 1)
    served.stop()
    for k in range(20):
        Image.new("RGB", (48, 32), (20, 150 + 3 * k, 30)).save(photos / f"new-{k:02}.png")
    served.start()
    page.reload()
    notice = page.get_by_text("20 new pictures were placed.")
    expect(notice).to_be_visible()
    page.get_by_role("link", name="Review them").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("20 new pictures")
    expect(page.locator(".new-grid li")).to_have_count(20)
    assert broken_rules(page) == []
    page.locator(".new-grid li").first.get_by_role("button", name="Move").click()
    page.locator("dialog [role=option]").last.click()
    expect(page.locator(".toast")).to_be_visible()
    page.get_by_role("button", name="All of these are right").click()
    page.wait_for_selector(".question .choice")
    expect(notice).to_have_count(0)
    counts(page, 2)
