"""A path is enough; and when it is not, a sentence says why."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from samekind.errors import SourceError
from samekind.sources import SETS, describe, open_source
from samekind.sources.sets.named import FROM_FILES


def image(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", (4, 4)).save(path)


def test_a_wrong_path_is_a_sentence_that_names_it_and_the_sets() -> None:
    with pytest.raises(SourceError, match=r"'no/such/place'.*digits or tiles"):
        open_source("no/such/place")


def test_an_empty_folder_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / ".hidden").touch()
    with pytest.raises(SourceError, match="is empty"):
        open_source(tmp_path)


def test_a_folder_with_nothing_usable_lists_three_reasons_and_counts_the_rest(
    tmp_path: Path,
) -> None:
    for name in ("a.jpg", "b.png", "c.webp", "d.jpg", "e.pdf"):
        (tmp_path / name).write_bytes(b"")
    with pytest.raises(SourceError) as caught:
        open_source(tmp_path)
    message = str(caught.value)
    assert all(f"'{name}'" in message for name in ("a.jpg", "b.png", "c.webp"))
    assert "d.jpg" not in message and "and 2 more" in message


def test_an_unsupported_suffix_is_named(tmp_path: Path) -> None:
    (tmp_path / "report.docx").write_bytes(b"x")
    with pytest.raises(SourceError, match=r"\.parquet.*'\.docx'"):
        open_source(tmp_path / "report.docx")
    (tmp_path / "bare").write_bytes(b"x")
    with pytest.raises(SourceError, match="none"):
        open_source(tmp_path / "bare")


def test_one_item_is_enough_to_open(tmp_path: Path) -> None:
    image(tmp_path / "only.png")
    assert len(open_source(str(tmp_path))) == 1


def test_a_folder_is_of_the_kind_that_it_holds_more_of(tmp_path: Path) -> None:
    for name in ("1.png", "2.png"):
        image(tmp_path / "pictures" / name)
    (tmp_path / "pictures" / "README.txt").write_text("about the pictures")
    pile = open_source(tmp_path / "pictures")
    assert pile.kind == "image" and [s.id for s in pile.skipped] == ["README.txt"]
    (tmp_path / "texts").mkdir()
    for name in ("1.txt", "2.md"):
        (tmp_path / "texts" / name).write_text("words")
    image(tmp_path / "texts" / "figure.png")
    pile = open_source(tmp_path / "texts")
    assert pile.kind == "text" and [s.id for s in pile.skipped] == ["figure.png"]


def test_a_folder_named_like_a_set_is_reached_as_a_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    image(tmp_path / "tiles" / "mine.png")
    monkeypatch.chdir(tmp_path)
    assert len(open_source("./tiles")) == len(open_source(Path("tiles"))) == 1
    assert len(open_source("tiles")) > 1


def test_suffixes_are_read_without_case(tmp_path: Path) -> None:
    np.save(tmp_path / "v.npy", np.eye(3))
    (tmp_path / "v.npy").rename(tmp_path / "V.NPY")
    assert open_source(tmp_path / "V.NPY").kind == "row"


@pytest.mark.parametrize("name", sorted(set(SETS) - set(FROM_FILES)))
def test_every_named_set_opens_with_unique_ids_and_aligned_labels(name: str) -> None:
    known = SETS[name](seed=0)
    ids = list(known.collection.ids())
    assert len(set(ids)) == len(ids) == len(known.collection)
    assert all(len(labels) == len(ids) for labels in known.orientations.values())
    assert open_source(name).fingerprint == known.collection.fingerprint


def test_everything_that_can_be_opened_is_described_in_one_line() -> None:
    lines = describe()
    assert {"tiles", "digits", "folder of images", ".csv", ".npz"} <= set(lines)
    assert all(line and "\n" not in line for line in lines.values())


def test_importing_the_sources_imports_nothing_heavy() -> None:
    code = (
        "import sys, samekind.sources; "
        "sys.exit(any(m in sys.modules for m in ('torch', 'PIL', 'sklearn', 'pyarrow', 'scipy')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
