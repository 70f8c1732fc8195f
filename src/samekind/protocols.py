"""View, Encoder, Clusterer, QueryStrategy, Oracle, Store: the shapes that the rooms agree on."""

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
"""Called with (done, total) while long work goes on; may raise to cancel."""


@dataclass(frozen=True)
class View:
    """All that a strategy may see. There is no field for labels, and none may be added.

    Parameters
    ----------
    clustering : the groups as they stand.
    previous : the snapshot before (OCC's score compares the two).
    constraints : the answers so far, closed under implication.
    rng : chance for this question; its seed is a function of session seed and question number.
    seed : the session's seed, for what a strategy derives once per snapshot.
    spent, budget : questions answered, and how many there will be if that is known.
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
    """Decides what to ask. A frozen dataclass; it may be handed any :class:`View`.

    It may return more questions than `n` (all are queued) or fewer; none means that nothing is
    worth asking. It never asks what is implied.
    """

    def propose(self, view: View, n: int = 1) -> Sequence[Question]: ...


@runtime_checkable
class Clusterer(Protocol):
    """Groups vectors, honouring answers: a scikit-learn estimator.

    After `fit`: ``labels_`` (n,), and where it has them ``membership_`` (n, k) with columns in the
    order of the sorted labels, and ``space_`` (n, d), the space in which it measures likeness.
    """

    labels_: NDArray[np.intp]

    def fit(self, X: Any, y: Any = None, *, constraints: Constraints | None = None) -> Self: ...

    def predict(self, X: Any) -> NDArray[np.intp]: ...


@runtime_checkable
class Encoder(Protocol):
    """Turns items into vectors in two steps, of which only the first is slow.

    ``read`` looks at each item by itself and learns nothing: its result is cached on disk, item by
    item. ``fit`` and ``transform`` are quick and see the whole pile (PCA, centring, tf-idf).
    """

    name: str
    kinds: tuple[str, ...]
    """The kinds of item that it can read."""
    width: int | None
    """Numbers per item that `read` gives; None: reading is cheap and is not cached."""

    @property
    def fingerprint(self) -> str:
        """Changes whenever `read` would give something else for the same item."""
        ...

    def read(self, items: Sequence[Item]) -> Any: ...

    def fit(self, raw: Any) -> Self: ...

    def transform(self, raw: Any) -> NDArray[np.float32]: ...


@runtime_checkable
class Oracle(Protocol):
    """Something that answers: a simulated person, a recorded one, or one at the terminal."""

    def answer(self, question: Question) -> str: ...


@dataclass(frozen=True)
class Event:
    """One act in the ledger: what happened, its details (plain JSON), and when (seconds, UTC)."""

    kind: str
    data: Mapping[str, Any] = field(default_factory=dict)
    at: float = 0.0
    seq: int = 0
    """Position in the ledger, from 1; given by the store."""


@runtime_checkable
class Store(Protocol):
    """A journal of two verbs. ``append`` returns when the event is safe on disk."""

    def append(self, session: str, event: Event) -> int: ...

    def read(self, session: str, after: int = 0) -> Iterator[Event]: ...

    def sessions(self) -> list[str]: ...
