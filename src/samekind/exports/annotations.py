"""The groups in formats of annotation tools: COCO, Label Studio, FiftyOne, Argilla and cleanlab.

Items with answers are annotations in Label Studio, all others predictions with their confidence.
"""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from samekind.exports.tables import Row, rows, table_row
from samekind.items import Item

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
    """One task per item, for a project with ``<Choices name="group" toName="item">``.

    https://labelstud.io/guide/task_format and https://labelstud.io/guide/predictions
    """
    _write([_task(row, item) for row, item in zip(rows(plan), plan.collection, strict=True)], path)


def write_fiftyone(plan: Plan, path: Path) -> None:
    """The ``labels.json`` of a FiftyOneImageClassificationDataset: classes, and one per image.

    https://docs.voxel51.com/user_guide/export_datasets.html
    """
    numbers = plan.clustering.numbers
    place = {number: k for k, number in enumerate(numbers)}
    labels = {str(Path(row.id).with_suffix("")): place[row.group] for row in rows(plan)}
    _write({"classes": [plan.clustering.name(n) for n in numbers], "labels": labels}, path)


def write_argilla(plan: Plan, path: Path) -> None:
    """One record per item, as ``dataset.records.from_json`` reads them; the question is ``group``.

    Argilla knows a response only with one of its users, so groups are suggestions; their agent
    says which of them a person answered. https://docs.argilla.io/latest/how_to_guides/import_export
    """
    records = []
    for row, item in zip(rows(plan), plan.collection, strict=True):
        agent = "samekind, answered" if row.answered else "samekind"
        guess = {"value": row.name, "score": row.confidence, "agent": agent}
        record = {"id": row.id, "fields": _content(item), "metadata": {}, "vectors": {}}
        records.append({**record, "suggestions": {"group": guess}, "responses": {}})
    _write(records, path)


def write_cleanlab(plan: Plan, path: Path) -> None:
    """A CSV table with labels from 0 on, and the columns that cleanlab has for label issues.

    An issue is an item that a person put into another group than the one most like it; the score
    is the membership in its group.
    https://docs.cleanlab.ai/stable/cleanlab/datalab/guide/issue_type_description.html
    """
    groups = plan.clustering
    place = np.searchsorted(groups.numbers, groups.labels)
    best = place if groups.membership is None else groups.membership.argmax(axis=1)
    names = [groups.name(number) for number in groups.numbers]
    issue = ("is_label_issue", "label_score", "given_label", "predicted_label")
    with path.open("x", encoding="utf-8", errors="backslashreplace", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("id", "label", *issue))
        for row, own, likely in zip(rows(plan), place, best, strict=True):
            score = 1.0 if row.confidence is None else row.confidence
            found = (bool(own != likely), score, names[own], names[likely])
            cells = (row.id, int(own), *found)
            writer.writerow(table_row(cells, no_formulas=plan.no_formulas))


def _content(item: Item) -> dict[str, str]:
    """The field of an item that a tool shows: a text itself, or where a picture is."""
    if item.kind == "text":
        return {"text": str(item.load())}
    path = getattr(item, "path", None)
    return {"image" if item.kind == "image" else "item": str(path) if path else item.id}


def _task(row: Row, item: Item) -> dict[str, Any]:
    choice = {"from_name": "group", "to_name": "item", "type": "choices"}
    result = [{**choice, "value": {"choices": [row.name]}}]
    data = {"text": str(item.load())} if item.kind == "text" else {"image": row.id}
    task: dict[str, Any] = {"data": data, "meta": {"group": row.group, "id": row.id}}
    if row.answered:
        return {**task, "annotations": [{"result": result}]}
    score = {} if row.confidence is None else {"score": row.confidence}
    return {**task, "predictions": [{"model_version": "samekind", "result": result, **score}]}


def _write(content: object, path: Path) -> None:
    with path.open("x", encoding="utf-8", errors="backslashreplace") as file:
        json.dump(content, file, ensure_ascii=False, allow_nan=False, indent=1)
        file.write("\n")
