"""Questions about frozen vectors: runs go through sessions, methods can share one ledger."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.selection import vectors as bench
from samekind.reports.results import read_results
from samekind.simulation.rows import read_rows


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
    file = tmp_path / "rows.jsonl"
    bench.main([*words, "--rows", str(file)])
    return read_rows(file).rows


def test_vectors_are_read_with_their_scale_and_can_be_brought_to_length_one(vectors: str) -> None:
    plain, unit = (bench.opened(Path(vectors), unit=unit) for unit in (False, True))
    assert plain.X.shape == (100, 2) and 5 < plain.X[75:].mean() < 7
    assert np.allclose(np.linalg.norm(unit.X, axis=1), 1, atol=1e-5)
    assert plain.truth("label")[0].tolist() == unit.truth("label")[0].tolist()


def test_every_run_is_a_row_that_a_report_can_read(vectors: str, tmp_path: Path) -> None:
    words = ("--vectors", vectors, "--method", "corrected", "--questions", "6")
    rows = rows_of(tmp_path, *words, "--strategy", "value", "value-random", "--seeds", "0", "1")
    assert [(row["strategy"], row["seed"]) for row in rows] == [
        ("value", 0), ("value", 1), ("value-random", 0), ("value-random", 1),
    ]  # fmt: skip
    assert all(row["questions"] == 6 == sum(row["choices"].values()) for row in rows)
    assert all(row["groups_given"] == 3 and row["curve"][-1]["groups"] == 3 for row in rows)
    assert len(read_results([tmp_path / "rows.jsonl"]).runs) == 4


def test_methods_that_share_a_ledger_get_the_answers_of_the_one_that_asked(
    vectors: str, tmp_path: Path
) -> None:
    words = ("--vectors", vectors, "--questions", "20", "--seeds", "0")
    own = rows_of(tmp_path, *words, "--method", "corrected")[0]
    taken = rows_of(tmp_path, *words, "--method", "copkmeans", "--asked-by", "corrected")[1]
    assert taken["choices"] == own["choices"] and taken["questions"] == own["questions"] == 20
    assert (taken["method"], taken["protocol"]["asked_by"]) == ("copkmeans", "corrected")
    assert taken["curve"][0]["acc"] == own["curve"][0]["acc"]
    assert taken["curve"][-1]["acc"] != own["curve"][-1]["acc"]


def test_live_asks_one_by_one_is_not_given_the_number_of_groups_and_finds_them(
    vectors: str, tmp_path: Path
) -> None:
    words = ("--method", "live", "--strategy", "live", "--refit-every", "4", "--questions", "18")
    (row,) = rows_of(tmp_path, "--vectors", vectors, *words, "--seeds", "0")
    assert row["groups_given"] is None and row["protocol"]["questions_per_refit"] == 4
    assert row["curve"][-1]["acc"] > max(0.9, row["curve"][0]["acc"])


def test_a_method_that_gives_up_leaves_a_row_that_says_so(vectors: str, tmp_path: Path) -> None:
    asking = ("--asked-by", "corrected", "--strategy", "placement", "--refit-every", "10")
    words = ("--method", "copkmeans", *asking, "--groups", "2", "--questions", "30")
    row = rows_of(tmp_path, "--vectors", vectors, *words, "--seeds", "0")[0]  # of three kinds
    assert row["protocol"]["stopped"] and len(row["curve"]) == 1
