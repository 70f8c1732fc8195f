"""Groups go to other tools and come back: exports are read as labels, and so are files of theirs."""

# ruff: noqa: F811 (fixtures are imported by their names)

from __future__ import annotations

import csv
import json
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import samekind
from command_line import Cli, cli  # noqa: F401
from exported import FileItem, tree
from samekind.clustering import Clustering
from samekind.errors import InputError, StateError
from samekind.exports import plan_export, run_export, undo_export
from samekind.items import Collection, Item
from samekind.sources import open_data
from samekind.workspace.label_files import read_labels
from samekind.workspace.starts import check_label_file

IDS = ["a/x.jpg", "a/y.jpg", "b/deep/猫.jpg", "b/x.jpg", "two.jpg"]
NAMES = {1: "Stars", 2: 'Tom & "Jerry", 3', 5: "Moons"}
GROUPS = [1, 1, 2, 5, 5]
TEXTS = ["open the door", "close the door", "paint it red, please?", "paint [it] blue", "wait"]
TOOLS = ["csv", "json", "coco", "label-studio", "fiftyone", "argilla", "cleanlab", "imagefolder"]
SUFFIX = {"csv": ".csv", "cleanlab": ".csv", "imagefolder": ""}


@pytest.fixture
def photos(tmp_path: Path) -> Collection:
    folder = tmp_path / "photos"
    for id in IDS:
        (folder / id).parent.mkdir(parents=True, exist_ok=True)
        (folder / id).write_bytes(id.encode())
    items: list[Item] = [FileItem(id, folder / id) for id in IDS]
    return Collection("photos", items, location=str(folder))


def groups() -> Clustering:
    membership = np.array([[0.9, 0.1, 0], [0.8, 0.2, 0], [0, 1, 0], [0.1, 0.2, 0.7], [0, 0, 1.0]])
    return Clustering(np.array(GROUPS), np.zeros((5, 1), np.float32), membership, NAMES)


def exported(collection: Collection, format: str, target: Path, answered: list[str]) -> Path:
    plan = plan_export(collection, groups(), target, format=format, answered=answered)
    run_export(plan)
    return target


def expected() -> dict[int, str]:
    return {k: NAMES[group] for k, group in enumerate(GROUPS)}


@pytest.mark.parametrize("format", TOOLS)
def test_what_goes_to_a_tool_comes_back_as_it_was(
    photos: Collection, tmp_path: Path, format: str
) -> None:
    target = tmp_path / f"out{SUFFIX.get(format, '.json')}"
    file = exported(photos, format, target, answered=IDS)
    assert read_labels(check_label_file(file), photos) == expected()


@pytest.mark.parametrize("format", ["csv", "json", "label-studio", "argilla", "cleanlab"])
def test_texts_come_back_as_well_and_tools_get_the_texts_themselves(
    tmp_path: Path, format: str
) -> None:
    texts = open_data(TEXTS)
    file = exported(texts, format, tmp_path / "out", answered=list(texts.ids()))
    assert read_labels(check_label_file(file), texts) == expected()
    if format in ("label-studio", "argilla"):
        content = json.loads(file.read_text())
        part = "data" if format == "label-studio" else "fields"
        assert [one[part] for one in content] == [{"text": text} for text in TEXTS]
        for one in content:  # as if it had been written elsewhere, without our ids
            one.pop("id", None), one.pop("meta", None)
        assert read_labels(json.dumps(content), texts) == expected()


def test_argilla_reads_records_with_the_keys_that_it_writes(
    photos: Collection, tmp_path: Path
) -> None:
    file = exported(photos, "argilla", tmp_path / "out.json", answered=[IDS[1]])
    first, second, *_ = json.loads(file.read_text())
    assert first.keys() == {"id", "fields", "metadata", "suggestions", "responses", "vectors"}
    assert first["suggestions"] == {"group": {"value": "Stars", "score": 0.9, "agent": "samekind"}}
    assert second["suggestions"]["group"]["agent"] == "samekind, answered"
    assert Path(first["fields"]["image"]).read_bytes() == IDS[0].encode()


def test_cleanlab_gets_labels_from_zero_and_the_items_that_are_more_like_another_group(
    photos: Collection, tmp_path: Path
) -> None:
    found = groups()
    assert found.membership is not None
    found.membership[1] = [0.2, 0.1, 0.7]  # answered otherwise than it looks
    run_export(plan_export(photos, found, tmp_path / "out.csv", format="cleanlab"))
    rows = list(csv.DictReader((tmp_path / "out.csv").open(encoding="utf-8")))
    assert [int(row["label"]) for row in rows] == [0, 0, 1, 2, 2]
    assert [row["is_label_issue"] for row in rows] == ["False", "True", "False", "False", "False"]
    assert (rows[1]["given_label"], rows[1]["predicted_label"]) == ("Stars", "Moons")
    labels = read_labels((tmp_path / "out.csv").read_text(encoding="utf-8"), photos)
    assert labels == {k: name for k, name in expected().items() if k != 1}, "issues are asked about"


def test_issues_of_cleanlab_without_names_are_in_the_order_of_the_items(photos: Collection) -> None:
    rows = "".join(f"{k},{k == 2},0.5,kind{k % 2},kind0\n" for k in range(5))
    table = f",is_label_issue,label_score,given_label,predicted_label\n{rows}"
    assert read_labels(table, photos) == {0: "kind0", 1: "kind1", 3: "kind1", 4: "kind0"}
    with pytest.raises(InputError, match="5 rows in the order of the items, got 4"):
        read_labels("".join(table.splitlines(keepends=True)[:-1]), photos)


def test_hugging_face_loads_pictures_beside_their_table_and_it_can_be_undone(
    photos: Collection, tmp_path: Path
) -> None:
    target = exported(photos, "imagefolder", tmp_path / "out", answered=[])
    rows = list(csv.DictReader((target / "train" / "metadata.csv").open(encoding="utf-8")))
    for id, row in zip(IDS, rows, strict=True):
        assert (target / "train" / row["file_name"]).read_bytes() == id.encode()
    assert len({row["file_name"] for row in rows}) == 5, "two files are called x.jpg"
    undo_export(target)
    assert not target.exists()
    texts = open_data(TEXTS)
    assert (
        "csv or parquet" in plan_export(texts, groups(), target, format="imagefolder").conflicts[0]
    )


FOREIGN = {
    "label studio, uploaded and local files": json.dumps([
        {"id": 1, "data": {"image": "/data/upload/3/0a1b2c3d-two.jpg"},
         "annotations": [{"was_cancelled": True, "result": []},
                         {"result": [{"type": "choices", "value": {"choices": ["moon"]}}]}]},
        {"id": 2, "data": {"image": "/data/local-files/?d=photos/a/x.jpg"},
         "annotations": [{"result": [{"type": "choices", "value": {"choices": ["star"]}}]}]},
        {"id": 3, "data": {"image": "a/y.jpg"}, "annotations": [],
         "predictions": [{"result": [{"type": "choices", "value": {"choices": ["moon"]}}]}]},
    ]),
    "label studio, short": json.dumps([
        {"image": "https://example.org/files/two.jpg", "id": 1, "choice": "moon"},
        {"image": "s3://bucket/a/x.jpg", "id": 2, "choice": "star"},
    ]),
    "fiftyone, a whole dataset": json.dumps({"samples": [
        {"filepath": "data/two.jpg", "tags": [], "ground_truth": {"_cls": "Classification", "label": "moon"}},
        {"filepath": "data/a/x.jpg", "tags": [], "ground_truth": {"_cls": "Classification", "label": "star"}},
    ]}),
    "argilla, people before models": json.dumps([
        {"id": "two.jpg", "fields": {"image": "data:..."}, "suggestions": {"kind": {"value": "star"}},
         "responses": {"kind": [{"value": "moon", "user_id": "1"}]}},
        {"id": "a/x.jpg", "fields": {}, "suggestions": {}, "responses": {"kind": [{"value": "star"}]}},
    ]),
    "hugging face, lines": '{"file_name": "two.jpg", "label": "moon"}\n{"file_name": "a/x.jpg", "label": "star"}\n',
    "a table with a mark": "\ufefffile_name;caption;label\ntwo.jpg;round;moon\na/x.jpg;;star\n",
}  # fmt: skip


@pytest.mark.parametrize("text", FOREIGN.values(), ids=FOREIGN)
def test_files_that_other_tools_wrote_are_read(photos: Collection, text: str) -> None:
    assert read_labels(text, photos) == {4: "moon", 0: "star"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{broken", "Expected JSON"),
        ("[" * 100_000, "Expected JSON"),
        ('{"classes": ["a"], "labels": {"x": 99, "two": []}}', "None of"),
        ('[{"annotations": [{"result": [7, {"type": "choices", "value": 3}]}]}]', "None of"),
        ("id,given_label,is_label_issue\ntwo.jpg\n", "None of"),
        ("file,kind\n" + "x" * 200_000 + ",star\n", "field larger than"),
        ('{"a": 1}', "other JSON"),
        ("[1, 2]", "other JSON"),
        ('{"classes": [], "labels": []}', "by image"),
        ('{"annotations": [{}], "categories": [], "images": []}', "is missing"),
        ('{"annotations": [], "categories": [{"id": [], "name": 1}], "images": []}', "'id' and 'n"),
        ('{"annotations": [], "categories": 3, "images": "x"}', "Expected COCO, with 'id'"),
        ("file,kind\nx.jpg,star\n", "None of 1 row .* got 'x.jpg'"),
    ],
)
def test_other_files_are_refused_with_a_sentence(photos: Collection, text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        read_labels(text, photos)  # x.jpg is the name of two pictures


@pytest.mark.parametrize(
    ("text", "words", "read"),
    [
        ("a\n" * 200_000, "two columns", 1_000),
        ("a,b\n" * 200_000, "at most 100,100 rows", 101_101),
        ("{}\n" * 200_000, "at most 100,100 rows", 0),
        ("[{}" + ",{}" * 200_000 + "]", "at most 100,100 rows", 0),
    ],
)
def test_a_file_of_too_many_rows_is_refused_without_reading_all_of_them(
    photos: Collection, monkeypatch: pytest.MonkeyPatch, text: str, words: str, read: int
) -> None:
    seen = 0
    reader = csv.reader

    def counted(*given: Any, **named: Any) -> Iterator[list[str]]:
        nonlocal seen
        for row in reader(*given, **named):
            seen += 1
            yield row

    monkeypatch.setattr("samekind.workspace.label_files.csv.reader", counted)
    with pytest.raises(InputError, match=words):
        read_labels(text, photos)
    assert seen <= read


def test_records_with_other_keys_each_take_no_more_than_they_are_long(photos: Collection) -> None:
    records = [{"id": IDS[0], "kind": "star"}, {"id": IDS[4], "kind": "moon"}]
    text = json.dumps([*records, *({f"key {k}": "x"} for k in range(3_000))])
    tracemalloc.start()
    assert read_labels(text, photos) == {0: "star", 4: "moon"}
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20_000_000  # as a table: 9 million cells


def test_paths_that_are_deeper_than_those_of_the_items_are_found_by_their_ends(
    photos: Collection,
) -> None:
    far = "a/" * 1_500
    rows = [f"{far}/b/deep/猫.jpg,moon", f"//{far}./two.jpg,star", f"{far * 2}two.jpg,far"]
    assert read_labels("file,kind\n" + "\n".join(rows), photos) == {2: "moon", 4: "star"}


def test_a_session_begins_from_labels_once_and_goes_on_with_answers() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2)) + 9 * (np.arange(60) % 3)[:, None]
    session = samekind.Session(X)
    words = session.import_labels(
        {id: f"kind {k % 3}" for k, id in enumerate(session.collection.ids()) if k < 30}
    )
    assert words == "3 groups from 30 items. 30 items have no label and are placed by likeness."
    assert [session.groups[int(k)] for k in session.labels] == [f"kind {k % 3}" for k in range(60)]
    again = samekind.Session(X)
    again.import_labels([f"kind {k % 3}" if k < 30 else None for k in range(60)])
    assert np.array_equal(again.labels, session.labels)
    with pytest.raises(InputError, match="each of 60 items"):
        samekind.Session(X).import_labels(["a", "b"])
    with pytest.raises(StateError, match="without answers"):
        session.import_labels({"0": "one", "1": "two"})


def test_the_command_line_imports_what_it_exported(cli: Cli, tmp_path: Path) -> None:
    table = tmp_path / "texts.txt"
    table.write_text("".join(f"{word} number {k}\n" for word in ("red", "blue") for k in range(6)))
    labels = tmp_path / "labels.jsonl"
    with labels.open("w") as file:
        for line in table.read_text().splitlines():
            file.write(json.dumps({"text": line, "label": line.split()[0]}) + "\n")
    done = cli("import", table, labels, "--orientation", "colour", "--encoder", "tfidf", "--json")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert {group["name"]: group["size"] for group in found["groups"]} == {"red": 6, "blue": 6}
    again = cli("import", table, labels, "--orientation", "colour")
    assert again.code == 17 and "without answers" in again.err
    before = tree(tmp_path)
    assert cli("import", table, tmp_path / "none.json").code == 3
    assert tree(tmp_path).keys() <= before.keys(), "no ledger is begun"
