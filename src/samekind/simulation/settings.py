"""One way to run: the protocol of a variant, and the legs in which a session walks through it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

GROUPS = ("given", "unknown")
HELD_OUT = (True, False, "given")


@dataclass(frozen=True)
class Segment:
    """Questions up to a number of answers, between two looks at the groups.

    Parameters
    ----------
    until : answers in all at its end.
    every : answers between two refits; 0: only at the end.
    ahead : questions that the strategy is asked for at once; 0: all that are left of the leg.
    """

    until: int
    every: int = 0
    ahead: int = 0


@dataclass(frozen=True)
class Settings:
    """One way to run: the protocol, and the parameters of the method's constructor.

    There are two protocols. With `score_at` questions come one by one, as a person gets them, and
    the groups are scored after these numbers of answers. Without, all questions of a round are
    chosen at once and learnt from at its end, as published for methods whose refits take minutes.

    Parameters
    ----------
    method, strategy : names of ``samekind list``, or package.module:Class.
    questions : the budget.
    score_at : numbers of answers after which the groups are scored, learnt first if answers are
        open. The first and the last state are always scored.
    questions_per_refit : answers between two refits; refit_at : numbers of answers instead. With
        `score_at`, 0 learns only before a score, and refits_from = { 50 = 10 } means: from 50
        answers on after every 10.
    first_refits : refits before the first question. refits : go on after the last question until
        there have been so many in all.
    score_every : refits between two scores, without `score_at`.
    held_out : true keeps a test part apart, made of every fifth item where the set has none;
        false trains on and scores all of it (OCC); "given": only where the set has its own.
    items : only the first so many items to train on; 0: all.
    encoder : who makes the vectors: "none" (arrays as they are), "default", or a name.
    groups : "given" tells the method their number, if it wants to know; "unknown" does not.
    without : parts of the loss that are left out.
    strategy_with : parameters of the strategy, such as how many groups a question shows.
    person, noise, unsure : who answers, where the suite has no ``[person.NAME]``.
    parameters : of the method's constructor.
    """

    method: str = "pcl"
    strategy: str = "pcl"
    questions: int = 0
    questions_per_refit: int = 0
    refit_at: tuple[int, ...] = ()
    first_refits: int = 0
    refits: int = 0
    score_every: int = 1
    held_out: bool | str = True
    items: int = 0
    without: tuple[str, ...] = ()
    strategy_with: Mapping[str, Any] = field(default_factory=dict)
    person: str = "shown"
    noise: float = 0.0
    unsure: float = 0.0
    score_at: tuple[int, ...] = ()
    refits_from: Mapping[str, Any] = field(default_factory=dict)
    encoder: str = "none"
    groups: str = "given"
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def rounds(self) -> tuple[int, ...]:
        """Numbers of answers after which the method learns again; the last is the budget."""
        step = self.questions_per_refit or max(1, self.questions)
        at = self.refit_at or range(step, self.questions, step)
        return (
            *(n for n in at if n < self.questions),
            *([self.questions] if self.questions else []),
        )

    def legs(self) -> tuple[Segment, ...]:
        """The way to the budget.

        >>> Settings(questions=30, score_at=(10,), questions_per_refit=5).legs()
        (Leg(until=10, every=5, ahead=1), Leg(until=30, every=5, ahead=1))
        >>> Settings(questions=30, questions_per_refit=20).legs()
        (Leg(until=20, every=0, ahead=0), Leg(until=30, every=0, ahead=0))
        """
        if not self.score_at:
            return tuple(Segment(until) for until in self.rounds)
        later = {int(start): int(every) for start, every in self.refits_from.items()}
        ends = sorted({n for n in (*self.score_at, *later) if 0 < n < self.questions})
        ends += [self.questions] if self.questions else []
        legs, every, start = [], self.questions_per_refit, 0
        for until in ends:
            every = later.get(start, every)
            legs.append(Segment(until, every, 1))
            start = until
        return tuple(legs)

    def is_scored_at(self, told: int) -> bool:
        """Whether the groups are scored after so many answers (with `score_at`)."""
        return told in self.score_at or told == self.questions


KINDS: dict[str, type] = {
    name: {
        "tuple[int, ...]": list,
        "tuple[str, ...]": list,
        "Mapping[str, Any]": dict,
        "bool | str": object,
        "str": str,
        "int": int,
        "float": float,
    }[str(of.type)]
    for name, of in Settings.__dataclass_fields__.items()
    if name != "parameters"
}
"""Keys of [base] and of variants that are not parameters of the method, and what they hold."""
