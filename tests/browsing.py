"""What all tests in a real browser share: Chromium, a server that can be stopped, a key press."""

from __future__ import annotations

import re
import shutil
import threading
from typing import Any

import pytest
import uvicorn

from samekind.web.app import PAGE, create_app
from samekind.web.server import listen
from samekind.workspace.workspace import Workspace
from samekind.workspace.workspaces import Workspaces

playwright_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed.")
expect = playwright_api.expect
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
    """A desk behind a real server that can be stopped and started again at the same port."""

    lifespan: Any = "off"  # the desk outlives the server

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
        """What is served."""
        assert self.workspace is not None
        return create_app(Workspaces.around(self.workspace), port=self.port)

    def stop(self) -> None:
        self.server.should_exit = True
        self.thread.join()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"


def press(page: Any, key: str, answers: int) -> None:
    """Press a key and wait until the page counts so many answers."""
    page.keyboard.press(key)
    expect(page.locator(".progress span").first).to_have_text(re.compile(f"^{answers} answers?$"))
