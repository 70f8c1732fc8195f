"""People: several of them share the questions of one orientation.

Every open question is reserved for the person it was shown to, so that nobody else is asked it. A
reservation ends after a while: someone who leaves, or a server that stops, blocks no question.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

from samekind.errors import InputError
from samekind.ledger.fold import LedgerState
from samekind.ledger.records import Reservation
from samekind.questions import Question

if TYPE_CHECKING:
    from samekind.session.session import Session

HOLD_SECONDS = 300.0
"""Seconds for which a question is reserved for the person who sees it."""


@dataclass(frozen=True)
class People:
    """How people share the questions.

    Parameters
    ----------
    overlap : share of the answered questions that a second person is asked as well; the groups are
        learnt from the first answer, and agreement is measured on both.
    hold_seconds : how long a question stays reserved for the person who sees it.
    hidden : whether people do not see each other's answers.
    """

    overlap: float = 0.0
    hold_seconds: float = HOLD_SECONDS
    hidden: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.overlap <= 1:
            raise InputError(
                f"Expected a share from 0 to 1 of questions for a second person, got "
                f"{self.overlap}. One in ten is 0.1."
            )
        if not self.hold_seconds >= 1:
            raise InputError(
                f"Expected a question to be reserved for at least 1 second, got "
                f"{self.hold_seconds}."
            )

    def is_held(self, reservation: Reservation | None, at: float) -> bool:
        """Whether a reservation is still valid at a time (UTC seconds)."""
        return reservation is not None and at - reservation.at < self.hold_seconds

    def wants_second(self, seed: int, number: int) -> bool:
        """Whether a question is one of those that a second person is asked.

        Every server must come to the same result, so it depends on seed and number alone.
        """
        drawn = zlib.crc32(f"{seed} {number}".encode()) / 2**32
        return drawn < self.overlap


ALONE = People()
"""One person, or several that are not told apart."""


def ledger_key(session: Session, person: str | None) -> str:
    """A name for the ledger of a session as one person uses it; the same after reopening."""
    key = f"{session.name}\0{session._ledger.begun!r}\0{person or ''}"
    return sha256(key.encode(errors="surrogatepass")).hexdigest()[:16]


def subject(question: Question) -> frozenset[int]:
    """The items that a question is about, without those that only represent a group."""
    return frozenset(item for part in question.parts() for item in part)


@dataclass(frozen=True)
class Reservations:
    """What one person may be asked at one moment.

    Parameters
    ----------
    person : None: nobody in particular, because people are not told apart.
    at : the time (UTC seconds).
    """

    ledger: LedgerState
    people: People = ALONE
    person: str | None = None
    at: float = 0.0

    def is_free(self, number: int) -> bool:
        """Whether the question is reserved for nobody else."""
        held = self.ledger.reservations.get(number)
        return held is None or held.by == self.person or not self.people.is_held(held, self.at)

    def is_mine(self, number: int) -> bool:
        """Whether the question is reserved for this person, or need not be."""
        held = self.ledger.reservations.get(number)
        if self.person is None:
            return held is None or held.by is None
        return held is not None and held.by == self.person and self.people.is_held(held, self.at)

    def was_mine(self, number: int) -> bool:
        """Whether this person saw the question last, however long ago."""
        held = self.ledger.reservations.get(number)
        return held is not None and held.by == self.person

    def taken(self) -> tuple[Question, ...]:
        """Questions that are open for others."""
        asked, held = self.ledger.asked, self.ledger.reservations
        return tuple(asked[n].question for n in held if not self.is_free(n))

    def second_opinion(self, seed: int) -> int | None:
        """A question that somebody else has answered and this person should answer as well."""
        if self.person is None:
            return None
        ledger, wants = self.ledger, self.people.wants_second
        own = (n for n, held in ledger.reservations.items() if held.by == self.person)
        for number in own:
            if number in ledger.answers:
                return number
        if not self.people.overlap:
            return None
        done = {number for number, _ in ledger.second}
        for number, answer in ledger.answers.items():
            if number in done or not wants(seed, number) or answer.by == self.person:
                continue
            if answer.links and not answer.question.by_hand and self.is_free(number):
                return number
        return None
