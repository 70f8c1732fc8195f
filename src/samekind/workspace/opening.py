"""Opening piles: from a path to a desk, in the background or for a command line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from samekind.errors import InputError, SourceError
from samekind.workspace.jobs import Job, JobContext
from samekind.workspace.recent import RecentPile
from samekind.workspace.workspaces import OpenWorkspace, Workspaces

if TYPE_CHECKING:
    from samekind.items import Collection
    from samekind.session import Session
    from samekind.workspace.pile import Pile
    from samekind.workspace.request import Request
    from samekind.workspace.workspace import Workspace

LEARN_MINUTES = 10.0
"""How long an encoder learns from the pictures when nobody says."""


def begin_opening(
    workspaces: Workspaces, path: str, encoder: str | None, minutes: float | None
) -> Job:
    """Put the opening of a pile into the queue."""
    from samekind.encoders import make_encoder
    from samekind.workspace.inspection import items_at
    from samekind.workspace.pile import ledger_file
    from samekind.workspace.request import Request

    if encoder is not None:
        make_encoder(encoder)  # a name that nobody knows is told at once
    key = ledger_file(path).stem
    collection = items_at(path)
    if encoder is not None and collection.kind not in make_encoder(encoder).kinds:
        raise InputError(
            f"The encoder {encoder!r} does not read {collection.kind} items. Choose another."
        )
    known = RecentPile(
        key, path, collection.name, collection.kind, len(collection), encoder or "", minutes
    )
    before = workspaces.recent.find(key)
    if before is not None and before.encoder == known.encoder:
        known = replace(known, finished=before.finished)
    request = Request(path, encoder=encoder)

    def work(context: JobContext) -> dict[str, Any]:
        return open_pile(workspaces, known, request, collection, context)

    workspaces.jobs.forget_interrupted("open", key, "")
    spec = {"path": path, "encoder": encoder, "minutes": minutes}
    workspaces.recent.note(known)
    return workspaces.jobs.submit("open", f"Open {collection.name}", work, pile=key, spec=spec)


def open_pile(
    workspaces: Workspaces,
    known: RecentPile,
    request: Request,
    collection: Collection,
    context: JobContext,
) -> dict[str, Any]:
    """Make the vectors and put the pile on a desk; what is done is kept when this is stopped."""
    from samekind.workspace.pile import encoded_pile

    already = workspaces.find(known.pile)
    if already is not None and already.encoder == known.encoder and _unchanged(already, collection):
        workspaces.recent.note(replace(known, finished=True))
        return {"words": "It is open already.", "pile": known.pile}
    request = request.remembered()
    begin = 0.0
    if _learn_first(request.encoder, collection):
        begin = 0.8
        learn(str(request.encoder), collection, known.minutes or LEARN_MINUTES, context, end=begin)
    context.tell(begin, f"Reading {len(collection):,} items …")
    progress = context.progress("Turned", "items into vectors", begin=begin, end=0.97)
    pile = encoded_pile(collection, encoder=request.encoder, progress=progress)
    context.tell(0.98, "Looking for first groups …")
    opened = put_up(known.pile, pile, request, known.encoder)
    workspaces.add(opened)
    workspaces.recent.note(replace(known, items=len(pile.collection), finished=True))
    skipped = len(pile.collection.skipped)
    files = "1 file was" if skipped == 1 else f"{skipped:,} files were"
    left = f" {files} left out." if skipped else ""
    return {"words": f"{len(pile.collection):,} items are ready.{left}", "pile": known.pile}


def put_up(key: str, pile: Pile, request: Request, encoder: str = "") -> OpenWorkspace:
    """A desk over a pile, with the ledger of the request; its first session is opened."""
    from samekind.workspace.workspace import Workspace

    store = request.store()

    def open_session(name: str) -> Session:
        return request.session(pile, store, name)

    workspace = Workspace(pile.collection, open_session, store=store, first=request.orientation)
    workspace.session()
    return OpenWorkspace(key, workspace, pile, encoder)


def open_first(workspaces: Workspaces, request: Request) -> Workspace:
    """Open the pile of a command line; what is left out and how far it is goes to the terminal."""
    from samekind.workspace.inspection import whole
    from samekind.workspace.pile import ledger_file

    pile = request.pile(request.items())
    opened = put_up(ledger_file(request.path).stem, pile, request, request.encoder or "")
    workspaces.add(opened, first=True)
    there = pile.collection
    if request.ledger is None:  # with another ledger it is another matter each time
        path, encoder = whole(request.path), request.encoder or ""
        known = RecentPile(opened.key, path, there.name, there.kind, len(there), encoder)
        workspaces.recent.note(replace(known, finished=True))
    return opened.workspace


def learn(
    name: str, collection: Collection, minutes: float, context: JobContext, *, end: float
) -> Any:
    """Let an encoder learn from the pictures; a training that was cut off goes on."""
    from samekind.encoders.learned.training import Learning
    from samekind.training.progress import Monitor, TrainingReport

    report: list[Callable[[TrainingReport], None]] = [lambda told: context.check()]
    watch = Monitor(report=lambda told: report[0](told), stop=context.stop, every=2)
    reading = context.progress("Read", "pictures", end=end * 0.1)
    learning = Learning.of(name, collection, watch=watch, progress=reading)
    context.tell(end * 0.1, "Measuring how fast this machine learns …")
    target = learning.target(minutes=minutes)

    def tell(told: TrainingReport) -> None:
        done, all_of_it = learning.begun, max(target.epochs, 1e-9)
        share = end * (0.1 + 0.9 * done / all_of_it)
        context.tell(share, f"Learning from your pictures: look {done:.1f} of {target.epochs:.1f}")

    report[0] = tell
    return learning.run(target)


def _learn_first(encoder: str | None, collection: Collection) -> bool:
    from samekind.workspace.inspection import learns_first

    return learns_first(encoder, collection)


def _unchanged(opened: OpenWorkspace, collection: Collection) -> bool:
    """Whether the pile on the desk is that which lies at the path now."""
    there = opened.workspace.collection
    try:
        return len(there) == len(collection) and there.fingerprint == collection.fingerprint
    except SourceError:
        return False
