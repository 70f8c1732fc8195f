"""Twelve tasks, each in at most eight lines of ``docs/how-to/from-python.md``, do what they say."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from places import ROOT
from samekind import Session

TEXT = (ROOT / "docs" / "how-to" / "from-python.md").read_text()
SHARED = re.search(r"```python\n(.*?)```", TEXT, flags=re.S)
TASKS = {
    int(number): code
    for number, code in re.findall(r"^## (\d+)\. .*?```python\n(.*?)```", TEXT, flags=re.S | re.M)
}
Names = dict[str, Any]


def pairs(names: Names) -> None:
    labels = names["found"].labels
    assert labels[0] == labels[8] != labels[1] == labels[2]
    assert names["found"].report.conflicts == 0


def callback(names: Names) -> None:
    found, kind = names["found"], names["kind"]
    assert found.n_groups == 3
    assert adjusted_rand_score(kind, found.labels) > 0.7, "the blobs overlap"


def table(names: Names) -> None:
    frame = names["frame"]
    assert len(frame) == 120 and frame["group"].min() == 1
    shown = names["session"].collection[0].preview().data.decode()
    assert "height" in shown and "colour" in shown, "rows as a person reads them"


def texts(names: Names) -> None:
    assert len(names["session"].answers) == 1
    assert set(names["asked"].question.items()) <= set(range(9))


def images(names: Names) -> None:
    labels = names["session"].labels
    assert len(labels) == 9
    assert all(labels[k] == labels[k + 3] for k in range(6)), "equal colours are together"


def graph(names: Names) -> None:
    assert len(names["session"].labels) == names["graph"].number_of_nodes()


def pipeline(names: Names) -> None:
    labels = names["labels"]
    assert labels[0] == labels[8] != labels[1]
    assert not hasattr(names["pipe"][-1], "labels_"), "the clone was fitted"


def saved(names: Names) -> None:
    assert np.array_equal(names["again"].labels, names["session"].labels)


def predicted(names: Names) -> None:
    placed = names["session"].predict(["open the window", "paint a fence"])
    assert set(placed) <= set(names["session"].labels)


def plotted(names: Names) -> None:
    assert Path("groups.png").read_bytes().startswith(b"\x89PNG")


def notebook(names: Names) -> None:
    assert "<table>" in names["session"]._repr_html_()
    assert "<iframe" in names["page"]._repr_html_()
    names["page"].close()


def exported(names: Names) -> None:
    assert Path("groups.csv").read_text().startswith("id,group,name")
    tasks = json.loads(Path("tasks.json").read_text())
    assert [task["data"]["text"] for task in tasks] == names["texts"]
    assert len(json.loads(Path("labels.json").read_text())["labels"]) == 9
    again = Session(names["texts"])
    again.import_labels("tasks.json")
    assert len(again.groups) == len(names["session"].groups), "and back again"


CHECKS: dict[int, Callable[[Names], None]] = dict(
    enumerate(
        (pairs, callback, table, texts, images, graph, pipeline, saved, predicted, plotted,
         notebook, exported),
        start=1,
    )
)  # fmt: skip


def test_there_are_twelve_tasks_with_public_names_in_at_most_eight_lines() -> None:
    assert TASKS.keys() == CHECKS.keys()
    for number, code in TASKS.items():
        lines = [line for line in code.splitlines() if line.strip()]
        assert len(lines) <= 8, number
        imported = {
            node.module or "" if isinstance(node, ast.ImportFrom) else node.names[0].name
            for node in ast.walk(ast.parse(code))
            if isinstance(node, ast.Import | ast.ImportFrom)
        }
        assert not {name for name in imported if name.startswith("samekind.")}, number


@pytest.mark.parametrize("number", CHECKS, ids=lambda number: CHECKS[number].__name__)
def test_the_lines_of_a_task_do_it(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import matplotlib

    matplotlib.use("Agg")
    monkeypatch.chdir(tmp_path)
    assert SHARED is not None
    names: Names = {"__name__": "__main__"}
    for code in (SHARED[1], TASKS[number]):
        exec(compile(code, "from-python.md", "exec", dont_inherit=True), names)
    CHECKS[number](names)
