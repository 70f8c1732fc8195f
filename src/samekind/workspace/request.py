"""Request: what was asked for on the command line, checked before any long work begins."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from samekind.cli.console import note, progress_bar
from samekind.clusterers import DEFAULT as DEFAULT_METHOD
from samekind.errors import InputError, SourceError
from samekind.ledger.fold import last_header
from samekind.registry import find, make_method
from samekind.strategies import DEFAULT as DEFAULT_STRATEGY

if TYPE_CHECKING:
    from samekind.items import Collection, Skipped
    from samekind.protocols import Store
    from samekind.session import Session
    from samekind.workspace.pile import Pile

SETTINGS = ("encoder", "method", "strategy", "groups")
"""What a ledger remembers, so that it need not be typed again."""
MOST_SKIPPED = 5
"""Skipped files that are named; of the others only the number is told."""


@dataclass(frozen=True)
class Request:
    """A pile and a grouping of it, as named on the command line.

    What is None is taken from the ledger, as it was chosen the last time, or else left to us.
    """

    path: str
    orientation: str = "main"
    encoder: str | None = None
    method: str | None = None
    strategy: str | None = None
    groups: int | None = None
    seed: int | None = None
    ledger: str | None = None

    @property
    def target(self) -> str:
        """Where the answers are kept: a file, or the address of a database."""
        from samekind.workspace.pile import ledger_file

        return self.ledger or str(ledger_file(self.path))

    @property
    def shown_target(self) -> str:
        """The same, without the password that an address may hold."""
        if not self._in_database():
            return self.target
        from samekind.ledger.postgres import describe_url, open_postgres

        return describe_url(open_postgres(self.target)[1])

    def remembered(self) -> Request:
        """The request with what it leaves open as it was chosen the last time, else the default."""
        kept: dict[str, Any] = {}
        if self._has_ledger():
            kept = last_header(self.store(), self.orientation).get("settings", {})
        names: dict[str, Any] = {s: getattr(self, s) or kept.get(s) for s in SETTINGS}
        names["method"] = names["method"] or DEFAULT_METHOD
        names["strategy"] = names["strategy"] or DEFAULT_STRATEGY
        return replace(self, **names)

    def store(self) -> Store:
        """The ledger, made if it is not there."""
        from samekind.ledger.store import open_store

        return open_store(self.target)

    def items(self) -> Collection:
        """The items, once all names of the request are known to be right."""
        from samekind.sources import open_source

        check_names(self.method or DEFAULT_METHOD, self.strategy or DEFAULT_STRATEGY, self.encoder)
        check_place(self.path)
        collection = open_source(self.path)
        check_groups(self.groups, collection)
        return collection

    def pile(self, collection: Collection) -> Pile:
        """The items with their vectors; says what is skipped, and why this encoder."""
        from samekind.encoders import default_encoder
        from samekind.workspace.pile import encoded_pile

        note(f"{len(collection):,} items in {collection.name}.")
        if self.encoder is None:
            note(f"Encoder: {default_encoder(collection)[1]}.")
        with progress_bar("Encoding") as progress:
            pile = encoded_pile(collection, encoder=self.encoder, progress=progress)
        note_skipped(pile.collection.skipped)
        check_groups(self.groups, pile.collection)
        return pile

    def session(self, pile: Pile, store: Store, name: str | None = None) -> Session:
        """The session of an orientation, new or as it was left; says what changed meanwhile."""
        from samekind.session import Session
        from samekind.workspace.polished_vectors import chosen, vectors_of

        name = name or self.orientation
        polish = chosen(store, name)
        better = vectors_of(polish, pile.collection) if polish else None
        if polish and better is None:
            note("The pictures have changed since they were polished; polish them again.")
        session = Session(
            pile.collection,
            pile.X if better is None else better,
            store=store,
            name=name,
            clusterer=_method(self.method or DEFAULT_METHOD, self.groups),
            strategy=_strategy(self.strategy or DEFAULT_STRATEGY),
            seed=self.seed,
            settings={s: getattr(self, s) for s in SETTINGS}
            | ({"polish": polish} if polish else {}),
        )
        note_changes(session)
        return session

    def reopened(self) -> tuple[Pile, Session]:
        """The session as it was left, learnt from every answer; an error when there is none."""
        self = self.remembered()
        collection = self.items()
        known = self.store().sessions() if self._has_ledger() else []
        if self.orientation not in known:
            others = f" There are: {', '.join(known)}." if known else ""
            raise InputError(
                f"There is no grouping {self.orientation!r} of {self.path!r} yet.{others} "
                f"Make one first: samekind ask {self.again()}"
            )
        pile = self.pile(collection)
        session = self.session(pile, self.store())
        if session.progress()["until_refit"] < session.refit_every:
            session.refit()
        return pile, session

    def again(self) -> str:
        """The path and the options that lead back to this grouping, to be typed again."""
        options = {
            "orientation": None if self.orientation == "main" else self.orientation,
            "ledger": self.ledger and self.shown_target,
        }
        given = [(f"--{name}", str(value)) for name, value in options.items() if value is not None]
        return shlex.join([self.path, *(word for pair in given for word in pair)])

    def _in_database(self) -> bool:
        return "://" in self.target and not self.target.startswith("sqlite:///")

    def _has_ledger(self) -> bool:
        file = Path(self.target.removeprefix("sqlite:///")).expanduser()
        return self._in_database() or file.exists()


def check_names(method: str, strategy: str, encoder: str | None) -> None:
    """A name that nobody knows is told before long work begins."""
    from samekind.encoders import make_encoder

    find("method", method)
    find("strategy", strategy)
    if encoder is not None:
        make_encoder(encoder)


def check_place(path: str) -> None:
    """Guess what was meant when neither a path nor a set has this name."""
    from samekind.sources import SETS

    if path in SETS or Path(path).expanduser().exists():
        return
    close = get_close_matches(path, SETS, n=1)
    if close:
        raise SourceError(
            f"There is no file, folder or set {path!r}. Did you mean the set {close[0]!r}?"
        )


def check_groups(groups: int | None, collection: Collection) -> None:
    """More groups than items cannot be made."""
    if groups is not None and groups > len(collection):
        raise InputError(
            f"{groups} groups cannot be made of {len(collection)} items. "
            f"Choose --groups from 1 to {len(collection)}, or leave it away."
        )


def note_skipped(skipped: tuple[Skipped, ...]) -> None:
    """Say what was left out, and why."""
    for file in skipped[:MOST_SKIPPED]:
        note(f"Skipped {file.id}: {file.reason}")
    if len(skipped) > MOST_SKIPPED:
        note(f"... and {len(skipped) - MOST_SKIPPED} more were skipped.")


def note_changes(session: Session) -> None:
    """Say which items that were answered about have moved or gone."""
    progress = session.progress()
    renamed, gone = len(progress["renamed"]), len(progress["gone"])
    if renamed:
        items = "1 item was" if renamed == 1 else f"{renamed} items were"
        note(f"{items} renamed meanwhile; the answers came along.")
    if gone:
        items = (
            "1 item that you answered about is"
            if gone == 1
            else (f"{gone} items that you answered about are")
        )
        note(f"{items} gone; the answers are kept, and what follows from them still holds.")


def _strategy(name: str) -> Any:
    """A strategy by its name; one of the person's own may not fit."""
    try:
        return find("strategy", name)()
    except TypeError as problem:
        raise _misfit(name, "strategy", problem) from problem


def _method(name: str, n_groups: int | None) -> Any:
    """A method by its name; one of the person's own may not fit."""
    try:
        return make_method(name, n_groups)
    except TypeError as problem:
        raise _misfit(name, "method", problem) from problem


def _misfit(name: str, kind: str, problem: TypeError) -> InputError:
    return InputError(
        f"{name!r} cannot be used as a {kind}: {problem}. See the guide on writing your own."
    )
