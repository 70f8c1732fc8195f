"""Exports in folders: copied or linked, made whole or not at all, undone exactly."""

from __future__ import annotations

import errno
import json
import multiprocessing
import os
import shutil
import signal
from pathlib import Path
from typing import Any

import pytest

from exported import DrawnItem, FileItem, LongText, Tree, drawn, grouped, tree
from samekind.clustering import Clustering
from samekind.errors import ExportError
from samekind.exports import plan_export, run_export, undo_export
from samekind.exports import run as running
from samekind.exports.manifest import LOG, Made, Manifest
from samekind.items import Collection


@pytest.fixture
def photos(tmp_path: Path) -> Collection:
    """Six files in nested folders, two of them with the same name."""
    folder = tmp_path / "photos"
    ids = ["a/x.jpg", "b/x.jpg", "b/X.JPG", "c/deep/猫.png", "one.jpg", "two.jpg"]
    for n, id in enumerate(ids):
        (folder / id).parent.mkdir(parents=True, exist_ok=True)
        (folder / id).write_bytes(f"content {n}".encode())
        os.utime(folder / id, (1_600_000_000 + n, 1_600_000_000 + n))
    items = [FileItem(id, folder / id) for id in ids]
    return Collection("photos", items, location=str(folder))


@pytest.fixture
def six() -> Clustering:
    return grouped([1, 1, 1, 2, 2, 4], {1: "cats/dogs", 4: "Größe"})


def sorted_into(folder: Path) -> Tree:
    return {name: data for name, data in tree(folder).items() if "samekind" not in name}


FOLDERS: Tree = {
    "cats_dogs": None,
    "cats_dogs/x.jpg": b"content 0",
    "cats_dogs/x (2).jpg": b"content 1",
    "cats_dogs/X (3).JPG": b"content 2",
    "Group 2": None,
    "Group 2/猫.png": b"content 3",
    "Group 2/one.jpg": b"content 4",
    "Größe": None,
    "Größe/two.jpg": b"content 5",
}


def test_files_are_copied_into_one_folder_per_group_and_undone(
    tmp_path: Path, photos: Collection, six: Clustering
) -> None:
    before = tree(tmp_path / "photos")
    target = tmp_path / "out"
    plan = plan_export(photos, six, target)
    assert not target.exists() and plan.n_bytes == 6 * len("content 0") and plan.n_items == 6
    assert f"{target / 'cats_dogs' / 'x (2).jpg'}  (copy of b/x.jpg)" in plan.describe()
    assert "... and 4 more files" in plan.describe(max_files=2)
    report = run_export(plan)
    assert sorted_into(target) == FOLDERS
    assert {file.path for file in plan.files} == set(report.done)
    assert (target / "Größe/two.jpg").stat().st_mtime == 1_600_000_005
    manifest = json.loads((target / "samekind-export.json").read_text())
    assert manifest["complete"] and len(manifest["made"]) == 9
    assert os.listdir(target).count("samekind-export.log") == 0
    undone = undo_export(report.manifest or "")
    assert len(undone.done) == 6 and undone.kept == () and "6 files removed" in undone.describe()
    assert not target.exists() and tree(tmp_path / "photos") == before


def test_links_share_the_file_and_are_undone(
    tmp_path: Path, photos: Collection, six: Clustering
) -> None:
    before = tree(tmp_path / "photos")
    plan = plan_export(photos, six, tmp_path / "out", mode="link")
    assert plan.n_bytes == 0 and "editing one changes both" in plan.describe()
    run_export(plan)
    assert sorted_into(tmp_path / "out") == FOLDERS
    assert (tmp_path / "out/Größe/two.jpg").samefile(tmp_path / "photos/two.jpg")
    assert undo_export(tmp_path / "out").kept == ()
    assert not (tmp_path / "out").exists() and tree(tmp_path / "photos") == before


def test_albums_hold_the_groups_within_groups_under_names_of_their_own(
    tmp_path: Path, photos: Collection, six: Clustering
) -> None:
    inner = {"a/x.jpg": ("X.jpg", ".."), "b/x.jpg": ("x.JPG",), "two.jpg": ("two.jpg",)}
    target = tmp_path / "out"
    run_export(plan_export(photos, six, target, format="albums", subgroups=inner))
    assert sorted_into(target) == {
        "cats_dogs": None,
        "cats_dogs/X.jpg": None,
        "cats_dogs/X.jpg/Group 1": None,
        "cats_dogs/X.jpg/Group 1/x.jpg": b"content 0",
        "cats_dogs/x.JPG (2)": None,
        "cats_dogs/x.JPG (2)/x.jpg": b"content 1",
        "cats_dogs/X (2).JPG": b"content 2",
        "Group 2": None,
        "Group 2/猫.png": b"content 3",
        "Group 2/one.jpg": b"content 4",
        "Größe": None,
        "Größe/two.jpg": None,
        "Größe/two.jpg/two.jpg": b"content 5",
    }
    assert undo_export(target).kept == () and not target.exists()
    run_export(plan_export(photos, six, target, format="folders", subgroups=inner))
    assert sorted_into(target) == FOLDERS


def test_where_hard_links_do_not_reach_the_links_are_symbolic(
    tmp_path: Path, photos: Collection, six: Clustering, monkeypatch: pytest.MonkeyPatch
) -> None:
    def other_disk(*_: object) -> None:
        raise OSError(errno.EXDEV, "Invalid cross-device link")

    monkeypatch.setattr(os, "link", other_disk)
    report = run_export(plan_export(photos, six, tmp_path / "out", mode="link"))
    assert "6 links are symbolic" in report.describe()
    assert os.readlink(tmp_path / "out/Größe/two.jpg") == str(tmp_path / "photos/two.jpg")
    assert sorted_into(tmp_path / "out").keys() == FOLDERS.keys()
    assert undo_export(tmp_path / "out").kept == () and not (tmp_path / "out").exists()
    run_export(plan_export(photos, six, tmp_path / "copy"))  # FAT has no links at all
    assert sorted_into(tmp_path / "copy") == FOLDERS

    monkeypatch.setattr(os, "symlink", other_disk)
    with pytest.raises(ExportError, match="Copy instead"):
        run_export(plan_export(photos, six, tmp_path / "out", mode="link"))
    assert not (tmp_path / "out").exists()


def test_undo_keeps_what_was_changed_or_added(
    tmp_path: Path, photos: Collection, six: Clustering
) -> None:
    target = tmp_path / "out"
    run_export(plan_export(photos, six, target))
    (target / "Größe/two.jpg").write_bytes(b"retouched")
    (target / "Group 2/note.txt").write_text("mine")
    (target / "cats_dogs/x.jpg").unlink()
    report = undo_export(target)
    assert dict(report.kept) == {
        target / "Größe/two.jpg": "was changed since",
        target / "Group 2/note.txt": "was added since",
    }
    assert sorted_into(target) == {
        "Größe": None,
        "Größe/two.jpg": b"retouched",
        "Group 2": None,
        "Group 2/note.txt": b"mine",
    }
    assert len(report.done) == 4 and "Kept:" in report.describe()
    assert undo_export(target).kept == report.kept, "it can be tried again"
    (target / "Größe/two.jpg").unlink()
    (target / "Group 2/note.txt").unlink()
    assert undo_export(target).kept == () and not target.exists()


@pytest.mark.parametrize("mode", ["copy", "link"])
def test_undo_never_removes_the_last_copy(
    tmp_path: Path, photos: Collection, six: Clustering, mode: str
) -> None:
    target = tmp_path / "out"
    run_export(plan_export(photos, six, target, mode=mode))
    (tmp_path / "photos/one.jpg").unlink()
    report = undo_export(target)
    assert [path.name for path, _ in report.kept] == ["one.jpg"]
    assert "is gone" in report.kept[0][1]
    assert (target / "Group 2/one.jpg").read_bytes() == b"content 4"


def test_undo_keeps_a_link_whose_original_was_replaced(
    tmp_path: Path, photos: Collection, six: Clustering
) -> None:
    target = tmp_path / "out"
    run_export(plan_export(photos, six, target, mode="link"))
    (tmp_path / "photos/one.jpg").unlink()
    (tmp_path / "photos/one.jpg").write_bytes(b"saved again by an editor")
    assert undo_export(target).kept == (
        (target / "Group 2/one.jpg", "is no longer the same file as the original"),
    )
    assert (target / "Group 2/one.jpg").read_bytes() == b"content 4"


def test_an_empty_folder_may_be_the_target_and_stays_after_undo(
    tmp_path: Path, photos: Collection, six: Clustering
) -> None:
    (tmp_path / "out").mkdir()
    run_export(plan_export(photos, six, tmp_path / "out"))
    assert sorted_into(tmp_path / "out") == FOLDERS
    undo_export(tmp_path / "out")
    assert tree(tmp_path / "out") == {} and (tmp_path / "out").is_dir()


@pytest.mark.parametrize("problem", [OSError(errno.ENOSPC, "full"), KeyboardInterrupt()])
@pytest.mark.parametrize("after", [0, 1, 4])
def test_an_export_that_fails_in_the_middle_is_cleaned_up(
    tmp_path: Path,
    photos: Collection,
    six: Clustering,
    monkeypatch: pytest.MonkeyPatch,
    after: int,
    problem: BaseException,
) -> None:
    before = tree(tmp_path)
    count = iter(range(100))

    def copy(source: Path, part: Path) -> None:
        if next(count) == after:
            part.write_bytes(b"half")
            raise problem
        shutil.copyfile(source, part)

    monkeypatch.setattr(shutil, "copy2", copy)
    with pytest.raises(ExportError if isinstance(problem, OSError) else KeyboardInterrupt):
        run_export(plan_export(photos, six, tmp_path / "out"))
    assert tree(tmp_path) == before


class Killed(BaseException):
    """Stands for the end of the process: nothing of ours runs after it."""


@pytest.mark.parametrize("mode", ["copy", "link"])
@pytest.mark.parametrize("after", [0, 1, 4])
def test_an_export_that_was_killed_can_be_undone(
    tmp_path: Path,
    photos: Collection,
    six: Clustering,
    monkeypatch: pytest.MonkeyPatch,
    after: int,
    mode: str,
) -> None:
    before = tree(tmp_path)
    note, count = Manifest.note, iter(range(100))

    def note_and_die(book: Manifest, made: Made) -> None:
        note(book, made)
        if made.kind != "folder" and next(count) == after:
            raise Killed

    monkeypatch.setattr(Manifest, "note", note_and_die)
    monkeypatch.setattr(running, "undo_export", lambda _: None)
    with pytest.raises(Killed):
        run_export(plan_export(photos, six, tmp_path / "out", mode=mode))
    with (tmp_path / "out/samekind-export.log").open("a") as journal:
        journal.write('{"kind": "file", "pa')  # killed while it wrote a line
    report = undo_export(tmp_path / "out")
    assert len(report.done) == after and report.kept == ()
    assert tree(tmp_path) == before


def _export_and_die(folder: Path, ids: list[str]) -> None:
    def die(done: int, total: int) -> None:
        if done == 3:
            os.kill(os.getpid(), signal.SIGKILL)

    photos = Collection("photos", [FileItem(id, folder / "photos" / id) for id in ids])
    run_export(plan_export(photos, grouped([1] * len(ids)), folder / "out"), die)


def test_a_process_that_was_really_killed_leaves_an_export_that_can_be_undone(
    tmp_path: Path, photos: Collection
) -> None:
    before = tree(tmp_path)
    context = multiprocessing.get_context("spawn")
    worker = context.Process(target=_export_and_die, args=(tmp_path, list(photos.ids())))
    worker.start()
    worker.join(300)
    assert worker.exitcode == -signal.SIGKILL
    assert len(tree(tmp_path / "out")) == 6  # a folder, three files, manifest and journal
    report = undo_export(tmp_path / "out")
    assert len(report.done) == 3 and tree(tmp_path) == before


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="only Linux has a disk that is full")
def test_a_disk_that_is_full_for_the_log_leaves_nothing_behind(
    tmp_path: Path, photos: Collection, six: Clustering, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain_open = Path.open

    def open_full(path: Path, *how: Any, **options: Any) -> Any:
        if path.name == LOG and how == ("x",):
            plain_open(path, "x").close()
            return plain_open(Path("/dev/full"), "w", encoding="utf-8")
        return plain_open(path, *how, **options)

    before = tree(tmp_path)
    plan = plan_export(photos, six, tmp_path / "out")
    monkeypatch.setattr(Path, "open", open_full)
    with pytest.raises(ExportError, match=r"full\. Everything created was removed again"):
        run_export(plan)
    assert tree(tmp_path) == before


def test_progress_is_told_and_may_cancel(
    tmp_path: Path, photos: Collection, six: Clustering
) -> None:
    told: list[tuple[int, int]] = []
    run_export(plan_export(photos, six, tmp_path / "out"), lambda *step: told.append(step))
    assert told == [(n, 6) for n in range(1, 7)]

    def cancel(done: int, total: int) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        run_export(plan_export(photos, six, tmp_path / "out2"), cancel)
    assert not (tmp_path / "out2").exists()


def test_items_without_a_file_are_written_as_shown(tmp_path: Path) -> None:
    items = [DrawnItem("tile 1"), DrawnItem("b/tile 1"), DrawnItem("photo.JPG", "image/jpeg")]
    items += [DrawnItem("odd", "application/x-unknown"), LongText("essay")]
    plan = plan_export(Collection("demo", items), grouped([1] * 5), tmp_path / "out", mode="link")
    assert "5 items have no file" in plan.describe()
    run_export(plan)
    made = {Path(n).name: d for n, d in sorted_into(tmp_path / "out").items() if d is not None}
    assert made.pop("essay.txt") == b"long " * 1000, "a text is written whole"
    assert made == {
        "tile 1.png": b"picture of tile 1",
        "tile 1 (2).png": b"picture of b/tile 1",
        "photo.jpg": b"picture of photo.JPG",
        "odd.bin": b"picture of odd",
    }
    undo_export(tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_no_id_leads_out_of_the_target(tmp_path: Path) -> None:
    ids = [
        "../../x",
        "/etc/passwd",
        "..",
        "C:\\x\\y",
        "a/..",
        "",
        ".hidden",
        "nul",
        "x\0y",
        "\udcff",
    ]
    ids += ["samekind-export.json", "é" * 300, "trailing. "]
    names = {k: id for k, id in enumerate(ids, start=1)}
    clustering = grouped(list(names), names)
    outer = tmp_path / "outer"
    outer.mkdir()
    report = run_export(plan_export(drawn(*ids), clustering, outer / "out"))
    assert os.listdir(tmp_path) == ["outer"] and os.listdir(outer) == ["out"]
    assert len(set(report.done)) == len(ids)
    for path in report.done:
        assert path.resolve().parent.parent == outer / "out" and path.is_file()
        assert not path.name.startswith(".") and not path.parent.name.startswith(".")
    assert undo_export(outer / "out").kept == () and os.listdir(outer) == []


def test_an_export_into_the_collection_itself_is_refused(
    tmp_path: Path, photos: Collection, six: Clustering
) -> None:
    folder = tmp_path / "photos"
    (tmp_path / "alias").symlink_to(folder)
    for target in (folder / "out", folder / "a/out", folder / "o.csv", tmp_path / "alias" / "out"):
        with pytest.raises(ExportError, match="Choose a folder outside"):
            run_export(plan_export(photos, six, target))
    (folder / ".samekind").mkdir()
    run_export(plan_export(photos, six, folder / ".samekind/out"))  # hidden, so never an item
    run_export(plan_export(photos, six, tmp_path / "photos-sorted"))


def test_a_missing_original_is_said_before_anything_is_made(
    tmp_path: Path, photos: Collection, six: Clustering
) -> None:
    (tmp_path / "photos/a/x.jpg").unlink()
    plan = plan_export(photos, six, tmp_path / "out")
    with pytest.raises(ExportError, match=r"1 file no longer exists \(the first: a/x.jpg\)"):
        run_export(plan)
    assert not (tmp_path / "out").exists()


def test_too_little_room_is_said_before_anything_is_made(
    tmp_path: Path, photos: Collection, six: Clustering, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(100, 90, 10))
    plan = plan_export(photos, six, tmp_path / "out")
    assert "54 bytes are needed, but only 10 are free" in plan.conflicts[0]
    assert plan_export(photos, six, tmp_path / "out", mode="link").conflicts == ()


@pytest.mark.parametrize(
    "content",
    [
        "not json",
        "[]",
        '{"format": "other"}',
        '{"format": "samekind-export", "version": 2}',
        '{"format": "samekind-export", "version": 1, "part": "../x", "made": []}',
        *(
            json.dumps(
                {
                    "format": "samekind-export",
                    "version": 1,
                    "complete": True,
                    "made_target": True,
                    "part": ".samekind-0123456789ab.part",
                    "made": [{"kind": kind, "path": path}],
                }
            )
            for kind in ("file", "link", "folder", "disk")
            for path in ("../precious", "/precious", "a/../../precious", "..\\precious", "", 3)
        ),
    ],
)
def test_a_manifest_that_was_tampered_with_removes_nothing(tmp_path: Path, content: str) -> None:
    (tmp_path / "precious").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "out/samekind-export.json").write_text(content)
    before = tree(tmp_path)
    with pytest.raises(ExportError):
        undo_export(tmp_path / "out")
    assert tree(tmp_path) == before


def test_undo_does_not_follow_a_folder_that_became_a_link(
    tmp_path: Path, photos: Collection, six: Clustering
) -> None:
    target = tmp_path / "out"
    run_export(plan_export(photos, six, target))
    (target / "Größe").rename(tmp_path / "elsewhere")
    (target / "Größe").symlink_to(tmp_path / "elsewhere")
    report = undo_export(target)
    assert (tmp_path / "elsewhere/two.jpg").exists() and (target / "Größe").is_symlink()
    assert "its folder was replaced by a link" in dict(report.kept).values()


def test_undoing_what_is_no_export_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ExportError, match="cannot be read as a manifest"):
        undo_export(tmp_path)
