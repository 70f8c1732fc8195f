"""Routes of Start: look at a path, choose an encoder, open the pile as a job."""

from __future__ import annotations

import re
import threading

from fastapi import APIRouter

from samekind.errors import UnknownName
from samekind.web.errors import ApiError
from samekind.web.routes.jobs import job_view
from samekind.web.schemas import core as models
from samekind.web.schemas import jobs as models_jobs
from samekind.workspace.workspaces import Workspaces

DEMOS = {"tiles": "384 drawn tiles: sort them by colour, shape, pattern or count."}
MOST_NAMED = 100


def routes(workspaces: Workspaces, version: str) -> APIRouter:
    """Routes under /api/start."""
    api = APIRouter(prefix="/api/start", responses=models.FAILURES)
    measuring = threading.Lock()

    @api.get("")
    def start() -> models_jobs.StartView:
        return start_view(workspaces, version)

    @api.post("/look")
    def look(at: models_jobs.Look) -> models_jobs.Found:
        return found_view(allowed_path(workspaces, at.path))

    @api.post("/measure")
    def measure(wish: models_jobs.Measure) -> models_jobs.Measured:
        from samekind.workspace.inspection import items_at, measured

        path = allowed_path(workspaces, wish.path)
        check_encoder(wish.encoder, path)
        with measuring:  # two at once would measure each other
            found = measured(items_at(path), wish.encoder)
        return models_jobs.Measured(
            encoder=wish.encoder,
            seconds=round(found.seconds, 2),
            per_item=round(found.per_item, 5),
            tried=found.tried,
            kept=found.kept,
            words=found.words,
        )

    @api.post("/open", status_code=202)
    def open_path(wish: models_jobs.Open) -> models_jobs.JobView:
        path = allowed_path(workspaces, wish.path)
        check_encoder(wish.encoder, path)
        return job_view(workspaces.submit_open(path, wish.encoder, wish.minutes))

    @api.post("/again", status_code=202)
    def again(wish: models_jobs.Reopen) -> models_jobs.JobView:
        known = workspaces.recent.find(wish.pile)
        if known is None:
            raise ApiError(
                404,
                "unknown-pile",
                "This address names a pile that is not known here any more.",
                "Open it by its path; your answers are kept.",
            )
        return job_view(workspaces.submit_open(known.path, known.encoder or None, known.minutes))

    @api.post("/forget")
    def forget(wish: models_jobs.Reopen) -> models_jobs.StartView:
        workspaces.recent.forget(wish.pile)
        return start_view(workspaces, version)

    return api


def allowed_path(workspaces: Workspaces, text: str) -> str:
    """The path that was typed, if this page may name paths at all."""
    from samekind.workspace.inspection import typed
    from samekind.workspace.pile import absolute

    path = typed(text)
    if not workspaces.paths and path not in DEMOS:
        raise ApiError(
            403,
            "paths-not-allowed",
            "This server can be reached by others, so files are not opened or written by path.",
            "Start samekind with the path, or without --host and --no-token.",
        )
    return absolute(path)


def check_encoder(name: str | None, path: str) -> None:
    """Only encoders of ours, or the one chosen for this pile on the command line.

    A class of one's own is a module to be imported: that is not for a request to decide.
    """
    from samekind.encoders import ENCODERS
    from samekind.workspace.inspection import earlier

    if name is not None and name not in ENCODERS and name != earlier(path).encoder:
        raise UnknownName("encoder", name, ENCODERS)


def start_view(workspaces: Workspaces, version: str) -> models_jobs.StartView:
    """What was opened before, and what comes with the package."""
    from samekind.sources import SETS, describe

    recent = [
        models_jobs.RecentView(
            pile=known.pile,
            name=known.name,
            path=known.path,
            kind=known.kind,
            items=known.items,
            encoder=known.encoder,
            at=known.at,
            open=workspaces.has(known.pile),
            finished=known.finished,
        )
        for known in (workspaces.recent.all() if workspaces.paths else [])
    ]
    return models_jobs.StartView(
        version=version,
        paths=workspaces.paths,
        pile=workspaces.first,
        recent=recent,
        demos=[models_jobs.DemoView(path=path, line=line) for path, line in DEMOS.items()],
        kinds={name: line for name, line in describe().items() if name not in SETS},
    )


def found_view(path: str) -> models_jobs.Found:
    """What is at a path: kind, number, what is left out, and which encoder suits it."""
    from samekind.encoders import default_encoder
    from samekind.workspace.inspection import earlier, encoders_for, items_at
    from samekind.workspace.pile import ledger_file

    collection = items_at(path)
    before = earlier(path)
    encoder, reason = default_encoder(collection)
    # How long it takes is measured here; a guess from the number of items would contradict it.
    name, reason = encoder.name, re.sub(r": about [^:]* the first time$", "", reason)
    if before.encoder:
        name, reason = before.encoder, "as you chose it the last time"
    skipped = collection.skipped
    return models_jobs.Found(
        path=path,
        pile=ledger_file(path).stem,
        name=collection.name,
        kind=collection.kind,
        items=len(collection),
        skipped=[models.SkippedView(id=s.id, reason=s.reason) for s in skipped[:MOST_NAMED]],
        skipped_total=len(skipped),
        encoder=name,
        reason=reason,
        encoders=[
            models_jobs.EncoderView(name=name, line=line, learns=learns, why_not=why_not)
            for name, line, learns, why_not in encoders_for(collection)
        ],
        answers=before.answers,
        orientations=list(before.orientations),
        examples=[collection.id(i) for i in range(min(3, len(collection)))],
    )
