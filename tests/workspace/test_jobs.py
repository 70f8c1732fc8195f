"""Jobs: one at a time, watched, cancelled, failed, and kept across restarts."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from samekind.errors import InputError, JobRunning
from samekind.workspace.jobs import Job, JobContext, Jobs
from waiting import PATIENCE

ORIGIN = "http://127.0.0.1:8765"


@pytest.fixture
def make_jobs(tmp_path: Path) -> Iterator[Callable[[], Jobs]]:
    """Makes workers over the same folder, as servers that follow each other."""
    made: list[Jobs] = []

    def make() -> Jobs:
        made.append(Jobs(tmp_path / "jobs"))
        return made[-1]

    yield make
    for jobs in made:
        jobs.close()


class Held:
    """Work that waits in the middle until it is let go, and hears a stop there."""

    def __init__(self) -> None:
        self.begun, self.go_on = threading.Event(), threading.Event()

    def __call__(self, context: JobContext) -> dict[str, Any]:
        context.tell(0.25, "A quarter is done.")
        self.begun.set()
        while not self.go_on.wait(0.01):
            context.check()
        return {"words": "All is done.", "found": 7}


def test_a_job_reports_its_progress_and_its_result(make_jobs: Callable[[], Jobs]) -> None:
    jobs, work = make_jobs(), Held()
    job = jobs.submit("open", "Open it", work)
    assert work.begun.wait(PATIENCE)
    assert (job.state, job.share, job.words) == ("running", 0.25, "A quarter is done.")
    work.go_on.set()
    jobs.wait(job.id)
    assert (job.state, job.share, job.words) == ("finished", 1.0, "All is done.")
    assert job.result == {"found": 7}


def test_one_job_runs_at_a_time_and_queued_ones_can_be_cancelled(
    make_jobs: Callable[[], Jobs],
) -> None:
    jobs, first, second = make_jobs(), Held(), Held()
    running = jobs.submit("open", "First", first, pile="a")
    waiting = jobs.submit("open", "Second", second, pile="b")
    assert first.begun.wait(PATIENCE)
    assert (running.state, waiting.state) == ("running", "queued")
    jobs.cancel(waiting.id)
    first.go_on.set()
    jobs.wait(running.id)
    assert (running.state, waiting.state) == ("finished", "cancelled")
    assert not second.begun.is_set()


def test_a_running_job_stops_at_its_next_step(make_jobs: Callable[[], Jobs]) -> None:
    jobs, work = make_jobs(), Held()
    job = jobs.submit("open", "Open it", work)
    assert work.begun.wait(PATIENCE)
    jobs.cancel(job.id)
    jobs.wait(job.id)
    assert job.state == "cancelled"
    assert "kept" in job.words


def test_a_job_that_fails_says_why_and_the_next_one_runs(make_jobs: Callable[[], Jobs]) -> None:
    jobs = make_jobs()

    def on_purpose(context: JobContext) -> None:
        raise InputError("The folder is gone. Choose another.")

    def by_mistake(context: JobContext) -> None:
        raise KeyError("secret detail")

    told = jobs.wait(jobs.submit("open", "On purpose", on_purpose, pile="a").id)
    assert (told.state, told.words) == ("failed", "The folder is gone. Choose another.")
    bug = jobs.wait(jobs.submit("open", "By mistake", by_mistake, pile="b").id)
    assert bug.state == "failed" and "KeyError" in bug.words and "secret" not in bug.words
    fine = jobs.submit("open", "Fine", lambda context: None, pile="c")
    assert jobs.wait(fine.id).state == "finished"


def test_a_repeated_request_is_one_job_and_another_job_on_the_same_pile_is_refused(
    make_jobs: Callable[[], Jobs],
) -> None:
    jobs, work = make_jobs(), Held()
    job = jobs.submit("polish", "Polish", work, pile="a", spec={"method": "idc"})
    assert jobs.submit("polish", "Polish", Held(), pile="a", spec={"method": "idc"}) is job
    with pytest.raises(JobRunning, match="still running"):
        jobs.submit("polish", "Polish", Held(), pile="a", spec={"method": "pcl"})
    work.go_on.set()
    assert jobs.wait(job.id).state == "finished"


def test_the_remaining_time_is_told_once_it_is_known(
    make_jobs: Callable[[], Jobs], monkeypatch: pytest.MonkeyPatch
) -> None:
    words: list[str] = []
    now = [0.0]
    clock = SimpleNamespace(monotonic=lambda: now[0], time=time.time)
    monkeypatch.setattr("samekind.workspace.jobs.time", clock)

    def work(context: JobContext) -> None:
        step = context.progress("Read", "pictures", begin=0.5)
        step(0, 1000)
        now[0] = 30.0  # most of it to load the network, which is not done again
        step(500, 1000)
        words.append(context.job.words)
        assert context.job.share == 0.75
        for k in range(1, 3):
            now[0] = 30.0 + 5 * k
            step(500 + 50 * k, 1000)
        words.append(context.job.words)
        for k in range(1, 6):  # more than twice as fast from here on
            now[0] = 40.0 + 2 * k
            step(600 + 50 * k, 1000)
        words.append(context.job.words)
        now[0] = 90.0
        step(850, 1000)  # nothing more was done
        words.append(context.job.words)
        now[0] = 91.0
        step(900, 1000)  # after a pause
        words.append(context.job.words)
        again = context.progress("Read", "other pictures")
        now[0] = 120.0
        again(100, 400)
        words.append(context.job.words)

    jobs = make_jobs()
    assert jobs.wait(jobs.submit("open", "Open", work).id).state == "finished"
    assert words[0] == "Read 500 of 1,000 pictures"
    assert words[1] == "Read 600 of 1,000 pictures, about 40 s left"
    assert words[2] == "Read 850 of 1,000 pictures, about 6 s left", "a slow start is forgotten"
    assert words[3:5] == [words[2], "Read 900 of 1,000 pictures, about 4 s left"], "nor a pause"
    assert words[5] == "Read 100 of 400 other pictures, about 12 s left", "they take as long"


def test_after_a_kill_running_jobs_are_interrupted_and_finished_ones_stay_finished(
    make_jobs: Callable[[], Jobs], tmp_path: Path
) -> None:
    before = make_jobs()
    done = before.wait(before.submit("open", "Done", lambda context: None, pile="a").id)
    work = Held()
    cut = before.submit("open", "Cut off", work, pile="b", spec={"path": "tiles"})
    waiting = before.submit("open", "Never begun", Held(), pile="c")
    assert work.begun.wait(PATIENCE)
    # What a kill leaves on disk, with the number of a process that is gone.
    for file in (tmp_path / "jobs").glob("*.json"):
        file.write_text(json.dumps(json.loads(file.read_text()) | {"pid": 2**22 + 1}))
    after = make_jobs()
    states = {job.id: job.state for job in after.all()}
    assert states == {done.id: "finished", cut.id: "interrupted", waiting.id: "interrupted"}
    assert after.find(cut.id).spec == {"path": "tiles"}
    work.go_on.set()


def test_a_job_that_ends_while_it_is_still_being_queued_is_stored_as_finished(
    make_jobs: Callable[[], Jobs], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended, here = threading.Event(), threading.current_thread()

    def slow(job: Job) -> dict[str, Any]:
        facts = asdict(job)
        if threading.current_thread() is here:
            ended.wait(0.5)  # a busy machine, where the job may end meanwhile
        return facts

    monkeypatch.setattr("samekind.workspace.jobs.asdict", slow)
    jobs = make_jobs()
    jobs.listen(lambda job: ended.set() if job.state == "finished" else None)
    job = jobs.wait(jobs.submit("open", "Open", lambda context: None).id)
    (file,) = (tmp_path / "jobs").glob("*.json")
    assert json.loads(file.read_text())["state"] == job.state == "finished"


def test_stopping_the_server_interrupts_its_job(make_jobs: Callable[[], Jobs]) -> None:
    jobs, work = make_jobs(), Held()
    job = jobs.submit("open", "Open", work)
    assert work.begun.wait(PATIENCE)
    jobs.close()
    assert job.state == "interrupted"
    assert make_jobs().find(job.id).state == "interrupted"


def test_damaged_job_files_are_ignored(tmp_path: Path) -> None:
    folder = tmp_path / "jobs"
    folder.mkdir()
    (folder / "a.json").write_text("{")
    (folder / "b.json").write_text('{"pid": 1, "id": "b", "unknown": 1}')
    (folder / "c.json").write_text("[]")
    assert Jobs(folder).all() == []


def test_listeners_hear_of_every_change_and_cannot_stop_the_work(
    make_jobs: Callable[[], Jobs],
) -> None:
    jobs, heard = make_jobs(), []

    def hear(job: Any) -> None:
        heard.append(job.state)
        raise RuntimeError("a bad listener")

    jobs.listen(hear)
    job = jobs.wait(jobs.submit("open", "Open", lambda context: None).id)
    jobs.close()
    assert job.state == "finished"
    assert heard[0] == "queued" and heard[-1] == "finished"


def test_a_listener_that_left_hears_of_no_more_jobs(tmp_path: Path) -> None:
    jobs = Jobs(tmp_path / "jobs")
    heard: list[str] = []
    leave = jobs.listen(lambda job: heard.append(job.state))
    leave()
    leave()  # twice does no harm
    assert not jobs._listeners and not heard
    jobs.close()
