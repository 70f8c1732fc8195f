"""A small workspace: real sessions over drawn pictures, with a strategy that needs no data."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient
from PIL import Image, ImageDraw
from sklearn.base import BaseEstimator, ClusterMixin

from demo_tiles import Tiles
from samekind.errors import InputError
from samekind.items import Collection, Item, Preview, Skipped
from samekind.ledger.store import MemoryStore
from samekind.protocols import QueryStrategy, View
from samekind.questions import OddOnes, Question, SameGroups, SamePair, WhichGroup
from samekind.session import Session
from samekind.web.app import create_app
from samekind.workspace.workspace import Workspace
from samekind.workspace.workspaces import Workspaces

COLOURS = ("#c0392b", "#2471a3", "#229954", "#d4ac0d")
ORIGIN = "http://127.0.0.1:8765"
MakeWorkspace = Callable[..., Workspace]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Keep a picture of every open page when a test in a browser has failed."""
    report = yield
    if report.when != "call" or not report.failed:
        return report
    opened = getattr(item, "funcargs", {}).get("open_page")
    pages = [page for context in getattr(opened, "contexts", ()) for page in context.pages]
    for k, page in enumerate(pages):
        folder = item.config.rootpath / "build" / "screenshots"
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / f"{re.sub(r'[^a-z0-9]+', '-', item.name)[:120]}-{k}.png"
        with suppress(Exception):  # a page that has crashed cannot be shown
            page.screenshot(path=file)
            report.sections.append(("Screenshot", str(file.relative_to(item.config.rootpath))))
    return report


@pytest.fixture(scope="module")
def browsers() -> Iterator[Callable[[str], Any]]:
    """Chromium without a window, by one more flag; each is launched once."""
    from browsing import CHROMIUM, FLAGS, playwright_api

    with playwright_api.sync_playwright() as playwright:
        running: dict[str, Any] = {}

        def launch(flag: str) -> Any:
            if flag not in running:
                flags = [*FLAGS, flag] if flag else FLAGS
                running[flag] = playwright.chromium.launch(executable_path=CHROMIUM, args=flags)
            return running[flag]

        yield launch
        for browser in running.values():
            browser.close()


@pytest.fixture
def open_page(browsers: Callable[[str], Any]) -> Iterator[Callable[..., Any]]:
    """Opens pages in a real browser; see :class:`browsing.Pages`."""
    from browsing import Pages

    pages = Pages(browsers)
    yield pages
    pages.close()


@pytest.fixture
def served(workspace: Workspace) -> Iterator[Any]:
    """The workspace behind a real server."""
    from browsing import Served

    server = Served(workspace)
    yield server
    server.stop()


@pytest.fixture
def page(served: Any, open_page: Callable[..., Any]) -> Any:
    """A page with an open question."""
    return open_page(served)


@pytest.fixture(scope="session")
def tiles() -> Tiles:
    """The demo tiles with their mean colours as vectors."""
    return Tiles()


@pytest.fixture
def tile_workspace(tiles: Tiles) -> Iterator[Workspace]:
    """The demo with the default method, which learns from the answers."""
    store = MemoryStore()
    workspace = Workspace(
        tiles.collection,
        lambda name: Session(tiles.collection, tiles.X, store=store, name=name, seed=0),
        store=store,
    )
    yield workspace
    workspace.close()


class Drawn(Item):
    """A coloured disc or square."""

    kind = "image"

    def __init__(self, id: str, colour: str, corner: int) -> None:
        self.id, self.colour, self.corner = id, colour, corner

    def load(self) -> Image.Image:
        picture = Image.new("RGB", (96, 96), "#f4f1ea")
        box = (10, 10, 86, 86)
        ImageDraw.Draw(picture).rounded_rectangle(box, self.corner, fill=self.colour)
        return picture

    def preview(self) -> Preview:
        out = io.BytesIO()
        self.load().save(out, "PNG")
        return Preview("image/png", out.getvalue())


class Written(Item):
    """Bytes with any MIME type, also one that must not reach a browser."""

    kind = "text"

    def __init__(self, id: str, mime: str, data: bytes) -> None:
        self.id, self.mime, self.data = id, mime, data

    def load(self) -> str:
        return self.data.decode()

    def preview(self) -> Preview:
        if not self.data:
            raise FileNotFoundError(self.id)
        return Preview(self.mime, self.data)


class Nearest(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Groups by the largest of the first four columns; `broken` makes it fail on purpose."""

    broken: str = ""

    def fit(self, X: Any, y: Any = None, *, constraints: Any = None) -> Nearest:
        if Nearest.broken == "on purpose":
            raise InputError("No grouping was found. Answer a few more questions.")
        if Nearest.broken:
            raise RuntimeError(Nearest.broken)
        self.labels_ = self.predict(X)
        return self

    def predict(self, X: Any) -> Any:
        return np.argmax(np.asarray(X)[:, :4], axis=1)


@dataclass(frozen=True)
class Alternating:
    """Asks a pair, then a group question, and so on, until `most` questions were answered."""

    most: int = 1000

    def propose(self, view: View, n: int = 1) -> Sequence[Question]:
        if view.spent >= self.most:
            return []
        size = len(view.clustering.labels)
        for _ in range(200):
            picks = [int(i) for i in view.rng.choice(size, size=8, replace=False)]
            asked: Question = SamePair(picks[0], picks[1], why="These two look alike.")
            if view.spent % 2:
                groups = ((picks[1], picks[2], picks[3]), (picks[4], picks[5]), (picks[6],))
                asked = WhichGroup(picks[0], groups, why="This one lies between groups.")
            if asked.truthful(view.constraints.same) == "unsure":
                return [asked]
        return []


@dataclass(frozen=True)
class AboutGroups:
    """Asks whether two groups are one kind, then which of `shown` items are odd, and so on."""

    shown: int = 12

    def propose(self, view: View, n: int = 1) -> Sequence[Question]:
        size = len(view.clustering.labels)
        for _ in range(200):
            picks = [int(i) for i in view.rng.choice(size, size=17, replace=False)]
            asked: Question = SameGroups(tuple(picks[:5]), tuple(picks[5:8]), why="They are near.")
            if view.spent % 2:
                asked = OddOnes(tuple(picks[:5]), tuple(picks[5 : 5 + self.shown]), why="A check.")
            if asked.truthful(view.constraints.same) == "unsure":
                return [asked]
        return []


def pile(n: int = 48) -> Collection:
    items = [
        Drawn(f"photos/{k % 4}/n° {k:02d} #a?.png", COLOURS[k % 4], 6 if k % 3 else 38)
        for k in range(n)
    ]
    return Collection("Drawn things", items, (Skipped("broken.png", "is not an image"),))


def vectors(n: int = 48) -> Any:
    rng = np.random.default_rng(7)
    X = rng.normal(scale=0.1, size=(n, 6))
    X[np.arange(n), np.arange(n) % 4] += 1.0
    return X.astype(np.float32)


@pytest.fixture
def make_workspace() -> Iterator[MakeWorkspace]:
    """Build workspaces; one with the store of another continues its sessions."""
    made: list[Workspace] = []

    def build(
        *,
        collection: Collection | None = None,
        store: MemoryStore | None = None,
        most: int = 1000,
        refit_every: int = 5,
        strategy: QueryStrategy | None = None,
        clusterer: str | None = None,
    ) -> Workspace:
        things = pile() if collection is None else collection
        kept = MemoryStore() if store is None else store

        def open_session(name: str) -> Session:
            return Session(
                things,
                vectors(len(things)),
                store=kept,
                name=name,
                clusterer=clusterer or Nearest(),
                strategy=Alternating(most) if strategy is None else strategy,
                seed=1,
                refit_every=refit_every,
            )

        made.append(Workspace(things, open_session, store=kept))
        return made[-1]

    Nearest.broken = ""
    yield build
    Nearest.broken = ""
    for workspace in made:
        workspace.close()


@pytest.fixture
def workspace(make_workspace: MakeWorkspace, request: pytest.FixtureRequest) -> Workspace:
    """A workspace; ``parametrize("workspace", ["about groups"], indirect=True)`` asks about groups."""
    asking = {"alternating": Alternating(), "about groups": AboutGroups()}
    return make_workspace(strategy=asking[getattr(request, "param", "alternating")])


@pytest.fixture
def client_for() -> Callable[[Workspace], TestClient]:
    """Makes clients that look like the page itself."""

    def make(workspace: Workspace) -> TestClient:
        app = create_app(Workspaces.around(workspace), port=8765)
        return TestClient(app, base_url=ORIGIN, raise_server_exceptions=False)

    return make


@pytest.fixture
def client(workspace: Workspace, client_for: Callable[[Workspace], TestClient]) -> TestClient:
    return client_for(workspace)


@pytest.fixture
def break_refits() -> Callable[[str], None]:
    """Makes every refit from now on fail: "on purpose" with one of our errors, else with a bug."""

    def break_them(how: str) -> None:
        Nearest.broken = how

    return break_them


@pytest.fixture
def odd_previews() -> Collection:
    """Items whose previews are plain text, HTML, SVG, and missing."""
    items = [
        Written("plain", "text/plain", "Grüße <b>".encode()),
        Written("page", "text/html", b"<script>alert(1)</script>"),
        Written("vector", "image/svg+xml", b"<svg onload='alert(1)'/>"),
        Written("lost", "text/plain", b""),
        *(Written(f"more-{k}", "text/plain", b"x") for k in range(12)),
    ]
    return Collection("Odd", items)
