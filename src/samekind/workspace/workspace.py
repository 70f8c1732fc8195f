"""Workspace: one pile with its orientations, shared by everybody who works on it."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from samekind.errors import (
    AlreadyAnswered,
    AnswerError,
    SamekindError,
    SetsAside,
    StateError,
    UnknownAnswer,
    UnknownOrientation,
    UnknownQuestion,
)
from samekind.items import Collection
from samekind.protocols import Store
from samekind.questions import UNSURE
from samekind.questions.wording import plural
from samekind.session.people import ALONE, People
from samekind.workspace.groupings import Groupings, Listing, new_name, visible_names
from samekind.workspace.groupings import restore as restore_grouping
from samekind.workspace.known_items import News
from samekind.workspace.refitter import EventBus, Refitter

if TYPE_CHECKING:
    from samekind.ledger.fold import Asked
    from samekind.questions import Answer, Question
    from samekind.session import Session
    from samekind.session.acts import Act
    from samekind.workspace.map import Maps
    from samekind.workspace.pile import Pile, Request
    from samekind.workspace.quality_curve import Curves

log = logging.getLogger("samekind")

REST = 1.0
"""Seconds that the refits of several people's answers rest per second of work."""
OpenSession = Callable[[str], "Session"]


class Workspace:
    """One collection, its orientations, and the refits in the background.

    Parameters
    ----------
    collection : the items; all orientations share them.
    open_session : opens the session of an orientation, new or started earlier; called once per
        name.
    store : lists the orientations that were started earlier; None: only those of this run.
    first : the orientation that a page opens with.
    key : names the workspace in addresses and jobs; empty for one that a program made.
    pile : the items with their vectors and encoder; None if only the sessions are known.
    encoder : the name of the encoder as the person chose it; empty: the default.
    root : the nested orientation whose items these are; empty: all items.
    """

    def __init__(
        self,
        collection: Collection,
        open_session: OpenSession,
        *,
        store: Store | None = None,
        first: str = "main",
        key: str = "",
        pile: Pile | None = None,
        encoder: str = "",
        root: str = "",
    ) -> None:
        self.collection = collection
        self.root = root
        self.groupings = Groupings()
        self.open_over: Callable[[Pile, str], Session] | None = None
        """Opens a session over a part of the pile; None for one that a program made."""
        self.store = store
        self.first = first
        self.event_bus = EventBus()
        self.refitter = Refitter(self.event_bus)
        self.key, self.pile, self.encoder = key, pile, encoder
        self.analysing = 0
        """Items that are still being analysed, and will come with the next workspace."""
        self.news = News(())
        self.address = ""
        """The key in addresses; empty for the first workspace of a server."""
        self.on_close: list[Callable[[], None]] = []
        self.open_again: Callable[[], Workspace] | None = None
        """Opens the same pile as it is now; None for one that a program made."""
        self._closed = False
        self._open_session = open_session
        self._sessions: dict[str, Session] = {}
        self.opening = threading.Lock()
        """Held while a grouping is opened, and while one is begun, renamed, deleted or restored."""
        self._acting = threading.Lock()
        self.people = ALONE
        """How several people share the questions; to be set before a session is opened."""

    @classmethod
    def of(
        cls,
        request: Request,
        pile: Pile,
        *,
        encoder: str | None = None,
        people: People | None = None,
    ) -> Workspace:
        """Open a workspace over a pile, with the ledger of the request and its first session.

        With `people` they share its questions, also those who use another server on this ledger.
        """
        from samekind.workspace.locations import ledger_file

        store = request.store()
        first = Groupings().of(store, request.orientation)
        workspace = cls(
            pile.collection,
            lambda name: request.session(pile, store, name),
            store=store,
            first=request.orientation,
            root=first.root,
            key=ledger_file(request.path).stem,
            pile=pile,
            encoder=(request.encoder or "") if encoder is None else encoder,
        )
        inner = replace(request, groups=None)  # a number of groups holds for all items only
        workspace.open_over = lambda part, name: inner.session(part, store, name)
        workspace.open_again = lambda: cls.of(
            request, request.pile(request.items()), encoder=encoder, people=people
        )
        if people is not None:
            workspace.people, workspace.refitter.rest = people, REST
        workspace.session()
        if people is not None or getattr(store, "is_remote", False):
            workspace.watch()
        return workspace

    def watch(self) -> None:
        """Take in what other processes write to the ledger as soon as they have written it."""
        watch = getattr(self.store, "watch", None)
        if watch is not None:
            self.on_close.append(watch(self._on_event))

    def _on_event(self, name: str, number: int) -> None:
        """Read new events of a session, or of all sessions if the name is empty."""
        opened = self._sessions.copy()
        for session in [one for key, one in opened.items() if name in ("", key)]:
            try:
                self.refitter.take_in(session, number)
            except SamekindError as fault:
                log.warning("New answers could not be read yet: %s", fault)

    @cached_property
    def maps(self) -> Maps:
        """The maps of all orientations."""
        from samekind.workspace.map import Maps

        maps = Maps(self.event_bus)
        self.on_close.append(maps.close)
        if self._closed:
            maps.close()
        return maps

    @cached_property
    def curves(self) -> Curves:
        """The quality curves of all orientations."""
        from samekind.workspace.quality_curve import Curves

        return Curves(self.refitter.busy)

    def names(self) -> list[str]:
        """Names of all orientations of these items, the first one first; no deleted ones."""
        return visible_names(self)

    def all_names(self) -> list[str]:
        """Names of all orientations in the ledger, also of deleted and nested ones."""
        stored = self.store.sessions() if self.store is not None else []
        return sorted({*stored, *self._sessions})

    def listing(self, name: str) -> Listing:
        """Return how an orientation is listed: its title, and whether it is deleted or nested."""
        if self.store is None and name not in self._sessions:
            return Listing(name, name)
        return self.groupings.of(self.store_of(name), name)

    def store_of(self, name: str) -> Store:
        """Return the ledger of an orientation."""
        return self.store if self.store is not None else self.session(name).store

    def forget(self, name: str) -> None:
        """Close the session of an orientation that was deleted."""
        with self.opening:
            self._sessions.pop(name, None)

    def session(self, name: str | None = None) -> Session:
        """Return the session of an orientation; it is opened on first use."""
        name = name or self.first
        session = self._sessions.get(name)
        if session is not None:
            return session
        names = self.names()
        if name == self.first and name not in names and (names or not self.root):
            if names:  # it was deleted
                self.first = names[0]
            else:  # by an earlier version, which could delete all of them
                restore_grouping(self, name)
            return self.session()
        if name not in names:
            known = ", ".join(names)
            raise UnknownOrientation(f"There is no grouping {name!r}. There are: {known}.")
        return self._opened(name)

    def begin(self, name: str) -> Session:
        """Start a new orientation of the same collection."""
        with self.opening:
            return self._open(new_name(self, name))

    def ask(self, session: Session, by: str | None = None) -> Asked | None:
        """Return the open question; if there is none, refit from answers not yet learnt from.

        A refit may lead to new questions. With `by`, the question is that person's alone.
        """
        asked = session.ask(by=by)
        failed = self.refitter.trouble(session.name) is not None
        if asked is None and _is_behind(session) and not failed:
            if not self.refitter.busy(session.name):
                self.refitter.request(session)
        return asked

    def act(self, session: Session, act: Act, by: str, *, confirmed: bool = True) -> int:
        """Perform a change by hand and refit at once; the number of its question.

        Unless `confirmed`, one that contradicts earlier answers raises :class:`SetsAside`.
        """
        from samekind.session.acts import perform, performed

        with self._acting:
            if not confirmed and performed(session, act) is None:
                aside = len(session.precedence.weigh(act.question).aside)
                if aside:
                    raise SetsAside(f"{act.verb} and set aside {plural(aside, 'earlier answer')}?")
            number = perform(session, act, by=by)
        self.refitter.nudge(session, at_once=True)
        return number

    def refresh(self, session: Session) -> None:
        """Wait until the groups are learnt from every answer."""
        if _is_behind(session):
            self.refitter.request(session)
        self.refitter.wait(session.name)

    def tell(
        self,
        session: Session,
        number: int,
        choice: str,
        by: str,
        seconds: float | None,
        name: str = "",
    ) -> None:
        """Store an answer once, however often it is sent; an earlier one is never replaced."""
        with self._acting:
            self.asked(session, number).question.check(choice)
            session.tell(number, choice, by=by, seconds=seconds, name=name)
        self.refitter.nudge(session)

    def tell_now(
        self, session: Session, question: Question, choice: str, by: str, person: str | None = None
    ) -> int:
        """Ask what a person (one of several, if named) looks at, and store the answer once."""
        with self._acting:
            question.check(choice)
            for answer in reversed(session.answers):
                if (answer.question, answer.choice, answer.by) == (question, choice, by):
                    return answer.number
            if question.truthful(session.constraints.same) != UNSURE:
                raise StateError(
                    "Your answers have settled this question in the meantime, so nothing was "
                    "saved. Reload to see which are still open."
                )
            asked = session.put_first(question, by=person)
            session.tell(asked.number, choice, by=by)
        self.refitter.nudge(session)
        return asked.number

    def rename(self, session: Session, group: int, name: str) -> None:
        """Name a group; an empty name removes it. A name that another group has is refused."""
        session.naming.name_group(group, name, free=True)
        session.catch_up()

    def name_choice(self, session: Session, number: int, choice: str, name: str) -> None:
        """Name the group that a choice of a question stands for; an empty name removes it."""
        question = self.asked(session, number).question
        question.check(choice)
        exemplars = question.exemplars(choice)
        if question.many or not exemplars:
            raise AnswerError(
                f"{choice!r} of question {number} stands for no group, so it has no name. Choose "
                "the number of a group."
            )
        session.naming.name_kind(exemplars[0], name, free=True)

    def change(self, session: Session, number: int, choice: str, by: str | None = None) -> None:
        """Change an earlier answer, with `by` only one of this person."""
        with self._acting:
            answer = self.answered(session, number, by)
            answer.question.check(choice)
            if answer.choice == choice and by in (None, answer.by):
                return
            session.edit(number, choice, by=by or "me", own=by is not None)
        self.refitter.nudge(session, at_once=answer.question.by_hand)

    def undo(
        self, session: Session, number: int | None = None, by: str | None = None
    ) -> int | None:
        """Take an answer back, by default the last one; None: there is none.

        With `by`, only an answer of this person.
        """
        with self._acting:
            if number is not None:
                self.answered(session, number, by)
            undone = session.undo(number, by=by)
        by_hand = undone is not None and session.asked(undone).question.by_hand
        self.refitter.nudge(session, at_once=by_hand)
        return undone

    def restore(self, session: Session, number: int, by: str | None = None) -> None:
        """Let an answer count again that a change by hand has set aside; with `by` one's own."""
        with self._acting:
            self.answered(session, number)
            session.precedence.restore(number, by=by)
        self.refitter.nudge(session, at_once=True)

    def skip(self, session: Session, number: int, by: str | None = None) -> None:
        """Postpone the open question."""
        with self._acting:
            self.asked(session, number)
            if by is None and find(session, number) is not None:
                raise AlreadyAnswered(
                    f"Question {number} has been answered already, so it cannot be skipped.",
                    number,
                )
            session.skip(number, by=by)

    @staticmethod
    def asked(session: Session, number: int) -> Asked:
        """Return a question, answered or not."""
        try:
            return session.asked(number)
        except AnswerError as fault:
            raise UnknownQuestion(str(fault)) from fault

    @staticmethod
    def answered(session: Session, number: int, by: str | None = None) -> Answer:
        """Return the answer in force with this number; a person's own opinion comes first."""
        opinions = (a for a in session.second_opinions if (a.number, a.by) == (number, by))
        answer = next(opinions, None) or find(session, number)
        if answer is None:
            raise UnknownAnswer(f"There is no answer {number}; it may have been taken back.")
        return answer

    def close(self) -> None:
        """Wait for running refits, and start no more."""
        self._closed = True
        for close in self.on_close:
            close()
        self.event_bus.close()
        self.refitter.close()

    def reopen(self, name: str) -> Session:
        """Open an orientation again, after its settings have changed in the ledger."""
        with self.opening:
            return self._open(name)

    def _opened(self, name: str) -> Session:
        with self.opening:
            return self._sessions.get(name) or self._open(name)

    def _open(self, name: str) -> Session:
        session = self._open_session(name)
        session.people = self.people
        self._sessions[name] = session
        return session


def _is_behind(session: Session) -> bool:
    """Whether there are answers that the groups are not learnt from."""
    return bool(session.progress()["until_refit"] < session.refit_every)


def find(session: Session, number: int) -> Answer | None:
    """Return the answer in force with this number, or None."""
    return next((a for a in reversed(session.answers) if a.number == number), None)
