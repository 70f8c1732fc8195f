"""Opening piles: from a path to a desk, in the background or for a command line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from samekind.errors import InputError, SourceError
from samekind.web.hall import Hall, Opened
from samekind.web.jobs import Job, Turn
from samekind.web.recent import Known

if TYPE_CHECKING:
    from samekind.commands.request import Request
    from samekind.items import Collection
    from samekind.pile import Pile
    from samekind.session import Session
    from samekind.web.desk import Desk

LEARN_MINUTES = 10.0
"""How long an encoder learns from the pictures when nobody says."""


def begin_opening(hall: Hall, path: str, encoder: str | None, minutes: float | None) -> Job:
    """Put the opening of a pile into the queue."""
    from samekind.commands.request import Request
    from samekind.encoders import make_encoder
    from samekind.pile import ledger_file
    from samekind.web.looking import items_at

    if encoder is not None:
        make_encoder(encoder)  # a name that nobody knows is told at once
    key = ledger_file(path).stem
    collection = items_at(path)
    if encoder is not None and collection.kind not in make_encoder(encoder).kinds:
        raise InputError(
            f"The encoder {encoder!r} does not read {collection.kind} items. Choose another."
        )
    known = Known(
        key, path, collection.name, collection.kind, len(collection), encoder or "", minutes
    )
    before = hall.recent.find(key)
    if before is not None and before.encoder == known.encoder:
        known = replace(known, finished=before.finished)
    request = Request(path, encoder=encoder)

    def work(turn: Turn) -> dict[str, Any]:
        return open_pile(hall, known, request, collection, turn)

    hall.jobs.forget_interrupted("open", key, "")
    spec = {"path": path, "encoder": encoder, "minutes": minutes}
    hall.recent.note(known)
    return hall.jobs.submit("open", f"Open {collection.name}", work, pile=key, spec=spec)


def open_pile(
    hall: Hall, known: Known, request: Request, collection: Collection, turn: Turn
) -> dict[str, Any]:
    """Make the vectors and put the pile on a desk; what is done is kept when this is stopped."""
    from samekind.pile import encoded_pile

    already = hall.find(known.pile)
    if already is not None and already.encoder == known.encoder and _unchanged(already, collection):
        hall.recent.note(replace(known, finished=True))
        return {"words": "It is open already.", "pile": known.pile}
    request = request.remembered()
    begin = 0.0
    if _learn_first(request.encoder, collection):
        begin = 0.8
        learn(str(request.encoder), collection, known.minutes or LEARN_MINUTES, turn, end=begin)
    turn.tell(begin, f"Reading {len(collection):,} items …")
    progress = turn.progress("Turned", "items into vectors", begin=begin, end=0.97)
    pile = encoded_pile(collection, encoder=request.encoder, progress=progress)
    turn.tell(0.98, "Looking for first groups …")
    opened = put_up(known.pile, pile, request, known.encoder)
    hall.add(opened)
    hall.recent.note(replace(known, items=len(pile.collection), finished=True))
    skipped = len(pile.collection.skipped)
    files = "1 file was" if skipped == 1 else f"{skipped:,} files were"
    left = f" {files} left out." if skipped else ""
    return {"words": f"{len(pile.collection):,} items are ready.{left}", "pile": known.pile}


def put_up(key: str, pile: Pile, request: Request, encoder: str = "") -> Opened:
    """A desk over a pile, with the ledger of the request; its first session is opened."""
    from samekind.web.desk import Desk

    store = request.store()

    def open_session(name: str) -> Session:
        return request.session(pile, store, name)

    desk = Desk(pile.collection, open_session, store=store, first=request.orientation)
    desk.session()
    return Opened(key, desk, pile, encoder)


def open_first(hall: Hall, request: Request) -> Desk:
    """Open the pile of a command line; what is left out and how far it is goes to the terminal."""
    from samekind.pile import ledger_file
    from samekind.web.looking import whole

    pile = request.pile(request.items())
    opened = put_up(ledger_file(request.path).stem, pile, request, request.encoder or "")
    hall.add(opened, first=True)
    there = pile.collection
    if request.ledger is None:  # with another ledger it is another matter each time
        path, encoder = whole(request.path), request.encoder or ""
        known = Known(opened.key, path, there.name, there.kind, len(there), encoder)
        hall.recent.note(replace(known, finished=True))
    return opened.desk


def learn(name: str, collection: Collection, minutes: float, turn: Turn, *, end: float) -> Any:
    """Let an encoder learn from the pictures; a training that was cut off goes on."""
    from samekind.encoders.learnt_training import Learning
    from samekind.training.progress import Told, Watch

    report: list[Callable[[Told], None]] = [lambda told: turn.check()]
    watch = Watch(report=lambda told: report[0](told), stop=turn.stop, every=2)
    reading = turn.progress("Read", "pictures", end=end * 0.1)
    learning = Learning.of(name, collection, watch=watch, progress=reading)
    turn.tell(end * 0.1, "Measuring how fast this machine learns …")
    target = learning.target(minutes=minutes)

    def tell(told: Told) -> None:
        done, all_of_it = learning.begun, max(target.epochs, 1e-9)
        share = end * (0.1 + 0.9 * done / all_of_it)
        turn.tell(share, f"Learning from your pictures: look {done:.1f} of {target.epochs:.1f}")

    report[0] = tell
    return learning.run(target)


def _learn_first(encoder: str | None, collection: Collection) -> bool:
    from samekind.web.looking import learns_first

    return learns_first(encoder, collection)


def _unchanged(opened: Opened, collection: Collection) -> bool:
    """Whether the pile on the desk is that which lies at the path now."""
    there = opened.desk.collection
    try:
        return len(there) == len(collection) and there.fingerprint == collection.fingerprint
    except SourceError:
        return False
