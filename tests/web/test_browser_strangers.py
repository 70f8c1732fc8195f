"""Strangers in a real browser: a page of another origin, and script in everything that is shown."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from browsing import Served, becomes, needs_browser
from samekind.items import Collection, Item
from samekind.sources import RowItem
from samekind.sources.files.images import open_images
from samekind.sources.files.texts import TextItem
from samekind.workspace import groupings
from samekind.workspace.workspace import Workspace

pytestmark = needs_browser
SCRIPT = "<img src=x onerror=\"window.hacked='{0}'\"><script>window.hacked='{0}'</script>"

ATTACKS = """
async (victim) => {
  const read = [];
  const json = { "Content-Type": "application/json" };
  const body = JSON.stringify({ number: 1, choice: "same" });
  const tries = {
    plain: () => fetch(victim + "/api/session"),
    cookies: () => fetch(victim + "/api/session", { credentials: "include" }),
    blind: () => fetch(victim + "/api/question", { mode: "no-cors", credentials: "include" }),
    json: () => fetch(victim + "/api/answers", { method: "POST", headers: json, body }),
    text: () => fetch(victim + "/api/answers", { method: "POST", mode: "no-cors", body }),
    undo: () => fetch(victim + "/api/undo", { method: "POST", mode: "no-cors", body: "{}" }),
    remove: () => fetch(victim + "/api/answers/1", { method: "DELETE", mode: "no-cors" }),
    beacon: async () => { navigator.sendBeacon(victim + "/api/answers", body); throw 0; },
    script: () => new Promise((yes, no) => {
      const one = document.createElement("script");
      one.onload = () => yes({ text: async () => "script ran" });
      one.onerror = no;
      one.src = victim + "/api/session";
      document.body.append(one);
    }),
    picture: () => new Promise((yes, no) => {
      const one = new Image();
      one.onload = () => yes({ text: async () => "picture" });
      one.onerror = no;
      one.src = victim + "/api/items/ITEM/preview";
    }),
    frame: () => new Promise((yes, no) => {
      const one = document.createElement("iframe");
      one.onload = () => {
        try { yes({ text: async () => one.contentDocument.body.innerText }); } catch { no(); }
      };
      one.src = victim + "/";
      document.body.append(one);
    }),
  };
  for (const [name, act] of Object.entries(tries)) {
    try {
      const text = await (await act()).text();
      if (text) read.push(name + ": " + text.slice(0, 80));
    } catch {}
  }
  const form = document.createElement("form");
  Object.assign(form, { method: "POST", enctype: "text/plain", action: victim + "/api/answers" });
  form.target = "elsewhere";
  form.innerHTML = `<input name='{"number":1,"choice":"same","x":"' value='"}'>`;
  document.body.append(form);
  form.submit();
  return read;
}
"""

GO = """
(path) => {
  history.pushState(null, "", path);
  dispatchEvent(new PopStateEvent("popstate"));
}
"""


@pytest.fixture
def stranger() -> Iterator[int]:
    """The port of another server on this machine, with an empty page."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<!doctype html><title>Stranger</title><p>Hello")

        def log_message(self, *_: Any) -> None:
            """Be silent."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_port
    server.shutdown()
    server.server_close()


class Watched(Served):
    """A server that notes from which site each request came, and with which status it ended."""

    def app(self) -> Any:
        inner = super().app()
        self.replies: list[tuple[str, str, int]] = []

        async def noting(scope: Any, receive: Any, send: Any) -> None:
            async def note(message: Any) -> None:
                if message["type"] == "http.response.start":
                    site = dict(scope["headers"]).get(b"sec-fetch-site", b"").decode()
                    self.replies.append((site, scope["path"], message["status"]))
                await send(message)

            await inner(scope, receive, note)

        return noting


@pytest.fixture
def watched(workspace: Workspace) -> Iterator[Watched]:
    server = Watched(workspace)
    yield server
    server.stop()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_page_of_another_origin_reads_and_changes_nothing(
    watched: Watched, stranger: int, browsers: Any, host: str
) -> None:
    assert watched.workspace is not None
    session = watched.workspace.session()
    asked = session.ask()
    assert asked is not None
    context = browsers("").new_context()
    own = context.new_page()
    own.goto(watched.address)
    own.wait_for_selector(".question .choice")
    store, name = session.store, session.name
    before = [event.kind for event in store.read(name)]
    foreign = context.new_page()
    foreign.goto(f"http://{host}:{stranger}")
    read = foreign.evaluate(ATTACKS.replace("ITEM", session.collection.id(0)), watched.address)
    assert read == []
    told = [(path, status) for site, path, status in watched.replies if site != "same-origin"]
    to_api = [status for path, status in told if path.startswith("/api/")]
    assert len(to_api) >= 6 and set(to_api) <= {403, 405}, told
    own.reload()  # the server has dealt with all of the requests before this one is shown
    own.wait_for_selector(".question .choice")
    assert session.answers == ()
    assert [event.kind for event in store.read(name)] == before
    context.close()


def scripted_rows(folder: Path) -> Collection:
    """Rows whose ids, columns and cells all are scripts."""
    items: list[Item] = []
    for k in range(24):
        cells = ((SCRIPT.format("column"), SCRIPT.format(f"cell {k}")), ("n", str(k)))
        items.append(RowItem(f"{SCRIPT.format('id')}{k}", np.array([k], dtype=np.float32), cells))
    return Collection(SCRIPT.format("collection"), items)


def scripted_texts(folder: Path) -> Collection:
    """Texts that are scripts, also with what Markdown, Vue and Angular would run."""
    more = ("[a](javascript:hacked=1)", "{{hacked=1}}", "<svg/onload=hacked=1>", "&lt;script&gt;")
    texts = [f"{SCRIPT.format('text')} {more[k % 4]} {k}" for k in range(24)]
    items: list[Item] = [TextItem(f"{SCRIPT.format('id')}{k}", text=t) for k, t in enumerate(texts)]
    return Collection(SCRIPT.format("collection"), items)


def scripted_files(folder: Path) -> Collection:
    """Pictures with scripts as names of their files and folders, as far as a disk allows them."""
    inner = folder / "<img src=x onerror=hacked='folder'>"
    inner.mkdir()
    for k in range(24):
        name = f"<img src=x onerror=\"window.hacked='file'\">{k}.png"
        Image.new("RGB", (20, 16), (9 * k, 20, 220)).save(inner / name)
    return open_images(folder)


@pytest.mark.parametrize("scripted", [scripted_rows, scripted_texts, scripted_files])
def test_scripts_in_names_texts_cells_groups_and_groupings_are_shown_as_text(
    make_workspace: Callable[..., Workspace],
    open_page: Any,
    tmp_path: Path,
    scripted: Callable[[Path], Collection],
) -> None:
    workspace = make_workspace(collection=scripted(tmp_path))
    session = workspace.session()
    for _ in range(3):
        asked = session.ask()
        assert asked is not None
        session.tell(asked.number, asked.question.choices()[0], by=SCRIPT.format("person"))
    session.refit()
    for number in session.clustering.numbers[:2]:
        session.rename(number, f"{SCRIPT.format('group')}{number}")
    groupings.rename(workspace, session.name, SCRIPT.format("grouping"))
    page = open_page(workspace)
    for path in ("/", "/groups", "/answers", "/review", "/progress", "/groupings", "/finish"):
        page.evaluate(GO, path)
        becomes(page, lambda: page.locator("main h1, main h2, main .question").count() > 0)
        assert page.evaluate("window.hacked") is None, path
        assert page.locator("img[onerror]").count() == 0, path
    page.get_by_role("radio", name="CSV table").check()
    download = page.get_by_role("link", name="Download")
    assert "no_formulas" not in download.get_attribute("href")
    page.get_by_role("checkbox", name="Safe for spreadsheets").check()
    assert download.get_attribute("href").endswith("no_formulas=true")
    page.evaluate(GO, "/groups")
    becomes(page, lambda: "onerror" in page.inner_text("main"))
    assert page.evaluate("window.hacked") is None
