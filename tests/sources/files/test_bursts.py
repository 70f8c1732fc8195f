"""Bursts and near-duplicates: one item, answered once, exported together."""

from __future__ import annotations

import csv
import shutil
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from samekind.clustering import Clustering
from samekind.exports import plan_export, run_export
from samekind.sources import collapse, open_source
from samekind.workspace.pile import Request
from samekind.workspace.workspace import Workspace
from samekind.workspace.workspaces import Workspaces

START = datetime(2024, 5, 1, 12, 0, 0)


def scene(seed: int, shift: int = 0) -> Image.Image:
    """A picture with large structure, moved by a few pixels."""
    rng = np.random.default_rng(seed)
    small = Image.fromarray(rng.integers(0, 255, (6, 8, 3), dtype=np.uint8))
    large = small.resize((320, 240), Image.Resampling.BICUBIC)
    return large.crop((shift, 0, 300 + shift, 240))


def save(folder: Path, name: str, image: Image.Image, seconds: float | None = None) -> None:
    exif = Image.Exif()
    if seconds is not None:
        taken = START + timedelta(seconds=seconds)
        exif.get_ifd(0x8769)[0x9003] = f"{taken:%Y:%m:%d %H:%M:%S}"
    image.save(folder / name, exif=exif)


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    folder = tmp_path / "photos"
    folder.mkdir()
    for k in range(4):
        save(folder, f"burst-{k}.jpg", scene(1, k), seconds=k)
    save(folder, "later.jpg", scene(1, 1), seconds=500)  # alike, but not at the same time
    save(folder, "moment.jpg", scene(2), seconds=3)  # at the same time, but not alike
    save(folder, "party.jpg", scene(3))
    shutil.copy(folder / "party.jpg", folder / "twin.jpg")
    save(folder, "beach.jpg", scene(4))
    save(folder, "beach (1).png", scene(4))
    save(folder, "plain.jpg", Image.new("RGB", (30, 20), "grey"))
    return folder


def bursts(folder: Path) -> dict[str, list[str]]:
    found = collapse(open_source(folder))
    return {item.id: [one.id for one in item.members] for item in found if item.members}


def test_bursts_copies_and_other_formats_of_a_picture_collapse_and_nothing_else(
    photos: Path,
) -> None:
    assert bursts(photos) == {
        "beach (1).png": ["beach (1).png", "beach.jpg"],
        "burst-0.jpg": [f"burst-{k}.jpg" for k in range(4)],
        "party.jpg": ["party.jpg", "twin.jpg"],
    }
    left = set(collapse(open_source(photos)).ids())
    assert {"later.jpg", "moment.jpg", "plain.jpg"} <= left and len(left) == 6


def test_a_slow_change_does_not_make_one_burst_of_everything(tmp_path: Path) -> None:
    a, b = np.asarray(scene(5), dtype=float), np.asarray(scene(6), dtype=float)
    for k in range(11):
        mixed = Image.fromarray(((1 - k / 10) * a + k / 10 * b).astype(np.uint8))
        save(tmp_path, f"{k:02}.jpg", mixed, seconds=k)
    assert all("00.jpg" not in ids or "10.jpg" not in ids for ids in bursts(tmp_path).values())


def test_an_export_has_every_picture_of_a_burst_in_the_same_group(
    photos: Path, tmp_path: Path
) -> None:
    pile = collapse(open_source(photos))
    labels = np.arange(len(pile)) % 2
    groups = Clustering.first(labels, np.zeros((len(pile), 2)))
    table = tmp_path / "groups.csv"
    run_export(plan_export(pile, groups, table, answered={"burst-0.jpg"}))
    with table.open() as file:
        rows = {row["id"]: row for row in csv.DictReader(file)}
    assert set(rows) == set(open_source(photos).ids())
    burst = [rows[f"burst-{k}.jpg"] for k in range(4)]
    assert len({row["group"] for row in burst}) == 1
    assert all(row["answered"] == "true" for row in burst)
    run_export(plan_export(pile, groups, tmp_path / "sorted"))
    assert len(list((tmp_path / "sorted").rglob("*.*g"))) == len(rows)


def test_new_piles_collapse_and_known_ones_stay_as_they_were(
    photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SAMEKIND_HOME", str(tmp_path / "home"))
    asked = Request(str(photos), encoder="pixels")
    assert asked.remembered().bursts is True
    whole = Request(str(photos), encoder="pixels", bursts=False).remembered()
    workspaces = Workspaces.at_home()
    assert len(workspaces.open(whole).collection) == 11
    assert asked.remembered().bursts is False  # as it was
    again = Request(str(photos), encoder="pixels", bursts=True).remembered()
    workspace: Workspace = workspaces.open(again)
    assert len(workspace.collection) == 6
    assert asked.remembered().bursts is True
    workspaces.close()
