"""Nearest neighbours: the only search of the package, exact or approximate.

Up to `MAX_EXACT_ROWS` rows all pairs are compared. Beyond that an inverted file is searched:
k-means sorts the rows into cells, and each row looks only into the cells whose centres are nearest.
faiss does this where it is installed (``pip install 'samekind[ann]'``), torch otherwise.

=====================  =========================================================================
function               for
=====================  =========================================================================
`find_neighbours`      any number of rows; exact or approximate (the map)
`exact_neighbours`     up to some ten thousand rows; ties in row order
`neighbour_graph`      the same as a symmetric graph (over which `live` spreads answers)
`nearest_points`       a few points, with distances precise enough to recognise the same item
`nearest_by_cosine`    exact neighbours on the device of a tensor (training)
`nearest_cosines`      cosines to the neighbours, exact or approximate (the strategy `value`)
=====================  =========================================================================
"""

from __future__ import annotations

import math
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from samekind.compute import as_tensor, one_thread
from samekind.errors import InputError

if TYPE_CHECKING:
    from torch import Tensor

Floats = NDArray[Any]
Ints = NDArray[np.intp]

MAX_EXACT_ROWS = 12_000
"""Rows up to which all pairs are compared on a CPU; that takes two seconds."""
ROWS_PER_CELL = 200
"""Average size of a cell: choosing among many small ones takes long, and so does searching few."""
MAX_CELLS = 2_048
"""With more cells, choosing among them would cost more than searching larger ones."""
PROBED_CELLS = 15
"""Cells searched besides a row's own. More of them find more neighbours and take longer."""
KMEANS_ROUNDS, SAMPLE_PER_CELL = 6, 32
"""Few rounds on a sample are enough: cells need not be good groups."""
MAX_SINGLE_THREAD_ROWS = 20_000
"""Up to so many rows one thread is faster: on busy cores threads wait longer than they work."""
QUERY_ROWS, TILE_ROWS = {True: 512, False: 8_192}, {True: 8_192, False: 65_536}
"""Rows per tile of the table of all pairs, on a CPU (True) and elsewhere."""
BUCKET_COLUMNS = 64
"""Columns of which only the maximum is compared at first."""
MAX_COSINES = 2**26
"""Cosines that are in memory at a time."""


class Neighbours(NamedTuple):
    """(n, k) rows of the neighbours, nearest first, and their distances."""

    rows: Ints
    distances: Floats


def find_neighbours(points: Floats, k: int, *, use_faiss: bool | None = None) -> Neighbours:
    """Find the `k` nearest other rows of each row; fewer when there are no more.

    Parameters
    ----------
    use_faiss : None: if it is installed. Only searches beyond `MAX_EXACT_ROWS` rows use it.

    >>> find_neighbours(np.array([[0.0], [1.0], [5.0]]), 1).rows.tolist()
    [[1], [0], [1]]
    """
    points = np.ascontiguousarray(points, dtype=np.float32)
    if len(points) <= MAX_EXACT_ROWS:
        return exact_neighbours(points, k)
    if find_spec("faiss") is not None if use_faiss is None else use_faiss:
        rows = _search_faiss(points, k)
    else:
        rows = _search_cells(as_tensor(points, "cpu"), k)
    distances = np.empty(rows.shape, dtype=np.float32)
    for rank in range(rows.shape[1]):  # one at a time: (n, k, d) numbers would not fit
        distances[:, rank] = np.linalg.norm(points - points[rows[:, rank]], axis=1)
    return _sorted(rows, distances)


def exact_neighbours(points: Floats, k: int, queries: Floats | None = None) -> Neighbours:
    """Find the `k` nearest points of each query by brute force; of equally near ones the first.

    Without queries each point looks for other points, never finding itself.
    """
    from sklearn.neighbors import NearestNeighbors

    k = min(k, len(points) - (queries is None))
    if k < 1:
        empty = np.empty((len(points if queries is None else queries), 0))
        return Neighbours(empty.astype(np.intp), empty)
    # In pieces that fit the cache: a few lines of numpy take 4 times as long.
    search = NearestNeighbors(n_neighbors=k, algorithm="brute").fit(np.ascontiguousarray(points))
    distances, rows = search.kneighbors(None if queries is None else np.ascontiguousarray(queries))
    return _sorted(rows, distances)


def neighbour_graph(points: Floats, k: int) -> Any:
    """(m, m) sparse: how close each point is to its `k` neighbours, the same in both directions."""
    import scipy.sparse as sp

    near, distances = exact_neighbours(points, k)
    reach = distances[:, -1] + 1e-12
    close = np.exp(-(distances**2) / (reach[:, None] * reach[near])) + 1e-6
    rows = np.repeat(np.arange(len(points)), near.shape[1])
    graph = sp.csr_matrix((close.ravel(), (rows, near.ravel())), shape=(len(points),) * 2)
    return graph.maximum(graph.T)


def nearest_points(
    queries: Floats, points: Floats, k: int, *, own: Ints | None = None
) -> Neighbours:
    """Find the `k` nearest of a few points, without the row `own` that is the query itself.

    An `own` of -1 means that the query is none of the points. Distances come from differences, so
    the same item is at distance zero.
    """
    k = min(k, len(points) - (own is not None and len(points) > 1))
    square = queries @ (-2.0 * points).T  # (n, m)
    square += (points**2).sum(axis=1)  # up to |query|²
    if own is not None and len(points) > 1:
        here = np.flatnonzero(own >= 0)
        square[here, own[here]] = np.inf
    if k == 1:  # three times as fast
        rows = square.argmin(axis=1)[:, None]
    else:
        rows = np.argpartition(square, k - 1, axis=1)[:, :k]
    distances = np.empty(rows.shape)
    for rank in range(k):  # one at a time: (n, k, d) numbers would not fit
        distances[:, rank] = np.linalg.norm(queries - points[rows[:, rank]], axis=1)
    return _sorted(rows, distances)


def nearest_by_cosine(x: Tensor, k: int, *, max_cosines: int = MAX_COSINES) -> Tensor:
    """(n, k) exact nearest other rows of x (n, d) by cosine, nearest first, on the device of x.

    Parameters
    ----------
    k : from 1 to n - 1. A row is never its own neighbour.
    max_cosines : how many cosines are in memory at a time.

    >>> import torch
    >>> nearest_by_cosine(torch.tensor([[1.0, 0.0], [4.0, 1.0], [0.0, 2.0]]), 1).tolist()
    [[1], [0], [1]]
    """
    import torch

    if x.ndim != 2 or not 1 <= k < len(x):
        raise InputError(
            f"Expected vectors of shape (n, d) and a number of neighbours from 1 to n - 1, got "
            f"shape {tuple(x.shape)} and {k} neighbours. Ask for fewer, or give more vectors."
        )
    rows = max(1, max_cosines // len(x))
    found = []
    with torch.no_grad(), torch.autocast(x.device.type, enabled=False):
        full = x if x.dtype == torch.float64 else x.float()
        unit = torch.nn.functional.normalize(full, dim=1)
        for start in range(0, len(x), rows):
            cosine = unit[start : start + rows] @ unit.T  # (rows, n)
            cosine.diagonal(offset=start).fill_(-math.inf)
            found.append(cosine.topk(k, dim=1).indices)
    return torch.cat(found)


def nearest_cosines(
    z: Floats, k: int, *, exact: bool | None = None, device: str | None = None
) -> Floats:
    """(n, k) cosines of each unit row to its `k` nearest other rows, nearest first.

    The approximate search is always torch's, so that the questions of a strategy do not depend on
    what else is installed.

    Parameters
    ----------
    exact : compare all pairs. None: always on a GPU, on a CPU up to `MAX_EXACT_ROWS` rows.
    device : where to compute; None takes the best there is.
    """
    unit = as_tensor(z, device)
    k = min(k, len(z) - 1)
    if k < 1:
        return np.zeros((len(z), 0), dtype=unit.cpu().numpy().dtype)
    if exact is None:
        exact = unit.device.type != "cpu" or len(z) <= MAX_EXACT_ROWS
    if exact:
        with one_thread(len(z) <= MAX_SINGLE_THREAD_ROWS):
            return np.asarray(_exact_cosines(unit, k).cpu().numpy())
    rows = _search_cells(unit, k)
    single = unit.cpu().numpy()
    found = np.empty(rows.shape, dtype=single.dtype)
    for rank in range(k):
        found[:, rank] = np.einsum("nd,nd->n", single, single[rows[:, rank]])
    return -np.sort(-found, axis=1)


def _sorted(rows: Ints, distances: Floats) -> Neighbours:
    """Nearest first, equally near ones in row order."""
    order = np.lexsort((rows, distances), axis=1)
    return Neighbours(
        np.take_along_axis(rows, order, axis=1), np.take_along_axis(distances, order, axis=1)
    )


def _exact_cosines(z: Tensor, k: int) -> Tensor:
    """(n, k) largest cosines; memory stays that of one tile of the table of all pairs."""
    found = z.new_empty((len(z), k))
    rows, tile = (sizes[z.device.type == "cpu"] for sizes in (QUERY_ROWS, TILE_ROWS))
    for start in range(0, len(z), rows):
        some = z[start : start + rows]
        best = some.new_full((len(some), 0), 0.0)
        for first in range(0, len(z), tile):
            cosine = some @ z[first : first + tile].T  # (rows, tile)
            if first < start + rows and start < first + tile:
                low, high = max(start, first), min(start + len(some), first + cosine.shape[1])
                cosine[low - start : high - start, low - first : high - first].fill_diagonal_(-9.0)
            best = _merge_values(best, cosine, k)
        found[start : start + rows] = best
    return found


def _merge_values(best: Tensor, values: Tensor, k: int) -> Tensor:
    """The `k` largest of the best so far and of new values, largest first."""
    import torch

    wide = values.shape[1] // BUCKET_COLUMNS * BUCKET_COLUMNS
    if wide > 2 * k * BUCKET_COLUMNS:
        # The k largest lie in the k buckets with the largest maxima: sort those, not all.
        buckets = values[:, :wide].view(len(values), -1, BUCKET_COLUMNS)  # (rows, buckets, 64)
        top = buckets.amax(dim=2).topk(k, dim=1, sorted=False).indices
        inside = buckets.gather(1, top[:, :, None].expand(-1, -1, BUCKET_COLUMNS)).flatten(1)
        values = torch.cat([inside, values[:, wide:]], dim=1)
    together = torch.cat([best, values], dim=1)
    return together.topk(min(k, together.shape[1]), dim=1).values


def _search_faiss(points: NDArray[np.float32], k: int) -> Ints:
    """(n, k) rows of near other points, by an inverted file of faiss."""
    import faiss

    cells = _n_cells(len(points))
    index = faiss.IndexIVFFlat(faiss.IndexFlatL2(points.shape[1]), points.shape[1], cells)
    index.train(points)
    index.add(points)
    index.nprobe = min(PROBED_CELLS + 1, cells)
    _, found = index.search(points, k + 1)  # (n, k + 1), the point itself among them
    own = found == np.arange(len(points))[:, None]
    own[~own.any(axis=1), -1] = True  # of more than k copies the point itself may be left out
    return _completed(as_tensor(points, "cpu"), found[~own].reshape(-1, k).astype(np.intp))


def _search_cells(x: Tensor, k: int) -> Ints:
    """(n, k) rows of near other rows of x (n, d), each among the cells nearest to it."""
    import torch

    with one_thread():  # the products of cells are small
        centres, cell = _cells(x)
        members = _listed(cell, len(centres))
        half = x.square().sum(dim=1) / 2  # x · y - |y|² / 2 is largest where y is nearest to x
        best = x.new_full((len(x), k), -math.inf)
        rows = torch.full((len(x), k), -1, device=x.device)
        for inside in members:
            for some in torch.split(inside, 512):
                score = x[some] @ x[inside].T - half[inside]
                score[some[:, None] == inside] = -math.inf
                _merge(best, rows, some, score, inside)
        if len(centres) > 1:
            others = _other_cells(x, centres, cell)  # (n, p)
            lookers = _listed(others.flatten(), len(centres))
            for inside, places in zip(members, lookers, strict=True):
                for some in torch.split(places // others.shape[1], 2048) if len(inside) else ():
                    score = x[some] @ x[inside].T - half[inside]
                    better = (score.amax(dim=1) > best[some, -1]).nonzero().flatten()
                    _merge(best, rows, some[better], score[better], inside)
        return _completed(x, torch.where(best > -math.inf, rows, -1).cpu().numpy())


def _merge(best: Tensor, rows: Tensor, some: Tensor, score: Tensor, inside: Tensor) -> None:
    """Put better candidates `inside` into the table of `some` rows, in place."""
    import torch

    k = best.shape[1]
    top, at = score.topk(min(k, len(inside)), dim=1)
    best[some], place = torch.cat([best[some], top], dim=1).topk(k, dim=1)
    rows[some] = torch.cat([rows[some], inside[at]], dim=1).gather(1, place)


def _completed(x: Tensor, rows: Ints) -> Ints:
    """Rows whose cells held fewer than k others (-1) look at all rows."""
    import torch

    half = x.square().sum(dim=1) / 2
    for some in np.array_split(np.flatnonzero((rows < 0).any(axis=1)), 64):
        at = torch.from_numpy(some).to(x.device)
        score = x[at] @ x.T - half
        score[torch.arange(len(at)), at] = -math.inf
        rows[some] = score.topk(rows.shape[1], dim=1).indices.cpu().numpy()
    return np.asarray(rows, dtype=np.intp)


def _n_cells(n: int) -> int:
    return min(max(1, n // ROWS_PER_CELL), MAX_CELLS)


def _listed(number: Tensor, count: int) -> list[Tensor]:
    """For each of `count` numbers the places that have it, ascending."""
    import torch

    sizes = torch.bincount(number, minlength=count).tolist()
    return list(torch.split(torch.argsort(number, stable=True), sizes))


def _cells(x: Tensor) -> tuple[Tensor, Tensor]:
    """Centres (c, d), and the cell of each row (n,); no cell is much larger than the others."""
    import torch

    generator = torch.Generator().manual_seed(0)
    count = _n_cells(len(x))
    some = x[torch.randperm(len(x), generator=generator)[: SAMPLE_PER_CELL * count].to(x.device)]
    centres = some[:count].clone()
    for _ in range(KMEANS_ROUNDS):
        near = _nearest_cell(some, centres)
        sums = torch.zeros_like(centres).index_add_(0, near, some)
        sizes = torch.bincount(near, minlength=count)[:, None]
        centres = torch.where(sizes > 0, sums / sizes.clamp_min(1), centres)
    return _cut(x, centres, _nearest_cell(x, centres))


def _cut(x: Tensor, centres: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
    """Cut cells that are much too large across the coordinate that varies most in them."""
    import torch

    largest = 4 * max(1, len(x) // len(centres))
    sizes = torch.bincount(cell, minlength=len(centres))
    added: list[Tensor] = []
    for number in torch.nonzero(sizes > largest).flatten().tolist():
        members = torch.nonzero(cell == number).flatten()
        rows = x[members]
        members = members[rows[:, rows.var(dim=0).argmax()].argsort(stable=True)]
        for piece, part in enumerate(torch.split(members, largest)):
            if piece:
                cell[part] = len(centres) + len(added)
                added.append(x[part].mean(dim=0))
            else:
                centres[number] = x[part].mean(dim=0)
    return (torch.cat([centres, torch.stack(added)]) if added else centres), cell


def _nearest_cell(rows: Tensor, centres: Tensor) -> Tensor:
    import torch

    half = centres.square().sum(dim=1) / 2
    parts = [(part @ centres.T - half).argmax(dim=1) for part in torch.split(rows, 4096)]
    return torch.cat(parts)


def _other_cells(x: Tensor, centres: Tensor, cell: Tensor) -> Tensor:
    """(n, p) the cells whose centres are nearest to each row, besides its own."""
    import torch

    half = centres.square().sum(dim=1) / 2
    found = []
    for rows, own in zip(torch.split(x, 4096), torch.split(cell, 4096), strict=True):
        score = rows @ centres.T - half
        score.scatter_(1, own[:, None], -math.inf)
        found.append(score.topk(min(PROBED_CELLS, len(centres) - 1), dim=1).indices)
    return torch.cat(found)
