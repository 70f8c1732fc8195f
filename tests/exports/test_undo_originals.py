"""Undo removes a copy only while its original holds the same bytes, outside of the export."""

from __future__ import annotations

import errno
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from exported import FileItem, grouped, tree
from samekind.errors import ExportError
from samekind.exports import plan_export, run_export, undo_export
from samekind.items import Collection

COPY = Path("Group 2/p3.png")
"""The third picture in the export."""
Change = Callable[[Path, Path], object]


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    """Four pictures of two groups."""
    folder = tmp_path / "photos"
    folder.mkdir()
    for n in range(1, 5):
        (folder / f"p{n}.png").write_bytes(f"content {n}".encode())
    return folder


def exported(photos: Path, mode: str) -> Path:
    """The folder of an export."""
    items = [FileItem(path.name, path) for path in sorted(photos.iterdir())]
    collection = Collection("photos", items, location=str(photos))
    target = photos.with_name("out")
    run_export(plan_export(collection, grouped([1, 1, 2, 2]), target, mode=mode))
    return target


def link_to_the_copy(original: Path, copy: Path) -> None:
    original.unlink()
    original.symlink_to(copy)


def link_by_way_of_another_link(original: Path, copy: Path) -> None:
    original.unlink()
    original.symlink_to("between")
    original.with_name("between").symlink_to(os.path.relpath(copy, original.parent))


def folder_is_a_link_to_the_export(original: Path, copy: Path) -> None:
    shutil.rmtree(original.parent)
    original.parent.symlink_to(copy.parent)


def link_to_a_file_in_the_export(original: Path, copy: Path) -> None:
    shutil.copy(copy, copy.parents[1] / "moved.png")
    link_to_the_copy(original, copy.parents[1] / "moved.png")


def another_picture(original: Path, copy: Path) -> None:
    original.unlink()
    original.write_bytes(b"CONTENT 3")


def a_pipe(original: Path, copy: Path) -> None:
    original.unlink()
    os.mkfifo(original)


def a_folder(original: Path, copy: Path) -> None:
    original.unlink()
    original.mkdir()


@pytest.mark.parametrize("mode", ["copy", "link"])
@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (link_to_the_copy, "is now a link to it"),
        (link_by_way_of_another_link, "is now a link to it"),
        (folder_is_a_link_to_the_export, "is now a link to it"),
        (link_to_a_file_in_the_export, "is now in the exported folder"),
        (another_picture, "was changed|is no longer the same file"),
        (a_pipe, "was changed|is no longer the same file"),
        (a_folder, "was changed|is no longer the same file"),
    ],
)
def test_undo_keeps_the_last_copy(photos: Path, mode: str, change: Change, reason: str) -> None:
    out = exported(photos, mode)
    change(photos / "p3.png", out / COPY)
    kept = dict(undo_export(out).kept)
    assert (out / COPY).read_bytes() == b"content 3"
    assert re.search(reason, kept[out / COPY])
    if not photos.is_symlink():
        assert not (out / "Group 1").exists(), "all others are removed"


@pytest.mark.parametrize("mode", ["copy", "link"])
def test_undo_keeps_a_file_that_another_original_is_a_link_to(photos: Path, mode: str) -> None:
    out = exported(photos, mode)
    link_to_the_copy(photos / "p4.png", out / COPY)  # a duplicate of it, say
    assert f"{photos / 'p4.png'} is now a link to it" in dict(undo_export(out).kept)[out / COPY]
    assert (photos / "p4.png").read_bytes() == b"content 3"


def test_undo_keeps_a_symbolic_link_that_an_original_leads_through(
    photos: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def other_disk(*_: object) -> None:
        raise OSError(errno.EXDEV, "Invalid cross-device link")

    with monkeypatch.context() as patch:
        patch.setattr(os, "link", other_disk)
        out = exported(photos, "link")
    link_to_the_copy(photos / "p4.png", out / COPY)
    assert set(dict(undo_export(out).kept)) == {out / COPY}
    assert (photos / "p4.png").read_bytes() == b"content 3"


def test_a_copy_under_two_names_of_one_folder_is_no_original(
    photos: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where the exported folder is mounted a second time: no link is to be seen."""
    out = exported(photos, "copy")
    shutil.rmtree(photos)
    photos.symlink_to(out / "Group 2")
    monkeypatch.setattr(os.path, "realpath", lambda path, **_: str(path))
    kept = dict(undo_export(out).kept)
    assert "is now in the exported folder" in kept[out / COPY]


@pytest.mark.parametrize("mode", ["copy", "link"])
def test_undo_removes_copies_whose_originals_were_moved_behind_a_link_or_joined_with_them(
    photos: Path, mode: str
) -> None:
    out = exported(photos, mode)
    (photos / "p3.png").unlink()
    os.link(out / COPY, photos / "p3.png")  # as `jdupes -L` does
    photos.rename(photos.with_name("elsewhere"))
    photos.symlink_to("elsewhere")
    before = tree(photos.with_name("elsewhere"))
    report = undo_export(out)
    assert report.kept == () and len(report.done) == 4 and not out.exists()
    assert tree(photos.with_name("elsewhere")) == before


def test_an_original_that_cannot_be_read_is_said(
    photos: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = exported(photos, "copy")
    plain = Path.open

    def deny(path: Path, *how: str, **options: str) -> object:
        if path == photos / "p3.png":
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return plain(path, *how, **options)  # type: ignore[call-overload]

    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", deny)
        kept = dict(undo_export(out).kept)
    assert kept == {
        out / COPY: f"the original {photos / 'p3.png'} cannot be read: Permission denied"
    }
    assert undo_export(out).kept == ()


def test_a_manifest_with_an_impossible_original_is_refused(photos: Path) -> None:
    out = exported(photos, "copy")
    text = (out / "samekind-export.json").read_text()
    (out / "samekind-export.json").write_text(text.replace("photos/p3", "photos/p3\\u0000"))
    before = tree(out)
    with pytest.raises(ExportError, match="Nothing was removed"):
        undo_export(out)
    assert tree(out) == before
