"""The page in Chromium: next question after a key press, first paint, the map's frames, memory."""

from __future__ import annotations

import time
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from benchmarks.measuring import percentiles
from benchmarks.page.stage import (
    FIGURES,
    SHOWN,
    Person,
    Server,
    answers,
    chromium,
    demo,
    drawn,
    keep,
    kinds_drawn,
    kinds_of_tiles,
)

PRESSED = """() => {
  if (window.pressed) return;
  window.pressed = [];
  addEventListener("keydown", () => {
    const begun = performance.now();
    const before = document.querySelector(".question");
    const working = document.querySelector(".progress .working") !== null;
    const look = () => {
      const now = document.querySelector(".question");
      const there = now && now !== before && !now.classList.contains("none");
      const pictures = there ? [...now.querySelectorAll("img")] : [];
      if (there && pictures.every((one) => one.complete && one.naturalWidth > 0)) {
        const seen = performance.now();  // drawn in this frame; the next one tells so
        requestAnimationFrame(() =>
          window.pressed.push([seen - begun, performance.now() - begun, working ? 1 : 0]));
      } else requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  }, { capture: true });
}"""
"""Milliseconds from a key to the next question with all its pictures, and to the frame after; and
whether the groups were being refreshed when the key was pressed."""

PAINTS = """() => ({
  first_paint_ms: performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? null,
  loaded_ms: performance.getEntriesByType("navigation")[0].loadEventEnd,
  bytes: performance.getEntriesByType("resource").reduce((sum, one) => sum + one.transferSize, 0)
    + performance.getEntriesByType("navigation")[0].transferSize,
})"""

FRAMES = """(seconds) => new Promise((done) => {
  const at = [];
  const step = (now) => {
    at.push(now);
    if (now - at[0] < seconds * 1000) requestAnimationFrame(step);
    else done(at.slice(1).map((one, k) => one - at[k]));
  };
  requestAnimationFrame(step);
})"""


def main() -> None:
    """Measure the demo, a large pile, and a large map."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, nargs="?", const=FIGURES, metavar="FILE")
    parser.add_argument("--questions", type=int, default=60)
    parser.add_argument("--items", type=int, default=60_000, help="of the large pile")
    parser.add_argument("--points", type=int, default=100_000, help="of the map")
    parser.add_argument("--think", type=float, default=0.5, help="seconds before each key press")
    parser.add_argument("--only", choices=["demo", "large", "map"], help="one part")
    chosen = parser.parse_args()
    n, asked = chosen.questions, chosen.think
    with chromium("--enable-precise-memory-info") as browser:
        if chosen.only in (None, "demo"):
            with demo() as server:
                row = measure(browser, server, Person(kinds_of_tiles("shape")), n, asked)
            keep("demo", row, chosen.json)
        if chosen.only in (None, "large"):
            with drawn(chosen.items) as server:
                row = measure(browser, server, Person(kinds_drawn(chosen.items)), n, asked)
            keep("large", {"items": chosen.items, **row}, chosen.json)
        if chosen.only in (None, "map"):
            with drawn(chosen.points) as server:
                row = measure_map(browser, server)
            keep("map", {"points": chosen.points, **row}, chosen.json)


def measure(
    browser: Any, server: Server, person: Person, questions: int, think: float
) -> dict[str, Any]:
    """First paint of a page that was never seen, then so many questions by keyboard."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    begun = time.perf_counter()
    page.goto(server.entrance)
    page.wait_for_selector(".question .choice", timeout=120_000)
    first = time.perf_counter() - begun
    paints = page.evaluate(PAINTS)
    page.wait_for_timeout(1000)
    page.reload()
    page.wait_for_selector(".question .choice")
    again = page.evaluate(PAINTS)
    page.evaluate(PRESSED)
    waited: list[list[float]] = []
    while len(waited) < questions:
        waited += one(page, person, think)
    row = {
        "questions": len(waited),
        "answers": answers(page),
        "seconds_before_a_key": think,
        "next_question_ms": percentiles([shown / 1000 for shown, _, _ in waited]),
        "next_question_drawn_ms": percentiles([after / 1000 for _, after, _ in waited]),
        "under_100_ms": round(sum(shown < 100 for shown, _, _ in waited) / len(waited), 3),
        "while_refreshing": sum(bool(working) for _, _, working in waited),
        "first_question_s": round(first, 2),
        "first_visit": paints,
        "later_visit": again,
        "tab_mib": memory(browser, page),
        "server_mib": round(server.memory()),
        "faults": list(server.faults),
    }
    context.close()
    return row


def one(page: Any, person: Person, think: float) -> list[list[float]]:
    """One answer of one key; what it took, or nothing for questions of several keys."""
    page.wait_for_selector(".question .choice", timeout=60_000)
    keys = person.keys(page.evaluate(SHOWN))
    if think:
        page.wait_for_timeout(think * 1000)
    page.evaluate("() => { window.pressed.length = 0; }")
    for key in keys:
        page.keyboard.press(key)
    page.wait_for_function("() => window.pressed.length > 0", timeout=60_000)
    found: list[list[float]] = page.evaluate("() => window.pressed.slice(-1)")
    return found if len(keys) == 1 else []


def memory(browser: Any, page: Any) -> dict[str, float]:
    """MiB of the tab: what its scripts hold after a clean-up, and its process alone."""
    protocol = page.context.new_cdp_session(page)
    protocol.send("HeapProfiler.collectGarbage")
    heap = protocol.send("Runtime.getHeapUsage")["usedSize"]
    of = browser.new_browser_cdp_session().send("SystemInfo.getProcessInfo")["processInfo"]
    tabs = [private_mib(int(one["id"])) for one in of if one["type"] == "renderer"]
    return {"scripts": round(heap / 2**20, 1), "process": max(tabs, default=0.0)}


def private_mib(process: int) -> float:
    """MiB that a process shares with no other."""
    try:
        rows = Path(f"/proc/{process}/smaps_rollup").read_text(encoding="utf-8").splitlines()
    except OSError:
        return 0.0
    private = [int(row.split()[1]) for row in rows if row.startswith("Private_")]
    return round(sum(private) / 1024, 1)


# -- the map --------------------------------------------------------------------------------------


def measure_map(browser: Any, server: Server) -> dict[str, Any]:
    """Frames per second of a large map: at rest, dragged, zoomed, and while its points travel."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    begun = time.perf_counter()
    page.goto(server.origin + "/map")
    page.wait_for_selector("canvas", timeout=300_000)
    page.wait_for_function("() => document.querySelectorAll('.legend li').length > 0")
    first = time.perf_counter() - begun
    page.wait_for_selector("text=Items that look alike", timeout=500_000)
    settled = time.perf_counter() - begun
    travel = page.evaluate(FRAMES, 1.0)
    page.wait_for_timeout(1500)
    rows = {"travelling": travel}
    box = page.locator("canvas").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    for name, act in (("dragged", drag), ("zoomed", zoom)):
        page.evaluate(f"() => {{ window.frames_ = ({FRAMES})(3) }}")
        act(page, x, y)
        rows[name] = page.evaluate("() => window.frames_")
    kind = "flat" if page.locator("text=Drawn without WebGL").count() else "webgl"
    row = {
        "drawn_by": kind,
        "renderer": page.evaluate(RENDERER),
        "first_sketch_s": round(first, 2),
        "neighbours_s": round(settled, 1),
        "frames": {name: frames(found) for name, found in rows.items()},
        "tab_mib": memory(browser, page),
        "server_mib": round(server.memory()),
        "faults": list(server.faults),
    }
    context.close()
    return row


RENDERER = """() => {
  const gl = document.createElement("canvas").getContext("webgl2");
  const more = gl?.getExtension("WEBGL_debug_renderer_info");
  return gl ? gl.getParameter(more ? more.UNMASKED_RENDERER_WEBGL : gl.RENDERER) : "none";
}"""


def drag(page: Any, x: float, y: float) -> None:
    """Move the map about for about three seconds."""
    page.mouse.move(x, y)
    page.mouse.down()
    until = time.perf_counter() + 3
    k = 0
    while time.perf_counter() < until:
        k += 1
        page.mouse.move(x + 120 * ((k % 20) / 10 - 1), y + 60 * ((k % 14) / 7 - 1))
        page.wait_for_timeout(12)
    page.mouse.up()


def zoom(page: Any, x: float, y: float) -> None:
    """Turn the wheel for about three seconds, in and out."""
    page.mouse.move(x, y)
    until = time.perf_counter() + 3
    k = 0
    while time.perf_counter() < until:
        k += 1
        page.mouse.wheel(0, -60 if k % 30 < 15 else 60)
        page.wait_for_timeout(12)


def frames(gaps: list[float]) -> dict[str, float]:
    """Frames per second, and the longest waits between two."""
    told = percentiles([gap / 1000 for gap in gaps])
    return {"per_second": round(1000 * len(gaps) / sum(gaps), 1), **told}


if __name__ == "__main__":
    main()
