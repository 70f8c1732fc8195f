"""CSV files as people save them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from samekind.errors import InputError, SourceError
from samekind.sources import open_source
from samekind.sources.files.rows import RowCollection


def table(path: Path, text: str, *, encoding: str = "utf-8", **options: object) -> RowCollection:
    path.write_bytes(text.encode(encoding))
    pile = open_source(path, **options)  # type: ignore[arg-type]
    assert isinstance(pile, RowCollection)
    return pile


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_found(tmp_path: Path, delimiter: str) -> None:
    text = "width,height,name\n1,2.5,a\n3,4,b\n5,6,a\n".replace(",", delimiter)
    pile = table(tmp_path / "t.csv", text)
    assert pile.columns == ("width", "height", "name=a", "name=b")
    np.testing.assert_array_equal(pile.matrix[:, :2], [[1, 2.5], [3, 4], [5, 6]])
    assert pile.kind == "row" and not pile.ready


def test_a_decimal_comma_is_understood(tmp_path: Path) -> None:
    pile = table(tmp_path / "t.csv", "x;y\n1,5;2\n2,25;3\n")
    np.testing.assert_array_equal(pile.matrix, [[1.5, 2], [2.25, 3]])


def test_commas_inside_quotes_do_not_cut_cells(tmp_path: Path) -> None:
    pile = table(tmp_path / "t.csv", 'x,place\n1,"Ulm, Germany"\n2,"Ulm, Germany"\n3,Rome\n')
    assert pile.columns == ("x", "place=Rome", "place=Ulm, Germany")


def test_missing_values_stay_nan(tmp_path: Path) -> None:
    pile = table(tmp_path / "t.csv", "x,kind\n1,a\n,b\nNA,\n4,a\n")
    np.testing.assert_array_equal(
        pile.matrix, [[1, 1, 0], [np.nan, 0, 1], [np.nan, np.nan, np.nan], [4, 1, 0]]
    )


def test_infinite_values_are_taken_as_missing_and_reported(tmp_path: Path) -> None:
    pile = table(tmp_path / "t.csv", "x,y\n1,1\ninf,2\n")
    assert np.isnan(pile.matrix[1, 0])
    assert [skipped.id for skipped in pile.skipped] == ["column x"]


def test_text_columns_of_many_values_are_shown_and_not_compared(tmp_path: Path) -> None:
    lines = "\n".join(f"{i},note number {i},{'ab'[i % 2]}" for i in range(50))
    pile = table(tmp_path / "t.csv", f"x,note,kind\n{lines}\n")
    assert pile.columns == ("x", "kind=a", "kind=b")
    assert "50 different texts" in pile.skipped[0].reason
    assert pile[7].preview().data.decode() == "x: 7\nnote: note number 7\nkind: b"
    assert pile[7].preview().mime == "text/plain"


def test_an_empty_column_is_reported(tmp_path: Path) -> None:
    pile = table(tmp_path / "t.csv", "x,nothing\n1,\n2,NA\n")
    assert pile.columns == ("x",)
    assert pile.skipped[0].id == "column nothing"


def test_a_unique_id_column_names_the_items(tmp_path: Path) -> None:
    pile = table(tmp_path / "t.csv", "ID,x\nb7,1\na1,2\n")
    assert list(pile.ids()) == ["b7", "a1"]
    assert pile.position("a1") == 1 and pile.take([1]).position("a1") == 0
    assert pile.columns == ("x",)
    with pytest.raises(KeyError):
        pile.position("c")


@pytest.mark.parametrize("ids", [("1", "1"), ("1", "")])
def test_an_id_column_that_is_not_unique_is_reported_and_not_used(
    tmp_path: Path, ids: tuple[str, str]
) -> None:
    pile = table(tmp_path / "t.csv", f"id,x\n{ids[0]},5\n{ids[1]},6\n")
    assert list(pile.ids()) == ["row-0", "row-1"]
    assert pile.columns == ("x",) and pile.skipped[0].id == "column id"


def test_whole_number_ids_have_no_decimal_point(tmp_path: Path) -> None:
    assert list(table(tmp_path / "t.csv", "id,x\n10,5\n11,6\n").ids()) == ["10", "11"]


def test_lines_of_another_length_are_reported_and_skipped(tmp_path: Path) -> None:
    pile = table(tmp_path / "t.csv", "x,y\n1,2\n3\n4,5,6\n\n7,8\n")
    assert len(pile) == 2
    assert [skipped.id for skipped in pile.skipped] == ["line 3", "line 4"]


def test_a_table_without_header_gets_column_numbers(tmp_path: Path) -> None:
    pile = table(tmp_path / "t.csv", "1,2\n3,4\n")
    assert pile.columns == ("column 1", "column 2") and len(pile) == 2


def test_repeated_and_empty_headers_are_told_apart(tmp_path: Path) -> None:
    pile = table(tmp_path / "t.csv", "x,x,,x\n1,2,3,4\n5,6,7,8\n")
    assert pile.columns == ("x", "x (2)", "column 3", "x (3)")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "utf-16"])
def test_usual_encodings_are_read(tmp_path: Path, encoding: str) -> None:
    pile = table(tmp_path / "t.csv", "größe,x\n1,2\n3,4\n", encoding=encoding)
    assert pile.columns == ("größe", "x")


def test_excluded_columns_are_neither_compared_nor_shown(tmp_path: Path) -> None:
    text = "x,species,split\n1,cat,train\n2,dog,test\n3,cat,train\n"
    pile = table(tmp_path / "t.csv", text, exclude=["species"])
    assert pile.columns == ("x",)
    assert pile[1].preview().data.decode() == "x: 2"


def test_an_unknown_excluded_column_is_an_error_that_lists_the_columns(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no column 'spices'. Columns: x, species"):
        table(tmp_path / "t.csv", "x,species\n1,cat\n", exclude=["spices"])


def test_the_split_column_is_never_a_feature(tmp_path: Path) -> None:
    assert table(tmp_path / "t.csv", "x,split\n1,0\n2,1\n").columns == ("x",)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is empty"),
        ("x,y\n", "no rows"),
        ("name\nann\nbob\n", "Add a column to compare by"),
        ("\0\1\2\3", "binary"),
        ("x,y\n1,2\n3," + "a" * 200_000, "quotation mark"),
    ],
)
def test_files_that_are_no_table_are_refused(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(SourceError, match=words):
        table(tmp_path / "t.csv", text)


def test_the_fingerprint_changes_with_a_cell(tmp_path: Path) -> None:
    before = table(tmp_path / "t.csv", "x\n1\n2\n").fingerprint
    assert table(tmp_path / "t.csv", "x\n1\n2\n").fingerprint == before
    assert table(tmp_path / "t.csv", "x\n1\n3\n").fingerprint != before
