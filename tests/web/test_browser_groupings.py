"""Groupings in a real browser: begun from folders, renamed, deleted, restored, and nested."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from browsing import Served, expect, fits_width, needs_browser
from grouped_photos import write_photos
from samekind.workspace.pile import Request
from samekind.workspace.workspace import Workspace

pytestmark = needs_browser


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workspace]:
    """Photos in folders, for the fixture `served`."""
    monkeypatch.setenv("SAMEKIND_HOME", str(tmp_path / "home"))
    request = Request(str(write_photos(tmp_path / "photos")), encoder="pixels").remembered()
    found = Workspace.of(request, request.pile(request.items()))
    yield found
    found.close()


@pytest.mark.parametrize("phone", [False, True])
def test_folders_become_a_grouping_that_is_renamed_deleted_restored_and_sorted_further(
    served: Served, open_page: Any, phone: bool
) -> None:
    page = open_page(served, "/groupings", ready=".orientation-list li", phone=phone)
    page.fill(".new-orientation input", "folders")
    page.get_by_label("Begin with").select_option(label="The folders (3 groups)")
    page.click("text=Create")
    expect(page.locator(".group-card")).to_have_count(3)
    expect(page.locator(".group-name").first).to_contain_text("/")
    page.goto(served.address + "/groupings?session=folders")
    page.get_by_role("button", name="Rename main").click()
    page.keyboard.press("Control+A")
    page.keyboard.type("by mood")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Delete by mood").click()
    expect(page.locator("main > .orientation-list").first.locator("li")).to_have_count(1)
    expect(page.get_by_role("button", name="Delete folders")).to_be_visible()
    page.click("summary:has-text('1 deleted grouping')")
    page.click("text=Restore")
    expect(page.get_by_role("link", name="by mood")).to_be_visible()
    page.fill(".new-orientation input", "shades")
    page.get_by_label("Items").select_option(label="Only cold/blue (8 items)")
    page.click("text=Create")
    expect(page.locator(".brand .muted")).to_contain_text("photos: cold/blue")
    page.wait_for_selector(".question .choice")
    shown = page.locator(".question .item").evaluate_all("(all) => all.map((one) => one.title)")
    assert shown and all("blue" in id for id in shown)
    page.goto(page.url.replace("/?", "/groupings?"))
    page.click("text=All items, grouped as folders")
    expect(page.locator(".orientation-list >> text=shades")).to_be_visible()
    fits_width(page)


def test_a_csv_file_of_the_person_becomes_a_grouping(
    served: Served, open_page: Any, workspace: Workspace, tmp_path: Path
) -> None:
    page = open_page(served, "/groupings", ready=".orientation-list li")
    rows = [f"{Path(id).name},{Path(id).parts[0]}" for id in workspace.collection.ids()]
    table = tmp_path / "mine.csv"
    table.write_text("file,group\n" + "\n".join(rows))
    page.fill(".new-orientation input", "from my table")
    page.get_by_label("Begin with").select_option(label="A file with my groups")
    page.set_input_files("input[type=file]", table)
    page.click("text=Create")
    expect(page.locator(".group-card")).to_have_count(2)
    expect(page.locator(".group-name:has-text('warm')")).to_be_visible()
