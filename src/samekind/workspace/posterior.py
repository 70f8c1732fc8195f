"""Posterior: how many groups there probably are, and which pairs are uncertain.

All of it is derived from draws of whole groupings (``draws_``, which a snapshot keeps), weighted by
every answer given since they were made. A method without draws has no report. The draws are about
all items or a sample of them, and at most 256 draws of 600 items are compared: the time of a report
does not grow with the pile.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from samekind.clustering import Clustering
from samekind.errors import InputError
from samekind.ledger.store import MemoryStore
from samekind.questions import UNSURE
from samekind.questions.wording import plural
from samekind.registry import own_strategy
from samekind.session.members import sureness
from samekind.strategies.posterior.draws import Draws, all_draws, softened, some_draws
from samekind.strategies.posterior.posterior import pair_gain, together

if TYPE_CHECKING:
    from samekind.protocols import Progress
    from samekind.session import Session
    from samekind.workspace.pile import Request

Ints = NDArray[np.intp]
Floats = NDArray[np.float64]

DEFAULT_METHOD, POSTERIOR = "ncp", "posterior"
"""The method of a report if none is named, and the strategy of all methods that make draws."""
MAX_PAIRS = 2_000
"""The most uncertain pairs, from which those of a report are chosen."""
MIN_DOUBT = 0.05
"""A pair is uncertain if both "same" and "different" are at least this probable."""
MIN_NEWS = 0.01
"""Nats that a pair has to tell beyond the pairs that are listed before it."""
INTERVAL = 0.9
"""Probability of the range of numbers of groups that is stated."""


@dataclass(frozen=True)
class UncertainPair:
    """Two items of which nobody can say yet whether they are the same kind.

    Parameters
    ----------
    together : probability that they are in one group. Never show it beside an open question.
    """

    a: int
    b: int
    together: float


@dataclass(frozen=True)
class PosteriorReport:
    """What the draws say about the number of groups, and which pairs they disagree on.

    Parameters
    ----------
    groups : groups at present. n_groups : probability by number of groups, ascending.
    placed, items : items that the draws are about, and all items.
    enough : whether enough draws honour all answers; else it is rough until the next refit.
    pairs : uncertain pairs, each of which tells something that those before it do not.
    """

    groups: int
    n_groups: dict[int, float]
    placed: int
    items: int
    enough: bool
    pairs: tuple[UncertainPair, ...]


def has_posterior(session: Session) -> bool:
    """Whether the method of a session draws whole groupings."""
    return session.clustering.draws is not None


def posterior_report(session: Session, n_pairs: int = 6) -> PosteriorReport | None:
    """Report on the draws of a session, given all answers; None if its method makes none."""
    clustering, known = session.clustering, session.constraints
    every = all_draws(clustering)
    some = some_draws(clustering, known, session.seed)
    if every is None or some is None:
        return None
    n_groups = clustering.memo("drawn-n-groups", lambda: every.labels.max(axis=1).astype(int) + 1)
    weight, enough = softened(every, known)
    share = np.bincount(n_groups, weights=weight)
    likely = {int(k): float(share[k]) for k in np.flatnonzero(share > 1e-9)}
    pairs = tuple(_pairs(session, clustering, some, n_pairs)) if n_pairs else ()
    placed, items = len(every.items), len(clustering.labels)
    return PosteriorReport(clustering.n_groups, likely, placed, items, enough, pairs)


def describe_n_groups(n_groups: dict[int, float]) -> str:
    """Say how many groups there probably are.

    >>> describe_n_groups({6: 0.25, 7: 0.6, 8: 0.14, 12: 0.01})
    'Most likely 7 groups (60%), very likely 6 to 8.'
    """
    best = max(n_groups, key=lambda k: (n_groups[k], -k))
    words = f"Most likely {plural(best, 'group')} ({percent(n_groups[best])})"
    low, high = likely_range(n_groups)
    return f"{words}." if low == high else f"{words}, very likely {low} to {high}."


def likely_range(n_groups: dict[int, float], mass: float = INTERVAL) -> tuple[int, int]:
    """The narrowest range of numbers of groups that has this probability.

    >>> likely_range({1: 0.02, 2: 0.5, 3: 0.46, 9: 0.02})
    (2, 3)
    """
    numbers = sorted(n_groups)
    total = np.concatenate([[0.0], np.cumsum([n_groups[k] for k in numbers])])
    wanted = mass * total[-1] - 1e-9
    found = [
        (numbers[end - 1] - numbers[start], -(total[end] - total[start]), start, end)
        for start in range(len(numbers))
        for end in range(start + 1, len(numbers) + 1)
        if total[end] - total[start] >= wanted
    ]
    _, _, start, end = min(found)
    return numbers[start], numbers[end - 1]


def percent(share: float) -> str:
    """A share in percent, never rounded to certainty.

    >>> percent(0.5), percent(0.999), percent(0.001), percent(1.0)
    ('50%', '>99%', '<1%', '100%')
    """
    if 0.995 <= share < 1 - 1e-9:
        return ">99%"
    return "<1%" if 0 < share < 0.005 else f"{100 * share:.0f}%"


def describe_basis(found: PosteriorReport) -> str:
    """Say what limits a report: a sample of the items, few draws; empty if nothing does."""
    words = []
    if found.placed < found.items:
        words.append(f"Estimated on a sample of {found.placed:,} of {plural(found.items, 'item')}.")
    if not found.enough:
        words.append(
            "Few of the groupings that were drawn fit your latest answers, so this is rough until "
            "the groups are refreshed."
        )
    return " ".join(words)


def _pairs(
    session: Session, clustering: Clustering, draws: Draws, n: int
) -> Iterator[UncertainPair]:
    """Yield at most `n` pairs, each the one that tells most beyond those before it.

    If two groups may be one, all pairs across them are equally uncertain, but one answer settles
    them all. So the next pair is the one of largest entropy given the answers to those before. Of
    equal pairs the one whose items are most typical of their groups is the easiest to judge.
    """
    weight = softened(draws, session.constraints)[0]
    a, b, same, chance = _candidates(draws, weight)
    sure = sureness(clustering)
    typical = sure[draws.items[a]] + sure[draws.items[b]] if len(a) else np.zeros(0)
    free = np.minimum(chance, 1 - chance) >= MIN_DOUBT
    skipped = {frozenset(x.question.items()) for x in session.answers if x.choice == UNSURE}
    cells = np.zeros(len(weight), dtype=np.intp)  # draws that agree on all pairs so far
    while n > 0 and free.any():
        news = np.where(free, conditional_entropy(same, weight, cells), -1.0)
        best = int(np.lexsort((-typical, -np.round(news, 3)))[0])
        if news[best] < MIN_NEWS:
            return
        i, j = int(draws.items[a[best]]), int(draws.items[b[best]])
        free[best] = False
        if {i, j} in skipped or session.constraints.same(i, j) is not None:
            continue
        yield UncertainPair(*((i, j) if (i + j) % 2 else (j, i)), float(chance[best]))
        free &= ~np.isin(a, (a[best], b[best])) & ~np.isin(b, (a[best], b[best]))
        cells = np.unique(2 * cells + same[:, best], return_inverse=True)[1].ravel()
        n -= 1


def _candidates(
    draws: Draws, weight: Floats
) -> tuple[Ints, Ints, NDArray[np.bool_], NDArray[np.float64]]:
    """Columns of the most uncertain pairs, (S, p) whether each draw joins them, and how likely."""
    a, b = np.triu_indices(len(draws.items), 1)
    gain = pair_gain(together(draws._replace(weight=weight))[a, b])
    best = np.argsort(-gain, kind="stable")[:MAX_PAIRS]
    a, b = a[best].astype(np.intp), b[best].astype(np.intp)
    same = draws.labels[:, a] == draws.labels[:, b]
    return a, b, same, np.asarray(weight @ same, dtype=np.float64)


def conditional_entropy(same: NDArray[np.bool_], weight: Floats, cells: Ints) -> Floats:
    """(p,) entropy in nats of "same kind?" for each pair, if the cell of the draw is known.

    >>> draws, even = np.array([[True, True], [False, True]]), np.array([0.5, 0.5])
    >>> conditional_entropy(draws, even, np.array([0, 0])).round(2).tolist()
    [0.69, 0.0]
    >>> conditional_entropy(draws, even, np.array([0, 1])).tolist()
    [0.0, 0.0]
    """
    member = np.zeros((int(cells.max(initial=0)) + 1, len(weight)), dtype=np.float32)
    member[cells, np.arange(len(weight))] = weight
    mass = member.sum(axis=1)
    chance = (member @ same) / np.maximum(mass, 1e-12)[:, None]  # (cells, p)
    inside = pair_gain(chance.ravel()).reshape(chance.shape)
    return np.asarray(mass @ inside, dtype=np.float64)


def open_to_report(request: Request, progress: Progress | None = None) -> Session:
    """Open a session as it was left, or a new one, without writing anything to its ledger.

    A method that makes no draws is replaced by ``ncp``, unless it was named.
    """
    named, request = request.method, request.remembered()
    if named is None and own_strategy(str(request.method)) != POSTERIOR:
        request.on_notice(f"Method: {DEFAULT_METHOD}, because {request.method} draws no groupings.")
        kept = replace(request, method=DEFAULT_METHOD, strategy=None, groups=None, parameters={})
        request = kept.remembered()
    request = replace(request, groups=None)
    store = MemoryStore()
    ledger = request.store() if request.has_ledger() else store
    names = dict.fromkeys([*ledger.sessions(), "main"])
    if request.orientation not in names:
        raise InputError(
            f"Expected one of the groupings of {request.path!r}, {', '.join(names)}, got "
            f"{request.orientation!r}. Make it first: samekind ask {request.arguments()}"
        )
    for event in tuple(ledger.read(request.orientation)):
        store.append(request.orientation, event)
    session = request.session(request.pile(request.items(), progress), store)
    if session.progress()["until_refit"] < session.refit_every:
        session.refit()
    if not has_posterior(session):
        raise InputError(
            f"Expected a method that draws groupings, such as {DEFAULT_METHOD}, got {named!r}, "
            f"which gives only one. Omit --method, or choose --method {DEFAULT_METHOD}."
        )
    return session
