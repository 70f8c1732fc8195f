"""A messy folder, from dropping it into the page to albums and tags for a photo manager."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from browsing import becomes, broken_rules, expect, needs_browser
from page_person import Person
from start_page import Started, dropped

pytestmark = needs_browser
COLOURS = {"red": (200, 40, 40), "green": (40, 170, 60), "blue": (40, 70, 200)}
HEIC = Path(__file__).parents[1] / "sources" / "files" / "pictures" / "phone.heic"
DATE_TIME, ORIGINAL = 0x9003, 0x8769

BATCH = (
    """() => [...document.querySelectorAll(".review-item")].map((one) => one.ariaLabel).join()"""
)
"""The items to review; none once nothing is left."""


@pytest.fixture
def messy(tmp_path: Path) -> Path:
    """Nested folders, five formats, a burst, a very large picture, and files that are none."""
    rng = np.random.default_rng(0)
    folder = tmp_path / "messy"
    (folder / "Trip 2024" / "more").mkdir(parents=True)
    for k in range(45):
        name = list(COLOURS)[k % 3]
        noise = rng.integers(-25, 25, (16, 16, 3))
        pixels = np.clip(np.array(COLOURS[name]) + noise, 0, 255).astype(np.uint8)
        where = folder / ("Trip 2024", "Trip 2024/more", ".")[k % 7 % 3]
        picture = Image.fromarray(pixels).resize((64, 48), Image.Resampling.NEAREST)
        picture.save(where / f"IMG_{k:04}_{name}.png")
    for k in range(4):  # within two seconds, and nearly the same
        picture = Image.linear_gradient("L").convert("RGB").resize((96 + k, 72))
        picture = Image.blend(picture, Image.new("RGB", picture.size, COLOURS["red"]), 0.9)
        exif = Image.Exif()
        exif.get_ifd(ORIGINAL)[DATE_TIME] = f"2024:05:01 10:00:0{k // 2}"
        picture.save(folder / f"burst_{k}_red.jpg", exif=exif)
    Image.new("RGB", (6000, 4000), COLOURS["blue"]).save(folder / "huge_blue.jpg")
    frames = [Image.new("RGB", (40, 30), (50 + k, 170, 70)) for k in range(3)]
    frames[0].save(folder / "moving_green.gif", save_all=True, append_images=frames[1:])
    (folder / "Trip 2024" / "phone_red.HEIC").write_bytes(HEIC.read_bytes())
    (folder / "corrupt_red.jpg").write_bytes(b"\xff\xd8\xff nothing")
    (folder / ".hidden.png").write_bytes(b"x")
    return folder


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Started]:
    monkeypatch.setenv("SAMEKIND_HOME", str(tmp_path / "home"))
    monkeypatch.setattr("samekind.encoders._for_images", lambda n: ("pixels", "it is quick"))
    server = Started()
    yield server
    server.stop()


def kind_of(id: str) -> str:
    return next(name for name in COLOURS if name in id)


def name_groups(page: Any, workspace: Any) -> None:
    """Give each group the name of the colour that its card shows."""
    page.click("nav >> text=Groups")
    page.wait_for_selector(".group-card")
    groups = [int(card.get_attribute("data-group")) for card in page.locator(".group-card").all()]
    for group in groups:
        first = int(workspace.session().clustering.members(group)[0])
        name = kind_of(workspace.collection.id(first))
        card = page.locator(f".group-card[data-group='{group}'] .group-name")
        card.click()
        page.keyboard.type(name)
        page.keyboard.press("Enter")
        expect(card).to_contain_text(name)


def export(page: Any, format: str, target: Path) -> None:
    page.check(f"input[value={format}]")
    page.fill("#target", str(target))
    page.get_by_role("button", name="Preview").click()
    page.wait_for_selector(".plan")
    page.locator(".plan").get_by_role("button", name="Export").click()
    expect(page.locator(".export .notice")).to_contain_text("written")


def test_a_messy_folder_is_dropped_sorted_named_reviewed_and_exported(
    served: Started, open_page: Callable[..., Any], messy: Path, tmp_path: Path
) -> None:
    page = open_page(served, ready=".drop-zone")
    assert broken_rules(page) == []
    dropped(page, messy)
    page.wait_for_selector(".question .choice")
    (workspace,) = served.workspaces._open.values()
    ids = list(workspace.collection.ids())
    assert len(ids) == 49, "a burst is one item"
    assert {"messy/Trip 2024/phone_red.HEIC", "messy/moving_green.gif"} <= set(ids)
    assert [skipped.id for skipped in workspace.collection.skipped] == ["messy/corrupt_red.jpg"]

    person = Person({id: kind_of(id) for id in ids})
    for k in range(18):
        person.answer(page, k + 1)
    becomes(page, lambda: not workspace.refitter.busy("main"))
    name_groups(page, workspace)

    page.click("nav >> text=Review")
    page.wait_for_selector(".review .verdict")
    while shown := page.evaluate(BATCH):
        page.keyboard.press("Enter")
        page.wait_for_function(f"(shown) => ({BATCH})() !== shown", arg=shown)
    expect(page.locator(".review-done h2")).to_have_text("Done")
    assert broken_rules(page) == []
    page.locator(".review-done").get_by_role("link", name="Export").click()
    page.wait_for_selector(".export")
    export(page, "albums", tmp_path / "albums")
    export(page, "xmp", tmp_path / "tags")
    assert broken_rules(page) == []

    for name in COLOURS:
        files = [file.name for file in (tmp_path / "albums" / name).rglob("*.*")]
        assert len(files) >= 15 and all(name in file for file in files), files
    assert len(list((tmp_path / "albums" / "red").rglob("burst_*"))) == 4
    tags = {file.name: file.read_text() for file in (tmp_path / "tags").rglob("*.xmp")}
    assert len(tags) == 52
    assert all(f">{kind_of(name)}<" in text for name, text in tags.items())
