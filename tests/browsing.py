"""Shared by all tests in a real browser: Chromium, a server that can be stopped, pages."""

from __future__ import annotations

import re
import shutil
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
import uvicorn

from places import ROOT
from samekind.protocols import View
from samekind.questions import Question
from samekind.web.app import PAGE, create_app
from samekind.web.server import listen
from samekind.workspace.workspace import Workspace
from samekind.workspace.workspaces import Workspaces
from waiting import PATIENCE, until

playwright_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed.")
expect = playwright_api.expect
expect.set_options(timeout=1000 * PATIENCE)
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "chrome"))), None)
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
needs_browser = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="There is no Chromium on this machine."),
    pytest.mark.skipif(
        not (PAGE / "index.html").is_file(),
        reason="The page is not built: cd page && npm ci && npm run build.",
    ),
]


class Served:
    """A workspace behind a real server, which can be stopped and started at the same port."""

    lifespan: Any = "off"  # the workspace outlives the server

    def __init__(self, workspace: Workspace | None = None) -> None:
        self.workspace, self.port = workspace, 0
        self.start()

    def start(self) -> None:
        listener = listen("127.0.0.1", self.port)
        self.port = listener.getsockname()[1]
        config = uvicorn.Config(
            self.app(), log_level="error", lifespan=self.lifespan, timeout_graceful_shutdown=1
        )
        self.server = uvicorn.Server(config)
        self.thread = threading.Thread(target=self.server.run, kwargs={"sockets": [listener]})
        self.thread.start()

    def app(self) -> Any:
        """Build the application to serve."""
        assert self.workspace is not None
        return create_app(Workspaces.around(self.workspace), port=self.port)

    def stop(self) -> None:
        self.server.should_exit = True
        self.thread.join()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"


ALLOWED_MESSAGES = ("Failed to load resource", "GL Driver Message", "net::ERR")
"""Console messages that do not fail a test."""


class Pages:
    """Opens pages; errors, console messages, and requests to other servers fail the test."""

    def __init__(self, browsers: Callable[[str], Any]) -> None:
        self._browsers = browsers
        self.contexts: list[Any] = []
        self._servers: list[Served] = []
        self._messages: list[str] = []

    def __call__(
        self,
        target: Workspace | Served | str,
        path: str = "/",
        *,
        ready: str = ".question .choice",
        phone: bool = False,
        flag: str = "",
        before: Callable[[Any], object] = bool,
        **options: Any,
    ) -> Any:
        """Open a page and wait until it is ready.

        Parameters
        ----------
        target : an address, a server, or a workspace, which gets a server of its own.
        ready : a selector that the page matches once it is ready.
        flag : one more flag for Chromium.
        before : is called with the page before it is loaded.
        """
        if isinstance(target, Workspace):
            target = Served(target)
            self._servers.append(target)
        address = target if isinstance(target, str) else target.address
        size = {"width": 390, "height": 844} if phone else {"width": 1280, "height": 800}
        chosen = {"viewport": size, "has_touch": phone, "is_mobile": phone, **options}
        context = self._browsers(flag).new_context(**chosen)
        context.set_default_timeout(1000 * PATIENCE)
        self.contexts.append(context)
        context.on("request", lambda request: self._check(request.url, address))
        context.on("weberror", lambda error: self._messages.append(str(error.error)))
        context.on("console", lambda message: self._messages.append(message.text))
        page = context.new_page()
        before(page)
        page.goto(address + ("" if path == "/" else path))
        page.wait_for_selector(ready)
        return page

    def _check(self, url: str, address: str) -> None:
        if not url.startswith(("data:", "blob:", address.split("?")[0].rstrip("/"))):
            self._messages.append(f"a request to {url}")

    def close(self) -> None:
        for context in self.contexts:
            for page in context.pages:  # a faked reply may still be on its way
                page.unroute_all(behavior="ignoreErrors")
            context.close()
        for server in self._servers:
            server.stop()
        told = [text for text in self._messages if not any(m in text for m in ALLOWED_MESSAGES)]
        assert told == []


def press(page: Any, key: str, answers: int) -> None:
    """Press a key and wait until the page counts so many answers."""
    page.keyboard.press(key)
    counts(page, answers)


def counts(page: Any, answers: int) -> None:
    """Wait until the page counts so many answers."""
    expect(page.locator(".progress span").first).to_have_text(re.compile(f"^{answers} answers?$"))


def lays_out(page: Any, faults: str, *args: Any) -> None:
    """Wait until a script finds no fault: a page measures itself once it is drawn."""
    found: list[Any] = []

    def is_faultless() -> bool:
        found[:] = page.evaluate(faults, *args)
        return not found

    try:
        becomes(page, is_faultless)
    except AssertionError:
        raise AssertionError(f"The layout has faults: {found}") from None


STILL = """async (selector) => {
  const places = () => JSON.stringify([...document.querySelectorAll(selector)].map((one) => one.getBoundingClientRect()));
  const before = places();
  for (let k = 0; k < 3; k += 1) await new Promise(requestAnimationFrame);
  return before === places();
}"""


def stands_still(page: Any, selector: str) -> None:
    """Wait until elements stay where they are, before the mouse goes to where they were seen."""
    becomes(page, lambda: page.evaluate(STILL, selector))


def fits_width(page: Any) -> None:
    """Wait until nothing is wider than the window."""
    becomes(page, lambda: page.evaluate("() => document.documentElement.scrollWidth <= innerWidth"))


def fits_screen(page: Any) -> None:
    """Wait until nothing needs scrolling."""
    fits_width(page)
    fits = "() => document.documentElement.scrollHeight <= innerHeight"
    becomes(page, lambda: page.evaluate(fits))


def becomes(page: Any, condition: Callable[[], object]) -> None:
    """Wait until a condition holds, while the page goes on."""
    until(condition, lambda seconds: page.wait_for_timeout(1000 * seconds))


@dataclass(frozen=True)
class EveryKind:
    """Asks these questions, one after the other."""

    questions: tuple[Question, ...]

    def propose(self, view: View, n: int = 1) -> Sequence[Question]:
        return self.questions[view.spent : view.spent + 1]


class Finger:
    """A finger on the screen, through the browser's own protocol."""

    def __init__(self, page: Any) -> None:
        self.page, self.to = page, page.context.new_cdp_session(page)

    def _send(self, kind: str, *points: tuple[float, float]) -> None:
        touching = [{"x": x, "y": y} for x, y in points]
        self.to.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": touching})

    def swipe(self, x: float, y: float, dx: float, dy: float = 0, steps: int = 8) -> None:
        self._send("touchStart", (x, y))
        for k in range(1, steps + 1):
            self._send("touchMove", (x + dx * k / steps, y + dy * k / steps))
        self._send("touchEnd")

    def hold(self, x: float, y: float, look: Callable[[], None]) -> None:
        self._send("touchStart", (x, y))
        look()
        self._send("touchEnd")


AXE = ROOT / "page" / "node_modules" / "axe-core" / "axe.min.js"
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]
"""Tags of the rules of axe."""


def broken_rules(page: Any) -> list[str]:
    """What axe finds on the page as it is now."""
    page.wait_for_function("() => [...document.images].every((one) => one.complete)")
    page.evaluate(AXE.read_text())
    result = page.evaluate(
        "rules => axe.run(document, {runOnly: {type: 'tag', values: rules}})", RULES
    )
    assert result["passes"]  # it really ran
    return [
        f"{one['id']} ({one['impact']}): {node['html'][:150]} {node['failureSummary']}"
        for one in result["violations"]
        for node in one["nodes"][:3]
    ]
