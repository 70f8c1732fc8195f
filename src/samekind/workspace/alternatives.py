"""Other plausible groupings: a few draws that stand for all, and what each would change.

A person can steer towards one by answering the questions that tell it from the present groups, or
choose it as a whole. Choosing is an act like any other: one answer in the ledger, about some items
of every group that changes, which can be undone. Earlier answers stay, and every draw honours them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from samekind.clustering import Clustering
from samekind.constraints import Constraints
from samekind.questions import SamePair, SeparateKinds
from samekind.questions.wording import plural
from samekind.session.acts import Act
from samekind.strategies.exemplars import choose_exemplars
from samekind.strategies.posterior.draws import Draws, some_draws

if TYPE_CHECKING:
    from samekind.session import Session

Ints = NDArray[np.intp]
Floats = NDArray[np.float32]

MAX_COMPARED_DRAWS = 64
"""Draws whose distances are computed."""
MAX_COMPARED_ITEMS = 300
"""Items on which they are computed."""
MAX_ALTERNATIVES = 5
MIN_GAIN = 0.02
"""A grouping has to explain this share of the differences between draws and groups."""
MAX_CHANGES = 8
"""Changes that are listed for one grouping, largest first; the others are counted."""
MIN_ITEMS, MIN_PART = 2, 0.1
"""A listed change moves so many items, and this part of the largest number that moves."""
MIN_SHARE = 0.05
"""Share of the draws that a grouping has to stand for: a single draw is mostly chance."""
MAX_MOVED = 24
"""Items of each change that choosing the grouping names."""
MAX_NAMES = 3
"""Groups that are named where several become one."""
N_EXEMPLARS = 5
"""Items that stand for those that stay, in each group that changes."""
MAX_QUESTIONS = 3


@dataclass(frozen=True)
class Change:
    """Items that would be in another group.

    Parameters
    ----------
    items : (m,) positions. target : the number of the group that they join; 0: a new group.
    sources : names of the groups that they leave. target_name : its name, or "a new group".
    whole : whether they are all items of those groups, so that these disappear.
    question : a pair that tells the two groupings apart.
    """

    items: Ints
    target: int
    sources: tuple[str, ...]
    target_name: str
    whole: bool
    question: SamePair | None

    @property
    def words(self) -> str:
        """The change in one sentence."""
        count, source = plural(len(self.items), "item"), listed_names(self.sources)
        if self.target == 0:
            return f"{count} of {source} become {self.target_name}."
        if self.whole:
            verb = "becomes" if len(self.sources) == 1 else "become"
            return f"{source} ({count}) {verb} part of {self.target_name}."
        return f"{count} move from {source} to {self.target_name}."


def listed_names(names: Sequence[str]) -> str:
    """Name groups in one phrase; of many only some.

    >>> listed_names(["Group 2"]), listed_names(["Group 2", "cats", "Group 9"])
    ('Group 2', 'Group 2, cats and Group 9')
    >>> listed_names([f"Group {k}" for k in range(2, 9)])
    'Group 2, Group 3, Group 4 and 4 other groups'
    """
    if len(names) > MAX_NAMES + 1:
        names = [*names[:MAX_NAMES], f"{len(names) - MAX_NAMES} other groups"]
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


@dataclass(frozen=True)
class Alternative:
    """Another plausible grouping.

    Parameters
    ----------
    share : of the draws that are nearer to it than to the present groups and all others listed.
    n_groups : its number of groups. changes : the largest ones. more : items in further changes.
    kinds : items of each group that changes, which stand for it if the person chooses it.
    """

    share: float
    n_groups: int
    changes: tuple[Change, ...]
    more: int
    kinds: tuple[tuple[int, ...], ...]

    @property
    def questions(self) -> tuple[SamePair, ...]:
        """Questions whose answers tell it from the present groups."""
        found = (change.question for change in self.changes)
        return tuple(question for question in found if question is not None)[:MAX_QUESTIONS]


def choose_kinds(kinds: tuple[tuple[int, ...], ...]) -> Act:
    """Choose a grouping: each of some parts is a kind of its own."""
    why = f"You chose another grouping, in which {plural(len(kinds), 'group')} changed."
    return Act(
        SeparateKinds(kinds, why=why), "The groups follow the grouping that you chose.", "Use this"
    )


def alternatives(session: Session) -> tuple[Alternative, ...]:
    """Other plausible groupings, the most common first; none if the method makes no draws."""
    clustering, known = session.clustering, session.constraints
    draws = some_draws(clustering, known, session.seed)
    if draws is None:
        return ()
    agreeing = np.where(draws.contradictions(known) == 0, draws.weight, 0.0)
    if agreeing.sum() <= 0:
        return ()  # until the next refit draws groupings that honour all answers
    present = clustering.labels[draws.items]
    labels, weight = _resampled(draws, agreeing / agreeing.sum())
    chosen, share = representative(present, labels, weight)
    found = [
        _alternative(clustering, known, draws.items, present, labels[row], float(part))
        for row, part in zip(chosen, share, strict=True)
    ]
    return tuple(one for one in found if one.changes and one.share >= MIN_SHARE)


def representative(present: Ints, labels: Ints, weight: Floats) -> tuple[list[int], list[float]]:
    """Choose rows of (S, m) groupings that, with the present one, are near to all others.

    Returns the rows and the share of the groupings that each stands for, largest first. The
    distance of two groupings is the share of pairs on which they differ.
    """
    some = np.unique(np.linspace(0, len(present) - 1, MAX_COMPARED_ITEMS).astype(int))
    a, b = np.triu_indices(len(some), 1)
    every = np.concatenate([present[None], labels])[:, some]
    pairs = (every[:, a] == every[:, b]).astype(np.float32)  # (S + 1, pairs)
    size = pairs.sum(axis=1)
    apart = (size[:, None] + size - 2 * pairs @ pairs.T) / max(len(a), 1)
    near, between = apart[0, 1:], apart[1:, 1:]
    chosen: list[int] = []
    least = MIN_GAIN * float(weight @ near)
    while len(chosen) < MAX_ALTERNATIVES:
        gain = np.maximum(near - between, 0.0) @ weight
        best = int(gain.argmax())
        if gain[best] <= max(least, 1e-9) or best in chosen:
            break
        chosen.append(best)
        near = np.minimum(near, between[best])
    columns = apart[1:, [0, *(row + 1 for row in chosen)]]
    share = np.bincount(columns.argmin(axis=1), weights=weight, minlength=len(chosen) + 1)[1:]
    order = np.argsort(-share, kind="stable")
    return [chosen[k] for k in order], [float(share[k]) for k in order]


def _resampled(draws: Draws, weight: NDArray[np.float64]) -> tuple[Ints, Floats]:
    """At most 64 different groupings, with the share of each."""
    ticks = (np.arange(MAX_COMPARED_DRAWS) + 0.5) / MAX_COMPARED_DRAWS
    rows = np.searchsorted(weight.cumsum(), ticks).clip(0, len(weight) - 1)
    kept, count = np.unique(rows, return_counts=True)
    return draws.labels[kept].astype(np.intp), (count / count.sum()).astype(np.float32)


def _alternative(
    clustering: Clustering,
    known: Constraints,
    items: Ints,
    present: Ints,
    labels: Ints,
    share: float,
) -> Alternative:
    """Describe what one grouping of some items would change."""
    space = clustering.space[items]
    now = Clustering(present, space, last_number=clustering.last_number)
    then = now.followed_by(labels, space).labels  # with the numbers of the present groups
    pairs, count = np.unique(np.stack([present, then]), axis=1, return_counts=True)
    moved = np.flatnonzero(pairs[0] != pairs[1])
    listed = moved[np.argsort(-count[moved], kind="stable")][: 4 * MAX_CHANGES]
    new = [int(k) for k in dict.fromkeys(pairs[1, listed].tolist()) if k not in now.numbers]
    cells = {(int(c), int(g)): items[(present == c) & (then == g)] for c, g in pairs.T}
    changes = []
    for source, target in pairs[:, listed].T.tolist():
        name = clustering.name(target)
        if target in new:
            name = "a new group" if len(new) == 1 else f"new group {new.index(target) + 1}"
        gone = not (present == source)[then != target].any()
        changes.append(
            Change(
                cells[source, target], 0 if target in new else target, (clustering.name(source),),
                name, gone and target not in new,
                _question(clustering.space, known, cells, (source, target), joined=gone),
            )
        )  # fmt: skip
    shown = _combined(changes)[:MAX_CHANGES]
    least = max(MIN_ITEMS, MIN_PART * len(shown[0].items)) if shown else 0
    shown = [change for change in shown if len(change.items) >= least]
    more = int(count[moved].sum()) - sum(len(change.items) for change in shown)
    named = np.concatenate([change.items for change in shown]) if shown else items[:0]
    told = [cell for cell in cells if cell[0] != cell[1] and np.isin(cells[cell], named).all()]
    kinds = _kinds(clustering, cells, told)
    return Alternative(share, int(labels.max()) + 1, tuple(shown), more, kinds)


def _combined(changes: list[Change]) -> list[Change]:
    """Changes in which whole groups join the same one, as one change; largest first."""
    found: dict[tuple[bool, int], Change] = {}
    for place, change in enumerate(changes):
        key = (True, change.target) if change.whole else (False, -place - 1)
        if key in found:
            items = np.concatenate([found[key].items, change.items])
            sources = (*found[key].sources, *change.sources)
            found[key] = replace(found[key], items=items, sources=sources)
        else:
            found[key] = change
    return sorted(found.values(), key=lambda change: -len(change.items))


def _question(
    space: NDArray[np.float32],
    known: Constraints,
    cells: dict[tuple[int, int], Ints],
    change: tuple[int, int],
    *,
    joined: bool,
) -> SamePair | None:
    """A pair that one grouping joins and the other does not: typical items of both sides."""
    source, target = change
    other = cells.get((target, target) if joined else (source, source))
    if other is None:
        others = [part for (c, g), part in cells.items() if c == source and g != target]
        other = max(others, key=len, default=None)
    if other is None:
        return None
    a = choose_exemplars(space, cells[source, target], -1, 1)[0]
    b = choose_exemplars(space, other, -1, 1)[0]
    if known.same(a, b) is not None:
        return None
    return SamePair(a, b, why="The two groupings differ about these.")


def _kinds(
    clustering: Clustering, cells: dict[tuple[int, int], Ints], moves: list[tuple[int, int]]
) -> tuple[tuple[int, ...], ...]:
    """Items of each group that gains or loses some: of those that move, and of those that stay."""
    involved = {number for move in moves for number in move}
    kinds = []
    for group in sorted(involved):
        parts = [
            choose_exemplars(clustering.space, part, -1, N_EXEMPLARS if c == g else MAX_MOVED)
            for (c, g), part in cells.items()
            if g == group and (c == g or (c, g) in moves)
        ]
        if parts:
            kinds.append(tuple(dict.fromkeys(i for part in parts for i in part)))
    return tuple(kinds)
