"""The page in a notebook: answers on it are answers of the very session of the notebook."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import httpx
import pytest

from browsing import becomes, needs_browser
from samekind.session import Session
from samekind.workspace.workspace import Workspace

pytestmark = needs_browser


@pytest.fixture
def session(workspace: Workspace) -> Session:
    return workspace.session()


@pytest.fixture
def widget(session: Session) -> Iterator[Any]:
    shown = session.widget(height=700)
    yield shown
    shown.close()


@pytest.fixture
def notebook(widget: Any) -> Iterator[str]:
    """The address of a page on another port that shows the widget, as notebooks do."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(f"<h1>Notebook</h1>{widget._repr_html_()}".encode())

        def log_message(self, *_: Any) -> None:
            """Be silent."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://localhost:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_an_answer_in_the_frame_lands_in_the_session_of_the_notebook(
    notebook: str, session: Session, browsers: Any
) -> None:
    page = browsers("").new_page()
    page.goto(notebook)
    frame = page.frame_locator("iframe")
    frame.locator(".question .choice").first.click()
    becomes(page, lambda: len(session.answers) == 1)
    session.undo()
    assert session.answers == ()
    page.close()


def test_without_the_token_or_from_elsewhere_nothing_is_shown(widget: Any) -> None:
    plain = widget.address.split("?")[0]
    assert httpx.get(plain + "api/session", trust_env=False).status_code == 403
    policy = httpx.get(widget.address, trust_env=False).headers["content-security-policy"]
    assert "frame-ancestors http://localhost:*" in policy and "https:" not in policy
