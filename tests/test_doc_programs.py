"""Every Python block of the documentation runs, page by page, in the order in which it is read.

That of the README runs in ``test_readme.py``.
"""

from __future__ import annotations

import ast
import re
import tarfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from places import ROOT
from samekind.sources.sets import named
from samekind.sources.sets.labelled import LabelledSet
from samekind.sources.sets.tiles import tiles

DOCS = ROOT / "docs"
PAGES = sorted(
    page
    for page in [ROOT / "CONTRIBUTING.md", *DOCS.rglob("*.md")]
    if "```python\n" in page.read_text()
)
SHORTER = {"minutes=10": "minutes=0.01", "epochs=100": "epochs=1", "n_clusters=10": "n_clusters=2"}
"""Long training, as it is run here."""


def blocks(page: Path) -> list[str]:
    return re.findall(r"```python\n(.*?)```", page.read_text(), flags=re.S)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files that the pages take for granted."""
    import matplotlib

    matplotlib.use("Agg")
    monkeypatch.chdir(tmp_path)
    whole = tiles(0)
    orientations = {name: labels[:48] for name, labels in whole.orientations.items()}
    fewer = LabelledSet("tiles", whole.collection.take(range(48)), orientations)
    monkeypatch.setitem(named.SETS, "tiles", lambda seed=0: fewer)
    rng = np.random.default_rng(0)
    for name in ("holiday-photos", "new-photos", "slides"):
        (tmp_path / name).mkdir()
        for k in range(12):
            colour = (200, 40, 40) if k % 2 else (40, 60, 200)
            pixels = np.clip(rng.normal(colour, 20, size=(32, 32, 3)), 0, 255).astype(np.uint8)
            Image.fromarray(pixels).save(tmp_path / name / f"{k}.png")
    return tmp_path


def prepare(page: Path, folder: Path) -> None:
    if page.stem == "learn-features":
        (folder / "shards").mkdir()
        with tarfile.open(folder / "shards" / "0.tar", "w") as shard:
            shard.add(folder / "slides", arcname=".")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_python_of_a_page_runs(page: Path, folder: Path) -> None:
    prepare(page, folder)
    names: dict[str, Any] = {"__name__": "__main__"}
    for block in blocks(page):
        if "tensorboard_log" in block and find_spec("tensorboard") is None:
            continue
        for long, short in SHORTER.items():
            block = block.replace(long, short)
        exec(compile(block, str(page), "exec", dont_inherit=True), names)
    if hasattr(names.get("page"), "close"):
        names["page"].close()


def tasks() -> dict[str, str]:
    """The tasks of the page for programmers, by their headings."""
    text = (DOCS / "how-to" / "from-python.md").read_text()
    return dict(re.findall(r"^## (\d+\. .*?)\n.*?```python\n(.*?)```", text, flags=re.S | re.M))


def test_twelve_tasks_take_at_most_eight_lines_each() -> None:
    found = tasks()
    assert len(found) == 12
    for task, code in found.items():
        lines = [line for line in code.splitlines() if line.strip()]
        assert len(lines) <= 8, task
        imported = {
            node.module or "" if isinstance(node, ast.ImportFrom) else node.names[0].name
            for node in ast.walk(ast.parse(code))
            if isinstance(node, ast.Import | ast.ImportFrom)
        }
        inner = {name for name in imported if name.startswith("samekind.")}
        assert not inner, f"{task}: public names only"
