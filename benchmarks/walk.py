"""Count the files that one photo crosses, from ``samekind serve FOLDER`` to an exported grouping.

Runs the command in this process on a folder of 30 pictures, drives its HTTP API as the page does
(ten answers, a refit, the groups, an export as CSV), and records which functions of the package
are executed. A file counts as crossed when at least one of its functions ran; importing a file is
counted separately.

Run ``python benchmarks/walk.py``; for another version of the package, set PYTHONPATH to its source
and name its entry point, such as ``--entry samekind.cli:main``.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import io
import json
import os
import sys
import tempfile
import threading
import time
import urllib.request
from contextlib import redirect_stderr, redirect_stdout
from functools import partial
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from PIL import Image

ITEMS, ANSWERS = 30, 10
SETTING_UP = {"<module>", "create_app"}
"""Callers whose calls do not count: files that are imported, and routes that are registered."""
PATIENCE = 120.0
"""Seconds to wait for the server, a refit or a job."""


class Tracer:
    """Records the functions that are called in any thread, except while a file is imported."""

    def __init__(self) -> None:
        self.codes: set[CodeType] = set()

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        if event != "call" or code in self.codes or not code.co_flags & inspect.CO_OPTIMIZED:
            return  # module and class bodies are not optimized
        caller = frame.f_back
        while caller is not None:
            if caller.f_code.co_name in SETTING_UP:
                return
            caller = caller.f_back
        self.codes.add(code)

    def files(self, root: Path) -> list[Path]:
        """Files under `root` of which a function was executed."""
        found = {Path(code.co_filename) for code in self.codes}
        return sorted(path for path in found if path.is_relative_to(root))


class Page:
    """Sends the requests that the page sends."""

    def __init__(self, address: str) -> None:
        self.base, _, self.token = address.partition("/?token=")

    def get(self, path: str) -> bytes:
        """Return the body of a reply."""
        return self._send(path, None)

    def ask(self, path: str, body: Any = None) -> Any:
        """Return the JSON reply to a GET, or to a POST with `body`."""
        return json.loads(self._send(path, body))

    def _send(self, path: str, body: Any) -> bytes:
        data = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        request = urllib.request.Request(self.base + path, data, headers)
        with urllib.request.urlopen(request, timeout=PATIENCE) as reply:
            return bytes(reply.read())


def make_photos(folder: Path) -> None:
    """Write small pictures in three colours."""
    folder.mkdir()
    for k in range(ITEMS):
        shade = [(200, 20 + k, 30), (20, 200, 30 + k), (30 + k, 20, 200)][k % 3]
        Image.new("RGB", (16, 16), shade).save(folder / f"{k:02}.png")


def serve(entry: str, folder: Path, printed: io.StringIO) -> None:
    """Start ``samekind serve`` in a thread that ends with this process."""
    module, _, name = entry.partition(":")
    main = getattr(importlib.import_module(module), name)
    command = ["serve", str(folder), "--encoder", "pixels", "--port", "0"]

    def run() -> None:
        with redirect_stdout(printed), redirect_stderr(printed):
            main(command)

    threading.Thread(target=run, daemon=True).start()


def wait_for(condition: Any, what: str) -> Any:
    """Return the first true value of `condition`."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if found := condition():
            return found
        time.sleep(0.05)
    raise TimeoutError(what)


def walk(page: Page, target: Path) -> None:
    """Answer, refit, look at the groups and export them."""
    page.get("/")
    page.ask("/api/session")
    question = page.ask("/api/question")["question"]
    for k in range(ANSWERS):
        choice = question["choices"][k % len(question["choices"])]["value"]
        told = {"number": question["number"], "choice": choice, "seconds": 1.0}
        question = page.ask("/api/answers", told)["now"]["question"]
        if question is None:
            break
        page.get(question["items"][0]["preview"])
    page.ask("/api/refit", {})
    wait_for(lambda: not page.ask("/api/progress")["refitting"], "a refit")
    page.ask("/api/groups")
    target.write_bytes(page.get("/api/export?format=csv"))


def lines(paths: list[Path]) -> int:
    """Count lines."""
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in paths)


def main() -> None:
    """Walk, and print the files with their lines."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--entry", default="samekind.cli.main:main", help="MODULE:FUNCTION")
    parser.add_argument("--list", action="store_true", help="print every file")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="samekind-walk-"))
    os.environ["SAMEKIND_HOME"] = str(folder / "home")
    make_photos(folder / "photos")
    tracer, printed = Tracer(), io.StringIO()
    threading.setprofile(tracer)
    serve(options.entry, folder / "photos", printed)
    words = wait_for(
        lambda: [w for w in printed.getvalue().split() if w.startswith("http")], "the server"
    )
    walk(Page(words[0]), folder / "groups.csv")
    assert len((folder / "groups.csv").read_text().splitlines()) == ITEMS + 1
    import samekind

    root = Path(samekind.__file__).parent
    crossed = tracer.files(root)
    known = [getattr(m, "__file__", None) for n, m in sys.modules.items() if n.startswith("samek")]
    imported = sorted({Path(file) for file in known if file})
    out = partial(print, file=sys.__stdout__)  # the command's output is redirected
    if options.list:
        for path in crossed:
            out(f"{lines([path]):5}  {path.relative_to(root)}")
    out(f"executed: {len(crossed)} files, {lines(crossed):,} lines")
    out(f"imported: {len(imported)} files, {lines(imported):,} lines")
    sys.__stdout__.flush()
    os._exit(0)  # the server runs until its process ends


if __name__ == "__main__":
    main()
