"""Rows of all versions: each names what learnt, also where that is not what it was called."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from samekind.clusterers.deep.epochs import FAST_LEARNER as NAME_OF_THE_ESTIMATOR
from samekind.simulation.rows import FAST_LEARNER, SCHEMA, read_rows, upgraded

POINT = {"questions": 0, "acc": 0.5}


def old(version: int | None = None, **more: Any) -> dict[str, Any]:
    """A row from before the field `learner`, of version 1 or 2."""
    about = {"set": "cifar10-2", "seed": 0, "method": "pcl", "strategy": "pcl", "curve": [POINT]}
    return {**about, **({} if version is None else {"schema": version}), **more}


@pytest.mark.parametrize("version", [None, 2])
@pytest.mark.parametrize("method", ["pcl", "occ", "cc"])
def test_the_fast_profile_of_older_rows_is_named_after_what_it_is(
    version: int | None, method: str
) -> None:
    row = upgraded(old(version, method=method, parameters={"profile": "fast"}))
    assert row["learner"] == FAST_LEARNER == NAME_OF_THE_ESTIMATOR
    assert row["schema"] == SCHEMA


def test_the_profile_of_a_recipe_is_beside_its_parameters() -> None:
    assert upgraded(old(profile="fast"))["learner"] == FAST_LEARNER
    assert upgraded(old(profile="paper"))["learner"] == "PCL"


@pytest.mark.parametrize(
    ("about", "learner"),
    [
        ({}, "PCL"),
        ({"method": "occ", "parameters": {"profile": "paper"}}, "OCC"),
        ({"method": "cc", "parameters": None}, "CC"),
        ({"method": "dcc"}, "dcc"),
        ({"method": "occ", "protocol": {"without": ["assignment"]}}, "OCC without assignment"),
        ({"encoder": "vectors", "parameters": {"profile": "fast"}}, "PCL"),
    ],
)
def test_other_older_rows_learnt_by_their_own_loss(about: dict[str, Any], learner: str) -> None:
    assert upgraded(old(2, **about))["learner"] == learner


def test_a_learner_that_is_named_is_kept() -> None:
    assert upgraded(old(learner="polish", profile="fast"))["learner"] == "polish"
    new = old(SCHEMA, learner="X", parameters={"profile": "fast"})
    assert upgraded(new) == new


def test_a_row_without_a_method_has_no_learner() -> None:
    assert "learner" not in upgraded({"variant": "pcl", "curve": [POINT]})
    assert upgraded({"batch": 128}) == {"batch": 128}


def test_one_reader_upgrades_the_rows_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    rows = [old(), old(2, parameters={"profile": "fast"}), old(SCHEMA, learner="OCC")]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    found = read_rows(file).runs
    assert [row["learner"] for row in found] == ["PCL", FAST_LEARNER, "OCC"]
    assert {row["schema"] for row in found} == {SCHEMA}
