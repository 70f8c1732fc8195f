"""From rows of runs to lines: what is averaged, what is told apart, what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from samekind.errors import InputError, SourceError
from samekind.reports.bands import Band
from samekind.reports.plots.curves import PANELS, bands, check_seeds, facets, lines
from samekind.simulation.rows import read_rows, read_runs, upgraded

TRAIN, TEST = PANELS


def row(seed: int = 0, accs: tuple[float, ...] = (0.5, 0.7), **more: Any) -> dict[str, Any]:
    curve = [{"questions": 10 * k, "acc": a, "heldout_acc": a - 0.1} for k, a in enumerate(accs)]
    found = {"set": "tiles", "orientation": "shape", "method": "pcl", "seed": seed, "curve": curve}
    return upgraded(found | more)


def test_one_seed_has_no_band() -> None:
    band = Band.of([[(np.array([0.0, 5.0]), np.array([0.2, 0.4]))]])
    assert band is not None
    assert (band.low == band.mean).all() and (band.high == band.mean).all()


def test_curves_are_read_off_between_their_points_and_only_where_all_have_been() -> None:
    short = (np.array([0.0, 10.0]), np.array([0.0, 1.0]))
    long = (np.array([0.0, 5.0, 20.0]), np.array([0.0, 0.0, 0.0]))
    band = Band.of([[short, long]])
    assert band is not None
    assert band.x.tolist() == [0, 5, 10]
    assert band.mean.tolist() == [0, 0.25, 0.5]


def test_scores_of_recipes_and_of_simulations_lie_in_the_same_panels() -> None:
    recipe = upgraded(
        {"method": "pcl", "curve": [{"questions": 0, "train_acc": 0.6, "test_acc": 0.5}]}
    )
    assert bands([recipe], "acc")[TRAIN].mean.tolist() == [0.6]
    assert bands([recipe], "acc")[TEST].mean.tolist() == [0.5]
    assert bands([row()], "acc")[TEST].mean.tolist() == pytest.approx([0.4, 0.6])
    no_heldout = {"method": "pcl", "curve": [{"questions": 0, "acc": 0.6, "heldout_acc": None}]}
    assert set(bands([upgraded(no_heldout)], "acc")) == {TRAIN}


def test_rows_that_differ_only_in_the_seed_are_one_line() -> None:
    rows = [row(seed, strategy=s) for s in ("csd", "random") for seed in range(3)]
    found = lines(rows)
    assert {name: len(some) for name, some in found.items()} == {"csd": 3, "random": 3}
    check_seeds(found)


def test_lines_are_named_by_what_differs_and_silent_on_what_is_off() -> None:
    rows = [row(strategy="csd"), row(strategy="csd", noise=0.05)]
    rows += [row(strategy="pcl", attention=a) for a in (True, False)]
    names = ["csd", "csd + wrong-5", "pcl + attention", "pcl + no attention"]
    assert list(lines(rows)) == names
    assert list(lines([row(strategy="csd")])) == ["PCL + csd"]
    assert list(lines(rows, by=["strategy"])) == ["csd", "pcl"]
    with pytest.raises(InputError, match="No row has the key 'colour'"):
        lines(rows, by=["colour"])


def test_lines_are_named_after_what_learnt_not_after_what_the_row_was_called() -> None:
    rows = [row(strategy="pcl"), row(strategy="pcl", parameters={"profile": "fast"})]
    assert list(lines(rows)) == ["PCL", "(SimCLR + head + FixMatch)"]


def test_two_runs_with_one_seed_are_not_averaged() -> None:
    with pytest.raises(InputError, match="2 runs with seed 0"):
        check_seeds(lines([row(0), row(0)]))


def test_each_set_and_orientation_has_panels_of_its_own() -> None:
    found = facets([row(), row(orientation="colour"), {"curve": []}])
    assert list(found) == ["tiles, shape", "tiles, colour", ""]


def test_files_may_hold_an_object_a_list_or_lines(tmp_path: Path) -> None:
    (tmp_path / "one.json").write_text(json.dumps(row()))
    (tmp_path / "list.json").write_text(json.dumps([row(1), {"benchmark": "other"}], indent=1))
    (tmp_path / "many.jsonl").write_text("\n".join(json.dumps(row(s)) for s in (2, 3)) + "\n")
    found = read_runs(tmp_path / name for name in ("one.json", "list.json", "many.jsonl"))
    assert [r["seed"] for r in found] == [0, 1, 2, 3]
    assert [r["file"] for r in found] == ["one.json", "list.json", "many.jsonl", "many.jsonl"]


@pytest.mark.parametrize(
    ("content", "complaint"),
    [("{not json", "is not JSON"), ("[]", "no row with a 'curve'"), ("3", "no row with")],
)
def test_files_without_curves_are_refused(tmp_path: Path, content: str, complaint: str) -> None:
    (tmp_path / "odd.json").write_text(content)
    with pytest.raises(SourceError, match=complaint):
        read_runs([tmp_path / "odd.json"])
    with pytest.raises(SourceError, match="cannot be read"):
        read_rows(tmp_path / "absent.json")
