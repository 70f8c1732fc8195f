"""The benchmark of graphs: rows are kept once, worlds are the same for all, odd nodes not scored."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks.ncp import graphs
from benchmarks.ncp.graphs import WORLDS, Piece, central, drawn, known, main
from benchmarks.ncp.summaries import read_rows

SMALL = ("--sizes", "12", "--sets", "2", "--worlds", "blocks", "--seed", "3")


def test_rows_are_written_once_with_scores_and_provenance(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "graphs.jsonl"
    command = (*SMALL, "--json", str(file))
    main([*command, "--methods", "ncp-graph"])
    main([*command, "--methods", "ncp-graph", "gibbs"])
    rows = read_rows(file)
    assert [row["method"] for row in rows] == ["ncp-graph"] * 2 + ["gibbs"] * 2
    assert {row["world"] for row in rows} == {"karate:club", "blocks"}
    for row in rows:
        assert len(row["ari"]) == len(row["ami"]) == row["sets"] and row["commit"]
        assert (row["sha256"] is None) == (row["method"] == "gibbs")
    main([*command, "--table"])
    assert "gibbs" in capsys.readouterr().out


def test_all_pieces_see_the_same_graphs() -> None:
    world = WORLDS["communities"]
    whole = drawn(world, Piece("communities", 15, "gibbs", 0, 4, 1, None))
    part = drawn(world, Piece("communities", 15, "louvain", 2, 2, 1, None))
    np.testing.assert_array_equal(whole[0][2:], part[0])
    np.testing.assert_array_equal(whole[1][2:], part[1])


def test_nodes_without_edges_are_not_scored(monkeypatch: pytest.MonkeyPatch) -> None:
    table = np.zeros((1, 5, 5), dtype=np.float32)
    table[0, :4, :4] = np.kron(np.eye(2), [[0, 1], [1, 0]])
    monkeypatch.setattr(graphs, "known", lambda name: (table, [np.array([0, 0, 1, 1, 1])]))
    fixed = {"fixed": lambda piece: lambda tables, truth: [np.array([0, 0, 1, 1, 2])]}
    monkeypatch.setattr(graphs, "METHODS", fixed)
    row = graphs.measured(Piece("mine:kind", 0, "fixed", 0, 1, 0, None))
    assert row["ari"] == [1.0] and row["groups"] == row["true_groups"] == [2]


def test_a_known_graph_comes_with_its_labels() -> None:
    tables, truth = known("karate:club")
    assert tables.shape == (1, 34, 34) and tables.sum() == 156
    assert np.bincount(truth[0]).tolist() == [17, 17]


def test_the_central_grouping_is_that_of_most_draws() -> None:
    draws = np.array([[0, 0, 1, 1], [0, 0, 1, 1], [2, 2, 0, 0], [0, 1, 2, 3]])
    assert central(draws).tolist() == [0, 0, 1, 1]
