"""group: from data and a few answers to a grouping, in one call."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from operator import index
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from samekind.clustering import Labels
from samekind.errors import InputError
from samekind.protocols import Clusterer, Oracle, Progress, QueryStrategy
from samekind.questions import SamePair
from samekind.registry import make_method

if TYPE_CHECKING:
    from samekind.questions import Question
    from samekind.session import Session
    from samekind.session.report import SessionReport

Pairs = Iterable[tuple[int, int]]
AnswerPair = Callable[[int, int], bool | None]


@dataclass(frozen=True, eq=False)
class Grouping:
    """The result of :func:`group`.

    Parameters
    ----------
    labels : (n,) the group number of each item, from 1 on, in the order of the data.
    report : counts of answers, groups and contradictions, and how good the groups probably are.
    session : goes on from here: ask, tell, save, plot, widget.
    """

    labels: Labels
    report: SessionReport
    session: Session = field(repr=False)

    @property
    def n_groups(self) -> int:
        """The number of groups."""
        return self.session.clustering.n_groups

    def predict(self, X: Any) -> Labels:
        """The group numbers of further items: vectors, or data like that which was grouped."""
        return self.session.predict(X)

    def to_frame(self) -> Any:
        """Return a DataFrame with the id, group and name of each item."""
        return self.session.to_frame()

    def __len__(self) -> int:
        return len(self.labels)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.labels, dtype=dtype, copy=True if copy is None else copy)

    def __repr__(self) -> str:
        found = repr(self.session).partition(": ")[2]
        return f"<{type(self).__name__}: {found}"

    def _repr_html_(self) -> str:
        return self.session._repr_html_()


@dataclass(frozen=True)
class PairAnswers:
    """Answers any question by asking a callable about pairs, each at most once."""

    same: AnswerPair
    known: dict[tuple[int, int], bool | None] = field(default_factory=dict)

    def answer(self, question: Question) -> str:
        """The choice that the answers about pairs amount to; "unsure" if they leave it open."""
        return question.truthful(self._same)

    def _same(self, a: int, b: int) -> bool | None:
        pair = (min(a, b), max(a, b))
        if pair not in self.known:
            said = self.same(*pair)
            if said is not None and not isinstance(said, bool | np.bool_):
                raise InputError(
                    f"Expected True, False or None from answer({pair[0]}, {pair[1]}), got "
                    f"{said!r}. Return True for the same kind, None if it is not known."
                )
            self.known[pair] = None if said is None else bool(said)
        return self.known[pair]


def group(
    X: Any,
    *,
    same: Pairs = (),
    different: Pairs = (),
    answer: AnswerPair | Oracle | None = None,
    questions: int = 30,
    n_groups: int | None = None,
    clusterer: Clusterer | str | None = None,
    strategy: QueryStrategy | str | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> Grouping:
    """Group data the way you mean it: by pairs that you know, and by answers to questions.

    Parameters
    ----------
    X : an array (n, d) of vectors, a DataFrame, texts, pictures, a graph, or a pile.
    same, different : pairs (i, j) of positions that are, or are not, the same kind (must-link and
        cannot-link). Pairs that contradict earlier ones are set aside; the report counts them.
    answer : called as ``answer(i, j)`` with two positions; returns True if they are the same kind,
        False if not, None if that is not known. Or an object with a method ``answer(question)``
        that returns one of ``question.choices()``. None: nothing is asked. If it has a name in
        `by`, that is who answered, and ``report.errors`` says how often they are probably wrong.
    questions : how many questions are asked at most (active learning chooses them).
    n_groups : the number of groups, if it is known.
    clusterer, strategy : objects, or names from ``samekind list``.
    seed : the same seed and answers give the same groups.
    progress : called with (questions answered, questions).

    >>> X = np.random.default_rng(0).normal(size=(60, 2)) + 9 * (np.arange(60) % 3)[:, None]
    >>> found = group(X, answer=lambda i, j: i % 3 == j % 3, questions=10)
    >>> found.n_groups, len(set(found.labels[::3]))
    (3, 1)
    """
    from samekind.session import Session

    pairs = [*_checked(same, "same"), *_checked(different, "different")]
    if n_groups is not None:
        if not isinstance(clusterer, str | None):
            raise InputError(
                "Expected the number of groups once, got n_groups and a clusterer as an object. "
                "Set n_clusters of the clusterer."
            )
        clusterer = make_method(clusterer or "live", n_groups)
    session = Session(X, clusterer=clusterer, strategy=strategy, seed=seed)
    _tell_pairs(session, pairs)
    if answer is not None:
        oracle = answer if hasattr(answer, "answer") else PairAnswers(answer)
        _ask(session, oracle, questions, progress, getattr(answer, "by", "me"))
    if session.changes:
        session.refit()
    return Grouping(session.labels, session.report(), session)


def _checked(pairs: Pairs, choice: str) -> list[tuple[int, int, str]]:
    try:
        return [(index(a), index(b), choice) for a, b in pairs]
    except (TypeError, ValueError):
        raise InputError(
            f"Expected pairs of positions in {choice}, as [(0, 3), (1, 2)], got "
            f"{pairs!r:.200}. Give whole numbers, counted from 0."
        ) from None


def _tell_pairs(session: Session, pairs: Iterable[tuple[int, int, str]]) -> None:
    n = len(session.collection)
    for a, b, choice in pairs:
        if not (0 <= a < n and 0 <= b < n):
            raise InputError(
                f"Expected positions from 0 to {n - 1} in {choice}, got ({a}, {b}). Count from 0."
            )
        session.volunteer(SamePair(a, b), choice)
    if session.changes:
        session.refit()


def _ask(session: Session, oracle: Any, questions: int, progress: Progress | None, by: str) -> None:
    """Ask until the questions are used up or nothing is worth asking."""
    for number in range(questions):
        asked = session.ask()
        if asked is None:
            return
        session.tell(asked.number, oracle.answer(asked.question), by=by)
        if session.due:
            session.refit()
        if progress is not None:
            progress(number + 1, questions)
