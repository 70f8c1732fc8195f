"""Graphs from files: their nodes are the items, and a node is known by its edges to all others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samekind.characters import whole_characters
from samekind.errors import SourceError
from samekind.items import Skipped
from samekind.sources.files.archives import UNREADABLE
from samekind.sources.files.plain_text import read_text
from samekind.sources.files.rows import RowCollection, Rows

MAX_NODES = 5_000
"""Rows of the adjacency are as long as there are nodes."""
MEMORY_PER_BYTE = 40
"""Of a file with nodes and edges: each becomes several Python objects."""
MAX_NAMED_NEIGHBOURS = 12
"""Neighbours that are named when a node is shown."""
GRAPH_SUFFIXES = (".gml", ".graphml")
_COMMENTS = ("#", "%", "//")

Edge = tuple[str, str, float]


def open_edges(path: Path, exclude: Sequence[str] = ()) -> RowCollection:
    """The nodes of a text file with one edge per line: two names, and perhaps a weight.

    Names are separated by tabs, commas, semicolons or spaces. An edge that comes twice, also as
    ``b a`` after ``a b``, counts once; weights add up.
    """
    text = read_text(path, "a list of edges", memory_per_byte=MEMORY_PER_BYTE)
    edges: list[Edge] = []
    weighted = False
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.strip().startswith(_COMMENTS):
            continue
        cells = _cells(line)
        edges.append(_edge(cells, number, path))
        weighted |= len(cells) == 3
    names = list(dict.fromkeys(name for a, b, _ in edges for name in (a, b)))
    table = adjacency(names, edges, path, add_up=weighted)
    return graph_collection(path.stem, names, table, str(path))


def open_graph(path: Path, exclude: Sequence[str] = ()) -> RowCollection:
    """The nodes of a .gml or .graphml file; their attributes are labels and are left out."""
    return open_labelled_graph(path)[0]


def open_labelled_graph(path: Path) -> tuple[RowCollection, dict[str, NDArray[Any]]]:
    """The nodes of a .gml or .graphml file, and beside them the attributes that all have."""
    return collect_graph(_read_networkx(path), path, str(path))


def collect_graph(
    graph: Any, path: Path, location: str = ""
) -> tuple[RowCollection, dict[str, NDArray[Any]]]:
    """The nodes of a graph of networkx, and beside them the attributes that all have.

    `path` names the graph in the collection and in errors.
    """
    nodes = list(graph.nodes(data=True))
    names = [whole_characters(str(node)) for node, _ in nodes]
    if len(set(names)) < len(names):
        raise SourceError(f"Expected unique names of nodes in {str(path)!r}, got one twice.")
    name_of = dict(zip(graph, names, strict=True))
    edges = [
        (name_of[a], name_of[b], _weight(w, path))
        for a, b, w in graph.edges(data="weight", default=1)
    ]
    notes = []
    if graph.is_directed():
        notes.append(Skipped("directions of edges", "groups are sought in undirected graphs"))
    table = adjacency(names, edges, path, add_up=True)
    collection = graph_collection(path.stem, names, table, location, notes)
    return collection, _attributes([attributes for _, attributes in nodes])


def graph_collection(
    name: str,
    names: Sequence[str],
    table: NDArray[np.float32],
    location: str,
    notes: Iterable[Skipped] = (),
) -> RowCollection:
    """The nodes of a graph as items: rows of the adjacency, shown by their neighbours.

    >>> table = np.array([[0, 1], [1, 0]], dtype=np.float32)
    >>> graph_collection("pair", ["anna", "ben"], table, "")[0].preview().data
    b'node: anna\\nedges: 1\\nneighbours: ben'
    """
    cells = {
        "node": list(names),
        "edges": [str(int((row > 0).sum())) for row in table],
        "neighbours": [_neighbours(row, names) for row in table],
    }
    rows = Rows(table, keys=list(names), cells=cells)
    return RowCollection(name, rows, tuple(notes), location, ready=True)


def adjacency(
    names: Sequence[str], edges: Sequence[Edge], path: Path, *, add_up: bool
) -> NDArray[np.float32]:
    """(n, n) symmetric weights of edges, without loops; edges that come twice add up, or not."""
    if not names:
        raise SourceError(f"Expected edges in {str(path)!r}, got none. Write one edge per line.")
    if len(names) > MAX_NODES:
        raise SourceError(
            f"Expected at most {MAX_NODES:,} nodes in {str(path)!r}, got {len(names):,}. Give a "
            "part of the graph."
        )
    place = {name: at for at, name in enumerate(names)}
    table = np.zeros((len(names), len(names)), dtype=np.float32)
    for a, b, weight in edges:
        i, j = place[a], place[b]
        if i != j:
            table[i, j] = table[j, i] = table[i, j] + weight if add_up else weight
    return table


def _cells(line: str) -> list[str]:
    for separator in ("\t", ",", ";"):
        if separator in line:
            return [cell.strip() for cell in line.split(separator)]
    return line.split()


def _edge(cells: Sequence[str], number: int, path: Path) -> Edge:
    if len(cells) not in (2, 3) or not all(cells):
        raise SourceError(
            f"Expected two names and perhaps a weight in line {number} of {str(path)!r}, got "
            f"{len(cells)} cells. Separate names that contain spaces by tabs."
        )
    return cells[0], cells[1], _weight(cells[2], path, number) if len(cells) == 3 else 1.0


def _weight(value: Any, path: Path, number: int | None = None) -> float:
    where = f"line {number} of {str(path)!r}" if number else repr(str(path))
    try:
        weight = float(value)
    except (TypeError, ValueError):
        weight = float("nan")
    if not 0 <= weight < float("inf"):
        raise SourceError(
            f"Expected a weight from 0 on in {where}, got {value!r}. A weight says how strong an "
            "edge is."
        )
    return weight


def _neighbours(row: NDArray[Any], names: Sequence[str]) -> str:
    """The strongest neighbours of a node, by name."""
    near = np.argsort(-row, kind="stable")[: int((row > 0).sum())]
    more = (
        f" and {len(near) - MAX_NAMED_NEIGHBOURS} more" if len(near) > MAX_NAMED_NEIGHBOURS else ""
    )
    return ", ".join(names[i] for i in near[:MAX_NAMED_NEIGHBOURS]) + more or "none"


def _read_networkx(path: Path) -> Any:
    try:
        import networkx as nx  # type: ignore[import-untyped]
    except ImportError as problem:
        raise SourceError(
            f"Expected networkx, which reads {path.suffix} files, found none. "
            "Type: pip install networkx"
        ) from problem
    text = read_text(path, f"a {path.suffix} file", memory_per_byte=MEMORY_PER_BYTE)
    try:
        if path.suffix.lower() == ".graphml":
            return nx.read_graphml(path)
        try:
            return nx.parse_gml(text)
        except nx.NetworkXError:  # nodes without labels are known by their numbers
            return nx.parse_gml(text, label="id")
    except (nx.NetworkXException, *UNREADABLE) as problem:
        raise SourceError(
            f"{str(path)!r} cannot be read as {path.suffix[1:].upper()} ({problem}). Save it "
            "again, or write one edge per line into an .edges file."
        ) from problem


def _attributes(nodes: Sequence[Mapping[str, Any]]) -> dict[str, NDArray[Any]]:
    """Attributes with one plain value for every node, as label columns."""
    names = [name for name in (nodes[0] if nodes else ()) if all(name in node for node in nodes)]
    plain = [n for n in names if all(isinstance(node[n], str | int | float) for node in nodes)]
    return {
        whole_characters(str(name)): np.asarray([_whole(node[name]) for node in nodes])
        for name in plain
    }


def _whole(value: Any) -> Any:
    return whole_characters(value) if isinstance(value, str) else value
