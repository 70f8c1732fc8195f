"""Pile and Request: a path opened as items with vectors, and one grouping of them.

A request is checked before any long work. Nothing is printed: notices go to a callback.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from samekind.bulk.sampled_pile import SampledCollection, open_sampled
from samekind.clusterers import DEFAULT as DEFAULT_METHOD
from samekind.clustering import Vectors
from samekind.encoders import (
    Encoded,
    default_cache,
    default_encoder,
    encode,
    encode_more,
    make_encoder,
    named_encoder,
)
from samekind.encoders.encoding import outside_limit
from samekind.errors import InputError, SourceError, StoreError
from samekind.items import Collection
from samekind.ledger.fold import last_header
from samekind.parameters import read_parameters
from samekind.protocols import Progress
from samekind.questions.wording import plural
from samekind.registry import (
    find,
    make_method,
    strategy_of,
    strategy_words,
    weighs_blocks,
    with_blocks,
)
from samekind.sources import SETS, collapse, is_vector_store, open_source
from samekind.user_paths import is_there
from samekind.workspace.groupings import find_name, sorted_part
from samekind.workspace.locations import cache_folder, ledger_file, ledger_path
from samekind.workspace.notices import change_notices, skipped_notices

if TYPE_CHECKING:
    from samekind.protocols import Encoder, Store
    from samekind.session import Session

SETTINGS = ("encoder", "method", "strategy", "groups")
"""Settings that a ledger always remembers; others only where they are not as usual."""

Notify = Callable[[str], None]
"""Receives notices for the person, one sentence at a time."""


@dataclass(frozen=True)
class Pile:
    """A collection, its vectors, and why this encoder was chosen."""

    collection: Collection
    encoded: Encoded
    reason: str

    @property
    def X(self) -> Vectors:  # noqa: N802
        """(n, d) one vector per item of the collection."""
        return self.encoded.X

    @cached_property
    def outside(self) -> float | None:
        """How much of an item its vector usually misses; None if unknown. Takes seconds, once."""
        if isinstance(self.collection, SampledCollection):
            return self.collection.store.manifest.outside
        return outside_limit(self.encoded, self.collection, cache=cache_folder())

    def vectors_of(self, items: Collection, progress: Progress | None = None) -> Encoded:
        """Encode other items in the same way."""
        return encode_more(self.encoded, items, cache=cache_folder(), progress=progress)


def open_pile(
    source: Any,
    *,
    encoder: str | None = None,
    exclude: Sequence[str] = (),
    progress: Progress | None = None,
) -> Pile:
    """Open a path, a named set or data (see :func:`samekind.sources.open_data`), and encode it.

    Of a store of vectors (``.lance``) it opens the reference items, which stand for all.
    """
    items = open_items(source, exclude=exclude, progress=progress)
    return encoded_pile(items, encoder=encoder, progress=progress)


def open_items(
    source: Any, *, exclude: Sequence[str] = (), progress: Progress | None = None
) -> Collection:
    """Open a path, a named set, data in memory, or the reference items of a store of vectors."""
    if isinstance(source, str | Path) and is_vector_store(source):
        return open_sampled(source, progress=progress)
    return open_source(source, exclude=exclude, cache=default_cache(), progress=progress)


def encoded_pile(
    collection: Collection,
    *,
    encoder: str | None = None,
    mixed: bool = True,
    progress: Progress | None = None,
) -> Pile:
    """Encode items; those that turn out to be unreadable are skipped.

    `mixed`: whether the method weighs several vectors per item, if no encoder is named.
    """
    if isinstance(collection, SampledCollection):
        stored = collection.encoded(encoder)
        return Pile(collection, stored, f"{stored.encoder.name}, which made the vectors")
    return pile_by(*chosen_encoder(collection, encoder, mixed=mixed), collection, progress)


def chosen_encoder(
    collection: Collection, name: str | None, *, mixed: bool = True
) -> tuple[Encoder, str]:
    """Return the encoder of this name, or the default one for the items, and the reason."""
    if name is None:
        return default_encoder(collection, mixed=mixed)
    return named_encoder(name, collection)


def pile_by(
    encoder: Encoder, reason: str, collection: Collection, progress: Progress | None = None
) -> Pile:
    """Encode items with an encoder, which is fitted; unreadable ones are skipped."""
    encoded = encode(collection, encoder, cache=cache_folder(), progress=progress)
    if encoded.failed:
        collection = collection.take(encoded.positions.tolist())
        collection = replace(collection, skipped=(*collection.skipped, *encoded.failed))
        encoded = replace(encoded, positions=np.arange(len(collection)))
    return Pile(collection, encoded, reason)


def _silent(notice: str) -> None:
    """Drop a notice."""


@dataclass(frozen=True)
class Request:
    """A pile and one grouping of it, as a person names them.

    Settings that are None are taken from the ledger, as they were chosen the last time, or else
    have their defaults.

    Parameters
    ----------
    on_notice : receives notices, such as which files were skipped; none by default.
    parameters : of the method, also as texts; each is remembered as long as the method is the same.
    bursts : whether near-duplicate pictures collapse into one item; None: in new piles.
    """

    path: str
    orientation: str = "main"
    encoder: str | None = None
    method: str | None = None
    strategy: str | None = None
    groups: int | None = None
    seed: int | None = None
    ledger: str | None = None
    on_notice: Notify = field(default=_silent, compare=False)
    parameters: Mapping[str, Any] = field(default_factory=dict, hash=False)
    bursts: bool | None = None

    @property
    def target(self) -> str:
        """Where the answers are stored: a file, or the URL of a database."""
        return self.ledger or str(ledger_file(self.path))

    @property
    def shown_target(self) -> str:
        """The same without the password that a URL may contain."""
        if not self._in_database():
            return self.target
        from samekind.ledger.postgres import describe_url, open_postgres

        return describe_url(open_postgres(self.target)[1])

    def remembered(self) -> Request:
        """Fill in missing settings: as chosen the last time, or else the defaults."""
        kept: dict[str, Any] = {}
        if self.has_ledger():
            self = replace(self, orientation=find_name(self.store(), self.orientation))
            kept = last_header(self.store(), self.orientation).get("settings", {})
        names: dict[str, Any] = {s: getattr(self, s) or kept.get(s) for s in SETTINGS}
        names["bursts"] = kept.get("bursts", not kept) if self.bursts is None else self.bursts
        if self.method and self.method != (kept.get("method") or DEFAULT_METHOD):
            kept, names["strategy"] = {}, self.strategy  # those of another method do not fit
        names["method"], names["strategy"] = chosen_names(
            names["method"], names["strategy"], names["encoder"], self.parameters, self.on_notice
        )
        earlier = self._usable(names["method"], kept.get("parameters", {}))
        given = read_parameters(names["method"], self.parameters, absolute=True)
        return replace(self, **names, parameters={**earlier, **given})

    def store(self) -> Store:
        """Open the ledger; it is created if it does not exist."""
        from samekind.ledger.store import open_store

        return open_store(self.target)

    def items(self, progress: Progress | None = None) -> Collection:
        """Open the items, after every name of the request has been checked."""
        chosen_names(self.method, self.strategy, self.encoder, self.parameters)
        check_source(self.path)
        collection = self.collapsed(open_items(self.path, progress=progress))
        check_groups(self.groups, collection)
        return collection

    def collapsed(self, collection: Collection) -> Collection:
        """Put near-duplicates together, if wanted."""
        return collapse(collection) if self.bursts else collection

    def pile(self, collection: Collection, progress: Progress | None = None) -> Pile:
        """Encode the items; notices say which encoder was chosen and what was skipped."""
        mixed = weighs_blocks(self.method or DEFAULT_METHOD)
        self.on_notice(f"{plural(len(collection), 'item')} in {collection.name}.")
        if isinstance(collection, SampledCollection):
            for notice in collection.notices():
                self.on_notice(notice)
        elif self.encoder is None:
            self.on_notice(f"Encoder: {default_encoder(collection, mixed=mixed)[1]}.")
        pile = encoded_pile(collection, encoder=self.encoder, mixed=mixed, progress=progress)
        for notice in skipped_notices(pile.collection.skipped):
            self.on_notice(notice)
        check_groups(self.groups, pile.collection)
        return sorted_part(pile, self.store(), self.orientation) if self.has_ledger() else pile

    def session(self, pile: Pile, store: Store, name: str | None = None) -> Session:
        """Open the session of an orientation, new or as it was left."""
        from samekind.session import Session

        name = name or self.orientation
        polish = str(last_header(store, name).get("settings", {}).get("polish") or "")
        better = self._polished(polish, pile.collection) if polish else None
        learner = self.method or DEFAULT_METHOD
        asker = self.strategy or strategy_of(learner)
        groups, given = self.groups, self.parameters
        method = _made("method", learner, lambda: make_method(learner, groups, given))
        session = Session(
            pile.collection,
            pile.X if better is None else better,
            store=store,
            name=name,
            clusterer=with_blocks(method, pile.encoded.blocks if better is None else ()),
            strategy=_made("strategy", asker, lambda: find("strategy", asker)()),
            seed=self.seed,
            settings={s: getattr(self, s) for s in SETTINGS}
            | ({"parameters": dict(self.parameters)} if self.parameters else {})
            | ({"polish": polish} if polish else {})
            | ({"bursts": True} if any(item.members for item in pile.collection) else {}),
        )
        for notice in change_notices(session):
            self.on_notice(notice)
        return session

    def reopen(self, progress: Progress | None = None) -> tuple[Pile, Session]:
        """Open a session that exists already, learnt from every answer."""
        self = self.remembered()
        collection = self.items()
        known = self.store().sessions() if self.has_ledger() else []
        if self.orientation not in known:
            others = f" There are: {', '.join(known)}." if known else ""
            raise InputError(
                f"There is no grouping {self.orientation!r} of {self.path!r} yet.{others} "
                f"Make one first: samekind ask {self.arguments()}"
            )
        pile = self.pile(collection, progress)
        session = self.session(pile, self.store())
        if session.progress()["until_refit"] < session.refit_every:
            session.refit()
        return pile, session

    def arguments(self) -> str:
        """Return the path and options that lead back to this grouping on the command line."""
        options = {
            "orientation": None if self.orientation == "main" else self.orientation,
            "ledger": self.ledger and self.shown_target,
        }
        given = [(f"--{name}", str(value)) for name, value in options.items() if value is not None]
        return shlex.join([self.path, *(word for pair in given for word in pair)])

    def _usable(self, method: str, kept: Mapping[str, Any]) -> dict[str, Any]:
        """Return remembered parameters; those of another version of the method are left out."""
        found: dict[str, Any] = {}
        for name, value in kept.items():
            try:
                found |= read_parameters(method, {name: value})
            except InputError as problem:
                self.on_notice(f"A parameter of the last time is left out. {problem}")
        return found

    def _polished(self, polish: str, collection: Collection) -> Vectors | None:
        from samekind.workspace.polished_vectors import vectors_of

        vectors = vectors_of(polish, collection)
        if vectors is None:
            self.on_notice("The pictures have changed since they were polished. Polish them again.")
        return vectors

    def _in_database(self) -> bool:
        return "://" in self.target and not self.target.startswith("sqlite:///")

    def has_ledger(self) -> bool:
        return self._in_database() or is_there(ledger_path(self.target), StoreError)


def chosen_names(
    method: str | None,
    strategy: str | None,
    encoder: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    on_notice: Notify = _silent,
) -> tuple[str, str]:
    """Return the method and the strategy to use; raise on an unknown name, before any long work.

    Without a strategy it is the method's own, which a notice says if the method was named.
    """
    named, method = method is not None, method or DEFAULT_METHOD
    read_parameters(method, parameters or {})
    if strategy is None:
        strategy = strategy_of(method)
        if named and method != DEFAULT_METHOD:
            on_notice(f"Strategy: {strategy_words(method)}.")
    check_names(method, strategy, encoder)
    return method, strategy


def check_names(method: str, strategy: str, encoder: str | None) -> None:
    """Raise on an unknown name, before any long work."""
    find("method", method)
    find("strategy", strategy)
    if encoder is not None:
        make_encoder(encoder)


def check_source(path: str) -> None:
    """Raise when neither a path nor a set has this name but a set has a similar one."""
    if path in SETS or is_there(path):
        return
    close = get_close_matches(path, SETS, n=1)
    if close:
        raise SourceError(
            f"There is no file, folder or set {path!r}. Did you mean the set {close[0]!r}?"
        )


def check_groups(groups: int | None, collection: Collection) -> None:
    """Raise when more groups than items are wanted."""
    if groups is not None and groups > len(collection):
        raise InputError(
            f"Expected at most {len(collection)} groups for {plural(len(collection), 'item')}, "
            f"got {groups}. Choose fewer with --groups, or omit it."
        )


def _made(kind: str, name: str, make: Callable[[], Any]) -> Any:
    try:
        return make()
    except TypeError as problem:  # one of the person's own may not fit
        raise InputError(
            f"{name!r} cannot be used as a {kind}: {problem}. See the guide on writing your own."
        ) from problem
