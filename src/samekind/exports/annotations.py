"""The groups in formats of annotation tools: COCO, Label Studio and FiftyOne.

Items with answers are annotations in Label Studio, all others predictions with their confidence.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from samekind.exports.tables import Row, rows

if TYPE_CHECKING:
    from samekind.exports.plan import Plan


def write_coco(plan: Plan, path: Path) -> None:
    """Images and categories, with one annotation per image that covers all of it."""
    table = list(rows(plan))
    images = [{"id": k, "file_name": row.id} for k, row in enumerate(table, start=1)]
    annotations: list[dict[str, Any]] = []
    for k, row in enumerate(table, start=1):
        score = {} if row.confidence is None else {"score": row.confidence}
        annotations.append({"id": k, "image_id": k, "category_id": row.group, "iscrowd": 0} | score)
    categories = [{"id": n, "name": plan.clustering.name(n)} for n in plan.clustering.numbers]
    info = {"description": plan.collection.name}
    content = {"info": info, "images": images, "annotations": annotations, "categories": categories}
    _write(content, path)


def write_label_studio(plan: Plan, path: Path) -> None:
    """One task per item, for a project with ``<Choices name="group" toName="item">``."""
    field = "text" if plan.collection.kind == "text" else "image"
    _write([_task(row, field) for row in rows(plan)], path)


def write_fiftyone(plan: Plan, path: Path) -> None:
    """The ``labels.json`` of a FiftyOneImageClassificationDataset: classes, and one per image."""
    numbers = plan.clustering.numbers
    place = {number: k for k, number in enumerate(numbers)}
    labels = {str(Path(row.id).with_suffix("")): place[row.group] for row in rows(plan)}
    _write({"classes": [plan.clustering.name(n) for n in numbers], "labels": labels}, path)


def _task(row: Row, field: str) -> dict[str, Any]:
    choice = {"from_name": "group", "to_name": "item", "type": "choices"}
    result = [{**choice, "value": {"choices": [row.name]}}]
    task: dict[str, Any] = {"data": {field: row.id}, "meta": {"group": row.group}}
    if row.answered:
        return {**task, "annotations": [{"result": result}]}
    score = {} if row.confidence is None else {"score": row.confidence}
    return {**task, "predictions": [{"model_version": "samekind", "result": result, **score}]}


def _write(content: object, path: Path) -> None:
    with path.open("x", encoding="utf-8", errors="backslashreplace") as file:
        json.dump(content, file, ensure_ascii=False, allow_nan=False, indent=1)
        file.write("\n")
