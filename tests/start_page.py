"""The page without a pile, for tests in a real browser: a server, and dropping files into it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from fastapi import FastAPI

from browsing import Served
from samekind.web import app
from samekind.workspace.workspaces import Workspaces

PAGE = Path(os.environ.get("SAMEKIND_TEST_PAGE", app.PAGE))
"""The built page; another one may be tried while it is worked on."""


class Started(Served):
    """``samekind serve`` without a path, which can be stopped and started again."""

    lifespan = "auto"

    def app(self) -> FastAPI:
        self.workspaces = Workspaces.at_home()
        return app.create_app(self.workspaces, port=self.port, page=PAGE)


def dropped(page: Any, *paths: Path) -> None:
    """Drag files and folders of this machine into the page, as a file manager does."""
    devtools = page.context.new_cdp_session(page)
    data = {"items": [], "files": [str(path) for path in paths], "dragOperationsMask": 1}
    for kind in ("dragEnter", "dragOver", "drop"):
        event = {"type": kind, "x": 400, "y": 300, "data": data}
        devtools.send("Input.dispatchDragEvent", event)
