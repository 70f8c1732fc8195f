"""Graphs from files: nodes as items, edges as rows, attributes as labels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from samekind.errors import SourceError
from samekind.sources import RowCollection, open_labelled, open_source

GML = """graph [
  directed %d
  node [ id 0 label "anna" kind "a" ]
  node [ id 1 label "ben" kind "a" ]
  node [ id 2 label "carla" kind "b" ]
  edge [ source 0 target 1 ]
  edge [ source 1 target 2 value 3 ]
]
"""


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def opened(path: Path) -> RowCollection:
    found = open_source(path)
    assert isinstance(found, RowCollection) and found.ready
    return found


@pytest.mark.parametrize("separator", [" ", "\t", ",", "; "])
def test_edges_are_read_with_any_usual_separator(tmp_path: Path, separator: str) -> None:
    lines = ["# friends", "anna ben", "", "ben carla", "carla anna", "carla dora", "dora dora"]
    text = "\n".join(line.replace(" ", separator) for line in lines)
    graph = opened(written(tmp_path, "friends.edges", text))
    assert list(graph.ids()) == ["anna", "ben", "carla", "dora"]
    expected = [[0, 1, 1, 0], [1, 0, 1, 0], [1, 1, 0, 1], [0, 0, 1, 0]]
    np.testing.assert_array_equal(graph.matrix, expected)
    shown = graph[2].preview().data.decode()
    assert shown == "node: carla\nedges: 3\nneighbours: anna, ben, dora"


def test_edges_that_come_twice_count_once_and_weights_add_up(tmp_path: Path) -> None:
    plain = opened(written(tmp_path, "a.edges", "a b\nb a\na c"))
    assert plain.matrix[0].tolist() == [0, 1, 1]
    weighted = opened(written(tmp_path, "b.edges", "a b 2\nb a 0.5\na c 1"))
    assert weighted.matrix[0].tolist() == [0, 2.5, 1]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "Expected edges"),
        ("a b\na", "line 2"),
        ("a b c d", "4 cells"),
        ("a b strong", "'strong'"),
        ("a b -1", "from 0 on"),
        ("\n".join(f"a {k}" for k in range(5001)), "5,002"),
    ],
)
def test_bad_lists_of_edges_are_refused_with_a_sentence(
    tmp_path: Path, text: str, sentence: str
) -> None:
    with pytest.raises(SourceError, match=sentence):
        open_source(written(tmp_path, "bad.edges", text))


def test_attributes_of_a_gml_file_are_labels(tmp_path: Path) -> None:
    pytest.importorskip("networkx")
    path = written(tmp_path, "people.gml", GML % 0)
    graph = opened(path)
    assert list(graph.ids()) == ["anna", "ben", "carla"] and not graph.skipped
    assert graph.matrix.tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    known = open_labelled(path)
    assert known.orientations["kind"].tolist() == ["a", "a", "b"]
    directed = opened(written(tmp_path, "directed.gml", GML % 1))
    assert directed.matrix.tolist() == graph.matrix.tolist()
    assert "directions" in directed.skipped[0].id
    with pytest.raises(SourceError, match="as GML"):
        open_source(written(tmp_path, "odd.gml", "graph [ node ]"))


def test_a_graphml_file_is_read(tmp_path: Path) -> None:
    nx = pytest.importorskip("networkx")
    graph = nx.Graph()
    graph.add_node("a", side=1)
    graph.add_node("b", side=2)
    graph.add_edge("a", "b", weight=2.0)
    nx.write_graphml(graph, tmp_path / "pair.graphml")
    known = open_labelled(tmp_path / "pair.graphml")
    assert known.orientations["side"].tolist() == [1, 2]
    assert opened(tmp_path / "pair.graphml").matrix.tolist() == [[0, 2], [2, 0]]


def test_half_a_character_in_a_gml_file_is_replaced(tmp_path: Path) -> None:
    text = (GML % 0).replace("anna", "anna&#55296;").replace('kind "a"', 'kind "a&#57343;"')
    path = written(tmp_path, "people.gml", text)
    found = open_labelled(path)
    pile = open_source(path)
    assert list(pile.ids()) == ["anna\N{REPLACEMENT CHARACTER}", "ben", "carla"]
    assert len(pile.fingerprint) == 16
    assert "node: anna\N{REPLACEMENT CHARACTER}" in pile[0].preview().data.decode()
    assert next(iter(found.orientations["kind"])) == "a\N{REPLACEMENT CHARACTER}"
