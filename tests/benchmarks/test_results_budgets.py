"""The table of live and polish by budget, from rows as the recipes write them."""

from __future__ import annotations

from typing import Any

from benchmarks.results.budgets import budgets_table
from benchmarks.results.own import NOT_YET


def row(learner: str, seed: int, curve: dict[int, float], **more: Any) -> dict[str, Any]:
    points = [{"questions": n, "acc": acc} for n, acc in curve.items()]
    return {
        "suite": "features", "set": "cifar10", "encoder": "c10", "learner": learner, "seed": seed,
        "noise": 0.05, "groups_given": None, "commit": "abc", "curve": points, "complete": True,
        "budget": points[-1]["questions"], "machine": {"gpu": "GPU"}, **more,
    }  # fmt: skip


def cells(table: str) -> list[list[str]]:
    return [
        [cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]
    ]


def test_each_learner_has_a_line_over_the_budgets_with_the_mean_of_its_seeds() -> None:
    rows = [
        row("live", 0, {0: 0.5, 100: 0.7, 300: 0.8}),
        row("live", 1, {0: 0.5, 100: 0.8, 300: 0.9}),
        row("live", 0, {0: 0.5, 100: 0.75, 300: 0.85}, noise=0.0),
        row("polish", 0, {100: 0.72}),  # each budget is a training of its own
        row("polish", 0, {300: 0.88}),
        row("live", 0, {100: 0.1}, set="cifar20"),
        row("live", 0, {100: 0.1}, suite="live"),
    ]
    found = cells(budgets_table("cifar10", rows))
    assert [line[:4] for line in found] == [
        ["`c10`", "`live`", "**no**", "5%"],
        ["`c10`", "`live`", "**no**", "0%"],
        ["`c10`", "`polish`", "**no**", "5%"],
    ]
    assert [line[4:6] for line in found] == [
        [".750 ± .071", ".850 ± .071"],
        [".750", ".850"],
        [".720", ".880"],
    ]
    assert found[0][6:8] == ["0, 1", "abc"] and "GPU" in found[0][8]


def test_nothing_is_claimed_before_there_are_rows() -> None:
    assert budgets_table("cifar10", []) == NOT_YET
