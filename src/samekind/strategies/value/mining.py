"""Value mining: which items are worth a question (IDC, Eq. 1-4 and Algorithm 1).

An item is worth asking about if it lies between groups (hardness), if many others are similar to it
(representativeness), and if nothing similar was asked before (diversity). Rows of `z` always have
unit length.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samekind.compute import as_tensor, one_thread
from samekind.neighbours import nearest_cosines
from samekind.strategies.value.greedy import FLOOR, Greedy

Floats = NDArray[Any]
Ints = NDArray[np.intp]


def hardness(z: Floats, centres: Floats) -> Floats:
    """(n,) h of Eq. 2: how close the item is to the boundary between its two nearest centres.

    Never above zero; zero exactly on a boundary. Cosines are used, whatever the length of a centre
    (reading I2), and the logarithm is clipped (I4), because its argument is negative where the
    cosines differ by more than one. With one centre all items are equally hard.

    >>> hardness(unit(np.array([[1.0, 0.0], [3.0, 4.0], [1.0, 1.0]])), np.eye(2)).round(3).tolist()
    [-27.631, -0.223, 0.0]
    """
    return np.log(np.maximum(hardness_argument(z, centres), FLOOR))


def hardness_argument(z: Floats, centres: Floats) -> Floats:
    """(n,) the argument of the logarithm in Eq. 2 as printed; may be zero or negative."""
    towards = unit(centres)
    if len(towards) < 2:
        return np.ones(len(z))
    gap = np.empty(len(z))
    for part in _parts(len(z)):
        alike = np.partition(z[part] @ towards.T, -2, axis=1)  # (m, c)
        gap[part] = alike[:, -1].astype(np.float64) - alike[:, -2]
    return np.asarray(1 - gap)


def representativeness(
    z: Floats,
    k: int = 20,
    include_self: bool = False,
    *,
    exact: bool | None = None,
    device: str | None = None,
) -> Floats:
    """(n,) r of Eq. 3: large where the `k` nearest neighbours are close.

    Parameters
    ----------
    include_self : follow the published program (I6): the item is the first of its own `k`
        neighbours, and their mean is used instead of the sum.
    exact, device : how neighbours are found; see :func:`nearest_cosines`.
    """
    alike = nearest_cosines(z, max(1, k - include_self), exact=exact, device=device)
    return closeness(alike, include_self)


def closeness(alike: Floats, include_self: bool = False) -> Floats:
    """(n,) r of Eq. 3 from the cosines (n, k) to the nearest other items."""
    apart = np.maximum(2 - 2 * alike.astype(np.float64), 0.0).sum(axis=1)
    if include_self:
        apart = apart / (alike.shape[1] + 1)
    return np.asarray(-np.log(np.maximum(apart, FLOOR)))


def select(
    z: Floats,
    centres: Floats,
    budget: int,
    *,
    k: int = 20,
    weights: tuple[float, float, float] = (1.0, 1.0, 1.0),
    already: Sequence[int] = (),
    include_self: bool = False,
    exact: bool | None = None,
    device: str | None = None,
) -> tuple[Ints, Floats]:
    """Algorithm 1: the items to ask about, in order, and the value of each when picked.

    Parameters
    ----------
    centres : (c, d) of the groups. budget : number of items.
    weights : of hardness, representativeness and diversity; (1, 0, 0) picks the hardest items.
    already : items asked before: not picked again, but diversity is measured from them.
    k, include_self, exact, device : how neighbours are found; see :func:`representativeness`.

    >>> z = unit(np.array([[9.0, 1], [8, 2], [5, 5], [5, 4], [1, 9]]))
    >>> select(z, z[[0, 4]], 2, k=2)[0].tolist()
    [3, 1]
    """
    base = np.zeros(len(z))
    if weights[0]:
        base += weights[0] * hardness(z, centres)
    if weights[1]:
        base += weights[1] * representativeness(z, k, include_self, exact=exact, device=device)
    greedy = Greedy(as_tensor(z, device), base, diversity=weights[2])
    items: list[int] = []
    values: list[float] = []
    with one_thread():  # the products of one pick are small
        for item in already:
            greedy.take(int(item))
        while len(items) < budget and (best := greedy.best()) is not None:
            greedy.take(best[0])
            items.append(best[0])
            values.append(best[1])
    return np.array(items, dtype=np.intp), np.array(values)


def unit(rows: Floats) -> Floats:
    """Scale rows to unit length; a row of zeros stays unchanged."""
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.maximum(length, FLOOR))


def _parts(n: int) -> list[slice]:
    return [slice(start, start + 65_536) for start in range(0, n, 65_536)]
