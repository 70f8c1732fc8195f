"""A kept listing: opening a folder again is quick, and every change is noticed."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import pytest

from samekind.items import Collection
from samekind.sources import open_source
from samekind.sources.files import kept_listing, texts
from samekind.sources.files.folders import natural
from samekind.sources.files.kept_listing import KeptListing, Ticker

LONG_AGO = time.time() - 3600


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(kept_listing, "MIN_FILES", 5)
    for k in range(12):
        write(tmp_path / "pile" / f"{k % 3}" / f"text {k}.txt", f"text {k}")
    return tmp_path / "pile"


def write(path: Path, text: str, changed: float = LONG_AGO) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    os.utime(path, (changed, changed))


def opened(folder: Path) -> Collection:
    return open_source(folder, cache=folder.parent / "cache")


@pytest.fixture
def checked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The ids of the files that are opened and checked."""
    found: list[str] = []
    check = texts._fault

    def noted(file):
        found.append(file.id)
        return check(file)

    monkeypatch.setattr(texts, "_fault", noted)
    return found


def test_opening_a_folder_again_opens_none_of_its_files(folder: Path, checked: list[str]) -> None:
    first = opened(folder)
    assert len(checked) == 12
    checked.clear()
    again = opened(folder)
    assert checked == []
    assert list(again.ids()) == list(first.ids()) == list(open_source(folder).ids())
    assert again.fingerprint == first.fingerprint


def test_added_removed_renamed_and_changed_files_are_noticed(
    folder: Path, checked: list[str]
) -> None:
    before = opened(folder).fingerprint
    checked.clear()
    write(folder / "1" / "text 2.txt", "new")
    (folder / "0" / "text 3.txt").unlink()
    (folder / "0" / "text 6.txt").rename(folder / "0" / "text 100.txt")
    write(folder / "2" / "text 5.txt", "text 9", changed=LONG_AGO + 1)  # of the same length
    write(folder / "2" / "text 8.txt", "longer than before")
    again = opened(folder)
    assert sorted(checked) == [
        "0/text 100.txt", "1/text 2.txt", "2/text 5.txt", "2/text 8.txt"
    ]  # fmt: skip
    assert list(again.ids()) == list(open_source(folder).ids())
    assert again.fingerprint == open_source(folder).fingerprint != before


def test_a_file_that_has_just_been_written_is_checked_once_more(
    folder: Path, checked: list[str]
) -> None:
    write(folder / "fresh.txt", "fresh", changed=time.time())
    opened(folder)
    checked.clear()
    opened(folder)
    assert checked == ["fresh.txt"]


def test_files_with_a_fault_are_checked_every_time(folder: Path, checked: list[str]) -> None:
    write(folder / "empty.txt", "")
    opened(folder)
    checked.clear()
    again = opened(folder)
    assert checked == ["empty.txt"]
    assert [skipped.id for skipped in again.skipped] == ["empty.txt"]


@pytest.mark.parametrize("damage", ["flipped", "truncated", "emptied"])
def test_a_damaged_listing_is_ignored(folder: Path, checked: list[str], damage: str) -> None:
    opened(folder)
    (file,) = (folder.parent / "cache" / "listings").iterdir()
    data = bytearray(file.read_bytes())
    if damage == "flipped":
        data[-20] ^= 1
    file.write_bytes(
        b"" if damage == "emptied" else data[: len(data) // 2] if damage == "truncated" else data
    )
    checked.clear()
    assert len(opened(folder)) == len(checked) == 12


def test_another_folder_of_the_same_content_has_its_own_listing(
    folder: Path, checked: list[str]
) -> None:
    opened(folder)
    shutil.copytree(folder, folder.parent / "other" / "pile")
    checked.clear()
    open_source(folder.parent / "other" / "pile", cache=folder.parent / "cache")
    assert len(checked) == 12


def test_a_cache_that_cannot_be_written_is_no_obstacle(folder: Path) -> None:
    in_the_way = folder.parent / "file"
    in_the_way.write_text("not a folder")
    assert len(open_source(folder, cache=in_the_way)) == 12


def test_few_new_names_are_sorted_in_as_all_would_be() -> None:
    ids = sorted((f"a {k}/b {k % 7}.txt" for k in range(400)), key=natural)
    kept = KeptListing([*ids[3:200], "gone", *ids[203:]], ["s"] * 395, "1" * 395)
    keys: list[str] = []

    def counted(id: str):
        keys.append(id)
        return natural(id)

    assert kept.ordered(reversed(ids), counted) == ids
    assert len(keys) < 100
    assert KeptListing().ordered(reversed(ids), natural) == ids


def test_progress_is_reported_after_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[int, int]] = []
    clock = [0.0]
    monkeypatch.setattr(kept_listing.time, "monotonic", lambda: clock[0])
    ticker = Ticker(lambda *call: told.append(call))
    for _ in range(1000):
        ticker.tick()
    assert told == []
    clock[0] = 1.5
    for _ in range(600):
        ticker.tick()
    assert told == [(1024, 0), (1280, 0), (1536, 0)]
    ticker.restart()
    for _ in range(256):
        ticker.tick(2000)
    assert told[3:] == [(256, 2000)]
