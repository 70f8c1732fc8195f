"""Desk: one collection with its orientations, as the page works on it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from samekind.errors import AnswerError
from samekind.items import Collection
from samekind.protocols import Store
from samekind.workspace.api_error import ApiError
from samekind.workspace.event_bus import EventBus
from samekind.workspace.map import Maps
from samekind.workspace.refitter import Refitter

if TYPE_CHECKING:
    from samekind.ledger.fold import Asked
    from samekind.questions import Answer
    from samekind.session import Session

OpenSession = Callable[[str], "Session"]


class Workspace:
    """One collection, the orientations over it, and the refits in the background.

    Parameters
    ----------
    collection : the pile that is sorted; all orientations share it.
    open_session : opens the session of an orientation, new or begun earlier; called once per name.
    store : asked for the orientations that were begun earlier; None: only those of this run.
    first : the orientation that a page opens with.
    """

    def __init__(
        self,
        collection: Collection,
        open_session: OpenSession,
        *,
        store: Store | None = None,
        first: str = "main",
    ) -> None:
        self.collection = collection
        self.store = store
        self.first = first
        self.event_bus = EventBus()
        self.refitter = Refitter(self.event_bus)
        self.maps = Maps(self.event_bus)
        self.key = ""  # its name in addresses, where several piles are open
        self.at_the_end: list[Callable[[], None]] = []  # to be called when it is closed
        self._open_session = open_session
        self._sessions: dict[str, Session] = {}
        self._opening = threading.Lock()
        self._acting = threading.Lock()

    def names(self) -> list[str]:
        """All orientations, the first one first."""
        stored = self.store.sessions() if self.store is not None else []
        others = ({*stored, *self._sessions}) - {self.first}
        return [self.first, *sorted(others)]

    def session(self, name: str | None = None) -> Session:
        """The session of an orientation; opened when it is used for the first time."""
        name = name or self.first
        session = self._sessions.get(name)
        if session is not None:
            return session
        if name not in self.names():
            known = ", ".join(self.names())
            raise ApiError(
                404,
                "unknown-orientation",
                f"There is no orientation {name!r}. There are: {known}.",
                "Begin it with POST /api/orientations.",
            )
        return self._opened(name)

    def begin(self, name: str) -> Session:
        """Begin a new orientation over the same collection."""
        if name.casefold() in {known.casefold() for known in self.names()}:
            raise ApiError(
                409,
                "orientation-exists",
                f"There is an orientation {name!r} already.",
                "Switch to it, or choose another name.",
            )
        return self._opened(name)

    def tell(
        self, session: Session, number: int, choice: str, by: str, seconds: float | None
    ) -> None:
        """Take an answer once, however often it is sent."""
        with self._acting:
            told = find(session, number)
            if told is not None and told.choice == choice:
                return
            if told is not None:
                raise ApiError(
                    409,
                    "answered-already",
                    f"Question {number} has been answered with {told.choice!r} already.",
                    f"Change it with PUT /api/answers/{number}.",
                )
            self.asked(session, number).question.check(choice)
            session.tell(number, choice, by=by, seconds=seconds)
        self.refitter.nudge(session)

    def change(self, session: Session, number: int, choice: str) -> None:
        """Change an earlier answer; the same choice again changes nothing."""
        with self._acting:
            told = self.told(session, number)
            told.question.check(choice)
            if told.choice == choice:
                return
            session.edit(number, choice)
        self.refitter.nudge(session, at_once=told.question.by_hand)

    def undo(self, session: Session, number: int | None = None) -> int | None:
        """Take an answer away, the last one unless a number is given; None: there is none."""
        with self._acting:
            if number is not None:
                self.told(session, number)
            undone = session.undo(number) if session.answers else None
        by_hand = undone is not None and session.asked(undone).question.by_hand
        self.refitter.nudge(session, at_once=by_hand)
        return undone

    def skip(self, session: Session, number: int) -> None:
        """Put the open question off."""
        with self._acting:
            self.asked(session, number)
            if find(session, number) is not None:
                raise ApiError(
                    409,
                    "answered-already",
                    f"Question {number} has been answered already, so it cannot be skipped.",
                    "Get the open question with GET /api/question.",
                )
            session.skip(number)

    @staticmethod
    def asked(session: Session, number: int) -> Asked:
        """The question with this number, open or not."""
        try:
            return session.asked(number)
        except AnswerError as fault:
            raise ApiError(
                404,
                "unknown-question",
                str(fault),
                "Get the open question with GET /api/question.",
            ) from fault

    @staticmethod
    def told(session: Session, number: int) -> Answer:
        """The answer in force with this number."""
        told = find(session, number)
        if told is None:
            raise ApiError(
                404,
                "unknown-answer",
                f"There is no answer {number}; it may have been taken away.",
                "GET /api/answers lists the answers in force.",
            )
        return told

    def close(self) -> None:
        """Let the refits under way come to an end."""
        for leave in self.at_the_end:
            leave()
        self.event_bus.close()
        self.maps.close()
        self.refitter.close()

    def reopen(self, name: str) -> Session:
        """Open an orientation anew, after its settings have changed in the ledger."""
        with self._opening:
            self._sessions[name] = self._open_session(name)
            return self._sessions[name]

    def _opened(self, name: str) -> Session:
        with self._opening:
            if name not in self._sessions:
                self._sessions[name] = self._open_session(name)
            return self._sessions[name]


def find(session: Session, number: int) -> Answer | None:
    """The answer in force with this number, or None; the latest ones are looked at first."""
    return next((a for a in reversed(session.answers) if a.number == number), None)
