"""Whether Eq. 14 of IDC keeps the first groups: what the benchmark counts."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from benchmarks.selection import first_groups
from samekind.constraints import Constraints


def test_groups_are_named_after_the_kinds_that_most_items_agree_with() -> None:
    truth, groups = np.array([0, 0, 0, 1, 1, 2]), np.array([1, 1, 0, 0, 0, 3])
    assert first_groups.named_groups(truth, groups).tolist()[:2] == [1, 0]
    assert first_groups.named_groups(truth, groups)[3] == 2


def test_kept_answers_are_counted_by_links() -> None:
    known = Constraints.from_links(4, [(0, 1, True), (2, 3, False), (0, 2, False)])
    assert first_groups.followed(np.array([0, 0, 1, 1]), known) == 2 / 3


def test_all_variants_learn_from_the_same_answers(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    words = "--items 400 --questions 60 --seeds 0 --person matched --variants pos program repaired"
    first_groups.main([*words.split(), "--json", str(file)])
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    assert [row["variant"] for row in rows] == ["pos", "program", "repaired"]
    assert len({row["before"] for row in rows}) == 1 and rows[1]["learner"] == "IDC"
    for row in rows:
        assert row["acc"] > row["before"], "sixty answers correct some of 400 items"
        assert 0 < row["corrected"] < 1 and 0.5 < row["kept"] <= 1 and row["followed"] > 0.6
        assert row["commit"] and row["set"] == "cifar10-frozen"
