"""Questions begin with a few items of a pile, while the others are analysed in the background."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from samekind.items import Collection
from samekind.sources import open_source
from samekind.workspace.jobs import Job, Stopped
from samekind.workspace.opening import MIN_WAITING, N_FIRST, Opening
from samekind.workspace.pile import Pile, Request
from samekind.workspace.workspace import Workspace
from samekind.workspace.workspaces import Workspaces
from waiting import until

N = MIN_WAITING + 20


@pytest.fixture
def photos(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SAMEKIND_HOME", str(tmp_path / "home"))
    folder = tmp_path / "photos"
    folder.mkdir()
    for k in range(N):
        Image.new("RGB", (8, 8), (255 * (k % 2), k % 250, 20)).save(folder / f"{k:03}.png")
    return folder


@pytest.fixture
def workspaces(photos: Path) -> Iterator[Workspaces]:
    made = Workspaces.at_home()
    yield made
    made.close()


@pytest.fixture
def rest(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Lets the second step go on."""
    go_on, whole = threading.Event(), Opening.whole

    def waiting(self: Opening, progress: Any = None) -> Pile:
        while not go_on.wait(0.01):
            progress(0, 1)  # raises if the job must stop
        return whole(self, progress)

    monkeypatch.setattr(Opening, "whole", waiting)
    return go_on


def begun(workspaces: Workspaces, photos: Path) -> tuple[Job, Workspace]:
    """Open the photos, and wait until questions can begin."""
    job = workspaces.submit_open(str(photos), "pixels", None)
    until(lambda: job.result.get("ready"))
    workspace = workspaces.find(job.pile)
    assert workspace is not None
    return job, workspace


def told(workspace: Workspace, choice: str) -> int:
    """Answer the open question; the answers so far."""
    session = workspace.session()
    asked = workspace.ask(session)
    assert asked is not None
    workspace.tell(session, asked.number, choice, "me", None)
    return len(session.answers)


def test_answers_to_the_first_items_hold_in_the_whole_pile(
    workspaces: Workspaces, photos: Path, rest: threading.Event
) -> None:
    job, few = begun(workspaces, photos)
    assert job.state == "running"
    assert (len(few.collection), few.analysing) == (N_FIRST, N - N_FIRST)
    assert [told(few, "none"), told(few, "unsure")] == [1, 2]
    links = few.session().answers[0].question.items()
    asked_about = {few.collection.id(i) for i in links}
    rest.set()
    assert workspaces.jobs.wait(job.id).state == "finished"
    whole = workspaces.find(job.pile)
    assert whole is not None and whole is not few
    assert (len(whole.collection), whole.analysing) == (N, 0)
    first, second = whole.session().answers
    assert (first.choice, second.choice) == ("none", "unsure")
    assert {whole.collection.id(i) for i in first.question.items()} == asked_about
    assert not whole.session().progress()["gone"]
    assert list(whole.collection.ids())[:N_FIRST] == list(few.collection.ids())
    whole.refitter.wait("main")
    snapshots = few.session().clustering.snapshot, whole.session().clustering.snapshot
    assert snapshots[1] > snapshots[0]  # by this open pages notice


def test_an_answer_to_the_first_pile_that_comes_late_is_not_lost(
    workspaces: Workspaces, photos: Path, rest: threading.Event
) -> None:
    job, few = begun(workspaces, photos)
    rest.set()
    workspaces.jobs.wait(job.id)
    told(few, "none")  # a request that began before the whole pile was there
    whole = workspaces.find(job.pile)
    assert whole is not None
    whole.ask(whole.session())
    assert [answer.choice for answer in whole.session().answers] == ["none"]


def test_a_stopped_analysis_leaves_the_first_items_open_and_can_be_resumed(
    workspaces: Workspaces, photos: Path, rest: threading.Event
) -> None:
    job, few = begun(workspaces, photos)
    workspaces.jobs.cancel(job.id)
    assert workspaces.jobs.wait(job.id).state == "cancelled"
    assert workspaces.find(job.pile) is few and told(few, "none") == 1
    rest.set()
    again = workspaces.jobs.wait(workspaces.resume(job).id)
    whole = workspaces.find(again.pile)
    assert whole is not None and len(whole.collection) == N
    assert len(whole.session().answers) == 1


def test_a_pile_from_the_command_line_begins_early_as_well(
    workspaces: Workspaces, photos: Path, rest: threading.Event
) -> None:
    notices: list[str] = []
    request = Request(str(photos), encoder="pixels", on_notice=notices.append)
    few = workspaces.open(request.remembered())
    assert workspaces.find(None) is few and few.analysing == N - N_FIRST
    assert any(f"begin with {N_FIRST} of them" in notice for notice in notices)
    rest.set()
    until(lambda: not workspaces.jobs.all()[0].going)
    whole = workspaces.find(None)
    assert whole is not None and len(whole.collection) == N and whole.address == ""


def test_small_or_cached_piles_are_opened_at_once(photos: Path) -> None:
    request, everything = Request(str(photos), encoder="pixels"), open_source(photos)
    small = everything.take(range(MIN_WAITING - 1))
    assert Opening(request, small).first() is None
    first = Opening(request, everything).first()
    assert first is not None and len(first.collection) == N_FIRST
    Opening(request, everything).whole()
    assert Opening(request, everything).first() is None


def test_of_a_known_pile_the_first_items_include_all_that_are_analysed(
    photos: Path, workspaces: Workspaces
) -> None:
    known = Opening(Request(str(photos), encoder="pixels"), _part(photos, 15)).whole()
    request = Request(str(photos), encoder="pixels")
    Workspace.of(request, known).close()
    first = Opening(request, open_source(photos)).first()
    assert first is not None
    assert set(known.collection.ids()) <= set(first.collection.ids())


def _part(photos: Path, n: int) -> Collection:
    return open_source(photos).take(range(n))


def test_unreadable_first_items_do_not_stop_the_opening(
    photos: Path,
) -> None:
    everything = open_source(photos)
    first = Opening(Request(str(photos), encoder="pixels"), everything).first()
    assert first is not None
    for id in first.collection.ids():
        (photos / id).write_bytes(b"no picture")
    fresh = Opening(Request(str(photos), encoder="pixels"), _unchecked(everything))
    assert fresh.first() is None
    assert len(fresh.whole().collection) == N - N_FIRST


def _unchecked(collection: Collection) -> Collection:
    """The same items with other stamps, as if they had changed after they were listed."""
    for item in collection:
        item._stamp += "-changed"  # type: ignore[attr-defined]
    return collection


def test_stopping_a_job_reaches_the_encoding(photos: Path) -> None:
    def stop(done: int, total: int) -> None:
        raise Stopped("Stopped.")

    with pytest.raises(Stopped):
        Opening(Request(str(photos), encoder="pixels"), open_source(photos)).whole(stop)
