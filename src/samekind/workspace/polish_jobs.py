"""Polishing as a job: what it would cost, its result, and whether the person accepts it."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from samekind.errors import CannotPolish, NothingPolished, PicturesChanged
from samekind.workspace import polished_vectors
from samekind.workspace.polish import polish
from samekind.workspace.polish_methods import FEWEST_ANSWERS

if TYPE_CHECKING:
    from samekind.session import Session
    from samekind.workspace.jobs import Job, JobContext
    from samekind.workspace.polish_methods import Training
    from samekind.workspace.workspace import Workspace
    from samekind.workspace.workspaces import Workspaces

GPU_MINUTES = 5.0
MIN_CPU_MINUTES, MAX_CPU_MINUTES = 2.0, 30.0
CPU_SECONDS_PER_PICTURE = 0.1
"""Seconds to train on one picture once, on two cores; errs on the high side."""
CPU_EPOCHS = 60
"""Times that a network should see each picture without a GPU."""
MIN_ANSWERS_TO_WIN = 10_000
"""Answers with which a trained network was ahead of the quick groups, measured on photos."""


@dataclass(frozen=True)
class Estimate:
    """What polishing would cost on this machine."""

    gpu: bool
    device: str
    minutes: float
    words: str


def reason_against(session: Session) -> str:
    """Say why an orientation cannot be polished; empty if it can."""
    if session.collection.kind != "image":
        return "Only pictures can be polished: a network has to see them."
    if session.X.dtype.kind == "u" or session.X.ndim > 2:
        return "This grouping is made by a network that learns from the pictures already."
    answers = sum(1 for answer in session.answers if answer.links)
    if answers < FEWEST_ANSWERS:
        return (
            f"A network needs something to learn from: answer at least {FEWEST_ANSWERS} questions "
            f"first ({answers} so far)."
        )
    return ""


def estimate(n_pictures: int) -> Estimate:
    """Estimate the time that polishing takes here."""
    from samekind.compute import best_device

    found = best_device()
    gpu, device = found.device != "cpu", found.reason
    wanted = CPU_EPOCHS * CPU_SECONDS_PER_PICTURE * n_pictures / 60
    bounded = min(MAX_CPU_MINUTES, max(MIN_CPU_MINUTES, wanted))
    minutes = GPU_MINUTES if gpu else float(round(bounded))
    words = f"About {minutes:g} minutes for {n_pictures:,} pictures on this machine ({device})."
    epochs = minutes * 60 / (CPU_SECONDS_PER_PICTURE * n_pictures)
    if not gpu and epochs < CPU_EPOCHS / 2:
        often = "not even once" if epochs < 1 else f"only about {epochs:.0f} times"
        words += (
            f" Without a GPU a network sees each picture {often} in that time, so do not expect "
            "much. Give it hours, or use a machine with a GPU."
        )
    return Estimate(gpu, device, minutes, words)


def advise(n_answers: int) -> str:
    """Say what to expect from polishing with so many answers."""
    words = (
        "Some of your answers are held out and never shown to the network; the comparison is made "
        "on them. Nothing changes until you accept it."
    )
    if n_answers >= MIN_ANSWERS_TO_WIN:
        return words
    return (
        f"With {n_answers:,} answers the quick groups are often better: on photos a trained "
        "network was behind them at 500 and 1,000 answers, and ahead at "
        f"{MIN_ANSWERS_TO_WIN:,}. {words}"
    )


def is_expected_to_help(session: Session) -> bool:
    """Whether a trained network will probably beat the quick groups.

    With very many answers, or where the vectors do not hold the difference that the person makes.
    """
    if reason_against(session):
        return False
    answers = len(session.answers)
    return answers >= MIN_ANSWERS_TO_WIN or bool(session.progress()["unseen"])


def submit_polish(
    workspaces: Workspaces, workspace: Workspace, name: str, wish: Training, minutes: float | None
) -> Job:
    """Train a network on the answers of an orientation, in the background."""
    session = workspace.session(name)
    if reason := reason_against(session):
        raise CannotPolish(reason)
    minutes = minutes or estimate(len(session.collection)).minutes

    def work(context: JobContext) -> dict[str, Any]:
        current = workspace.session(name)
        vectors, facts = polish(current, workspace.collection, wish, minutes, context)
        id = secrets.token_hex(8)
        polished_vectors.keep(id, workspace.collection, vectors, facts)
        return {"words": "Ready to be compared with the current groups.", "polish": id}

    workspaces.jobs.forget_interrupted("polish", workspace.key, name)
    spec = {"method": wish.method, "minutes": minutes, "parameters": dict(wish.parameters)}
    title = f"Polish {name} with {wish.learner}"
    return workspaces.jobs.submit(
        "polish", title, work, pile=workspace.key, session=name, spec=spec
    )


def undecided_result(workspaces: Workspaces, workspace: Workspace, name: str) -> Job | None:
    """Return the last polish job if its result was neither accepted nor rejected."""
    for job in workspaces.jobs.all():
        if (job.kind, job.pile, job.session) == ("polish", workspace.key, name) and job.result:
            facts = polished_vectors.facts_of(str(job.result["polish"]))
            return None if "settled" in job.result or facts is None else job
    return None


def accept(workspaces: Workspaces, workspace: Workspace, session: Session) -> Session:
    """Group an orientation by the polished vectors; its answers and group names stay."""
    job = undecided_result(workspaces, workspace, session.name)
    if job is None:
        raise NothingPolished("There are no polished groups to accept.")
    id = str(job.result["polish"])
    if polished_vectors.vectors_of(id, workspace.collection) is None:
        raise PicturesChanged("The pictures have changed since they were polished.")
    session = _use_vectors(workspace, session, id)
    workspaces.jobs.settle(job, {"settled": "accepted"})
    return session


def reject(workspaces: Workspaces, workspace: Workspace, session: Session) -> None:
    """Dismiss the result of the last polish job, if there is one."""
    job = undecided_result(workspaces, workspace, session.name)
    if job is not None:
        workspaces.jobs.settle(job, {"settled": "rejected"})


def revert(workspace: Workspace, session: Session) -> Session:
    """Group an orientation by the vectors of its encoder again."""
    return _use_vectors(workspace, session, "")


def _use_vectors(workspace: Workspace, session: Session, id: str) -> Session:
    workspace.refitter.wait(session.name)
    if polished_vectors.chosen(session.store, session.name) != id:
        polished_vectors.choose(session.store, session.name, id)
        session = workspace.reopen(session.name)
        workspace.refitter.request(session)
    return session
