"""Questions about frozen vectors: runs go through sessions, methods can share one ledger."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from places import ROOT

sys.path.insert(0, str(ROOT / "benchmarks"))

import idc_vectors as bench


@pytest.fixture
def vectors(tmp_path: Path) -> str:
    """Four clouds on the corners of a square, of which two neighbours are one kind."""
    rng = np.random.default_rng(0)
    corner = np.repeat(np.arange(4), 25)
    middles = np.array([[0.0, 0.0], [0.0, 6.0], [6.0, 0.0], [6.0, 6.0]])
    X = middles[corner] + 1.5 * rng.normal(size=(100, 2))
    file = tmp_path / "square.npz"
    q = np.round(X / 0.1).astype(np.int8)
    np.savez(file, q=q, scale=0.1, label=np.array([0, 1, 2, 2])[corner])
    return str(file)


def rows_of(tmp_path: Path, *words: str) -> list[dict[str, Any]]:
    file = tmp_path / "rows.json"
    bench.main([*words, "--json", str(file)])
    found: list[dict[str, Any]] = json.loads(file.read_text())
    return found


def test_vectors_are_read_with_their_scale_and_can_be_brought_to_length_one(vectors: str) -> None:
    pile, unit = (bench.opened(Path(vectors), unit=unit) for unit in (False, True))
    assert pile.X.shape == (100, 2) and 5 < pile.X[75:].mean() < 7
    assert np.allclose(np.linalg.norm(unit.X, axis=1), 1, atol=1e-5)
    assert pile.truth.tolist() == unit.truth.tolist()


def test_every_run_is_a_row_and_rows_are_appended(vectors: str, tmp_path: Path) -> None:
    words = ("--vectors", vectors, "--method", "corrected", "--questions", "6")
    rows = rows_of(tmp_path, *words, "--strategy", "value", "value-random", "--seeds", "0", "1")
    assert [(row["strategy"], row["seed"]) for row in rows] == [
        ("value", 0), ("value", 1), ("value-random", 0), ("value-random", 1),
    ]  # fmt: skip
    assert all(row["told"] == 6 == sum(row["choices"].values()) for row in rows)
    assert all(row["groups_given"] == 3 and row["after"]["groups"] == 3 for row in rows)
    assert len(rows_of(tmp_path, *words, "--seeds", "5")) == 5


def test_methods_that_share_a_ledger_get_the_answers_of_the_one_that_asked(
    vectors: str, tmp_path: Path
) -> None:
    words = ("--vectors", vectors, "--questions", "20", "--seeds", "0")
    own = rows_of(tmp_path, *words, "--method", "corrected")[0]
    taken = rows_of(tmp_path, *words, "--method", "copkmeans", "--asked-by", "corrected")[1]
    same = ("choices", "told", "kinds_shown")
    assert [taken[name] for name in same] == [own[name] for name in same]
    assert taken["before_of_asker"] == own["before"] and "before_of_asker" not in own
    assert (taken["method"], taken["asked_by"]) == ("copkmeans", "corrected")
    assert taken["after"] is not None and taken["after"] != own["after"]


def test_live_asks_in_turns_is_not_told_the_number_of_groups_and_finds_them(
    vectors: str, tmp_path: Path
) -> None:
    words = ("--method", "live", "--strategy", "live", "--refit-every", "4", "--questions", "18")
    (row,) = rows_of(tmp_path, "--vectors", vectors, *words, "--seeds", "0")
    assert row["groups_given"] is None and row["refit_every"] == 4
    assert row["after"]["acc"] > max(0.9, row["before"]["acc"])


def test_wrong_and_unsure_answers_come_as_often_as_wanted(vectors: str, tmp_path: Path) -> None:
    words = ("--vectors", vectors, "--method", "corrected", "--questions", "40", "--seeds", "0")
    plain = rows_of(tmp_path, *words)[0]
    unsure = rows_of(tmp_path, *words, "--unsure", "0.5")[1]
    wrong = rows_of(tmp_path, *words, "--noise", "1")[2]
    assert "unsure" not in plain["choices"] and 10 <= unsure["choices"]["unsure"] <= 30
    assert wrong["after"]["acc"] < plain["after"]["acc"]


def test_a_method_that_gives_up_leaves_a_row_that_says_so(vectors: str, tmp_path: Path) -> None:
    asking = ("--asked-by", "corrected", "--strategy", "placement", "--refit-every", "10")
    words = ("--method", "copkmeans", *asking, "--groups", "2", "--questions", "30")
    row = rows_of(tmp_path, "--vectors", vectors, *words, "--seeds", "0")[0]  # of three kinds
    assert row["after"] is None and row["failed"]
    assert bench.summary([row])[:2] == ("1", "1")


def test_the_table_tells_mean_and_deviation_over_seeds_and_keeps_settings_apart(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    row = {
        "set": "s", "unit": False, "person": "shown", "method": "idc", "asked_by": "idc",
        "strategy": "value", "refit_every": None, "questions": 500, "noise": 0.0, "unsure": 0.0,
        "choices": {"none": 7}, "before": {"acc": 0.5},
    }  # fmt: skip
    scores = ({"acc": a, "unasked_acc": a, "nmi": 0.0, "ari": 0.0} for a in (0.6, 0.8, 0.9))
    first, second, third = ({**row, "after": after} for after in scores)
    file = tmp_path / "rows.json"
    file.write_text(json.dumps([first, second, {**third, "person": "matched", "noise": 0.05}]))
    bench.main(["--tabulate", "--json", str(file)])
    _, shown, apart = capsys.readouterr().out.splitlines()
    assert "s, idc, value " in shown and "0.700  0.141" in shown
    assert "s, idc, value, 5 % noise, matched" in apart and "0.900      -" in apart


def test_without_vectors_the_command_says_what_is_missing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit):
        bench.main([])
    assert "--vectors FILE is needed" in capsys.readouterr().err
