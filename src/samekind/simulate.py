"""The loop: ask, answer, tell, refit when due. The only one in the package."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from samekind.oracles import BACK, SKIP, STOP
from samekind.protocols import Oracle
from samekind.session import Session


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
    on_told: Callable[[Session, int], None] | None = None,
    by: str = "me",
) -> Run:
    """Ask until the budget is spent, nothing is worth asking, or the oracle has had enough.

    Parameters
    ----------
    budget : how many answers; None goes on until the oracle stops.
    on_told : called after each answer (and the refit, if one was due) with their number so far.
    """
    log = Run()
    while budget is None or log.told < budget:
        if session.due:
            log.refit_seconds.append(_timed(session.refit))
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
        elif choice == SKIP:
            session.skip(asked.number)
        else:
            started = time.perf_counter()
            session.tell(asked.number, choice, by=by, seconds=round(started - shown, 3))
            log.tell_seconds.append(time.perf_counter() - started)
            log.told += 1
            if on_told is not None:
                if session.due:
                    log.refit_seconds.append(_timed(session.refit))
                on_told(session, log.told)
    return log


def _timed(action: Callable[[], object]) -> float:
    started = time.perf_counter()
    action()
    return time.perf_counter() - started
