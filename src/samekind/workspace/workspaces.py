"""Workspaces: the piles that are open, the jobs under way, and what was opened before."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from samekind.errors import InputError, NotResumable, PileNotOpen, SamekindError, SourceError
from samekind.questions.wording import plural
from samekind.workspace.browsing import Roots
from samekind.workspace.groupings import SEPARATOR, open_part
from samekind.workspace.jobs import Job, JobContext, Jobs
from samekind.workspace.known_items import News
from samekind.workspace.locations import ledger_file
from samekind.workspace.opening import N_FIRST, Opening
from samekind.workspace.pile import Pile, Request
from samekind.workspace.recent import Recent, RecentPile, recent_of, state_folder
from samekind.workspace.uploads import Uploads, uploads_folder
from samekind.workspace.workspace import Workspace

if TYPE_CHECKING:
    from samekind.items import Collection
    from samekind.protocols import Progress
    from samekind.session.people import People

log = logging.getLogger("samekind")

AFTER_READING = 0.12
"""Time to compare and group all items, as a share of the time to read them: .08 to .25."""
MAX_PARTS = 50
"""Groups within groups that an address may name."""
MAX_OPEN = 3
"""Piles that stay in memory; the one not used for longest makes room."""


class Workspaces:
    """All workspaces of one server.

    Parameters
    ----------
    jobs : runs long work in the background.
    recent : the piles opened before.
    paths : whether requests may name files and folders of this machine. Only allow it where
        nobody else can reach the server.
    roots : the folders below which they may; None: the home folder.
    """

    def __init__(
        self,
        *,
        jobs: Jobs | None = None,
        recent: Recent | None = None,
        paths: bool = False,
        roots: Roots | None = None,
    ) -> None:
        self.jobs = Jobs() if jobs is None else jobs
        self.recent = Recent(None) if recent is None else recent
        self.paths = paths
        self.roots = Roots.of() if roots is None else roots
        self.uploads = Uploads()
        self.first: str | None = None
        self._open: dict[str, Workspace] = {}
        self._lock = threading.Lock()

    @classmethod
    def at_home(cls, *, paths: bool = True, allow: Iterable[str] = ()) -> Workspaces:
        """Keep jobs and recent piles in the user's state folder.

        `allow` names further folders whose content may be opened from the page.
        """
        folder = state_folder()
        recent = Recent(folder / "recent.json")
        roots = Roots.of((*allow, uploads_folder()))
        return cls(jobs=Jobs(folder / "jobs"), recent=recent, paths=paths, roots=roots)

    @classmethod
    def around(cls, workspace: Workspace) -> Workspaces:
        """Wrap one workspace that a program made; no paths can be read or written."""
        workspaces = cls()
        workspaces.add(workspace, first=True)
        return workspaces

    def add(self, workspace: Workspace, *, first: bool = False) -> None:
        """Add a workspace; one with the same key is replaced, and the oldest may be closed."""
        with self._lock:
            before = self._open.pop(workspace.key, None)
            parts = [key for key in self._open if key.startswith(workspace.key + SEPARATOR)]
            stale = [self._open.pop(key) for key in parts] if before else []
            self._open[workspace.key] = workspace
            if first:
                self.first = workspace.key
            workspace.address = "" if workspace.key == self.first else workspace.key
            spare = [key for key in self._open if key not in (self.first, workspace.key)]
            busy = {job.pile for job in self.jobs.all() if job.going}
            old = [key for key in spare if key not in busy][: max(0, len(spare) + 1 - MAX_OPEN)]
            leaving = [self._open.pop(key) for key in old]
        for one in (*leaving, *stale, *([before] if before else [])):
            one.close()

    def find(self, key: str | None) -> Workspace | None:
        """Return an open workspace by its key, or the first one for None."""
        if key is not None and key.count(SEPARATOR) > MAX_PARTS:
            return None
        with self._lock:
            key = self.first if key is None else key
            if key is not None and key in self._open:
                self._open[key] = self._open.pop(key)  # the one used last stands last
                return self._open[key]
        whole, separator, root = (key or "").rpartition(SEPARATOR)
        around = self.find(whole) if separator else None
        if around is None:
            return None
        try:
            part = open_part(around, root)
        except SamekindError:
            return None
        self.add(part)
        return part

    def has(self, key: str) -> bool:
        """Whether a pile is open; does not count as using it."""
        with self._lock:
            return key in self._open

    def open(
        self,
        request: Request,
        progress: Progress | None = None,
        *,
        people: People | None = None,
    ) -> Workspace:
        """Open a pile now, as the first one; notices go to the request's `on_notice`.

        With `people` several of them share its questions.
        """
        collection = request.items()
        if request.ledger is None and people is None:
            first = Opening(request, collection).first(progress)
            if first is not None:
                return self._begin(request, collection, first)
        workspace = Workspace.of(request, request.pile(collection, progress), people=people)
        self.add(workspace, first=True)
        if request.ledger is None:  # the list of recent piles knows no other ledgers
            known = recent_of(workspace.key, request.path, workspace.collection, workspace.encoder)
            self.recent.note(replace(known, finished=True))
            self.recent.keep_thumbnails(known.pile, workspace.collection)
            workspace.news = News.of(self.recent.known_items(known.pile), workspace.collection)
        return workspace

    def _begin(self, request: Request, collection: Collection, first: Pile) -> Workspace:
        """Open a pile with its first items as the first one; a job analyses the others."""
        workspace = Workspace.of(request, first)
        workspace.analysing = len(collection) - len(first.collection)
        self.add(workspace, first=True)
        request.on_notice(f"{plural(len(collection), 'item')} in {collection.name}.")
        request.on_notice(f"Encoder: {first.reason}.")
        others = plural(workspace.analysing, "other item is", "other items are")
        request.on_notice(
            f"Questions can begin with {len(first.collection)} of them. The {others} analysed in "
            "the background; the page shows how far it is."
        )
        known = recent_of(workspace.key, request.path, collection, workspace.encoder)
        self.recent.note(known)

        def work(context: JobContext) -> dict[str, Any]:
            self.jobs.settle(context.job, {"ready": True})
            return self._completed(known, Opening(request, collection, first), context, 0.0)

        spec = {"path": known.path, "encoder": request.encoder, "minutes": None}
        title = f"Open {collection.name}"
        self.jobs.submit("open", title, work, pile=workspace.key, spec=spec)
        return workspace

    def submit_open(
        self,
        path: str,
        encoder: str | None,
        minutes: float | None,
        bursts: bool | None = None,
    ) -> Job:
        """Open a pile in the background; wrong names fail now.

        Parameters
        ----------
        encoder : None: as chosen the last time, or the default for these items.
        minutes : how long an encoder that has to be trained first learns from the pictures.
        bursts : whether near-duplicates collapse into one item; None: as the last time, or yes.
        """
        from samekind.encoders import make_encoder
        from samekind.workspace.inspection import items_at

        if encoder is not None:
            make_encoder(encoder)
        key = ledger_file(path).stem
        collection = items_at(path)
        if encoder is not None and collection.kind not in make_encoder(encoder).kinds:
            raise InputError(
                f"The encoder {encoder!r} does not read {collection.kind} items. Choose another."
            )
        known = replace(recent_of(key, path, collection, encoder or ""), minutes=minutes)
        before = self.recent.find(key)
        if before is not None and before.encoder == known.encoder:
            known = replace(known, finished=before.finished)

        def work(context: JobContext) -> dict[str, Any]:
            return self._opened(known, collection, bursts, context)

        self.jobs.forget_interrupted("open", key, "")
        spec = {"path": path, "encoder": encoder, "minutes": minutes}
        self.recent.note(known)
        return self.jobs.submit("open", f"Open {collection.name}", work, pile=key, spec=spec)

    def _opened(
        self,
        known: RecentPile,
        collection: Collection,
        bursts: bool | None,
        context: JobContext,
    ) -> dict[str, Any]:
        """Encode a pile and add its workspace; a job that is stopped keeps what it has done."""
        from samekind.workspace.inspection import LEARN_MINUTES, learn_encoder, learns_first

        request = Request(known.path, encoder=known.encoder or None, bursts=bursts).remembered()
        collection = request.collapsed(collection)
        already = self.find(known.pile)
        if already is not None and already.encoder == known.encoder and _same(already, collection):
            self.recent.note(replace(known, finished=True))
            return {"words": "It is open already.", "pile": known.pile}
        begin = 0.0
        if learns_first(request.encoder, collection):
            begin, minutes = 0.8, known.minutes or LEARN_MINUTES
            learn_encoder(str(request.encoder), collection, minutes, context, end=begin)
        context.tell(begin, f"Reading {plural(len(collection), 'item')} …")
        opening = Opening(request, collection)
        end = begin + (0.97 - begin) * min(1.0, N_FIRST / len(collection))
        few = context.progress("Analysed", "items to begin with", begin=begin, end=end)
        first = opening.first(few)
        if first is not None:
            workspace = Workspace.of(request, first, encoder=known.encoder)
            workspace.analysing = len(collection) - len(first.collection)
            self.add(workspace)
            self.jobs.settle(context.job, {"ready": True})
        return self._completed(known, replace(opening, begun=first), context, begin)

    def _completed(
        self, known: RecentPile, opening: Opening, context: JobContext, begin: float
    ) -> dict[str, Any]:
        """Encode a whole pile; it takes the place of one that was opened with a few items."""
        progress = context.progress("Analysed", "items", begin=begin, end=0.97, after=AFTER_READING)
        pile = opening.whole(progress)
        context.tell(0.98, "Looking for groups …")
        workspace = Workspace.of(opening.request, pile, encoder=known.encoder)
        workspace.news = News.of(self.recent.known_items(known.pile), workspace.collection)
        before = self.find(known.pile)
        self.add(workspace)
        if before is not None and before.analysing:  # open pages notice by the new groups
            workspace.refitter.request(workspace.session())
        self.recent.note(replace(known, items=len(pile.collection), finished=True))
        self.recent.keep_thumbnails(known.pile, pile.collection)
        skipped = len(pile.collection.skipped)
        left = f" {plural(skipped, 'file was', 'files were')} skipped." if skipped else ""
        ready = plural(len(pile.collection), "item is", "items are")
        return {"words": f"{ready} ready.{left}", "pile": known.pile}

    def resume(self, job: Job) -> Job:
        """Run a job again that was interrupted or cancelled; completed steps are not repeated."""
        spec = job.spec
        if job.going:
            return job
        if job.kind == "open":
            return self.submit_open(str(spec["path"]), spec.get("encoder"), spec.get("minutes"))
        if job.kind == "polish":
            from samekind.workspace.polish_jobs import submit_polish
            from samekind.workspace.polish_methods import Training

            workspace = self.find(job.pile or None)
            if workspace is None:
                raise PileNotOpen(f"The pile of “{job.title}” is not open.")
            wish = Training.of(str(spec["method"]), spec.get("parameters"))
            return submit_polish(self, workspace, job.session, wish, spec.get("minutes"))
        raise NotResumable(f"“{job.title}” cannot be resumed.")

    def close_events(self) -> None:
        """End all event streams: a server that stops must not wait for open pages."""
        with self._lock:
            workspaces = list(self._open.values())
        for one in workspaces:
            one.event_bus.close()

    def close(self) -> None:
        """Stop all jobs and refits."""
        self.jobs.close()
        with self._lock:
            workspaces = list(self._open.values())
        for one in workspaces:
            one.close()


def _same(workspace: Workspace, collection: Collection) -> bool:
    """Whether an open workspace shows the items that are at the path now."""
    there = workspace.collection
    try:
        if len(there) != len(collection):
            return False
        return {(one.id, one.stamp) for one in there} == {(one.id, one.stamp) for one in collection}
    except SourceError:
        return False
