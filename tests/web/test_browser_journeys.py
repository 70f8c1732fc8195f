"""Whole journeys on the demo in a real browser, by someone who sees only what the page shows."""

from __future__ import annotations

import csv
import os
import re
import signal
import subprocess
import sys
import threading
from collections import Counter
from itertools import cycle
from pathlib import Path
from typing import Any

import httpx
import pytest

from browsing import Served, becomes, expect, fits_screen, needs_browser
from demo_tiles import Tiles
from page_person import ANSWERED, COUNTED, SEEN, Person
from samekind.workspace.workspace import Workspace

pytestmark = needs_browser


@pytest.fixture
def workspace(tile_workspace: Workspace) -> Workspace:
    """The demo, for the fixture `served`."""
    return tile_workspace


def rows_of(download: Any) -> list[dict[str, str]]:
    with download.value.path().open(encoding="utf-8", newline="") as table:
        return list(csv.DictReader(table))


def refreshed(page: Any) -> None:
    """Wait until the groups are up to date."""
    page.wait_for_function("() => !document.querySelector('.progress .working')")


def test_from_thirty_key_presses_to_an_exported_grouping_and_another_orientation(
    served: Served, workspace: Workspace, tiles: Tiles, open_page: Any
) -> None:
    page = open_page(served)
    person = Person(tiles.kinds["colour"])
    for k in range(30):
        person.answer(page, k + 1)
    page.keyboard.press("z")
    page.wait_for_function(COUNTED, arg=29)
    person.answer(page, 30)
    assert (
        len(workspace.session().answers) == 30 and workspace.session().constraints.conflicts == ()
    )
    page.keyboard.press("q")
    page.wait_for_selector(".export")
    page.click("nav >> text=Groups")
    page.wait_for_selector(".group-card")
    refreshed(page)
    page.locator(".group-name").first.click()
    page.keyboard.type("My favourites")
    page.keyboard.press("Enter")
    page.wait_for_selector(".group-name:has-text('My favourites')")
    page.click("nav >> text=Finish")
    page.wait_for_selector(".export")
    with page.expect_download() as download:
        page.click("text=Download")
    rows = rows_of(download)
    assert len(rows) == 384 and "My favourites" in {row["name"] for row in rows}
    pairs = Counter((row["group"], tiles.kinds["colour"][row["id"]]) for row in rows)
    assert sum(n for _, n in pairs.most_common(4)) >= 0.95 * 384
    page.click("nav >> text=Groupings")
    page.fill(".new-orientation input", "by shape")
    page.keyboard.press("Enter")
    page.wait_for_function(COUNTED, arg=0)
    Person(tiles.kinds["shape"]).answer(page, 1)
    page.click("nav >> text=Groupings")
    page.click(".orientation-list >> text=main")
    page.wait_for_function(COUNTED, arg=30)
    assert workspace.names() == ["main", "by shape"]


def test_an_edit_that_contradicts_a_lasso_is_shown_large_and_settled(
    served: Served, workspace: Workspace, tiles: Tiles, open_page: Any
) -> None:
    page = open_page(served)
    person = Person(tiles.kinds["colour"])
    for k in range(8):
        person.answer(page, k + 1)
    apart = next(a for a in workspace.session().answers if a.choice in ("none", "different"))
    together = list(apart.question.items())[:2]
    reply = httpx.post(
        f"{served.address}/api/acts/together",
        json={"items": together, "set_aside": True},
        trust_env=False,
    )
    assert reply.status_code == 200, reply.text
    address = f"{served.address}/api/answers/{apart.number}/restore"
    assert httpx.post(address, json={}, trust_env=False).status_code == 200
    page.click(".notice >> text=Review")
    page.wait_for_selector(".settle .question")
    page.wait_for_function("() => [...document.images].every((one) => one.complete)")
    boxes = [one.bounding_box() for one in page.locator(".settle .question .item").all()]
    assert len(boxes) >= 2
    assert min(min(box["width"], box["height"]) for box in boxes) >= 60, "large enough to see"
    page.keyboard.press("n")
    page.wait_for_selector("text=No answers contradict each other.")
    assert workspace.session().constraints.conflicts == ()


def test_two_tabs_answer_at_once_and_every_answer_belongs_to_what_was_shown(
    served: Served, workspace: Workspace, tiles: Tiles, open_page: Any
) -> None:
    tabs = [open_page(served), open_page(served)]
    kinds = tiles.kinds["colour"]
    person = Person(kinds)
    turns = cycle(tabs)

    def enough() -> bool:
        tab = next(turns)
        # While an answer is on its way, a key could reach the question after the one seen.
        seen = tab.evaluate(SEEN) if tab.query_selector(ANSWERED) is None else None
        for key in person.choice(seen) if seen else []:
            tab.keyboard.press(key)
        return len(workspace.session().answers) >= 16

    becomes(tabs[0], enough)
    for page in tabs:
        page.wait_for_function(COUNTED, arg=len(workspace.session().answers))
    told = workspace.session().answers
    assert len(told) == len({answer.number for answer in told}) >= 16
    colour = [kinds[tiles.collection.id(k)] for k in range(len(tiles.collection))]
    for answer in told:
        true = answer.question.truthful(lambda a, b: colour[a] == colour[b])
        assert answer.choice == true, answer.question
    assert workspace.session().constraints.conflicts == ()


def test_on_a_phone_ten_taps_lead_to_groups_with_names(
    served: Served, workspace: Workspace, tiles: Tiles, open_page: Any
) -> None:
    page = open_page(served, phone=True)
    person = Person(tiles.kinds["colour"])
    named = {"y": "same", "n": "different", "0": "none"}
    for k in range(10):
        page.wait_for_selector(".question .choice")
        *marks, last = person.choice(page.evaluate(SEEN))
        last = {"Enter": "none"}.get(last, named.get(last, last))
        for key in [*(str("1234567890-=".index(mark) + 1) for mark in marks), last]:
            page.tap(f".question [data-choice='{key}']")
        page.wait_for_function(COUNTED, arg=k + 1)
        fits_screen(page)
    page.tap("nav >> text=Groups")
    page.wait_for_selector(".group-card")
    refreshed(page)
    page.locator(".group-name").first.tap()
    page.keyboard.type("Kind")
    page.keyboard.press("Enter")
    page.wait_for_selector(".group-name:has-text('Kind')")
    assert len(workspace.session().answers) == 10


# -- a server that is killed ----------------------------------------------------------------------


class Process:
    """``samekind serve`` as a process, which can be killed and started at the same port."""

    def __init__(self, home: Path, pile: Path, port: int = 0) -> None:
        words = ["serve", str(pile), "--encoder", "pixels", "--port", str(port)]
        self.running = subprocess.Popen(
            [sys.executable, "-m", "samekind", *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, "SAMEKIND_HOME": str(home), "OMP_NUM_THREADS": "1"},
        )
        assert self.running.stdout is not None
        said = ""
        while not (found := re.search(r"http://127\.0\.0\.1:(\d+)/\S*", said)):
            line = self.running.stdout.readline()
            assert line, f"the server ended: {said}"
            said += line
        self.address, self.port = found[0], int(found[1])
        threading.Thread(target=self.running.stdout.read, daemon=True).start()

    def kill(self) -> None:
        self.running.send_signal(signal.SIGKILL)
        self.running.wait()


def test_a_server_killed_in_the_middle_loses_nothing_and_the_open_tab_goes_on(
    tiles: Tiles, open_page: Any, tmp_path: Path
) -> None:
    pile = tmp_path / "tiles"
    pile.mkdir()
    for k in range(0, 384, 4):
        item = tiles.collection[k]
        item.load().save(pile / f"{item.id}.png")
    kinds = {f"{name}.png": kind for name, kind in tiles.kinds["colour"].items()}
    person = Person(kinds)
    server = Process(tmp_path / "home", pile)
    try:
        page = open_page(server.address)
        for k in range(6):
            person.answer(page, k + 1)
        server.kill()
        keys = person.choice(page.evaluate(SEEN))
        for key in keys:
            page.keyboard.press(key)
        page.wait_for_selector("text=Your answer is not saved yet")
        server = Process(tmp_path / "home", pile, server.port)
        page.wait_for_function(COUNTED, arg=7)
        expect(page.locator(".notice.warning")).to_have_count(0)
        for k in range(7, 12):
            person.answer(page, k + 1)
        page.reload()
        page.wait_for_function(COUNTED, arg=12)
        expect(page.locator(".chip")).to_have_count(10)
    finally:
        server.kill()
