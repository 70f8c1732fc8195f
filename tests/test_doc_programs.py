"""Every Python block of the documentation runs, page by page, in the order in which it is read.

That of the README runs in ``test_readme.py``, the twelve tasks in ``test_twelve_tasks.py``.
"""

from __future__ import annotations

import csv
import sys
import tarfile
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import MagicMock

import numpy as np
import pytest
from PIL import Image

from documented import DOCUMENTS, blocks
from samekind.sources.sets import named
from samekind.sources.sets.labelled import LabelledSet
from samekind.sources.sets.tiles import tiles

PAGES = [
    path
    for path in DOCUMENTS
    if path.name not in ("README.md", "from-python.md")
    and path.parent.name != "gallery"
    and any(block.language == "python" for block in blocks(path))
]
CHECKED = {
    "python": "run here, or in test_readme.py, test_twelve_tasks.py and test_gallery.py",
    "console": "test_doc_commands.py",
    "diff": "applied to a copy of the source in test_docs.py",
    "toml": "read in simulation/test_suite_file.py",
    "json": "read in test_doc_commands.py, and compared with replies in web/test_own_page.py",
    "csv": "imported below",
    "text": "not code: formulas, diagrams, outputs, and a graph that test_doc_commands.py opens",
    "nginx": "the configuration of another program",
}
"""What happens to the blocks of each language."""
SHORTER = {"minutes=10": "minutes=0.01", "epochs=100": "epochs=1", "n_clusters=10": "n_clusters=2"}
"""Long training, as it is run here."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files that the pages take for granted."""
    import matplotlib

    matplotlib.use("Agg")
    monkeypatch.chdir(tmp_path)
    whole = tiles(0)
    orientations = {name: labels[:24] for name, labels in whole.orientations.items()}
    fewer = LabelledSet("tiles", whole.collection.take(range(24)), orientations)
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


@pytest.fixture
def log_without_tensorboard(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a writer that keeps nothing stand in for TensorBoard, where that is not installed."""
    if find_spec("tensorboard") is None:
        module = ModuleType("torch.utils.tensorboard")
        module.SummaryWriter = MagicMock()  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", module)


@pytest.mark.usefixtures("log_without_tensorboard")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_python_of_a_page_runs(page: Path, folder: Path) -> None:
    prepare(page, folder)
    names: dict[str, Any] = {"__name__": "__main__"}
    for block in (block.text for block in blocks(page) if block.language == "python"):
        for long, short in SHORTER.items():
            block = block.replace(long, short)
        exec(compile(block, str(page), "exec", dont_inherit=True), names)
    if hasattr(names.get("page"), "close"):
        names["page"].close()


def test_every_block_is_in_a_language_that_some_test_checks() -> None:
    found = Counter(block.language for path in DOCUMENTS for block in blocks(path))
    assert set(found) == set(CHECKED), "give the block a language, and say what checks it"
    assert found["python"] > 60 and found["console"] > 60


def test_the_table_of_groups_that_a_guide_shows_can_be_read() -> None:
    (block,) = (block for path in DOCUMENTS for block in blocks(path) if block.language == "csv")
    rows = list(csv.DictReader(block.text.splitlines()))
    assert [sorted(row) for row in rows] == [["file", "group"]] * 2
