"""A new user's tour through the page by key presses: by shape, by colour; with pictures of it.

``--pictures docs/pictures`` renews the pictures of the documentation.
"""

from __future__ import annotations

import csv
import io
import shutil
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from PIL import Image

from benchmarks.page.stage import FIGURES, Person, chromium, demo, keep, kinds_of_tiles

SIZES: dict[str, dict[str, Any]] = {
    "light": {"viewport": {"width": 1280, "height": 800}, "color_scheme": "light"},
    "dark": {"viewport": {"width": 1280, "height": 800}, "color_scheme": "dark"},
    "phone": {
        "viewport": {"width": 390, "height": 844},
        "has_touch": True,
        "is_mobile": True,
        "color_scheme": "light",
    },
}
VIEWS = {
    "ask": ("/", ".question .choice"),
    "groups": ("/groups", ".group-card"),
    "group": ("/groups/{group}", ".members figure"),
    "map": ("/map", "text=Items that look alike"),
    "progress": ("/progress", ".verdict"),
    "answers": ("/answers", ".answer"),
    "orientations": ("/groupings", ".orientation-list"),
    "compare": ("/compare", "main"),
    "finish": ("/finish", ".export"),
    "start": ("/start", "text=What would you like to sort?"),
}
MOST = 39
"""Under forty questions."""


def main() -> None:
    """Walk through the page, measure it, and take pictures where they are wanted."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, nargs="?", const=FIGURES, metavar="FILE")
    parser.add_argument("--pictures", type=Path, help="folder for the pictures")
    parser.add_argument("--think", type=float, default=1.5, help="seconds to look at a question")
    parser.add_argument("--only", choices=["tour", "views", "film"], help="one part")
    chosen = parser.parse_args()
    parts: dict[str, Callable[[Any, Namespace], None]] = {
        "tour": tour,
        "views": views,
        "film": film,
    }
    with chromium() as browser:
        for name, part in parts.items():
            if chosen.only in (None, name) and (name == "tour" or chosen.pictures):
                part(browser, chosen)


def save(data: bytes, file: Path) -> None:
    """A picture of the screen in 256 colours, which is enough for a drawn page."""
    picture = Image.open(io.BytesIO(data)).convert("RGB")
    in_few_colours(picture, 256).save(file, optimize=True)


def in_few_colours(picture: Image.Image, colours: int) -> Image.Image:
    """Fewer colours; those of small things, as the dots of groups, are kept."""
    covering = Image.Quantize.MAXCOVERAGE
    return picture.quantize(colours, covering, kmeans=1, dither=Image.Dither.NONE)


# -- the tour of the tutorial ---------------------------------------------------------------------


def tour(browser: Any, chosen: Namespace) -> None:
    """From the command to an exported grouping by shape, then by colour."""
    begun = time.perf_counter()
    with demo() as server:
        ready = time.perf_counter() - begun
        context = browser.new_context(**SIZES["light"], accept_downloads=True)
        page = context.new_page()

        def picture(name: str) -> None:
            if chosen.pictures:
                page.wait_for_timeout(700)
                save(page.screenshot(), chosen.pictures / f"page-tutorial-{name}.png")

        page.goto(server.entrance)
        page.wait_for_selector(".question .choice")
        picture("1-first")
        shape = sort(page, "shape", chosen.think, picture)
        shape["seconds_from_command"] = round(time.perf_counter() - begun, 1)
        page.click("nav >> text=Groupings")
        page.fill(".new-orientation input", "colour")
        picture("5-orientation")
        begun_colour = time.perf_counter()
        page.keyboard.press("Enter")
        page.wait_for_selector(".question .choice")
        colour = sort(page, "colour", chosen.think, picture)
        colour["seconds_from_command"] = round(time.perf_counter() - begun_colour, 1)
        page.goto(server.origin + "/compare?session=colour")
        picture("7-compare")
        context.close()
        faults = list(server.faults)
    row = {"seconds_to_look": chosen.think, "server_ready_s": round(ready, 1)}
    keep("tour", {**row, "shape": shape, "colour": colour, "faults": faults}, chosen.json)


def sort(page: Any, by: str, think: float, picture: Callable[[str], None]) -> dict[str, Any]:
    """Answer until the page says that one may stop, name the groups, take them home."""
    kinds = kinds_of_tiles(by)
    person = Person(kinds)
    begun = time.perf_counter()
    questions = 0
    for questions in range(1, MOST + 1):
        if not person.answer(page, think) or page.locator(".quality.enough").count():
            break
        if by == "shape" and questions == 12:
            picture("2-later")
    answered = time.perf_counter() - begun
    page.click("nav >> text=Groups")
    page.wait_for_selector(".group-card")
    page.wait_for_selector(".progress span.working", state="detached")
    page.wait_for_timeout(500)
    name_groups(page, kinds)
    picture("3-groups" if by == "shape" else "6-colours")
    page.click("nav >> text=Finish")
    page.wait_for_selector(".export")
    page.click("text=CSV table")
    with page.expect_download() as download:
        page.click("text=Download")
    if by == "shape":
        picture("4-finish")
    with download.value.path().open(encoding="utf-8", newline="") as table:
        rows = list(csv.DictReader(table))
    return {
        "questions": questions,
        "answering_s": round(answered, 1),
        "to_the_file_s": round(time.perf_counter() - begun, 1),
        "file": download.value.suggested_filename,
        "groups": len({row["group"] for row in rows}),
        "in_place": round(in_place(rows, kinds), 4),
    }


def name_groups(page: Any, kinds: dict[str, str]) -> None:
    """Click on each name and type what is seen on the first picture."""
    for k in range(page.locator(".group-card").count()):
        card = page.locator(".group-card").nth(k)
        seen = card.locator(".representatives .item").first.get_attribute("title")
        card.locator(".group-name").click()
        card.locator("input:not([type=checkbox])").fill(kinds[seen].capitalize() + "s")
        page.keyboard.press("Enter")
        page.wait_for_timeout(300)


def in_place(rows: list[dict[str, str]], kinds: dict[str, str]) -> float:
    """Share of items that are in the group that holds most of their kind, one group per kind."""
    from collections import Counter

    counts = Counter((row["group"], kinds[row["id"]]) for row in rows)
    right, groups, kinds_taken = 0, set(), set()
    for (group, kind), n in counts.most_common():
        if group not in groups and kind not in kinds_taken:
            groups.add(group)
            kinds_taken.add(kind)
            right += n
    return right / len(rows)


# -- every view in light, dark and on a phone -----------------------------------------------------


@contextmanager
def sorted_demo(browser: Any) -> Iterator[Any]:
    """The tiles sorted by shape and by colour, and with a contradiction by count."""
    with demo() as server:
        context = browser.new_context(**SIZES["light"])
        page = context.new_page()
        page.goto(server.entrance)
        for name, questions in (("main", 34), ("colour", 26), ("count", 8)):
            if name != "main":
                page.goto(server.origin + "/groupings")
                page.fill(".new-orientation input", name)
                page.keyboard.press("Enter")
            page.wait_for_selector(".question .choice")
            kinds = kinds_of_tiles("shape" if name == "main" else name)
            person = Person(kinds)
            for _ in range(questions):
                person.answer(page, 0.15)
            page.wait_for_selector(".progress span.working", state="detached")
            if name != "count":
                page.goto(f"{server.origin}/groups?session={name}")
                page.wait_for_selector(".group-card")
                name_groups(page, kinds)
        contradict(page)
        yield server
        context.close()


def contradict(page: Any) -> None:
    """Say of an item that it is one kind with two that were told apart."""
    page.evaluate("""async () => {
      const at = (what) => fetch(`/api/${what}session=count`).then((reply) => reply.json());
      const told = (await at("answers?limit=100&")).answers.filter((one) => one.choice === "none");
      const ids = [told[0].question.items[0].id, told[0].question.choices[0].exemplars[0].id];
      const other = ids.map((id) => Number(id.split("-")[1]));
      await fetch("/api/acts/together?session=count", {
        method: "POST", body: JSON.stringify({ items: other }),
        headers: { "Content-Type": "application/json" },
      });
    }""")


def views(browser: Any, chosen: Namespace) -> None:
    """Pictures of each view in light, dark and phone size."""
    with sorted_demo(browser) as server:
        for look, options in SIZES.items():
            context = browser.new_context(**options)
            page = context.new_page()
            page.goto(server.entrance)
            page.wait_for_selector(".question .choice")
            group = page.evaluate(
                "() => fetch('/api/groups').then((r) => r.json()).then((l) => l.groups[0].number)"
            )
            for name, (path, sign) in VIEWS.items():
                page.goto(server.origin + path.format(group=group))
                page.wait_for_selector(sign)
                page.wait_for_timeout(5000 if name in ("map", "progress", "compare") else 900)
                save(page.screenshot(), chosen.pictures / f"page-{name}-{look}.png")
            if look == "light":
                shutil.copy(chosen.pictures / "page-ask-light.png", chosen.pictures / "ask.png")
            page.goto(server.origin + "/conflicts?session=count")
            page.wait_for_selector(".clash-card")
            page.wait_for_timeout(900)
            save(page.screenshot(), chosen.pictures / f"page-conflicts-{look}.png")
            context.close()


# -- a short moving picture -----------------------------------------------------------------------


def film(browser: Any, chosen: Namespace) -> None:
    """Questions on the left, and beside them the map that re-arranges along the answers."""
    frames: list[tuple[Image.Image, int]] = []
    with demo() as server:
        context = browser.new_context(viewport={"width": 880, "height": 660})
        asking, chart = context.new_page(), context.new_page()
        asking.goto(server.entrance)
        asking.wait_for_selector(".question .choice")
        chart.goto(server.origin + "/map")
        chart.wait_for_selector("text=Items that look alike")
        chart.wait_for_timeout(1500)
        person = Person(kinds_of_tiles("shape"))

        def frame(milliseconds: int) -> None:
            both = Image.new("RGB", (880, 330), "#ffffff")
            for k, page in enumerate((asking, chart)):
                shot = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
                both.paste(shot.resize((438, 328), Image.Resampling.LANCZOS), (442 * k, 1))
            frames.append((both, milliseconds))

        version = map_version(chart)
        for k in range(20):
            frame(450)
            asking.bring_to_front()
            person.answer(asking)
            if k % 5 == 4:
                version = moved(chart, version, frame)
        frame(2500)
        context.close()
    some = [picture for picture, _ in frames[:: max(1, len(frames) // 6)]]
    whole = Image.new("RGB", (880, 330 * len(some)))
    for k, picture in enumerate(some):
        whole.paste(picture, (0, 330 * k))
    palette = in_few_colours(whole, 160)
    pictures = [one.quantize(palette=palette, dither=Image.Dither.NONE) for one, _ in frames]
    pictures[0].save(
        chosen.pictures / "page.gif",
        save_all=True,
        append_images=pictures[1:],
        duration=[milliseconds for _, milliseconds in frames],
        loop=0,
        optimize=True,
    )


def map_version(page: Any) -> int:
    told = page.evaluate("() => fetch('/api/map').then((reply) => reply.json())")
    return int(told["version"])


def moved(chart: Any, version: int, frame: Callable[[int], None]) -> int:
    """Film the map until its points have come to rest at a later layout."""
    chart.bring_to_front()
    for _ in range(100):
        if map_version(chart) > version:
            break
        chart.wait_for_timeout(100)
    for _ in range(9):
        frame(110)
    chart.wait_for_timeout(1200)
    frame(600)
    return map_version(chart)


if __name__ == "__main__":
    main()
