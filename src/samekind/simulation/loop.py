"""The loop: ask, answer, tell, refit when due. The only one in the package."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from samekind.protocols import Oracle
from samekind.session import Session
from samekind.simulation.people import BACK, SKIP, STOP


@dataclass
class Run:
    """What a run of the loop took: questions told, and the seconds of each ask, tell and refit."""

    told: int = 0
    ask_seconds: list[float] = field(default_factory=list)
    tell_seconds: list[float] = field(default_factory=list)
    refit_seconds: list[float] = field(default_factory=list)


def run(
    session: Session,
    oracle: Oracle,
    budget: int | None = None,
    *,
    on_refit: Callable[[Session, int], None] | None = None,
    by: str = "me",
) -> Run:
    """Ask until the budget is spent, nothing is worth asking, or the oracle has had enough.

    Parameters
    ----------
    budget : how many answers; None goes on until the oracle stops.
    on_refit : called after each refit with the number of answers so far.
    by : who answers, for the ledger; an oracle that has a `by` itself says so after each answer.
    """
    log = Run()
    while budget is None or log.told < budget:
        _refit_if_due(session, log, on_refit)
        started = time.perf_counter()
        asked = session.ask()
        log.ask_seconds.append(time.perf_counter() - started)
        if asked is None:
            break
        shown = time.perf_counter()
        choice = oracle.answer(asked.question)
        if choice == STOP:
            break
        if choice == BACK:
            log.told -= session.undo() is not None
            continue
        if choice == SKIP:
            session.skip(asked.number)
            continue
        started = time.perf_counter()
        who = getattr(oracle, "by", by)  # several people may be answering
        session.tell(asked.number, choice, by=who, seconds=round(started - shown, 3))
        log.tell_seconds.append(time.perf_counter() - started)
        log.told += 1
    _refit_if_due(session, log, on_refit)
    return log


def run_in_one_go(session: Session, oracle: Oracle, told: int, until: int) -> int:
    """Go on from `told` answers up to `until`, with as few refits as the strategy allows.

    For methods whose refits take minutes: questions are chosen and answered in one large round,
    and learnt from at its end. Returns the number of answers.
    """
    while told < until:
        session.refit_every = session.ahead = until - told
        got = run(session, oracle, until - told).told
        told += got
        if told < until:  # the strategy had no more questions for this snapshot
            session.refit()
        if not got:
            break
    return told


def _refit_if_due(
    session: Session, log: Run, on_refit: Callable[[Session, int], None] | None
) -> None:
    if not session.due:
        return
    started = time.perf_counter()
    session.refit()
    log.refit_seconds.append(time.perf_counter() - started)
    if on_refit is not None:
        on_refit(session, log.told)
