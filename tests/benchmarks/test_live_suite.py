"""The suite `live`: rows through sessions, continued where it stopped, reported with intervals."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import live as suite
import live_report
import live_run
import live_sets
from live_run import Task, agreement, run_task
from live_sets import Material, Orientation, Plan, open_material
from live_yardsticks import LogisticHead, MarginSampling

from piles import points
from samekind.constraints import Constraints
from samekind.errors import SourceError, UnknownName
from samekind.oracles import Truth
from samekind.session import Session
from samekind.simulate import run
from samekind.testing import check_strategy

CORNER = np.repeat(np.arange(4), 30)


def square(seed: int = 0) -> np.ndarray:
    """Four clouds on the corners of a square."""
    middles = np.array([[0.0, 0.0], [0.0, 6.0], [6.0, 0.0], [6.0, 6.0]])
    noise = np.random.default_rng(seed).normal(size=(120, 2))
    return np.asarray(middles[CORNER] + noise, dtype=np.float32)


@pytest.fixture
def material(monkeypatch: pytest.MonkeyPatch) -> Material:
    """A small set of the suite: corners, and columns of the square as another orientation."""
    columns = {"corner": "corner", "column": "column"}
    monkeypatch.setitem(live_sets.PLANS, "square", Plan(columns, "heldout_acc", questions=24))
    kinds = {"corner": CORNER, "column": CORNER // 2}
    made = Material(
        "square", points(120), square(), square(1),
        {name: Orientation(of, of) for name, of in kinds.items()}, "drawn", "for a test",
    )  # fmt: skip
    monkeypatch.setattr(suite, "open_material", lambda *_: made)
    suite._material.cache_clear()
    return made


def task(system: str = "placement", orientation: str = "corner", noise: float = 0.0) -> Task:
    return Task("square", orientation, system, 0, noise)


def rows_in(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


@pytest.mark.parametrize("system", ["live", "placement", "margin", "random"])
def test_a_run_is_scored_where_it_should_be_and_asks_no_more_than_its_budget(
    material: Material, system: str
) -> None:
    row = run_task(task(system), material)
    assert [point["questions"] for point in row["curve"]] == [0, 10, 20, 24]
    assert row["questions"] == row["budget"] == 24 == sum(row["choices"].values())
    assert row["groups_given"] == (4 if system == "margin" else None)
    assert all(0 <= point["heldout_acc"] <= 1 for point in row["curve"])
    if system != "random":
        assert row["curve"][-1]["heldout_acc"] > 0.9


def test_random_pairs_learn_late_but_give_the_same_groups_as_when_they_learn_often(
    material: Material,
) -> None:
    late, often = (
        run_task(task("random"), material, questions=12, refit_every=k) for k in (None, 4)
    )
    assert late["curve"] == often["curve"]


def test_the_orientation_that_a_person_has_in_mind_is_the_one_that_is_scored(
    material: Material,
) -> None:
    by_column = run_task(task("margin", "column"), material)
    assert by_column["groups_given"] == 2 and by_column["curve"][-1]["heldout_acc"] > 0.9
    assert by_column["curve"][-1]["groups"] == 2


def test_wrong_answers_make_other_choices(material: Material) -> None:
    clean, noisy = (run_task(task(noise=noise), material)["choices"] for noise in (0.0, 0.4))
    assert clean != noisy


def test_a_suite_goes_on_where_it_stopped(
    material: Material, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--sets", "square", "--methods", "margin", "--out", str(tmp_path / "rows.jsonl")]
    assert suite.main([*words, "--seeds", "0"]) == 0
    first = rows_in(tmp_path / "rows.jsonl")
    assert suite.main([*words, "--seeds", "0", "1"]) == 0
    rows = rows_in(tmp_path / "rows.jsonl")
    assert rows[: len(first)] == first and "2 runs are open" in capsys.readouterr().out
    assert [(row["orientation"], row["seed"]) for row in rows] == [
        ("corner", 0), ("column", 0), ("corner", 1), ("column", 1),
    ]  # fmt: skip
    suite.main([*words, "--seeds", "0", "--questions", "10"])  # another budget: another run
    assert len(rows_in(tmp_path / "rows.jsonl")) == 6


def test_rows_of_another_commit_count_as_done_unless_told_otherwise(
    material: Material, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "rows.jsonl"
    words = ["--sets", "square", "--orientations", "corner", "--methods", "margin", "--seeds", "0",
             "--out", str(file)]  # fmt: skip
    for commit, more, count in (("aaa", [], 1), ("bbb", [], 1), ("bbb", ["--same-commit"], 2)):
        monkeypatch.setattr(suite.surroundings, "commit", lambda commit=commit: commit)
        suite.main([*words, *more])
        assert len(rows_in(file)) == count
    assert [row["commit"] for row in live_report.latest(suite.read_rows(file))] == ["bbb"]


def test_what_the_house_does_not_have_is_left_out_and_said(
    material: Material, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--sets", "square", "--seeds", "0", "--out", str(tmp_path / "rows.jsonl")]
    suite.main([*words, "--methods", "no-such+placement", "margin"])
    assert "no-such+placement is left out" in capsys.readouterr().err
    assert {row["system"] for row in rows_in(tmp_path / "rows.jsonl")} == {"margin"}


def test_a_run_that_fails_is_told_and_does_not_end_the_others(
    material: Material, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails_by_column(task: Task, *_: Any, **__: Any) -> dict[str, Any]:
        if task.orientation == "corner":
            raise ValueError("no")
        return run_task(task, material, questions=10)

    monkeypatch.setattr(suite, "run_task", fails_by_column)
    words = ["--sets", "square", "--seeds", "0", "--methods", "margin"]
    assert suite.main([*words, "--out", str(tmp_path / "rows.jsonl")]) == 1
    assert [row["orientation"] for row in rows_in(tmp_path / "rows.jsonl")] == ["column"]


def test_a_set_without_its_file_says_which_one_is_missing(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"cards\.parquet"):
        open_material("cards", tmp_path)
    with pytest.raises(UnknownName):
        open_material("card", tmp_path)


def test_frozen_vectors_are_read_with_their_scales_and_their_test_part_is_held_out(
    tmp_path: Path,
) -> None:
    q = np.arange(-20, 20, dtype=np.int8).reshape(20, 2)
    label, split = np.arange(20, dtype=np.uint8) % 10, np.repeat([0, 1], 10).astype(np.uint8)
    np.savez(tmp_path / live_sets.FROZEN, q=q, scale=[0.5, 2.0], label=label, split=split)
    found = open_material("cifar10-2", tmp_path)
    assert found.held_out is not None
    assert found.X.tolist() == (q[:10] * [0.5, 2.0]).tolist() and len(found.held_out) == 10
    assert found.orientations["personalized"].kinds.tolist() == [0, 1, 0, 1, 1, 1, 0, 1, 0, 1]


def session_with(labels: list[int], answered: list[tuple[int, int, bool]]) -> Any:
    class Made:
        clustering = type("C", (), {"labels": np.array(labels), "numbers": sorted({*labels})})
        constraints = Constraints.from_links(len(labels), answered)

    return Made()


def test_an_item_is_in_place_if_its_group_stands_for_its_kind() -> None:
    kinds = np.array([0, 0, 0, 1, 1, 2])
    told = [(0, 1, True), (0, 3, False)]
    assert agreement(session_with([1, 1, 2, 2, 2, 1], told), kinds) == pytest.approx(4 / 6)
    # A kind that nobody has seen is in place in a group that stands for none.
    assert agreement(session_with([1, 1, 2, 2, 2, 3], told), kinds) == pytest.approx(5 / 6)


def test_the_yardstick_asks_about_borders_and_honours_what_was_said() -> None:
    check_strategy(MarginSampling())
    session = Session(points(120), square(), clusterer=LogisticHead(4), strategy=MarginSampling())
    run(session, Truth(CORNER), 30)
    labels = session.clustering.labels
    for kind in session.constraints.kinds:
        assert len(np.unique(labels[kind])) == 1
    asked = session.ask()
    assert asked is not None and session.clustering.membership is not None
    belief = np.sort(session.clustering.membership, axis=1)
    margins = belief[:, -1] - belief[:, -2]
    free = np.setdiff1d(np.arange(120), session.constraints.touched)
    assert margins[asked.question.items()[0]] == margins[free].min()


def made_row(value: float, seed: int, **more: Any) -> dict[str, Any]:
    point = {"acc": value, "ari": value, "unasked_acc": value}
    curve = [{"questions": q, **(point if q else dict.fromkeys(point, 0.5))} for q in (0, 20, 50)]
    checks = [{"questions": 50, "share": 0.8, "low": 0.7, "high": 0.9, "truth": value}]
    took = {f"{what}_seconds": {"p95": 0.1} for what in ("ask", "tell", "refit")}
    return {
        "set": "tiles", "orientation": "shape", "noise": 0.0, "system": "live", "seed": seed,
        "budget": 200, "questions": 50, "curve": curve, "checks": checks, "items": 384,
        "encoder": "e", "commit": "c", "machine": {"cores": 2}, "seconds": 1.0, **took, **more,
    }  # fmt: skip


def test_a_report_gives_means_with_students_interval_and_the_share_of_true_intervals() -> None:
    text = live_report.report([made_row(0.8, 0), made_row(0.9, 1), made_row(0.95, 2)])
    # t(.975, 2) = 4.3027; sd of .8, .9, .95 = .07638
    assert "0.883 ± 0.190" in text and "+0.383 ± 0.190" in text
    assert "| tiles | 50 | 3 | 0 | 67% |" in text
    mixed = live_report.report([made_row(0.8, 0), made_row(0.9, 1, commit="d")])
    assert "do not compare" in mixed


def test_a_run_that_had_nothing_left_to_ask_keeps_its_last_score_and_a_cut_one_does_not() -> None:
    ended, cut = made_row(0.8, 0), made_row(0.8, 0, budget=50)
    assert live_report.at(ended, 100, "acc") == 0.8
    assert live_report.at(cut, 100, "acc") is None and live_report.at(cut, 50, "acc") == 0.8


def test_the_figure_is_drawn_anew_over_an_earlier_one(
    material: Material, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows, figure = tmp_path / "rows.jsonl", tmp_path / "curves.png"
    words = ["--sets", "square", "--out", str(rows)]
    suite.main([*words, "--methods", "margin", "--seeds", "0", "1", "--questions", "20"])
    figure.write_bytes(b"old")
    assert suite.main([*words, "--report", "--figure", str(figure)]) == 0
    assert figure.read_bytes().startswith(b"\x89PNG")
    assert "square" in capsys.readouterr().out
    assert suite.main(["--report", "--out", str(tmp_path / "none.jsonl")]) == SourceError.exit_code


def test_halts_are_at_scores_and_where_another_stage_begins() -> None:
    assert live_run.stops(500) == [10, 20, 50, 75, 100, 150, 200, 500]
    assert live_run.stops(30) == [10, 20, 30]
