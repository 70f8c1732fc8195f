"""Exports: planned first, then written as a table; names that every file system accepts."""

from __future__ import annotations

import csv
import errno
import json
import os
import sys
from pathlib import Path

import numpy as np
import pytest

from exported import FileItem, drawn, grouped, tree
from samekind.clustering import Clustering
from samekind.errors import ExportError, InputError, MissingExtra, UnknownName
from samekind.exports import FORMATS, Plan, plan_export, run_export
from samekind.exports.names import FreeNames, safe_name, suffix_for, without_suffix
from samekind.items import Collection

RIGHT_TO_LEFT = ["צילום מסך.png", "صور العائلة.jpg", "می\u200cخواهم"]  # noqa: RUF001


def test_a_csv_has_one_row_per_item(tmp_path: Path) -> None:
    ids = ['quo"te, comma', "new\nline", "猫.jpg"]
    clustering = Clustering(
        np.array([1, 3, 3]),
        np.zeros((3, 2), np.float32),
        np.array([[0.75, 0.25], [0.1, 0.9], [0.6, 0.4]]),
        {3: "ünï"},
    )
    plan = plan_export(drawn(*ids), clustering, tmp_path / "out.csv", answered={ids[1]})
    assert not (tmp_path / "out.csv").exists(), "a plan touches nothing"
    report = run_export(plan)
    assert report.done == (tmp_path / "out.csv",) and report.manifest is None
    with (tmp_path / "out.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows == [
        dict(id=ids[0], group="1", name="Group 1", confidence="0.75", answered="false"),
        dict(id=ids[1], group="3", name="ünï", confidence="0.9", answered="true"),
        dict(id=ids[2], group="3", name="ünï", confidence="0.4", answered="false"),
    ]
    assert os.listdir(tmp_path) == ["out.csv"]


def test_hard_groups_have_no_confidence_column(tmp_path: Path) -> None:
    run_export(plan_export(drawn("a"), grouped([1]), tmp_path / "out.csv"))
    assert (tmp_path / "out.csv").read_text() == "id,group,name,answered\na,1,Group 1,false\n"


def test_a_json_lists_groups_and_items(tmp_path: Path) -> None:
    ids = ["猫", "b", "half \udcff"]
    plan = plan_export(drawn(*ids), grouped([2, 1, 2], {2: "cats"}), tmp_path / "o.JSON")
    run_export(plan)
    content = json.loads((tmp_path / "o.JSON").read_text(encoding="utf-8"))
    assert content.pop("items")[0] == dict(id="猫", group=2, name="cats", answered=False)
    assert content == {
        "format": "samekind-groups",
        "version": 1,
        "collection": "demo",
        "groups": [
            {"number": 1, "name": "Group 1", "size": 1, "items": ["b"]},
            {"number": 2, "name": "cats", "size": 2, "items": ["猫", "half \udcff"]},
        ],
    }


def test_a_parquet_has_typed_columns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    soft = Clustering(
        np.array([1, 2]), np.zeros((2, 1), np.float32), np.array([[1, 0], [0.5, 0.5]])
    )
    plan = plan_export(drawn("猫", "b"), soft, tmp_path / "o.parquet", answered=["b"])
    run_export(plan)
    table = parquet.read_table(tmp_path / "o.parquet")
    assert table.to_pydict() == {
        "id": ["猫", "b"],
        "group": [1, 2],
        "name": ["Group 1", "Group 2"],
        "confidence": [1.0, 0.5],
        "answered": [False, True],
    }
    assert str(table.schema.field("group").type) == "int64"
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(MissingExtra, match=r"samekind\[parquet\]"):
        plan_export(drawn("a", "b"), soft, tmp_path / "p.parquet")


@pytest.mark.parametrize("format", FORMATS)
def test_what_is_there_already_is_never_overwritten(tmp_path: Path, format: str) -> None:
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos/a.png").write_bytes(b"a")
    items = [FileItem("a.png", tmp_path / "photos/a.png")]
    photos = Collection("photos", items, location=str(tmp_path / "photos"))
    (tmp_path / "out").mkdir()
    target = tmp_path / "out/mine"
    early = plan_export(photos, grouped([1]), target, format=format)
    assert early.conflicts == ()
    target.write_text("precious")
    late = plan_export(photos, grouped([1]), target, format=format)
    assert "exists already" in late.describe()
    for plan in (late, early):  # `early` was made before the file appeared
        with pytest.raises(ExportError, match=r"exists already.*Choose another name"):
            run_export(plan)
    assert tree(tmp_path / "out") == {"mine": b"precious"}
    target.unlink()
    target.symlink_to(tmp_path / "nowhere")
    with pytest.raises(ExportError, match="exists already"):
        run_export(plan_export(photos, grouped([1]), target, format=format))
    assert not (tmp_path / "nowhere").exists()


def test_a_table_that_cannot_be_finished_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    for name in ("o.csv", "o.json"):
        with pytest.raises(ExportError, match="is full"):
            run_export(plan_export(drawn("a"), grouped([1]), tmp_path / name))
    assert os.listdir(tmp_path) == []


def test_wrong_parameters_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="export format 'xlsx'"):
        plan_export(drawn("a"), grouped([1]), tmp_path / "o.xlsx")
    with pytest.raises(UnknownName, match=r"'coppy'. Did you mean 'copy'"):
        plan_export(drawn("a"), grouped([1]), tmp_path / "o", mode="coppy")
    with pytest.raises(InputError, match="2 items, as in the groups, got 1"):
        plan_export(drawn("a"), grouped([1, 1]), tmp_path / "o.csv")
    with pytest.raises(ExportError, match=r"does not exist. Create it first"):
        run_export(plan_export(drawn("a"), grouped([1]), tmp_path / "no" / "o.csv"))


def test_names_are_safe_and_stay_readable() -> None:
    for wanted, safe in {
        "cats": "cats",
        "猫 🐈‍⬛ Ünï": "猫 🐈‍⬛ Ünï",
        'a/b\\c:d*e?f"g<h>i|j': "a_b_c_d_e_f_g_h_i_j",
        "tab\tnew\nline\0": "tab_new_line_",
        "  spaces.. ": "spaces",
        "COM1.txt": "COM1_.txt",
        "Lpt9": "Lpt9_",
        "console": "console",
        "e\u0301": "é",
        "...": "Group 7",
        "": "Group 7",
        "/": "Group 7",
        "photo\u202egpj.exe": "photo_gpj.exe",  # is shown as photoexe.jpg
        "\u2067gpj\u2069.exe": "_gpj_.exe",
        "\u200f\u202e": "Group 7",
        "\u200eaux": "aux_",
        "..\u200f": "Group 7",
        f"\u200f{RIGHT_TO_LEFT[0]}": RIGHT_TO_LEFT[0],
    }.items():
        assert safe_name(wanted, "Group 7") == safe
    assert [safe_name(name, "Group 7") for name in RIGHT_TO_LEFT] == RIGHT_TO_LEFT
    free = FreeNames()
    taken = [free.take(name) for name in ("Cats", "cats", "CATS", "cats (2)", "straße", "STRASSE")]
    assert taken == ["Cats", "cats (2)", "CATS (3)", "cats (2) (2)", "straße", "STRASSE (2)"]
    assert len(free.take("猫" * 300, ".jpeg").encode()) < 255
    assert suffix_for("image/jpeg") == ".jpg" and suffix_for("image/gif") == ".gif"
    assert [without_suffix(n) for n in ("a.JPG", ".png", "b.c")] == ["a", ".png", "b.c"]


def test_a_plan_is_plain_to_print(tmp_path: Path) -> None:
    plan = plan_export(drawn("a"), grouped([1]), tmp_path / "o.csv")
    assert isinstance(plan, Plan) and "DrawnItem" not in repr(plan)
