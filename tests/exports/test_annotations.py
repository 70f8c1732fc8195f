"""The groups in the formats of annotation tools."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from piles import points
from samekind.clustering import Clustering
from samekind.exports import plan_export, run_export

LABELS = np.array([1, 1, 2, 5])


def written(tmp_path: Path, format: str) -> Any:
    collection = points(4)
    membership = np.array([[0.9, 0.1, 0.0], [0.8, 0.2, 0.0], [0.0, 1.0, 0.0], [0.1, 0.2, 0.7]])
    names = {1: "Stars", 5: "Moons"}
    groups = Clustering(LABELS, np.zeros((4, 1), dtype=np.float32), membership, names)
    target, answered = tmp_path / "out.json", [collection.id(2)]
    run_export(plan_export(collection, groups, target, format=format, answered=answered))
    return json.loads(target.read_text(encoding="utf-8"))


def test_coco_has_a_category_per_group_and_an_annotation_per_item(tmp_path: Path) -> None:
    found = written(tmp_path, "coco")
    assert found["categories"] == [
        {"id": 1, "name": "Stars"}, {"id": 2, "name": "Group 2"}, {"id": 5, "name": "Moons"}
    ]  # fmt: skip
    assert [one["category_id"] for one in found["annotations"]] == LABELS.tolist()
    assert [one["id"] for one in found["images"]] == [a["image_id"] for a in found["annotations"]]
    assert found["images"][3]["file_name"] == points(4).id(3)


def test_label_studio_gets_answers_as_annotations_and_the_rest_as_predictions(
    tmp_path: Path,
) -> None:
    tasks = written(tmp_path, "label-studio")
    assert [("annotations" in task, "predictions" in task) for task in tasks] == [
        (False, True), (False, True), (True, False), (False, True)
    ]  # fmt: skip
    (guess,) = tasks[0]["predictions"]
    assert guess["score"] == pytest.approx(0.9)
    assert guess["result"][0]["value"] == {"choices": ["Stars"]}


def test_fiftyone_gets_classes_and_one_label_per_item(tmp_path: Path) -> None:
    found = written(tmp_path, "fiftyone")
    assert found["classes"] == ["Stars", "Group 2", "Moons"]
    assert list(found["labels"].values()) == [0, 0, 1, 2]
