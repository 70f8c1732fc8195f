"""Load on the page's server: many at once on one collection, and thousands of malformed requests.

Twenty clients over HTTP and three real tabs answer on the same orientation; then requests that no
page would send, made from the OpenAPI description (needs schemathesis) and by hand.
"""

from __future__ import annotations

import random
import tempfile
import threading
import time
from argparse import ArgumentParser
from collections import Counter
from pathlib import Path
from typing import Any

import httpx

from benchmarks.measuring import percentiles
from benchmarks.page import malformed as load_requests
from benchmarks.page.stage import (
    FIGURES,
    SHOWN,
    Person,
    Server,
    chromium,
    demo,
    drawn,
    keep,
    kinds_drawn,
)

PILE = 20_000


def main() -> None:
    """Both loads, one after the other."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, nargs="?", const=FIGURES, metavar="FILE")
    parser.add_argument("--clients", type=int, default=20)
    parser.add_argument("--tabs", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=["together", "malformed"], help="one part")
    chosen = parser.parse_args()
    if chosen.only in (None, "together"):
        with drawn(PILE) as server:
            row = together(server, chosen.clients, chosen.tabs, chosen.seconds)
        keep("load", row, chosen.json)
    if chosen.only in (None, "malformed"):
        with tempfile.TemporaryDirectory() as folder, demo(cwd=Path(folder)) as server:
            row = load_requests.malformed(server, Path(folder), chosen.requests, chosen.seed)
        keep("malformed", row, chosen.json)


class Book:
    """What was confirmed to whom: the numbers of questions with the choices that were taken."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.taken: dict[int, set[str]] = {}
        self.statuses: Counter[str] = Counter()
        self.seconds: list[float] = []
        self.errors: list[str] = []

    def note(self, who: str, reply_code: int, number: int, choice: str, seconds: float) -> None:
        with self.lock:
            self.statuses[f"{who} {reply_code}"] += 1
            if reply_code == 200:
                self.taken.setdefault(number, set()).add(choice)
                self.seconds.append(seconds)

    def fault(self, words: str) -> None:
        with self.lock:
            self.errors.append(words)


def together(server: Server, clients: int, tabs: int, seconds: float) -> dict[str, Any]:
    """Let all answer at once; then compare what was confirmed with what the server holds."""
    kinds = kinds_drawn(PILE)
    book = Book()
    until = time.monotonic() + seconds + 5  # the tabs need a moment to open
    threads = [
        threading.Thread(target=client, args=(k, server.origin, kinds, book, until))
        for k in range(clients)
    ]
    with chromium() as browser:
        pages = [tab(browser, server, book) for _ in range(tabs)]
        for one in threads:
            one.start()
        person, k = Person(kinds), 0
        while time.monotonic() < until and pages:
            page = pages[k % len(pages)]
            k += 1
            page.bring_to_front()
            shown = page.evaluate(SHOWN)
            for key in person.keys(shown) if shown else []:
                page.keyboard.press(key)
            page.wait_for_timeout(250)
        for one in threads:
            one.join()
        for page in pages:
            page.wait_for_timeout(500)  # what is under way is told
    return compared(server, book) | {"clients": clients, "tabs": tabs, "seconds": seconds}


def tab(browser: Any, server: Server, book: Book) -> Any:
    """A real tab in a browser context of its own; what is confirmed to it is written down."""
    page = browser.new_context(viewport={"width": 1280, "height": 800}).new_page()

    def heard(reply: Any) -> None:
        asked = reply.request
        if asked.method == "POST" and "/api/answers" in asked.url:
            told = asked.post_data_json
            book.note("tab", reply.status, told["number"], told["choice"], 0.0)
        elif reply.status >= 500:
            book.fault(f"tab: {reply.status} {asked.method} {asked.url}")

    page.on("response", heard)
    page.on("pageerror", lambda problem: book.fault(f"tab: {problem}"))
    page.goto(server.entrance)
    page.wait_for_selector(".question .choice", timeout=120_000)
    return page


def client(k: int, origin: str, kinds: dict[str, str], book: Book, until: float) -> None:
    """Someone who answers over HTTP as fast as a quick person; sometimes not sure."""
    rng = random.Random(k)
    with httpx.Client(base_url=origin, timeout=30, trust_env=False) as http:
        while time.monotonic() < until:
            try:
                open_now = http.get("/api/question").json()["question"]
                time.sleep(rng.uniform(0.2, 0.8))
                if open_now is None:
                    continue
                choice = "unsure" if rng.random() < 0.1 else truthful(open_now, kinds)
                told = {"number": open_now["number"], "choice": choice, "by": f"client {k}"}
                begun = time.perf_counter()
                code = http.post("/api/answers", json=told).status_code
                took = time.perf_counter() - begun
                book.note("client", code, open_now["number"], choice, took)
            except httpx.HTTPError as fault:
                book.fault(f"client {k}: {fault!r}")


def truthful(question: dict[str, Any], kinds: dict[str, str]) -> str:
    """What someone says who knows the kinds of the items."""
    if question["kind"] in ("same-pair", "same-groups"):
        one, other = (
            question["parts"]
            if question["kind"] == "same-groups"
            else [[i] for i in question["items"]]
        )
        return "same" if kinds[one[0]["id"]] == kinds[other[0]["id"]] else "different"
    own = kinds[(question["parts"] or [question["items"]])[0][0]["id"]]
    shown = [
        (c["value"], kinds[c["exemplars"][0]["id"]]) for c in question["choices"] if c["exemplars"]
    ]
    if question["many"]:
        return ",".join(value for value, kind in shown if kind != own) or "none"
    own = kinds[question["items"][0]["id"]]
    return next((value for value, kind in shown if kind == own), "none")


def compared(server: Server, book: Book) -> dict[str, Any]:
    """Lost, doubled or altered answers, from the server's own list."""
    held: list[dict[str, Any]] = []
    with httpx.Client(base_url=server.origin, timeout=60, trust_env=False) as http:
        while True:
            found = http.get("/api/answers", params={"offset": len(held), "limit": 100}).json()
            held += found["answers"]
            if len(held) >= found["total"] or not found["answers"]:
                break
    counts = Counter(answer["number"] for answer in held)
    choices = {answer["number"]: answer["choice"] for answer in held}
    return {
        "items": PILE,
        "answers": len(held),
        "lost": len(book.taken.keys() - counts.keys()),
        "doubled": sum(n > 1 for n in counts.values()),
        "never_confirmed": len(counts.keys() - book.taken.keys()),
        "altered": sum(book.taken.get(n, {c}) != {c} for n, c in choices.items()),
        "by": len({answer["by"] for answer in held}),
        "replies": dict(sorted(book.statuses.items())),
        "errors": book.errors[:5],
        "error_count": len(book.errors),
        "answer_ms": percentiles([took for took in book.seconds if took]),
        "server_mib": round(server.memory()),
        "faults": server.faults[-5:],
    }


if __name__ == "__main__":
    main()
