"""Servers, browsers and a simulated person for the measurements of the page.

``python -m benchmarks.page.stage 60000`` serves so many drawn items without a token; the scripts
beside this one start it as a process of its own.
"""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measuring import provenance

HERE = Path(__file__).parent
FIGURES = HERE / "page.json"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
KINDS = 10
COLOURS = ("#c0392b", "#2471a3", "#229954", "#d4ac0d", "#7d3c98")

SHOWN = """() => {
  const root = document.querySelector(".question");
  if (!root || root.classList.contains("none")) return null;
  const ids = (box) => [...box.querySelectorAll(".item")].map((one) => one.title);
  const all = (what) => [...root.querySelectorAll(what)];
  return {
    kind: root.className,
    subject: all(".subject .item").map((one) => one.title),
    items: all(".items .item").map((one) => one.title),
    parts: all(".one-group, .belonging").map(ids),
    groups: all(".group-choice, .mark").map((one) => [one.dataset.choice, ids(one)]),
  };
}"""
"""What a person sees of the open question: pictures and where they stand, nothing else."""


def keep(name: str, row: Mapping[str, Any], file: Path | None) -> None:
    """Print what was measured, and put it under its name into the file, if there is one."""
    row = {**row, **provenance()}
    print(json.dumps({name: row}, ensure_ascii=False, indent=1), flush=True)
    if file is not None:
        known = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
        text = json.dumps({**known, name: row}, ensure_ascii=False, indent=1)
        file.write_text(text + "\n", encoding="utf-8")


class Server:
    """A server in a process of its own; ``arguments`` are those of Python."""

    def __init__(
        self,
        home: Path,
        *arguments: str,
        cwd: Path | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        basis = {**os.environ, "SAMEKIND_HOME": str(home), "OMP_NUM_THREADS": "1"}
        self.process = subprocess.Popen(
            [sys.executable, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**basis, **(environment or {})},
            cwd=cwd,
        )
        if self.process.stdout is None:
            raise RuntimeError("The server has no output.")
        self.said = ""
        while not (found := re.search(r"(http://127\.0\.0\.1:\d+)/(\S*)", self.said)):
            line = self.process.stdout.readline()
            if not line:
                raise RuntimeError(f"The server ended: {self.said}")
            self.said += line
        self.origin, self.entrance = found[1], found[0]
        self.faults: list[str] = []
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        if self.process.stdout is not None:
            self.faults.extend(self.process.stdout)

    def memory(self) -> float:
        """MiB that the server holds now."""
        found = Path(f"/proc/{self.process.pid}/status").read_text(encoding="utf-8")
        return int(re.findall(r"VmRSS:\s+(\d+)", found)[0]) / 1024

    def cpu_seconds(self) -> float:
        """CPU time of the server so far, of all its threads."""
        found = Path(f"/proc/{self.process.pid}/stat").read_text(encoding="utf-8")
        user, system = found.rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(timeout=30)


@contextmanager
def demo(cwd: Path | None = None) -> Iterator[Server]:
    """``samekind serve tiles``, as a new user has it: nothing was kept from earlier."""
    with tempfile.TemporaryDirectory() as folder:
        words = ("-m", "samekind", "serve", "tiles", "--port", "0")
        server = Server(Path(folder), *words, cwd=cwd)
        try:
            yield server
        finally:
            server.stop()


@contextmanager
def drawn(n: int) -> Iterator[Server]:
    """A server over so many drawn items with 64 columns of vectors and ten kinds."""
    with tempfile.TemporaryDirectory() as folder:
        server = Server(
            Path(folder), "-m", "benchmarks.page.stage", str(n), folder, cwd=HERE.parents[1]
        )
        try:
            yield server
        finally:
            server.stop()


@contextmanager
def chromium(*more: str) -> Iterator[Any]:
    """A headless Chromium."""
    from playwright.sync_api import sync_playwright

    names = ("chromium", "chromium-browser", "chrome")
    with sync_playwright() as playwright:
        path = next(filter(None, map(shutil.which, names)), None)
        browser = playwright.chromium.launch(executable_path=path, args=[*FLAGS, *more])
        yield browser
        browser.close()


def keys_to_mark(number: int) -> list[str]:
    """The keys that mark a tile of a grid: its own, or those that lead the cursor to it."""
    own = "1234567890-="[number - 1 : number]
    return [own] if own else ["Home", *["ArrowRight"] * (number - 1), "Space"]


class Person:
    """Someone who sorts by what `kinds` says of each item, and sees only what the page shows."""

    def __init__(self, kinds: Mapping[str, str]) -> None:
        self.kinds = kinds

    def keys(self, shown: dict[str, Any]) -> list[str]:
        """The keys that a person presses for the question on the screen."""
        of = self.kinds
        if "which-group" in shown["kind"]:
            own = of[shown["subject"][0]]
            fits = [choice for choice, ids in shown["groups"] if of[ids[0]] == own]
            return [fits[0] if fits else "0"]
        if "grid-question" in shown["kind"]:
            own, alike = of[shown["parts"][0][0]], "marks-alike" in shown["kind"]
            marked = [
                int(choice) for choice, ids in shown["groups"] if (of[ids[0]] == own) == alike
            ]
            return [*(key for number in marked for key in keys_to_mark(number)), "Enter"]
        one, other = shown["parts"] if shown["parts"] else [[item] for item in shown["items"]]
        return ["y" if of[one[0]] == of[other[0]] else "n"]

    def answer(self, page: Any, think: float = 0.0) -> bool:
        """Look, think, press; False when there is no question any more."""
        page.wait_for_selector(".question .choice, .question.none .button", timeout=60_000)
        shown = page.evaluate(SHOWN)
        if shown is None:
            return False
        if think:
            page.wait_for_timeout(think * 1000)
        before = answers(page)
        for key in self.keys(shown):
            page.keyboard.press(key)
        page.wait_for_function(
            "(n) => parseInt(document.querySelector('.progress span').innerText"
            ".replaceAll(',', '')) > n",
            arg=before,
            timeout=60_000,
        )
        return True


def answers(page: Any) -> int:
    """How many answers the page counts."""
    return int(page.locator(".progress span").first.inner_text().split()[0].replace(",", ""))


def kinds_of_tiles(orientation: str) -> dict[str, str]:
    """What each demo tile is, for one who looks at one thing only."""
    from samekind.sources import open_labelled

    labelled = open_labelled("tiles")
    kinds = labelled.orientations[orientation]
    return {labelled.collection.id(k): str(kind) for k, kind in enumerate(kinds)}


def kinds_drawn(n: int) -> dict[str, str]:
    return {f"drawn-{k:06}": str(k % KINDS) for k in range(n)}


def serve_drawn(n: int, folder: Path) -> None:
    """Serve drawn items with vectors of ten kinds, until stopped."""
    from PIL import Image, ImageDraw

    from samekind.items import Collection, Item, Preview
    from samekind.ledger.sql import SqlStore
    from samekind.session import Session
    from samekind.web.server import serve
    from samekind.workspace.workspace import Workspace
    from samekind.workspace.workspaces import Workspaces

    class Drawn(Item):
        """A disc or a square in one of five colours, drawn when it is looked at."""

        kind = "image"

        def __init__(self, k: int) -> None:
            self.k, self.id = k, f"drawn-{k:06}"

        def load(self) -> Image.Image:
            picture = Image.new("RGB", (128, 128), "#f4f1ea")
            inset = 8 + self.k // KINDS % 24
            box = (inset, inset, 128 - inset, 128 - inset)
            corner = 4 if self.k % 2 else 64 - inset
            ImageDraw.Draw(picture).rounded_rectangle(
                box, corner, fill=COLOURS[self.k % KINDS // 2]
            )
            return picture

        def preview(self) -> Preview:
            out = io.BytesIO()
            self.load().save(out, "PNG")
            return Preview("image/png", out.getvalue())

    rng = np.random.default_rng(0)
    centres = rng.normal(size=(KINDS, 64))
    X = (centres[np.arange(n) % KINDS] + rng.normal(scale=1.2, size=(n, 64))).astype(np.float32)
    collection = Collection("Drawn", [Drawn(k) for k in range(n)])
    store = SqlStore(folder / "drawn.samekind")
    workspace = Workspace(
        collection,
        lambda name: Session(collection, X, store=store, name=name, seed=0),
        store=store,
    )
    workspaces = Workspaces.around(workspace)
    serve(workspaces, port=0, token=False, announce=lambda words: print(words, flush=True))


if __name__ == "__main__":
    serve_drawn(int(sys.argv[1]), Path(sys.argv[2]))
