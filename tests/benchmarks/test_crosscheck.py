"""The cross-check with outside programs: what both sides get, and how it is told."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

from benchmarks.crosscheck import compare as crosscheck


def test_pairs_are_different_true_and_the_same_for_both_sides() -> None:
    kinds = np.arange(30) % 3
    pairs = crosscheck.drawn_pairs(kinds, 40, seed=1)
    assert len({(a, b) for a, b, _ in pairs}) == 40
    assert all(a < b and alike == (kinds[a] == kinds[b]) for a, b, alike in pairs)
    assert pairs == crosscheck.drawn_pairs(kinds, 40, seed=1)
    assert pairs != crosscheck.drawn_pairs(kinds, 40, seed=2)


def test_the_outside_runner_speaks_json_lines_and_brings_nothing_of_ours(tmp_path: Path) -> None:
    """An interpreter whose outside package is a stand-in of two lines."""
    package = tmp_path / "active_semi_clustering" / "semi_supervised" / "pairwise_constraints"
    package.mkdir(parents=True)
    for folder in (package.parents[1], package.parent):
        (folder / "__init__.py").write_text("")
    (package / "__init__.py").write_text(
        "import sys, numpy as np\n"
        "class COPKMeans:\n"
        "    def __init__(self, n_clusters): self.k = n_clusters\n"
        "    def fit(self, X, ml, cl):\n"
        "        assert not any(name.startswith('samekind') for name in sys.modules)\n"
        "        print('this must not be read as a result')\n"
        "        if np.random.random() < 0.5: raise ValueError('no place')\n"
        "        self.labels_ = np.arange(len(X)) % self.k\n"
        "        self.cluster_centers_ = np.zeros((self.k, X.shape[1]))\n"
    )
    starter = tmp_path / "python"
    starter.write_text(f'#!/bin/sh\nPYTHONPATH="{tmp_path}" exec "{sys.executable}" "$@"\n')
    starter.chmod(0o755)
    outside = crosscheck.Outside(str(starter))
    outside.send(do="data", set="x", X=[[0.0], [1.0], [2.0], [3.0]])
    task = {"do": "pairs", "set": "x", "method": "COPKMeans", "groups": 2, "starts": 4}
    got = [outside.ask(**task, seed=seed, pairs=[(0, 1, False)]) for seed in range(3)]
    outside.close()
    assert [row["labels"] for row in got] == [[0, 1, 0, 1]] * 3
    assert sum(row["failures"] for row in got) > 0, "a failed start is tried again and counted"


def test_answers_that_follow_from_earlier_ones_are_counted() -> None:
    asked = [(0, 1, True), (1, 2, True), (0, 2, True), (2, 3, False), (0, 3, False), (0, 4, True)]
    assert crosscheck.implied_among(5, asked) == 2


def test_the_table_tells_means_errors_and_what_had_no_result() -> None:
    rows = []
    for program, scores, missing in (("theirs", [0.5, 0.7], 1), ("ours", [0.8, 0.8], 0)):
        row = crosscheck._row("COBRAS", "iris", 25, program)
        rows.append(row | {"ari": scores, "without_result": missing})
    text = crosscheck.table({"rows": rows})
    assert "| set | answers | ours | theirs |" in text
    assert "| iris | 25 | 0.800 ± 0.000 | 0.600 ± 0.100 (1 without) |" in text


def test_what_was_measured_is_complete() -> None:
    results = json.loads(crosscheck.RESULTS.read_text())
    found = {(r["method"], r["set"], r["answers"], r["program"]): r for r in results["rows"]}
    assert results["seeds"] >= 10 and "cobras-ts" in results["versions"]["theirs"]
    for name in crosscheck.SETS:
        for method in (*crosscheck.OURS, "COBRAS"):
            for answers in crosscheck.counts_of(method, name):
                for program in ("ours", "theirs"):
                    row = found[method, name, answers, program]
                    assert len(row["ari"]) + row["without_result"] >= 10
