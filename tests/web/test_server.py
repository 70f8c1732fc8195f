"""serve: the address, ports, hosts, and a server without its page."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn
from fastapi.testclient import TestClient

from samekind.errors import ServerError
from samekind.questions import wording
from samekind.web.app import create_app
from samekind.web.server import listen, serve
from samekind.workspace.workspace import Workspace
from samekind.workspace.workspaces import Workspaces
from waiting import PATIENCE


def test_a_port_in_use_is_refused_with_another_one_to_try(workspace: Workspace) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(ServerError, match=rf"Port {port} is in use.*--port {port + 1}"):
            serve(Workspaces.around(workspace), port=port)


@pytest.mark.parametrize(
    ("host", "port", "words"),
    [
        ("127.0.0.1", 70000, "Expected a port from 0"),
        ("127.0.0.1", -1, "Expected a port from 0"),
        ("0.0.0.0", 0, "every network"),
        ("::", 0, "every network"),
        ("no-such-host.invalid", 0, "not an address of this machine"),
        ("192.0.2.1", 0, "Cannot listen on 192.0.2.1"),
    ],
)
def test_an_unusable_address_is_refused_with_a_reason(host: str, port: int, words: str) -> None:
    with pytest.raises(ServerError, match=words):
        listen(host, port)


def test_serve_announces_its_address_responds_there_and_stops(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    servers: list[Any] = []
    said: list[str] = []
    begun = threading.Event()

    class Kept(uvicorn.Server):
        def __init__(self, config: uvicorn.Config) -> None:
            super().__init__(config)
            servers.append(self)
            begun.set()

    monkeypatch.setattr(uvicorn, "Server", Kept)
    thread = threading.Thread(
        target=lambda: serve(Workspaces.around(workspace), port=0, announce=said.append)
    )
    thread.start()
    assert begun.wait(PATIENCE)
    address, token = said[0].split(" at ")[1].split(" ")[0].split("?token=")
    assert address.startswith("http://127.0.0.1:")
    # The socket listens already, so the request waits until the server takes it.
    with httpx.Client(base_url=address, timeout=PATIENCE, trust_env=False) as client:
        assert client.get("/api/session").status_code == 403
        reply = client.get("/api/session", params={"token": token})
        assert reply.json()["collection"] == "Drawn things"
        assert "server" not in reply.headers
        assert client.get("/api/session", headers={"host": "evil.example"}).status_code == 403
    servers[0].should_exit = True
    thread.join(PATIENCE)
    assert not thread.is_alive()


def test_without_the_page_the_api_works_and_the_page_says_how_to_build_it(
    workspace: Workspace, tmp_path: Path
) -> None:
    client = TestClient(
        create_app(Workspaces.around(workspace), page=tmp_path), base_url="http://127.0.0.1:1"
    )
    reply = client.get("/")
    assert reply.status_code == 503
    assert "npm ci && npm run build" in reply.text
    assert client.get("/api/session").status_code == 200
    assert client.get("/assets/index.js").status_code == 404


def test_every_view_has_an_address_and_its_files_are_cached(
    workspace: Workspace, tmp_path: Path
) -> None:
    (tmp_path / "assets").mkdir()
    (tmp_path / "index.html").write_text("<title>samekind</title>")
    (tmp_path / "assets" / "index-abc.js").write_text("export {}")
    (tmp_path / "assets" / "notes.exe").write_text("no")
    client = TestClient(
        create_app(Workspaces.around(workspace), page=tmp_path), base_url="http://127.0.0.1:1"
    )
    for view in ("/", "/groups", "/groups/3", "/answers", "/orientations"):
        reply = client.get(view)
        assert reply.text == "<title>samekind</title>"
        assert reply.headers["cache-control"] == "no-cache"
    script = client.get("/assets/index-abc.js")
    assert script.headers["content-type"].startswith("text/javascript")
    assert "immutable" in script.headers["cache-control"]
    assert client.get("/assets/notes.exe").status_code == 404


def test_opening_the_browser_shows_the_address(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    stop: Callable[..., None] = lambda self, sockets=None: None  # noqa: E731
    monkeypatch.setattr(uvicorn.Server, "run", stop)
    monkeypatch.setattr("webbrowser.open", opened.append)
    serve(Workspaces.around(workspace), port=0, open_browser=True, announce=lambda _: None)
    assert opened[0].startswith("http://127.0.0.1:")


def test_the_documented_keys_are_used() -> None:
    assert wording.keys(("same", "different", "unsure")) == {
        "same": ("y",),
        "different": ("n",),
        "unsure": ("u", " "),
    }
    assert wording.keys(("1", "2", "none", "unsure"))["none"] == ("0",)
    assert {act: keys for act, (keys, _) in wording.ACTS.items()} == {
        "back": ("z", "Backspace"),
        "skip": ("s",),
        "help": ("?",),
        "finish": ("q",),
    }


def test_choices_without_wording_get_a_label_and_a_free_key() -> None:
    keys = wording.keys(("same", "split-it", "yes", "unsure"))
    assert keys["split-it"] == ("p",), "s is for skipping"
    assert keys["yes"] == ("e",), "y is for the same"
    assert wording.label("split-it") == "Split it"
