"""Labels for simulation: aligned, split, mapped, and out of the learner's sight."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from samekind.errors import InputError, SourceError, UnknownName, VectorError
from samekind.items import Collection
from samekind.sources import LabelledSet, open_labelled, open_source
from samekind.sources.files.rows import RowCollection


def test_an_npz_gives_vectors_and_label_columns(tmp_path: Path) -> None:
    vectors = np.random.default_rng(0).normal(size=(6, 3)).astype(np.float32)
    np.savez(tmp_path / "v.npz", X=vectors, label=[0, 1, 2, 0, 1, 2], names=["a", "b"])
    known = open_labelled(tmp_path / "v.npz")
    assert set(known.orientations) == {"label"} and known.held_out is None
    np.testing.assert_array_equal(known.collection.matrix, vectors)  # type: ignore[attr-defined]
    assert known.collection.skipped[0].id == "array names"
    assert known.truth("label")[0].tolist() == [0, 1, 2, 0, 1, 2]
    assert known.truth("label")[1] is None


@pytest.mark.parametrize("split", [[0, 1, 0, 1], ["train", "test", "TRAIN", "Test"]])
def test_split_marks_the_held_out_items(tmp_path: Path, split: list[int] | list[str]) -> None:
    np.savez(tmp_path / "v.npz", X=np.eye(4), label=["b", "c", "a", "b"], split=split)
    known = open_labelled(tmp_path / "v.npz")
    assert list(known.collection.ids()) == ["row-0", "row-2"]
    assert known.held_out is not None and list(known.held_out.ids()) == ["row-1", "row-3"]
    assert set(known.orientations) == {"label"}
    inside, outside = known.truth("label")
    assert inside.tolist() == [1, 0] and outside is not None and outside.tolist() == [2, 1]
    assert isinstance(known.collection, RowCollection)
    np.testing.assert_array_equal(known.collection.matrix, np.eye(4)[[0, 2]])


def test_a_file_of_test_items_only_is_a_collection(tmp_path: Path) -> None:
    np.savez(tmp_path / "v.npz", X=np.eye(3), label=[1, 2, 3], split=["test"] * 3)
    known = open_labelled(tmp_path / "v.npz")
    assert len(known.collection) == 3 and known.held_out is None


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".npz"])
def test_a_column_split_with_other_words_is_a_column_like_others(
    tmp_path: Path, suffix: str
) -> None:
    path = tmp_path / f"table{suffix}"
    columns = {
        "size": [1.0, 2.0, 3.0],
        "split": ["trainval", "trainval", "test"],
        "kind": [1, 2, 1],
    }
    if suffix == ".npz":
        np.savez(path, X=np.eye(3), **columns)
    else:
        frame = pd.DataFrame(columns)
        frame.to_csv(path, index=False) if suffix == ".csv" else frame.to_parquet(path)
    found = open_labelled(path, labels=["kind"])
    assert len(found.collection) == 3
    assert found.held_out is None
    if suffix == ".npz":
        assert "split" in found.orientations
        return
    assert list(found.orientations) == ["kind"]
    assert "split=trainval" in found.collection.columns  # type: ignore[attr-defined]
    asked_for = open_labelled(path, labels=["split"])
    assert list(asked_for.orientations) == ["split"]
    assert "split=trainval" not in asked_for.collection.columns  # type: ignore[attr-defined]


def test_the_unlabelled_source_of_an_npz_has_only_the_vectors(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", X=np.eye(3), label=[1, 2, 3], split=[0, 0, 1])
    np.savez(tmp_path / "b.npz", X=np.eye(3), label=[3, 2, 1])
    first, second = open_source(tmp_path / "a.npz"), open_source(tmp_path / "b.npz")
    assert first.fingerprint == second.fingerprint and len(first) == 3
    assert first[0].preview() == second[0].preview()


def test_an_npz_may_name_its_items(tmp_path: Path) -> None:
    np.savez(tmp_path / "v.npz", X=np.eye(3), id=["x", "y", "z"], label=[1, 2, 3])
    known = open_labelled(tmp_path / "v.npz")
    assert list(known.collection.ids()) == ["x", "y", "z"] and set(known.orientations) == {"label"}


def test_an_npz_without_vectors_or_with_bad_ones_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "v.npz"
    np.savez(path, q=np.eye(3), label=[1, 2, 3])
    with pytest.raises(SourceError, match=r"array 'X' .*got: q \(3, 3\), label \(3,\)"):
        open_source(path)
    np.savez(path, X=np.array([[1.0], [np.nan]]))
    with pytest.raises(VectorError, match="1 of 2 rows"):
        open_source(path)
    np.savez(path, X=np.eye(2), label=np.array([{}, {}], dtype=object))
    with pytest.raises(SourceError, match="never loaded"):
        open_labelled(path)
    path.write_bytes(b"PK nonsense")
    with pytest.raises(SourceError, match="cannot be read"):
        open_source(path)


def penguins(path: Path) -> Path:
    path.write_text(
        "mass,species,species_name,island,split\n"
        "1,0,Adelie,x,train\n2,1,Gentoo,y,train\n3,,,x,train\n4,2,Chinstrap,y,test\n"
    )
    return path


def test_label_columns_of_a_csv_are_out_of_features_and_previews(tmp_path: Path) -> None:
    known = open_labelled(penguins(tmp_path / "p.csv"), labels=["species"])
    assert isinstance(known.collection, RowCollection)
    assert known.collection.columns == ("mass", "island=x", "island=y")
    assert known.collection[0].preview().data.decode() == "mass: 1\nisland: x"
    assert known.held_out is not None and len(known.held_out) == 1
    assert set(known.orientations) == {"species", "species_name"}


def test_a_missing_label_is_not_known(tmp_path: Path) -> None:
    known = open_labelled(penguins(tmp_path / "p.csv"), labels=["species"])
    inside, outside = known.truth("species")
    assert inside.tolist() == [0, 1, -1] and outside is not None and outside.tolist() == [2]
    assert known.truth("species_name")[0].tolist() == [0, 2, -1]


def test_a_mapping_works_by_label_and_by_name(tmp_path: Path) -> None:
    known = open_labelled(penguins(tmp_path / "p.csv"), labels=["species"])
    by_label = known.truth("species", {"0": "small", "1": "large", "2": "small"})
    by_name = known.truth("species", {"Adelie": 7, "Gentoo": 9, "Chinstrap": 7})
    for inside, outside in (by_label, by_name):
        assert inside[0] != inside[1] and inside[2] == -1
        assert outside is not None and outside[0] == inside[0]


def test_a_mapping_without_a_label_names_it(tmp_path: Path) -> None:
    known = open_labelled(penguins(tmp_path / "p.csv"), labels=["species"])
    with pytest.raises(InputError, match=r"'2' \(Chinstrap\)"):
        known.truth("species", {"0": "a", "1": "b"})


def test_a_mapping_to_nothing_means_not_known(tmp_path: Path) -> None:
    known = open_labelled(penguins(tmp_path / "p.csv"), labels=["species"])
    assert known.truth("species", {"0": "a", "1": None, "2": "a"})[0].tolist() == [0, -1, -1]


def test_whole_floats_bytes_and_none_are_read_as_labels() -> None:
    pile = Collection("p", [])
    labels = {
        "float": np.array([3.0, np.nan, 10.0]),
        "bytes": np.array([b"u", b"", b"v"]),
        "object": np.array(["x", None, 2], dtype=object),
    }
    known = LabelledSet("p", pile, labels)
    assert known.truth("float", {"3": 1, "10": 2})[0].tolist() == [0, -1, 1]
    assert known.truth("bytes")[0].tolist() == [0, -1, 1]
    assert known.truth("object")[0].tolist() == [1, -1, 0]


def test_numbers_are_coded_in_their_own_order() -> None:
    known = LabelledSet("p", Collection("p", []), {"digit": np.array([10, 9, 2])})
    assert known.truth("digit")[0].tolist() == [2, 1, 0]


def test_names_are_found_beside_columns_that_end_in_label() -> None:
    columns = {"fine_label": np.array([0, 1]), "fine_name": np.array(["apple", "bear"])}
    known = LabelledSet("p", Collection("p", []), columns)
    assert known.truth("fine_label", {"apple": "x", "bear": "y"})[0].tolist() == [0, 1]


def test_unknown_orientations_and_label_columns_are_named(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="Did you mean 'digit'"):
        open_labelled("digits").truth("digits")
    with pytest.raises(InputError, match="Columns: mass, species"):
        open_labelled(penguins(tmp_path / "p.csv"), labels=["spices"])
    with pytest.raises(InputError, match="Expected a label column"):
        open_labelled(tmp_path / "p.csv")
    np.savez(tmp_path / "v.npz", X=np.eye(2))
    with pytest.raises(InputError, match="Expected a label column"):
        open_labelled(tmp_path / "v.npz")


def test_sources_without_label_columns_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="file with labels"):
        open_labelled(tmp_path)
    with pytest.raises(SourceError, match="There is no file"):
        open_labelled(tmp_path / "nothing.csv")


def test_digits_are_ready_vectors_shown_as_pictures() -> None:
    known = open_labelled("digits")
    pile = known.collection
    assert isinstance(pile, RowCollection) and pile.ready
    assert pile.matrix.shape == (1797, 64) and pile.matrix.dtype == np.float32
    assert pile.position("digit-0007") == 7
    assert pile[7].preview().mime == "image/png"
    digit, parity = known.truth("digit")[0], known.truth("parity")[0]
    assert len(np.unique(digit)) == 10
    np.testing.assert_array_equal(parity, digit % 2)
