"""Files that version 0.1 wrote (commit 3e4e0db) open, and mean what they meant."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from making import one_core
from pile_of_files import (
    FILES,
    ITEMS,
    LEDGER,
    ORIENTATION,
    PLACEHOLDER,
    POLISH,
    open_session,
    placed_by,
    read_ledger,
    write_held_out,
    write_pile,
)

from samekind.encoders import default_cache
from samekind.exports import MANIFEST, undo_export
from samekind.ledger.store import open_store
from samekind.questions import KINDS
from samekind.sources.files.images import ImageItem
from samekind.workspace.pile import Pile, open_pile
from samekind.workspace.polished_vectors import chosen, polished_folder

EXPECTED: dict[str, Any] = json.loads((FILES / "expected.json").read_text(encoding="utf-8"))
ADDED_SINCE = {"all-like", "separate-kinds"}
"""Kinds of questions that 0.1 did not have."""
EVENTS = {
    "opened", "proposed", "told", "volunteered", "undone", "skipped", "refitted", "named",
}  # fmt: skip


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The pictures, and copies of cache, polished vectors and ledger, where they are looked for."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SAMEKIND_HOME", str(tmp_path / "home"))
    write_pile(Path("pile"))
    shutil.copytree(FILES / "cache", default_cache())
    shutil.copytree(FILES / "polished", polished_folder())
    shutil.copy(FILES / LEDGER, LEDGER)


@pytest.fixture
def pile(kept: None) -> Pile:
    with one_core():
        return open_pile("pile", encoder="pixels")


def test_the_ledger_has_every_kind_of_event_and_question(pile: Pile) -> None:
    store = open_store(LEDGER)
    assert store.sessions() == ["main", "polished"]
    events = [event for name in store.sessions() for event in store.read(name)]
    assert {event.kind for event in events} == EVENTS
    asked = [q for event in events for q in event.data.get("questions", [])]
    assert {question["kind"] for question in asked} == set(KINDS) - ADDED_SINCE
    told = {event.data["choice"] for event in events if event.kind == "told"}
    assert {"unsure", "same", "different", "none", "1", "2"} <= told
    assert {event.data.get("by") for event in events if "choice" in event.data} == {"me", "you"}
    numbers = [event.data["number"] for event in store.read("main") if event.kind == "told"]
    assert numbers.count(2) == 2, "an answer was changed"
    names = [event.data["name"] for event in events if event.kind == "named"]
    assert names == ["warm ☀ colours", "soon without a name", ""]
    assert chosen(store, "polished") == POLISH and not chosen(store, "main")


def test_the_ledger_adds_up_to_what_was_recorded(pile: Pile) -> None:
    with one_core():
        found = json.loads(json.dumps(read_ledger(Path(LEDGER), pile)))
    for name, wanted in EXPECTED["ledger"].items():
        for moment in ("left", "refitted"):
            # What the groups implied was not recorded then: new answers have to tell the quality.
            assert found[name][moment]["progress"].pop("quality") is None
            wanted[moment]["progress"].pop("quality", None)
            for what, value in wanted[moment].items():
                assert found[name][moment][what] == value, (name, moment, what)
    assert found == EXPECTED["ledger"]
    assert found["main"]["left"]["progress"]["unsure"] == 1
    assert "warm ☀ colours" in found["main"]["refitted"]["names"].values()


def test_opening_the_ledger_adds_no_event(pile: Pile) -> None:
    store = open_store(LEDGER)
    before = {name: len(list(store.read(name))) for name in store.sessions()}
    for name in before:
        open_session(store, name, pile)
    assert {name: len(list(store.read(name))) for name in store.sessions()} == before


def test_answers_follow_a_file_that_was_renamed(pile: Pile) -> None:
    wanted = EXPECTED["ledger"]["main"]["left"]
    old = wanted["answers"][0][2][0]
    new = old.replace(".png", " renamed.png")
    Path("pile", old).rename(Path("pile", new))
    with one_core():
        session = open_session(open_store(LEDGER), "main", open_pile("pile", encoder="pixels"))
    assert session.progress()["renamed"] == {old: new} and not session.progress()["gone"]
    assert [a.choice for a in session.answers] == [answer[3] for answer in wanted["answers"]]
    assert session.clustering.labels.tolist() == wanted["labels"]


def test_the_orientation_file_places_items_as_recorded(pile: Pile) -> None:
    write_held_out(Path("held-out"))
    with one_core():
        found = json.loads(json.dumps(placed_by(FILES / ORIENTATION)))
    wanted = EXPECTED["orientation"]
    assert found["about"] == wanted["about"]
    assert found["groups"] == wanted["groups"]
    assert found["placed"] == wanted["placed"]
    np.testing.assert_allclose(found["confidence"], wanted["confidence"], atol=1e-4)
    np.testing.assert_allclose(found["probabilities"], wanted["probabilities"], atol=1e-5)


@pytest.fixture
def exported(pile: Pile) -> Path:
    """The kept export, its manifest speaking of the pile where it lies now."""
    folder = Path("sorted")
    shutil.copytree(FILES / "export", folder)
    here = json.dumps(str(Path("pile").absolute()))[1:-1]
    manifest = folder / MANIFEST
    text = manifest.read_text(encoding="utf-8")
    assert text.count(PLACEHOLDER) == ITEMS
    manifest.write_text(text.replace(PLACEHOLDER, here), encoding="utf-8")
    return folder


def test_the_manifest_undoes_the_export(exported: Path) -> None:
    report = undo_export(exported / MANIFEST)
    assert len(report.done) == ITEMS and not report.kept
    assert not exported.exists()
    assert len(list(Path("pile").iterdir())) == ITEMS, "the originals stay"


def test_the_manifest_keeps_what_was_changed_or_added_since(exported: Path) -> None:
    changed = next(exported.rglob("tile-0001.png"))
    changed.write_bytes(b"mine now")
    added = changed.with_name("added.txt")
    added.write_text("mine, too")
    report = undo_export(exported)
    assert {path.name for path, _ in report.kept} == {"tile-0001.png", "added.txt"}
    left = {path.name for path in exported.rglob("*") if path.is_file()}
    assert left == {"tile-0001.png", "added.txt", MANIFEST}


def test_the_cache_is_hit_and_gives_the_recorded_vectors(
    kept: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads: list[str] = []

    def counted(self: ImageItem) -> Any:
        reads.append(self.id)
        return open_picture(self)

    open_picture = ImageItem.open
    monkeypatch.setattr(ImageItem, "open", counted)
    with one_core():
        again = open_pile("pile", encoder="pixels")
    assert not reads
    np.testing.assert_allclose(again.X, EXPECTED["vectors"], atol=1e-5)
    shutil.rmtree(default_cache())
    with one_core():
        fresh = open_pile("pile", encoder="pixels")
    assert sorted(reads) == sorted(fresh.collection.ids()), "without the cache every item is read"
    np.testing.assert_array_equal(fresh.X, again.X)


def test_nothing_is_added_to_the_cache(pile: Pile) -> None:
    def names(folder: Path) -> list[str]:
        return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))

    assert names(default_cache()) == names(FILES / "cache")
