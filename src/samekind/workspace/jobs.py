"""Jobs: long work in the background, one job at a time, with progress, cancel and resume.

Closing the tab changes nothing. Jobs that were queued or running when the server ended are listed
as interrupted and can be resumed: finished steps are kept (vectors in their cache, networks in
their checkpoints).
"""

from __future__ import annotations

import json
import logging
import os
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from samekind.atomic_files import draft_name
from samekind.encoders.learned.plan import duration
from samekind.errors import JobRunning, SamekindError, UnknownJob
from samekind.protocols import Progress
from samekind.workspace.pace import Pace

log = logging.getLogger("samekind")

GOING = ("queued", "running")
MAX_FINISHED = 50
"""Jobs that are listed after their end."""
MIN_INTERVAL = 0.3
"""Seconds between two reports of progress to listeners."""


class Stopped(SamekindError):
    """The job was cancelled, or the server stops."""


@dataclass
class Job:
    """One piece of long work, stored as plain JSON.

    Parameters
    ----------
    spec : what is needed to run it again.
    result : what it returned.
    """

    id: str
    kind: str
    title: str
    pile: str = ""
    session: str = ""
    spec: dict[str, Any] = field(default_factory=dict)
    state: str = "queued"
    share: float | None = None
    words: str = "Waiting."
    asked: float = 0.0
    began: float = 0.0
    ended: float = 0.0
    result: dict[str, Any] = field(default_factory=dict)

    @property
    def going(self) -> bool:
        """Whether it is queued or running."""
        return self.state in GOING

    @property
    def resumable(self) -> bool:
        """Whether it stopped early and can be resumed."""
        return self.kind in ("open", "polish") and self.state in ("interrupted", "cancelled")

    @property
    def seconds(self) -> float:
        """How long it has been running."""
        return max(0.0, (self.ended or time.time()) - self.began) if self.began else 0.0


class JobContext:
    """Passed to the work of a job, to report progress and to find out whether to stop."""

    def __init__(self, job: Job, changed: Callable[[Job], None]) -> None:
        self.job = job
        self.stop = threading.Event()
        self._changed = changed
        self._reported = 0.0
        self._paces: dict[str, Pace] = {}

    def tell(self, share: float | None, words: str) -> None:
        """Report progress; raises :class:`Stopped` if the job must stop."""
        self.check()
        self.job.share = None if share is None else min(1.0, max(0.0, share))
        self.job.words = words
        now = time.monotonic()
        if now - self._reported > MIN_INTERVAL:
            self._reported = now
            self._changed(self.job)

    def check(self) -> None:
        """Raise :class:`Stopped` if the job must stop."""
        if self.stop.is_set():
            raise Stopped("Stopped. Finished steps are kept.")

    def progress(
        self, verb: str, what: str, *, begin: float = 0.0, end: float = 1.0, after: float = 0.0
    ) -> Progress:
        """Return a progress callback for work over items, which also estimates the time left.

        Parameters
        ----------
        after : what comes after all items, as a share of the time that they take.
        """
        pace = self._paces.setdefault(verb, Pace())  # what was seen of other items counts as well
        pace.restart()

        def step(done: int, total: int) -> None:
            pace.step(time.monotonic(), done)
            left, each = "", pace.seconds_per_item
            if each is not None and done < total:
                left = f", about {duration(each * (total - done + after * total))} left"
            part = done / total if total else 1.0
            self.tell(begin + (end - begin) * part, f"{verb} {done:,} of {total:,} {what}{left}")

        return step


Work = Callable[[JobContext], Mapping[str, Any] | None]


class Jobs:
    """The queue of jobs and its worker thread.

    Parameters
    ----------
    folder : where jobs are stored; None: only in memory.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder
        self._lock = threading.Condition()
        self._jobs: dict[str, Job] = {}
        self._turns: dict[str, tuple[JobContext, Work]] = {}
        self._queue: list[str] = []
        self._thread: threading.Thread | None = None
        self._closed = False
        self._listeners: list[Callable[[Job], None]] = []
        self._recall()

    def submit(
        self,
        kind: str,
        title: str,
        work: Work,
        *,
        pile: str = "",
        session: str = "",
        spec: dict[str, Any] | None = None,
    ) -> Job:
        """Queue a job; the same work submitted twice is one job."""
        with self._lock:
            twin = self._twin(kind, pile, session, spec or {})
            if twin is not None:
                return twin
            job = Job(secrets.token_hex(8), kind, title, pile, session, spec or {})
            job.asked = time.time()
            self._jobs[job.id] = job
            self._turns[job.id] = (JobContext(job, self._changed), work)
            self._queue.append(job.id)
            if self._thread is None and not self._closed:
                self._thread = threading.Thread(target=self._work, name="jobs", daemon=True)
                self._thread.start()
            self._lock.notify_all()
        self._keep(job)
        return job

    def all(self) -> list[Job]:
        """List all jobs, latest first."""
        with self._lock:
            return sorted(self._jobs.values(), key=lambda job: -job.asked)

    def find(self, id: str) -> Job:
        """Return a job by its id."""
        with self._lock:
            job = self._jobs.get(id)
        if job is None:
            raise UnknownJob("There is no such job.")
        return job

    def cancel(self, id: str) -> Job:
        """Stop a job before its next step; a job that has ended stays as it is."""
        job = self.find(id)
        with self._lock:
            if job.state == "queued":
                self._queue.remove(id)
                self._end(job, "cancelled", "Cancelled before it started.")
            elif job.state == "running":
                self._turns[id][0].stop.set()
                job.words = "Stopping after this step …"
            elif job.state == "interrupted":
                self._end(job, "cancelled", "Not resumed.")
        self._keep(job)
        return job

    def forget_interrupted(self, kind: str, pile: str, session: str) -> None:
        """Cancel interrupted jobs that are about to be started again."""
        for job in self.all():
            same = (job.kind, job.pile, job.session) == (kind, pile, session)
            if same and job.state == "interrupted":
                self.cancel(job.id)

    def settle(self, job: Job, more: Mapping[str, Any]) -> None:
        """Add to the result of a job, such as what the person decided about it."""
        with self._lock:
            job.result = {**job.result, **more}
        self._keep(job)

    def listen(self, listener: Callable[[Job], None]) -> Callable[[], None]:
        """Call `listener`, from any thread, when a job changes; call the result to stop that."""
        self._listeners.append(listener)

        def leave() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return leave

    def wait(self, id: str, timeout: float = 300.0) -> Job:
        """Wait until a job has ended."""
        job = self.find(id)
        with self._lock:
            self._lock.wait_for(lambda: not job.going, timeout)
        return job

    def close(self, timeout: float = 5.0) -> None:
        """Start no more jobs, and stop the running one; it can be resumed later."""
        with self._lock:
            self._closed = True
            for context, _ in self._turns.values():
                context.stop.set()
            self._lock.notify_all()
            thread = self._thread
        if thread is not None:
            thread.join(timeout)
        for job in self.all():
            if job.going:
                self._end(job, "interrupted", "Stopped with the server. It can be resumed.")
                self._keep(job)

    def _twin(self, kind: str, pile: str, session: str, spec: dict[str, Any]) -> Job | None:
        for job in self._jobs.values():
            if job.going and (job.kind, job.pile, job.session) == (kind, pile, session):
                if job.spec == spec:
                    return job
                if kind != "export":
                    raise JobRunning(f"“{job.title}” is still running.")
        return None

    def _work(self) -> None:
        while True:
            with self._lock:
                self._lock.wait_for(lambda: self._queue or self._closed)
                if self._closed:
                    return
                job = self._jobs[self._queue.pop(0)]
                context, work = self._turns[job.id]
                job.state, job.began, job.words = "running", time.time(), "Starting …"
            self._keep(job)
            state, words, result = self._done(context, work)
            with self._lock:
                job.result = result
                self._turns.pop(job.id, None)
                self._end(job, state, words)
                self._store(job)  # whoever waits for the end finds it stored
            self._changed(job)

    def _done(self, context: JobContext, work: Work) -> tuple[str, str, dict[str, Any]]:
        """Run a job; return its state, a sentence, and its result."""
        try:
            result = dict(work(context) or {})
            return "finished", str(result.pop("words", "Done.")), result
        except SamekindError as problem:
            if context.stop.is_set():
                state = "interrupted" if self._closed else "cancelled"
                return state, "Stopped. Finished steps are kept.", {}
            return "failed", str(problem), {}
        except Exception as problem:
            log.exception("The job %r failed", context.job.title)
            words = (
                f"Something went wrong inside samekind ({type(problem).__name__}). Your answers "
                "are safe; see the terminal in which samekind runs for details."
            )
            return "failed", words, {}

    def _end(self, job: Job, state: str, words: str) -> None:
        with self._lock:
            job.state, job.words, job.ended = state, words, time.time()
            if state == "finished":
                job.share = 1.0
            self._lock.notify_all()

    def _changed(self, job: Job) -> None:
        for listener in list(self._listeners):
            with suppress(Exception):  # a failing listener must not stop the job
                listener(job)

    def _keep(self, job: Job) -> None:
        """Store a job, and notify the listeners."""
        self._changed(job)
        self._store(job)

    def _store(self, job: Job) -> None:
        if self.folder is None:
            return
        final = self.folder / f"{job.id}.json"
        draft = draft_name(final)
        with self._lock:  # else an older state, written slowly, could replace a newer one
            try:
                self.folder.mkdir(parents=True, exist_ok=True)
                draft.write_text(json.dumps({**asdict(job), "pid": os.getpid()}), encoding="utf-8")
                draft.replace(final)
            except OSError as problem:
                log.warning("Jobs cannot be stored: %s", problem)
                draft.unlink(missing_ok=True)

    def _recall(self) -> None:
        """Load the jobs of earlier runs; those that were going are interrupted."""
        known = sorted(self._stored(), key=lambda job: -job.asked)
        for job in known[:MAX_FINISHED]:
            self._jobs[job.id] = job
            if job.going:
                self._end(job, "interrupted", "The server stopped. It can be resumed.")
                self._keep(job)
        for job in known[MAX_FINISHED:]:
            with suppress(OSError):
                (self.folder / f"{job.id}.json").unlink()  # type: ignore[operator]

    def _stored(self) -> Iterator[Job]:
        files = self.folder.glob("*.json") if self.folder and self.folder.is_dir() else ()
        for file in files:
            try:
                form = json.loads(file.read_text(encoding="utf-8"))
                pid = int(form.pop("pid"))
                job = Job(**form)
            except (OSError, ValueError, TypeError, KeyError):
                continue  # damaged, or of another version
            # It may belong to another server that is running now.
            if job.going and pid != os.getpid() and _alive(pid):
                continue
            if job.id == file.stem:
                yield job


def _alive(pid: int) -> bool:
    """Whether a process with this id is running."""
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError, ValueError):
        return False
    except OSError:
        return True
    return True
