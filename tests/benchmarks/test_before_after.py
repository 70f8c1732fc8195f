"""Two files of rows are compared run by run."""

from __future__ import annotations

from benchmarks.live.before_after import Curves, falls, report


def runs(*ends: float, seconds: float = 20.0) -> Curves:
    """Straight curves from 0 to these scores, one per grouping."""
    return {
        ("tiles", f"by-{k}", "perfect", 0): [
            {"questions": 0, "person_seconds": 0.0, "ari": 0.0},
            {"questions": 10, "person_seconds": seconds, "ari": end},
        ]
        for k, end in enumerate(ends)
    }


def test_areas_are_compared_as_far_as_both_curves_reach() -> None:
    lines = report(runs(0.4, 0.6, 0.8), runs(0.6, 0.8, 0.6, seconds=40.0))
    assert lines[0] == "3 pairs of runs."
    assert "| all | 0.300 | 0.333 | 2, 1 | 1 |" in lines, "by questions"
    assert "| tiles | 0.300 | 0.167 | 0, 3 | 0.25 |" in lines, "slower answers cost"


def test_a_fall_is_counted_by_its_size() -> None:
    curve = [{"questions": k, "ari": score} for k, score in enumerate((0.5, 0.49, 0.45, 0.6))]
    assert falls(curve) == (1, 3)
