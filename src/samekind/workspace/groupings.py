"""Groupings as a person lists them: titles, deleted ones, and groupings of one group's items.

The name of an orientation never changes: it is its key in the ledger. What a person sees is a
title. A deleted one is only marked, so that it can be restored with all its answers. One of the
items of a single group is nested: it has a workspace of its own, in the same ledger.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from samekind.errors import (
    InputError,
    OrientationExists,
    StaleWrite,
    StateError,
    UnknownOrientation,
)
from samekind.protocols import Event

if TYPE_CHECKING:
    from samekind.protocols import Store
    from samekind.session import Session
    from samekind.workspace.pile import Pile
    from samekind.workspace.workspace import Workspace

SEPARATOR = "~"
"""Between the key of a workspace and the name of a nested orientation, in the key of the latter."""


@dataclass(frozen=True)
class Listing:
    """How an orientation is listed.

    Parameters
    ----------
    name : its key in the ledger.
    title : what a person sees.
    root : the nested orientation whose items it sorts, which may be itself; empty: all items.
    inside : of a nested one, the `root` of the orientation whose group it sorts.
    of, group : of a nested one, that orientation and the name of the group at the time.
    items : of a nested one, the ids of its items.
    """

    name: str
    title: str
    deleted: bool = False
    root: str = ""
    inside: str = ""
    of: str = ""
    group: str = ""
    items: tuple[str, ...] = ()

    @property
    def nested(self) -> bool:
        """Whether it sorts the items of one group of another orientation."""
        return self.root == self.name

    def with_event(self, data: Mapping[str, Any]) -> Listing:
        """Take in the data of a ``listed`` event."""
        texts = {
            key: str(data[key]) for key in ("title", "root", "inside", "of", "group") & data.keys()
        }
        deleted = bool(data.get("deleted", self.deleted))
        items = tuple(map(str, data.get("items", self.items)))
        return replace(self, **texts, deleted=deleted, items=items)


class Groupings:
    """The listings of all orientations in a ledger, read again only as far as it has grown."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[int, Listing]] = {}

    def of(self, store: Store, name: str) -> Listing:
        """Return how an orientation is listed now."""
        seq, listing = self._known.get(name, (0, Listing(name, name)))
        for event in store.read(name, after=seq):
            seq = event.seq
            if event.kind == "listed":
                listing = listing.with_event(event.data)
        self._known[name] = (seq, listing)
        return listing


def list_orientation(store: Store, name: str, *, after: int | None = None, **data: Any) -> None:
    """Store how an orientation is listed from now on."""
    store.append(name, Event("listed", data, time.time()), after=after)


def claim(store: Store, name: str, **data: Any) -> bool:
    """Store how a new orientation is listed; False: somebody else has begun one of this name."""
    try:
        list_orientation(store, name, after=0, **data)
    except StaleWrite:
        return False
    return True


def find_name(store: Store, wanted: str) -> str:
    """Return the name of the orientation that a person means, by its title or its name."""
    names = store.sessions()
    groupings = Groupings()
    for listing in (groupings.of(store, name) for name in names):
        if listing.title.casefold() == wanted.casefold() and not listing.deleted:
            return listing.name
    return wanted


def free_name(title: str, names: Iterable[str]) -> str:
    """Return a name for a new orientation: its title, unless an earlier one has that name.

    >>> free_name("main", ["Main", "main 2"])
    'main 3'
    """
    taken = {name.casefold() for name in names}
    candidates = (title, *(f"{title} {k}" for k in range(2, len(taken) + 3)))
    return next(name for name in candidates if name.casefold() not in taken)


def visible_names(workspace: Workspace) -> list[str]:
    """Return the names of the orientations of these items, the first one first."""
    first = workspace.first
    listings = (workspace.listing(name) for name in {*workspace.all_names(), first})
    known = {one.name for one in listings if one.root == workspace.root and not one.deleted}
    return sorted(known, key=lambda name: (name != first, name))


def is_listed(workspace: Workspace, listing: Listing) -> bool:
    """Whether an orientation sorts these items, or those of a group of them; deleted or not."""
    return listing.root == workspace.root or (listing.nested and listing.inside == workspace.root)


def new_name(workspace: Workspace, title: str) -> str:
    """Return the name of a new orientation with this title, which nobody else gets any more.

    To be called with the lock of the workspace.
    """
    store, root = workspace.store, workspace.root
    while True:
        check_title(workspace, title)
        name = free_name(title, workspace.all_names())
        if store is None:
            return name
        if claim(store, name, title=title, root=root):
            break
    try:
        check_title(workspace, title, but=name)
    except OrientationExists:  # another server has given this title to another one meanwhile
        list_orientation(store, name, deleted=True)
        raise
    return name


def change(workspace: Workspace, name: str, check: Callable[[], None], **data: Any) -> None:
    """Store how an orientation is listed, unless `check` refuses it.

    Another server may change another orientation at the same moment, which the number of an event
    does not show. So the newest listings are checked again afterwards, and if they refuse the
    change then, it is taken back.
    """
    if name not in workspace.all_names() or not is_listed(workspace, workspace.listing(name)):
        raise UnknownOrientation(f"There is no grouping {name!r}.")
    store = workspace.store_of(name)
    with workspace.opening:
        before = workspace.listing(name)
        check()
        list_orientation(store, name, **data)
        try:
            check()
        except StateError:
            list_orientation(store, name, **{key: getattr(before, key) for key in data})
            raise


def rename(workspace: Workspace, name: str, title: str) -> None:
    """Give an orientation another title."""
    change(workspace, name, partial(check_title, workspace, title, but=name), title=title)


def check_title(workspace: Workspace, title: str, *, but: str = "") -> None:
    """Refuse a title that another orientation of this workspace has."""
    others = (workspace.listing(name) for name in workspace.names() if name != but)
    if title.casefold() in {listing.title.casefold() for listing in others}:
        raise OrientationExists(f"There is a grouping {title!r} already.")


def delete(workspace: Workspace, name: str) -> None:
    """Mark an orientation as deleted; its answers are kept."""

    def check() -> None:
        others = set(workspace.names()) - {name}
        if workspace.listing(name).root == workspace.root and not others:
            raise StateError(
                "This is the only grouping, so it cannot be deleted. Create another first."
            )

    change(workspace, name, check, deleted=True)
    workspace.forget(name)


def restore(workspace: Workspace, name: str) -> None:
    """List a deleted orientation again; another one may have its title by now."""
    others = (workspace.listing(known) for known in workspace.names() if known != name)
    title = free_name(workspace.listing(name).title, (one.title for one in others))
    check = partial(check_title, workspace, title, but=name)
    change(workspace, name, check, deleted=False, title=title)


def begin_within(workspace: Workspace, session: Session, group: int, title: str) -> Listing:
    """Begin a grouping of the items that are in a group now."""
    if workspace.store is None or workspace.open_over is None:
        raise StateError(
            "These items were not opened from files, so a group cannot be sorted alone."
        )
    clustering = session.clustering
    if group not in clustering.numbers:
        raise InputError(f"There is no group {group}. Reload the groups and choose another.")
    members = np.flatnonzero(clustering.labels == group)
    if len(members) < 2:
        raise InputError(f"{clustering.name(group)} has a single item. Choose a larger group.")
    store = workspace.store
    about = {
        "title": title,
        "inside": workspace.root,
        "of": session.name,
        "group": clustering.name(group),
        "items": [workspace.collection.id(int(i)) for i in members],
    }
    name = free_name(title, store.sessions())
    while not claim(store, name, root=name, **about):
        name = free_name(title, store.sessions())
    return workspace.listing(name)


def open_part(workspace: Workspace, root: str) -> Workspace:
    """Open the workspace of a nested orientation."""
    from samekind.workspace.workspace import Workspace

    listing = workspace.listing(root)
    pile, open_over = workspace.pile, workspace.open_over
    if not listing.nested or listing.inside != workspace.root or pile is None or open_over is None:
        raise UnknownOrientation(f"There is no grouping {root!r} of a single group.")
    part = part_of(pile, listing)
    child = Workspace(
        part.collection,
        lambda name: open_over(part, name),
        store=workspace.store,
        first=root,
        key=part_key(workspace, root),
        pile=part,
        encoder=workspace.encoder,
        root=root,
    )
    child.people, child.open_over = workspace.people, open_over
    return child


def part_key(workspace: Workspace, root: str) -> str:
    """Return the key of the workspace of a nested orientation."""
    return f"{workspace.key}{SEPARATOR}{root}"


def sorted_part(pile: Pile, store: Store, name: str) -> Pile:
    """Return the items that an orientation sorts: all, or those of one group of another."""
    groupings = Groupings()
    root = groupings.of(store, name).root
    return part_of(pile, groupings.of(store, root)) if root else pile


def part_of(pile: Pile, listing: Listing) -> Pile:
    """Return the items of a nested orientation that are still there, with their vectors."""
    wanted = set(listing.items)
    here = np.array(
        [i for i, id in enumerate(pile.collection.ids()) if id in wanted], dtype=np.intp
    )
    if len(here) < 2:
        raise StateError(
            f"Of the {len(wanted):,} items of {listing.title!r} only {len(here)} are left. "
            "Add their files again, or delete this grouping."
        )
    items = replace(
        pile.collection.take(here.tolist()),
        name=f"{pile.collection.name}: {listing.group}",
        skipped=(),
    )
    outside = pile.encoded.outside
    encoded = replace(
        pile.encoded,
        X=pile.encoded.X[here],
        failed=(),
        positions=np.arange(len(here)),
        outside=None if outside is None else outside[here],
    )
    return replace(pile, collection=items, encoded=encoded)
