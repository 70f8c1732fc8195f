"""Groups as XMP sidecars, which photo managers read as tags."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from exported import FileItem, drawn, grouped, tree
from samekind.clustering import Clustering
from samekind.errors import ExportError
from samekind.exports import Plan, plan_export, run_export, undo_export
from samekind.items import Collection

ODD = 'Tom & "Jerry" <3 🐈'
IDS = ["a/x.jpg", "a/x.png", "b/deep/猫.heic", "two.jpg"]


@pytest.fixture
def photos(tmp_path: Path) -> Collection:
    folder = tmp_path / "photos"
    for id in IDS:
        (folder / id).parent.mkdir(parents=True, exist_ok=True)
        (folder / id).write_bytes(id.encode())
    items = [FileItem(id, folder / id) for id in IDS]
    return Collection("photos", items, location=str(folder))


@pytest.fixture
def groups() -> Clustering:
    return grouped([1, 2, 2, 3], {1: ODD, 3: "cats/dogs|pets\x07"})


def planned(photos: Collection, groups: Clustering, target: Path) -> Plan:
    return plan_export(photos, groups, target, format="xmp", grouping="by <mood>")


def tags(path: Path) -> dict[str, list[str | None]]:
    """The values of each property, parsed."""
    rdf = "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}"
    (about,) = ElementTree.parse(path).iter(f"{rdf}Description")
    assert about.attrib == {f"{rdf}about": ""}
    return {one.tag: [value.text for value in one.iter(f"{rdf}li")] for one in about}


DC = "{http://purl.org/dc/elements/1.1/}subject"
LR = "{http://ns.adobe.com/lightroom/1.0/}hierarchicalSubject"
DIGIKAM = "{http://www.digikam.org/ns/1.0/}TagsList"


def test_every_picture_gets_its_group_as_tags_and_undo_removes_them(
    tmp_path: Path, photos: Collection, groups: Clustering
) -> None:
    before, out = tree(tmp_path / "photos"), tmp_path / "out"
    plan = planned(photos, groups, out)
    assert not out.exists() and "(tags of a/x.jpg)" in plan.describe()
    report = run_export(plan)
    files = {name for name, data in tree(out).items() if data is not None}
    assert files == {f"{id}.xmp" for id in IDS} | {"samekind-export.json"}
    assert plan.n_bytes == sum(path.stat().st_size for path in report.done)
    assert tags(out / "a/x.jpg.xmp") == {
        DC: [ODD], LR: [f"samekind|by <mood>|{ODD}"], DIGIKAM: [f"samekind/by <mood>/{ODD}"]
    }  # fmt: skip
    assert tags(out / "b/deep/猫.heic.xmp")[DC] == ["Group 2"]
    assert tags(out / "two.jpg.xmp") == {  # a separator within a name is not a level
        DC: ["cats/dogs|pets_"],
        LR: ["samekind|by <mood>|cats/dogs_pets_"],
        DIGIKAM: ["samekind/by <mood>/cats_dogs|pets_"],
    }
    again = run_export(planned(photos, groups, tmp_path / "again"))
    assert [path.read_bytes() for path in again.done] == [p.read_bytes() for p in report.done]
    assert len(undo_export(out).done) == 4
    assert not out.exists() and tree(tmp_path / "photos") == before


def test_beside_the_originals_no_sidecar_is_overwritten_and_undo_removes_only_new_ones(
    tmp_path: Path, photos: Collection, groups: Clustering
) -> None:
    folder = tmp_path / "photos"
    (folder / "a/x.jpg.xmp").write_text("mine")
    before = tree(folder)
    plan = planned(photos, groups, folder)
    assert plan.conflicts == () and "1 sidecar" in plan.describe()
    run_export(plan)
    assert (folder / "a/x.jpg.xmp").read_text() == "mine"
    assert tags(folder / "a/x.png.xmp")[DC] == ["Group 2"]
    assert "Undo it first" in " ".join(planned(photos, groups, folder).conflicts)
    (folder / "two.jpg.xmp").write_text("rated")
    undone = undo_export(folder)
    assert [path.name for path, _ in undone.kept] == ["two.jpg.xmp"] and len(undone.done) == 2
    (folder / "two.jpg.xmp").unlink()
    assert undo_export(folder).kept == () and tree(folder) == before


def test_a_sidecar_that_appears_while_writing_is_kept_and_all_else_removed(
    tmp_path: Path, photos: Collection, groups: Clustering
) -> None:
    folder = tmp_path / "photos"
    plan = planned(photos, groups, folder)
    (folder / "b/deep/猫.heic.xmp").write_text("mine")
    with pytest.raises(ExportError, match="exists already"):
        run_export(plan)
    (folder / "samekind-export.json").unlink()  # it lists the one that was kept
    left = {name for name in tree(folder) if name.endswith((".xmp", ".log", ".part"))}
    assert left == {"b/deep/猫.heic.xmp"}
    assert (folder / "b/deep/猫.heic.xmp").read_text() == "mine"


def test_sidecars_are_refused_where_there_are_no_pictures_or_other_files(
    tmp_path: Path, photos: Collection, groups: Clustering
) -> None:
    refused = plan_export(drawn("a"), grouped([1]), tmp_path / "out", format="xmp")
    assert "pictures in a folder" in " ".join(refused.conflicts)
    inside = planned(photos, groups, tmp_path / "photos/a")
    assert inside.conflicts and planned(photos, groups, tmp_path).conflicts
    (tmp_path / "photos/two.jpg").unlink()
    assert "no longer exist" in " ".join(planned(photos, groups, tmp_path / "out").conflicts)
