"""The named sets: one door, known content, labels out of sight, and clear words when one is missing."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from samekind.encoders import default_encoder, encode
from samekind.errors import MissingExtra, SourceError, UnknownName
from samekind.sources import SETS, describe, is_set, open_labelled, open_set, open_source
from samekind.sources.sets import frozen as frozen_sets
from samekind.sources.sets import locations
from samekind.sources.sets import tables as table_sets
from samekind.sources.sets import texts as text_sets
from samekind.sources.sets.cifar import class_maps
from samekind.sources.sets.fashion import KINDS
from samekind.sources.sets.named import FROM_FILES, PACKAGED
from samekind.workspace.locations import ledger_file

KINDS_OF = {
    "cifar10-frozen": {"class": 10, "default": 2, "personalized": 2},
    "cifar20-frozen": {"coarse": 20, "fine": 100, "default": 4, "personalized": 4},
    "fashion-frozen": {"class": 10, "worn-on": 5, "season": 3},
    "fruits-frozen": {"species": 6, "colour": 4},
    "faces-frozen": {"identity": 20, "pose": 4, "eyes": 2, "expression": 4},
    "penguins": {"species": 3, "sex": 2, "island": 3},
    "cars": {"origin": 3, "cylinders": 3},
    "weather": {"weather": 5, "season": 4},
    "small-talk": {"language": 4, "topic": 6},
    "avatars": {"mood": 3, "hair": 4, "glasses": 2, "backdrop": 4},
    "leaves": {"form": 4, "edge": 2, "season": 3, "veins": 2},
    "charts": {"chart": 4, "palette": 4, "trend": 3},
    "tickets": {"topic": 5, "tone": 3, "product": 4},
    "sensors": {"machine": 3, "fault": 4, "shift": 2},
}
SIZES = {
    "cifar10-frozen": (6000, 2000),
    "cifar20-frozen": (6000, 2000),
    "fashion-frozen": (3000, 1000),
    "fruits-frozen": (1197, 0),
    "faces-frozen": (624, 0),
    "penguins": (333, 0),
    "cars": (393, 0),
    "weather": (1461, 0),
    "small-talk": (1189, 0),
    "avatars": (500, 0),
    "leaves": (480, 0),
    "charts": (480, 0),
    "tickets": (500, 0),
    "sensors": (600, 0),
}


@pytest.mark.parametrize("name", KINDS_OF)
def test_a_set_has_the_items_and_kinds_that_its_page_says(name: str) -> None:
    known = open_set(name)
    assert (len(known.collection), len(known.held_out or ())) == SIZES[name]
    found = {kind: len(set(known.truth(kind)[0].tolist())) for kind in known.orientations}
    assert found == KINDS_OF[name]
    assert set(known.held_out_orientations) in (set(), set(known.orientations))


def test_the_orientations_of_cifar_vectors_are_the_published_maps() -> None:
    known = open_set("cifar10-frozen")
    maps = class_maps("cifar10-2")
    for kinds in (known.orientations, known.held_out_orientations):
        places = [maps["classes"].index(kind) for kind in kinds["class"].tolist()]
        for orientation in ("default", "personalized"):
            names = np.asarray(maps["groups"][orientation])
            wanted = names[np.asarray(maps["orientations"][orientation])[places]]
            np.testing.assert_array_equal(kinds[orientation], wanted)


def test_fine_classes_of_the_cifar20_vectors_lie_within_the_coarse_ones() -> None:
    known = open_set("cifar20-frozen")
    maps = class_maps("cifar20")
    group = dict(zip(maps["classes"], maps["orientations"]["default"], strict=True))
    names = maps["groups"]["default"]
    fine, coarse = known.orientations["fine"].tolist(), known.orientations["coarse"].tolist()
    assert all(names[group[a]] == b for a, b in zip(fine, coarse, strict=True))


@pytest.mark.parametrize(
    ("name", "orientation", "least"),
    [
        ("cifar10-frozen", "class", 0.8),
        ("cifar20-frozen", "coarse", 0.6),
        ("fashion-frozen", "class", 0.75),
        ("faces-frozen", "identity", 0.9),
        ("fruits-frozen", "species", 0.95),
    ],
)
def test_frozen_vectors_belong_to_their_labels(name: str, orientation: str, least: float) -> None:
    known = open_set(name)
    X = known.collection.matrix  # type: ignore[attr-defined]
    kinds, kinds_apart = known.truth(orientation)
    if known.held_out is not None and kinds_apart is not None:
        asked, truth = known.held_out.matrix[:300], kinds_apart[:300]  # type: ignore[attr-defined]
    else:
        asked, truth = X[::4], kinds[::4]
        X, kinds = np.delete(X, np.s_[::4], axis=0), np.delete(kinds, np.s_[::4])
    far = (X**2).sum(axis=1) - 2 * asked @ X.T  # (asked, n), up to a constant per row
    near = kinds[np.argsort(far, axis=1)[:, :5]]
    voted = [np.bincount(row).argmax() for row in near]
    assert np.mean(voted == truth) > least


def test_seasons_cut_across_where_clothes_are_worn() -> None:
    pairs = set(zip(KINDS["worn-on"], KINDS["season"], strict=True))
    worn = {place: {season for at, season in pairs if at == place} for place, _ in pairs}
    assert worn["upper body"] == worn["feet"] == {"summer", "winter", "all year"}
    known = open_set("fashion-frozen")
    group = dict(zip(KINDS["class"], KINDS["season"], strict=True))
    kinds = known.orientations
    assert [group[kind] for kind in kinds["class"].tolist()] == kinds["season"].tolist()


def test_a_changed_frozen_file_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(frozen_sets.SUMS, "fruits-frozen", "0" * 64)
    with pytest.raises(SourceError, match=r"fruits-frozen\.npz.*expected its SHA-256 to be 0000"):
        open_set("fruits-frozen")


def test_the_shipped_vectors_are_small_and_hold_no_pickles() -> None:
    folder = Path(str(files("samekind.sources.sets") / "data" / "frozen"))
    found = sorted(folder.glob("*.npz"))
    assert [file.stem for file in found] == sorted(frozen_sets.SUMS)
    assert sum(file.stat().st_size for file in found) < 3_000_000
    origins = (folder / "README.md").read_text("utf-8")
    assert all(file.name in origins for file in found)
    for file in found:
        with np.load(file, allow_pickle=False) as kept:
            assert kept["q"].dtype == np.int8 and all(kept[name].ndim < 3 for name in kept.files)


@pytest.mark.parametrize(
    ("name", "sums"), [("penguins", "SUMS"), ("cars", "SUMS"), ("small-talk", "TALK_SUM")]
)
def test_a_package_with_other_data_is_refused_with_the_version_to_install(
    monkeypatch: pytest.MonkeyPatch, name: str, sums: str
) -> None:
    if sums == "SUMS":
        monkeypatch.setitem(table_sets.SUMS, name, "1" * 64)
    else:
        monkeypatch.setattr(text_sets, sums, "1" * 64)
    with pytest.raises(
        SourceError, match=r"have changed.*expected SHA-256 1111.*pip install '.*==\d"
    ):
        open_set(name)


@pytest.mark.parametrize("name", PACKAGED)
def test_a_missing_package_is_named_with_its_extra(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(locations, "find_spec", lambda package: None)
    with pytest.raises(MissingExtra, match=rf"'{name}'.*pip install 'samekind\[sets\]'"):
        open_set(name)


def test_a_package_without_its_file_is_told_apart_from_a_missing_one() -> None:
    with pytest.raises(SourceError, match=r"Expected no-such-file in the package 'json'"):
        locations.packaged("demo", "json", "no-such-file")


@pytest.mark.parametrize(
    ("name", "hidden"),
    [
        ("penguins", ["species", "island", "sex", "Adelie", "Torgersen", "male"]),
        ("cars", ["Origin", "USA", "Japan", "Cylinders", "Name", "toyota", "chevrolet"]),
        ("weather", ["date", "2012", "rain", "season", "winter"]),
    ],
)
def test_a_table_shows_neither_labels_nor_what_gives_them_away(
    name: str, hidden: list[str]
) -> None:
    pile = open_set(name).collection
    shown = pile[0].preview().data.decode() + " ".join(pile.columns)  # type: ignore[attr-defined]
    shown += " ".join(pile.ids()).replace(name.removesuffix("s"), "")
    assert not [word for word in hidden if word.lower() in shown.lower()]


def test_labels_of_a_set_do_not_change_what_a_learner_gets() -> None:
    for name in ("penguins", "small-talk", "cifar10-frozen"):
        first, again = open_set(name), open_source(name)
        assert first.collection.fingerprint == again.fingerprint
        assert first.collection[5].preview() == again[5].preview()


def test_tables_and_texts_come_in_an_order_that_tells_nothing() -> None:
    for name, orientation in (("penguins", "species"), ("small-talk", "topic")):
        kinds = open_set(name).truth(orientation)[0]
        repeats = np.mean(kinds[1:] == kinds[:-1])
        chance = np.mean([np.mean(kinds == kind) for kind in kinds])
        assert abs(repeats - chance) < 0.1


def test_the_seed_does_not_change_a_set_that_is_not_drawn() -> None:
    for name in ("cars", "fruits-frozen", "small-talk"):
        first, second = (open_set(name, seed=seed).collection for seed in (0, 3))
        assert first.fingerprint == second.fingerprint


def test_texts_can_be_encoded_by_default() -> None:
    pile = open_set("small-talk").collection.take(range(40))
    encoder, _ = default_encoder(pile)
    assert len(encode(pile, encoder).X) == 40


def test_every_set_has_one_short_line() -> None:
    lines = describe()
    assert all(10 <= len(lines[name]) <= 100 for name in SETS)


def test_an_unknown_set_is_answered_with_the_nearest_name() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'cifar10-frozen'"):
        open_set("cifar10-frosen")


@pytest.mark.parametrize("name", FROM_FILES)
def test_a_set_without_its_file_says_where_to_put_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr("samekind.sources.sets.fashion.DEBIAN", tmp_path / "none")
    wanted = re.escape(repr(str(tmp_path)))
    with pytest.raises(SourceError, match=rf"in {wanted}.*--data or\s+SAMEKIND_DATA"):
        open_set(name, data=tmp_path)
    monkeypatch.setenv("SAMEKIND_DATA", str(tmp_path))
    with pytest.raises(SourceError, match=wanted):
        open_labelled(name)


def test_a_folder_of_ones_own_goes_before_a_set_that_is_not_in_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert is_set("cars") and is_set("tiles") and not is_set("no-such-set")
    of_the_set = ledger_file("cars")
    (tmp_path / "cars").mkdir()
    (tmp_path / "cars" / "one.txt").write_text("a red one")
    (tmp_path / "tiles").mkdir()
    assert not is_set("cars") and is_set("tiles")
    assert list(open_source("cars").ids()) == ["one.txt"]
    assert ledger_file("cars") != of_the_set
