"""The loop: ask, answer, tell, refit when due. The only one in the package."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from samekind.errors import AlreadyAnswered, Reserved
from samekind.protocols import Oracle
from samekind.session import Session
from samekind.simulation.people import AGAIN, BACK, SKIP, STOP

OnRefit = Callable[[Session, int], None]
"""Called with the session and the number of answers so far."""


@dataclass
class LoopLog:
    """The number of answers so far, and the seconds of each ask, tell and refit."""

    n_answers: int = 0
    ask_seconds: list[float] = field(default_factory=list)
    tell_seconds: list[float] = field(default_factory=list)
    refit_seconds: list[float] = field(default_factory=list)

    def refit(self, session: Session) -> None:
        """Refit the session and keep how long it took."""
        started = time.perf_counter()
        session.refit()
        self.refit_seconds.append(time.perf_counter() - started)


@dataclass(frozen=True)
class Segment:
    """Questions up to a total number of answers, at whose end the groups are refitted.

    Parameters
    ----------
    until : total number of answers at its end.
    every : answers between two refits; 0: refit only at the end.
    ahead : questions that the strategy proposes at once; 0: all that are left in the segment.
    """

    until: int
    every: int = 0
    ahead: int = 0


def run(
    session: Session,
    oracle: Oracle,
    budget: int | None = None,
    *,
    on_refit: OnRefit | None = None,
    by: str = "me",
    person: str | None = None,
    log: LoopLog | None = None,
) -> LoopLog:
    """Ask until the budget is spent, nothing is worth asking, or the oracle stops.

    Parameters
    ----------
    budget : number of answers; None continues until the oracle stops.
    on_refit : called after each refit.
    by : the answering person in the ledger; an oracle's own `by` takes precedence.
    person : one of several named people, for whom questions are reserved; instead of `by`.
    log : an earlier log to continue.
    """
    log = LoopLog() if log is None else log
    last = None if budget is None else log.n_answers + budget
    while last is None or log.n_answers < last:
        _refit_if_due(session, log, on_refit)
        started = time.perf_counter()
        asked = session.ask(by=person)
        log.ask_seconds.append(time.perf_counter() - started)
        if asked is None:
            break
        shown = time.perf_counter()
        choice = oracle.answer(asked.question)
        if choice == STOP:
            break
        if choice == AGAIN:
            continue
        if choice == BACK:
            log.n_answers -= session.undo(by=person) is not None
            continue
        if choice == SKIP:
            session.skip(asked.number, by=person)
            continue
        started = time.perf_counter()
        # Several simulated people may be answering in turn.
        who = person if person is not None else getattr(oracle, "by", by)
        try:
            name = getattr(oracle, "name_given", "")  # of the group that the answer starts
            seconds = round(started - shown, 3)
            session.tell(asked.number, choice, by=who, seconds=seconds, name=name)
        except (AlreadyAnswered, Reserved) as refusal:  # in another process, meanwhile
            if not hasattr(oracle, "refused"):
                raise
            oracle.refused(str(refusal))
            continue
        log.tell_seconds.append(time.perf_counter() - started)
        log.n_answers += 1
    _refit_if_due(session, log, on_refit)
    return log


def run_segment(
    session: Session, oracle: Oracle, segment: Segment, log: LoopLog, *, retry: bool = True
) -> bool:
    """Answer up to the end of a segment and refit. Returns False if the questions ran out.

    Parameters
    ----------
    retry : refit and ask again when the strategy has no more questions for the current groups.
        In a segment that is proposed at once (`ahead` 0) this refits even without new answers,
        because training may continue. False ends the segment there.
    """
    while log.n_answers < segment.until:
        before, left = log.n_answers, segment.until - log.n_answers
        session.refit_every, session.ahead = segment.every or left, segment.ahead or left
        run(session, oracle, left, log=log)
        short = log.n_answers < segment.until
        if short and (_has_new_answers(session) or (retry and not segment.ahead)):
            log.refit(session)
        if short and (not retry or log.n_answers == before):
            return False
    if _has_new_answers(session):
        log.refit(session)
    return True


def run_in_one_go(session: Session, oracle: Oracle, n_answers: int, until: int) -> int:
    """Continue from `n_answers` up to `until` with as few refits as the strategy allows.

    For methods whose refits take minutes: all questions are proposed and answered at once, and the
    method learns at the end. Returns the new number of answers.
    """
    log = LoopLog(n_answers)
    run_segment(session, oracle, Segment(until), log)
    return log.n_answers


def _has_new_answers(session: Session) -> bool:
    return bool(session.progress()["until_refit"] < session.refit_every)


def _refit_if_due(session: Session, log: LoopLog, on_refit: OnRefit | None) -> None:
    if session.due:
        log.refit(session)
        if on_refit is not None:
            on_refit(session, log.n_answers)
