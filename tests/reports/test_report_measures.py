"""Areas, final scores and costs of single runs; bands over seeds; who is compared with whom."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from samekind.reports.bands import band, line
from samekind.reports.comparison import Comparison
from samekind.reports.measures import Reached, area, final, span
from samekind.reports.results import Block, Result, read_results
from samekind.reports.statistics import signed_rank
from samekind.reports.study import Study
from synthetic_rows import Row, synthetic_row, synthetic_rows, write_rows


def run(scores: dict[int, float], *, seed: int = 0, budget: int | None = None) -> Result:
    """A run with these scores after so many questions; a question is 3 pairs and 4 seconds."""
    points = tuple(
        {"questions": float(q), "pairs": 3.0 * q, "person_seconds": 4.0 * q, "ari": ari}
        for q, ari in scores.items()
    )
    last = max(scores)
    row: dict[str, Any] = {"questions": last, "groups_given": None}
    return Result(Block("s", "set", "o", "perfect"), "live", seed, points, budget or last, row)


def study(tmp_path: Path, rows: list[Row], **how: Any) -> Study:
    return Study(read_results([write_rows(tmp_path / "rows.jsonl", rows)]), **how)


def test_the_area_over_the_whole_range_is_that_of_the_curve() -> None:
    one = run({0: 0.0, 10: 0.5, 40: 1.0})
    assert area(one, "ari", (0, 40)) == pytest.approx(one.curve("ari").area("ari"))
    assert area(one, "ari", (0, 40)) == pytest.approx((10 * 0.25 + 30 * 0.75) / 40)


def test_the_area_over_a_part_is_read_off_between_scores() -> None:
    one = run({0: 0.0, 10: 0.5, 20: 1.0})
    assert area(one, "ari", (5, 15)) == pytest.approx(0.5)  # a straight line from .25 to .75
    assert final(one, "ari", (5, 15)) == pytest.approx(0.75)


def test_different_score_points_are_compared_on_the_common_range() -> None:
    runs = [run({0: 0.1, 60: 0.9}), run({10: 0.2, 40: 0.8, 50: 0.8})]
    assert span(runs, "ari") == (10, 50)
    assert span([*runs, run({60: 0.9})], "ari") == (10, 50)  # one score is no curve
    assert area(run({60: 0.9}), "ari", (10, 50)) is None
    assert final(run({60: 0.9}), "ari", (10, 50)) == 0.9
    assert span([run({0: 0.1, 10: 0.2}), run({20: 0.1, 30: 0.2})], "ari") is None


def test_what_a_quality_costs_is_told_in_questions_pairs_and_seconds() -> None:
    runs = [run({0: 0.1, 10: 0.85}), run({0: 0.1, 10: 0.5, 20: 0.8}), run({0: 0.9, 10: 0.9})]
    found = Reached.of(runs, "ari", 0.8)
    assert found.median == {"questions": 10, "pairs": 30, "person_seconds": 40}
    assert (found.never, found.runs) == (0, 3)
    assert found.bound["questions"] is None


def test_runs_that_never_get_there_are_counted_and_bound_from_below() -> None:
    low = {0: 0.1, 60: 0.5}
    found = Reached.of([run(low), run(low), run({0: 0.1, 20: 0.9})], "ari", 0.8)
    assert (found.never, found.runs) == (2, 3)
    assert found.median["questions"] is None
    assert found.bound == {"questions": 60, "pairs": 180, "person_seconds": 240}


def test_a_run_that_stopped_early_never_gets_there_within_the_whole_budget() -> None:
    found = Reached.of([run({0: 0.1, 20: 0.5}, budget=60)], "ari", 0.8)
    assert found.bound == {"questions": 60, "pairs": 60, "person_seconds": 80}


def test_a_band_is_the_mean_where_all_seeds_have_been() -> None:
    runs = [run({0: 0.0, 20: 1.0}), run({10: 0.7, 20: 0.8, 30: 0.9}, seed=1)]
    found = band([runs], "ari")
    assert found is not None and found.seeds == 2
    assert found.x.tolist() == [10, 20]
    assert found.mean.tolist() == pytest.approx([0.6, 0.9])
    half = 12.706 * 0.1  # Student with one degree of freedom; the score ends at 1
    assert found.low.tolist() == pytest.approx([0.6 - half, 0.9 - half], abs=1e-3)
    assert found.high.tolist() == [1.0, 1.0]
    over_pairs = band([runs], "ari", "pairs")
    assert over_pairs is not None and over_pairs.x[[0, -1]].tolist() == [30, 60]


def test_there_is_no_band_without_a_common_range_or_without_the_cost() -> None:
    assert band([[run({0: 0.1, 10: 0.2}), run({20: 0.1, 30: 0.2})]], "ari") is None
    bare = run({0: 0.1, 10: 0.2})
    points = tuple({k: v for k, v in p.items() if k != "pairs"} for p in bare.points)
    without = Result(bare.block, "live", 0, points, 10, bare.row)
    assert line(without, "ari", "pairs") is None
    assert band([[without]], "ari", "pairs") is None


def test_systems_are_ordered_by_rank_and_people_by_how_they_err(tmp_path: Path) -> None:
    people = [("wrong-20", 0.2), ("perfect", 0.0), ("wrong-5", 0.05)]
    found = study(tmp_path, synthetic_rows({"a": 0.5, "b": 0.9, "c": 0.7}, people=people))
    assert found.systems == ["b", "c", "a"]
    assert found.people == ["perfect", "wrong-5", "wrong-20"]
    assert found.ranks["b"] == 1.0
    assert [block.person for block in found.blocks] == found.people


def test_a_report_names_the_learner_that_stood_in_for_a_method(tmp_path: Path) -> None:
    about = {"method": "pcl", "encoder": "resnet18"}
    rows = [synthetic_row("pcl", **about, parameters={"profile": "fast"})]
    rows += [synthetic_row("whole", **about), synthetic_row("dcc", groups_given=2)]
    found = study(tmp_path, rows)
    assert [found.name(system) for system in ("pcl", "whole", "dcc")] == [
        "SimCLR + head + FixMatch as pcl", "whole", "dcc (K)",
    ]  # fmt: skip


def test_with_six_blocks_the_units_are_blocks_with_their_seeds_averaged(tmp_path: Path) -> None:
    sets = [(f"set{k}", "kind") for k in range(6)]
    found = study(tmp_path, synthetic_rows({"a": 0.9, "b": 0.8, "c": 0.7}, sets=sets))
    compared = Comparison.of(found)
    assert not compared.by_seed and len(compared.units) == 6
    means = [np.mean(list(found.areas[block, "a"].values())) for block in found.blocks]
    assert compared.values[:, 0].tolist() == pytest.approx(means)
    pair = compared.pairs[0]
    assert (pair.first, pair.second, pair.wins, pair.ties, pair.losses) == ("a", "b", 6, 0, 0)
    assert pair.p == signed_rank(compared.values[:, 0] - compared.values[:, 1]).p == 0.03125
    assert pair.corrected == pytest.approx(3 * 0.03125)
    assert pair.difference == pytest.approx(
        np.median(compared.values[:, 0] - compared.values[:, 1])
    )


def test_with_fewer_blocks_the_units_are_seeds(tmp_path: Path) -> None:
    compared = Comparison.of(
        study(tmp_path, synthetic_rows({"a": 0.9, "b": 0.8}, people=[("p", 0.0), ("q", 0.1)]))
    )
    assert compared.by_seed and compared.blocks == 2
    assert compared.units[0] == "digits, digit, p, seed 0" and len(compared.units) == 6


def test_ranks_are_over_the_part_without_gaps(tmp_path: Path) -> None:
    sets = [(f"set{k}", "kind") for k in range(7)]
    rows = synthetic_rows({"a": 0.9, "b": 0.8, "c": 0.7, "d": 0.6}, sets=sets, seeds=[0])
    rows = [r for r in rows if not (r["system"] == "d" and r["set"] in ("set1", "set2", "set3"))]
    rows = [r for r in rows if not (r["system"] == "a" and r["set"] == "set6")]
    compared = Comparison.of(study(tmp_path, rows))
    assert list(compared.whole.systems) == ["a", "b", "c"]
    assert len(compared.whole.units) == 6
    assert compared.ranking is not None
    assert compared.ranking.ranks.tolist() == [1.0, 2.0, 3.0]
    with_d = next(pair for pair in compared.pairs if pair.second == "d" and pair.first == "b")
    assert with_d.wins == 4  # the pair is compared over all that both have


def test_too_few_units_are_not_ranked(tmp_path: Path) -> None:
    rows = synthetic_rows({"a": 0.9, "b": 0.8, "c": 0.7}, seeds=range(4))
    assert Comparison.of(study(tmp_path, rows)).ranking is None
    rows = synthetic_rows({"a": 0.9, "b": 0.8}, seeds=range(9))
    assert Comparison.of(study(tmp_path, rows)).ranking is None


def test_means_are_over_the_blocks_that_the_systems_share(tmp_path: Path) -> None:
    sets = [(f"set{k}", "kind") for k in range(4)]
    rows = synthetic_rows({"a": 0.9, "b": 0.8}, sets=sets)
    rows = [row for row in rows if not (row["system"] == "b" and row["set"] == "set3")]
    found = study(tmp_path, rows)
    shared = found.shared(found.blocks)
    assert [block.set for block in shared] == ["set0", "set1", "set2"]
    mean = found.over(found.areas, shared, "b")
    by_hand = [np.mean(list(found.areas[block, "b"].values())) for block in shared]
    assert mean is not None and mean.mean == pytest.approx(np.mean(by_hand))
    assert found.over(found.areas, found.blocks, "b") is None


def test_a_system_keeps_its_colour_and_spare_colours_go_to_those_without_one(
    tmp_path: Path,
) -> None:
    levels = {f"s{k}": 0.95 - 0.05 * k for k in range(9)}
    found = study(tmp_path, synthetic_rows(levels, seeds=[0]))
    assert found.colours(list(levels)) == {f"s{k}": k for k in range(7)}
    assert found.colours(["s2", "s7", "s8"]) == {"s2": 2, "s7": 0, "s8": 1}


def test_areas_over_seconds_compare_at_equal_time_not_at_equal_questions(tmp_path: Path) -> None:
    slow = [synthetic_row("slow", seed, level=0.95) for seed in range(2)]
    for row in slow:
        for point in row["curve"]:
            point["person_seconds"] *= 4
    quick = [synthetic_row("quick", seed, level=0.9) for seed in range(2)]
    found = study(tmp_path, slow + quick)
    block = found.blocks[0]

    def mean(values: dict[tuple[Block, str], dict[int, float]], system: str) -> float:
        return float(np.mean(list(values[block, system].values())))

    assert mean(found.areas, "slow") > mean(found.areas, "quick")
    assert mean(found.areas_by_second, "slow") < mean(found.areas_by_second, "quick") - 0.1
