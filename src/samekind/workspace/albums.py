"""Albums: the groups within the groups of a grouping, from groupings of one group's items."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from samekind.errors import StateError
from samekind.ledger.folded_constraints import ANSWER_KINDS
from samekind.workspace.groupings import Groupings, part_of

if TYPE_CHECKING:
    from samekind.protocols import Store
    from samekind.session import Session
    from samekind.workspace.pile import Pile, Request

Subgroups = dict[str, tuple[str, ...]]
"""Of items by id, the names of the groups that it is in within its group, the largest first."""
OpenOver = Callable[["Pile", str], "Session"]
"""Opens the session of an orientation over a part of the pile."""


def opener(request: Request, store: Store) -> OpenOver:
    """Return what opens the nested groupings of a request."""
    inner = replace(request.remembered(), groups=None)  # a number of groups holds for all items
    return lambda part, name: inner.session(part, store, name)


def subgroups_of(session: Session, pile: Pile, open_over: OpenOver) -> Subgroups:
    """Return the subgroups of all items whose group was sorted by itself, at any depth.

    A nested grouping belongs to the group that most of its items are in now. Of several for the
    same group, the one with the most answers counts; those without an answer do not.
    """
    labels = dict(zip(session.collection.ids(), session.clustering.labels.tolist(), strict=True))
    found: Subgroups = {}
    sorted_groups = set()
    for name, root in _nested(session):
        listing = Groupings().of(session.store, root)
        homes = Counter(labels[id] for id in listing.items if id in labels)
        try:
            part = part_of(pile, listing)
        except StateError:  # fewer than two of its items are left
            continue
        group = min(homes, key=lambda number: (-homes[number], number))
        if group in sorted_groups:
            continue
        sorted_groups.add(group)
        inner = open_over(part, name)
        if inner.progress()["until_refit"] < inner.refit_every:
            inner.refit()
        deeper = subgroups_of(inner, part, open_over)
        for id, number in zip(part.collection.ids(), inner.clustering.labels, strict=True):
            if labels[id] == group:
                found[id] = (inner.clustering.name(int(number)), *deeper.get(id, ()))
    return found


def _nested(session: Session) -> list[tuple[str, str]]:
    """Return groupings of single groups, each with its root; those with most answers first."""
    store, groupings = session.store, Groupings()
    every = [groupings.of(store, name) for name in store.sessions()]
    roots = {one.name for one in every if one.nested and one.of == session.name and not one.deleted}
    answers = {
        (one.name, one.root): sum(event.kind in ANSWER_KINDS for event in store.read(one.name))
        for one in every
        if one.root in roots and not one.deleted
    }
    known = [key for key, number in answers.items() if number]
    return sorted(known, key=lambda key: (-answers[key], key))
