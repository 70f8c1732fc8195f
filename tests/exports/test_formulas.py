"""Cells of CSV files that a spreadsheet would calculate: mentioned, and neutralised on request."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from exported import DrawnItem, FileItem, drawn, grouped
from samekind.exports import Placed, Placements, plan_export, run_export
from samekind.items import Collection

FORMULAS = ("=1+1", "@x", "-2", "+3", "\t=1", "\n=1", "＝1")  # noqa: RUF001
IDS = (*FORMULAS, "fine")


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("format", ["csv", "cleanlab"])
def test_what_a_spreadsheet_takes_for_a_formula_is_mentioned_and_not_changed(
    tmp_path: Path, format: str
) -> None:
    groups = grouped([1, *[2] * 7], {2: "=A1"})
    plan = plan_export(drawn(*IDS), groups, tmp_path / "out.csv", format=format)
    assert "8 cells begin with" in plan.notes[0] and "'=1+1'" in plan.describe()
    assert "--no-formulas" in plan.notes[0]
    assert ("unchanged, for cleanlab" in plan.notes[0]) == (format == "cleanlab")
    assert plan.notes == run_export(plan).notes
    assert [row["id"] for row in rows_of(tmp_path / "out.csv")] == list(IDS)


@pytest.mark.parametrize("format", ["csv", "cleanlab"])
def test_formulas_are_neutralised_on_request(tmp_path: Path, format: str) -> None:
    groups = grouped([1, *[2] * 7], {2: "=A1"})
    target = tmp_path / "out.csv"
    plan = plan_export(drawn(*IDS), groups, target, format=format, no_formulas=True)
    assert "with an apostrophe" in plan.notes[0]
    run_export(plan)
    rows = rows_of(target)
    assert [row["id"] for row in rows] == [*(f"'{id}" for id in FORMULAS), "fine"]
    assert not [cell for row in rows for cell in row.values() if cell.startswith(FORMULAS)]
    assert "'=A1" in rows[1].values()


@pytest.mark.parametrize("no_formulas", [False, True])
def test_rows_beside_pictures_still_name_their_files(tmp_path: Path, no_formulas: bool) -> None:
    (tmp_path / "=1.png").write_bytes(b"a file")
    photos = Collection("photos", [FileItem("=1", tmp_path / "=1.png"), DrawnItem("=drawn")])
    plan = plan_export(
        *(photos, grouped([1, 2], {2: "=A1"}), tmp_path / "out"),
        format="imagefolder",
        no_formulas=no_formulas,
    )
    wanted = "with an apostrophe" if no_formulas else "unchanged, for Hugging Face datasets"
    assert "5 cells begin with" in plan.notes[0] and wanted in plan.notes[0]
    assert plan.notes == run_export(plan).notes
    one, two = rows_of(tmp_path / "out/train/metadata.csv")
    mark = "'" if no_formulas else ""
    assert (one["file_name"], one["id"]) == (f"{mark}=1.png", f"{mark}=1")
    assert (two["file_name"], two["label"]) == (f"{mark}=drawn.png", f"{mark}=A1")
    assert (tmp_path / "out/train" / one["file_name"]).read_bytes() == b"a file"
    assert (tmp_path / "out/train" / two["file_name"]).exists()


def test_placed_items_are_written_by_the_same_rule(tmp_path: Path) -> None:
    items = tuple(Placed(id, 1, "=A1", 0.5, True, -0.5) for id in IDS)
    placements = Placements("new", "main", items)
    note = placements.formula_note()
    assert "8 cells begin with" in note and "--no-formulas" in note
    assert "with an apostrophe" in placements.formula_note(no_formulas=True)
    placements.write_csv(tmp_path / "as-is.csv")
    placements.write_csv(tmp_path / "safe.csv", no_formulas=True)
    assert [row["id"] for row in rows_of(tmp_path / "as-is.csv")] == list(IDS)
    rows = rows_of(tmp_path / "safe.csv")
    assert [row["id"] for row in rows] == [*(f"'{id}" for id in FORMULAS), "fine"]
    assert {row["name"] for row in rows} == {"'=A1"}
    assert {row["strangeness"] for row in rows} == {"-0.5"}, "a number is no formula"


def test_nothing_is_said_where_no_cell_is_a_formula(tmp_path: Path) -> None:
    for format in ("csv", "cleanlab", "imagefolder"):
        plan = plan_export(drawn("a", "b"), grouped([1, 1]), tmp_path / format, format=format)
        assert plan.notes == ()
    assert Placements("new", "main", ()).formula_note() == ""
