"""The interfaces between the parts: View, Encoder, Clusterer, QueryStrategy, Oracle, Store."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from samekind.clustering import Clustering
from samekind.constraints import Constraints
from samekind.items import Item
from samekind.questions import Question

Progress = Callable[[int, int], None]
"""Called with (done, total) during long work; may raise to cancel it. A total of 0 is not known."""


@dataclass(frozen=True)
class View:
    """Everything that a strategy may see. There is no field for labels, and none may be added.

    Parameters
    ----------
    clustering : the current groups.
    previous : the previous snapshot (OCC's score compares the two).
    constraints : the answers so far, closed under implication.
    rng : randomness for this question, seeded by the session's seed and the question's number.
    seed : the session's seed, for what a strategy derives once per snapshot.
    spent, budget : questions answered, and the total number if known.
    passed : questions that the person was unsure about or skipped, oldest first.
    """

    clustering: Clustering
    constraints: Constraints
    rng: np.random.Generator
    previous: Clustering | None = None
    spent: int = 0
    budget: int | None = None
    passed: tuple[Question, ...] = ()
    seed: int = 0


@runtime_checkable
class QueryStrategy(Protocol):
    """Choose what to ask. A frozen dataclass that works with any :class:`View`.

    It may return more questions than `n` (all are queued) or fewer; none means that nothing is
    worth asking. It never asks what is implied.
    """

    def propose(self, view: View, n: int = 1) -> Sequence[Question]: ...


@runtime_checkable
class Clusterer(Protocol):
    """Group vectors under constraints: a scikit-learn estimator.

    After `fit` it has ``labels_`` (n,), and optionally ``membership_`` (n, k) with columns in the
    order of the sorted labels, and ``space_`` (n, d), the space in which it measures similarity.
    """

    labels_: NDArray[np.intp]

    def fit(self, X: Any, y: Any = None, *, constraints: Constraints | None = None) -> Self: ...

    def predict(self, X: Any) -> NDArray[np.intp]: ...


@runtime_checkable
class Encoder(Protocol):
    """Turn items into vectors in two steps, of which only the first is slow.

    ``read`` processes each item by itself and learns nothing: its result is cached on disk, item by
    item. ``fit`` and ``transform`` are quick and see all items (PCA, centring, tf-idf).
    """

    name: str
    kinds: tuple[str, ...]
    """Kinds of item that it can read."""
    width: int | None
    """Numbers per item that `read` returns; None: reading is cheap and not cached."""

    @property
    def fingerprint(self) -> str:
        """A token that changes whenever `read` would return something else for the same item."""
        ...

    def read(self, items: Sequence[Item]) -> Any: ...

    def fit(self, raw: Any) -> Self: ...

    def transform(self, raw: Any) -> NDArray[np.float32]: ...


@runtime_checkable
class Oracle(Protocol):
    """Answer questions: a simulated person, a recorded one, or one at the terminal."""

    def answer(self, question: Question) -> str: ...


@dataclass(frozen=True)
class Event:
    """One event in the ledger: its kind, its data (plain JSON), and its time (UTC seconds)."""

    kind: str
    data: Mapping[str, Any] = field(default_factory=dict)
    at: float = 0.0
    seq: int = 0
    """Number in the session, from 1; assigned by the store."""


@runtime_checkable
class Store(Protocol):
    """An append-only log of events by session. ``append`` returns when the event is safe.

    With `after` it raises :class:`~samekind.errors.StaleWrite` and stores nothing, unless `after`
    is the number of the session's last event: nobody else has written in between.
    """

    def append(self, session: str, event: Event, *, after: int | None = None) -> int: ...

    def read(self, session: str, after: int = 0) -> Iterator[Event]: ...

    def sessions(self) -> list[str]: ...
