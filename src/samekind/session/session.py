"""Session: ask, tell, undo, refit. The one path that the page, the terminal and simulations take.
What a session knows is a fold of its ledger; what it asks is a function of ledger and seed."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from threading import RLock
from typing import Any

from samekind.clustering import Clustering
from samekind.constraints import Constraints
from samekind.errors import AnswerError, InputError
from samekind.items import Collection
from samekind.ledger.event_log import EventLog
from samekind.ledger.fold import Asked
from samekind.ledger.past_answers import PastAnswers
from samekind.ledger.records import Refitted
from samekind.ledger.store import MemoryStore
from samekind.protocols import Clusterer, QueryStrategy, Store
from samekind.questions import Answer, Question
from samekind.session.accuracy import Accuracy
from samekind.session.answering import Answering
from samekind.session.arguments import checked_seed, question_number
from samekind.session.asking import Asking
from samekind.session.naming import Naming
from samekind.session.parts import Items, Parts
from samekind.session.people import ALONE, Reservations
from samekind.session.places import Places
from samekind.session.precedence import Aside, Precedence
from samekind.session.quality import Statement, Statements, moved_lately
from samekind.session.refit import (
    FittedGroups,
    Snapshot,
    check_vectors,
    fit_clusterer,
    following_groups,
    recognise_groups,
)
from samekind.session.results import Results
from samekind.session.state import Prefetcher, SessionState
from samekind.session.summary import check_items, header_of, summarise


class Session(Results):
    """One person's grouping (an orientation) of one collection.

    >>> import numpy as np
    >>> session = Session(np.random.default_rng(0).normal(size=(90, 8)))
    >>> asked = session.ask()
    >>> session.tell(asked.number, asked.question.choices()[0])
    >>> len(session.answers)
    1

    Parameters
    ----------
    collection : the items: a collection, a pile, or data: see :func:`samekind.sources.open_data`.
    X : (n, d) their vectors; None encodes the items. store : the ledger; None: in memory.
    name : of the orientation. Several may share one store and one set of vectors.
    clusterer, strategy : objects, or names from ``samekind list``. None: those in the ledger, or
        else ``live``, and the strategy that belongs to the method.
    seed : decides every question, together with the ledger. None: the seed in the ledger.
    refit_every : answers after which a refit is due. ahead : questions that are proposed at once.
    budget : the number of questions there will be, if known; some strategies plan with it.
    settings : plain JSON to keep in the ledger for whoever opens it again.
    encoded : what made the vectors, to place further items; known if `X` is None.
    """

    def __init__(
        self,
        collection: Any,
        X: Any = None,
        *,
        store: Store | None = None,
        name: str = "main",
        clusterer: Clusterer | str | None = None,
        strategy: QueryStrategy | str | None = None,
        seed: int | None = None,
        refit_every: int = 5,
        ahead: int = 1,
        budget: int | None = None,
        settings: Mapping[str, Any] | None = None,
        encoded: Any = None,
    ) -> None:
        items = Items.of(collection, X, clusterer, encoded)
        self.collection: Collection = items.collection
        self.encoded = items.encoded
        if len(self.collection) < 2:
            raise InputError(
                f"Expected at least 2 items to group, got {len(self.collection)}. Add more items."
            )
        self.X = check_vectors(items.X, len(self.collection))
        self.name = name
        self.store = MemoryStore() if store is None else store
        self.refit_every, self.ahead, self.budget = max(1, refit_every), max(1, ahead), budget
        self._lock, self._refitting = RLock(), RLock()
        self._log = EventLog(self.store, name, self.collection)
        self._ledger, self.positions = self._log.ledger, self._log.positions
        header = self._ledger.header
        parts = Parts.of(clusterer, strategy, header.get("settings", {}), items.encoded)
        self.clusterer, self.strategy = parts.clusterer, parts.strategy
        self._previous: Clustering | None = None
        self.model: Any = None
        self._past = PastAnswers(self._log)
        self._installed: Refitted | None = None
        self._statements = Statements(self._ledger)
        self._prefetcher = Prefetcher(self._state, self._lock)
        self.people = ALONE
        self._asking = Asking(self._log, self._state, self._prefetcher)
        self._answering = Answering(self._log, self._reservations)
        self.naming = Naming(self._log, self._lock)
        self.precedence = Precedence(self._log, self._lock)
        self.seed = int(header.get("seed", 0)) if seed is None else checked_seed(seed)
        self.settings = parts.settings if settings is None else dict(settings)
        self._open()

    def ask(self, *, by: str | None = None) -> Asked | None:
        """The open question, reserved for `by`; None when nothing is worth asking."""
        with self._lock:
            self.catch_up()
            return self._asking.ask(by)

    def put_first(self, question: Question, *, by: str | None = None) -> Asked:
        """Ask a question next, before those that are open."""
        with self._lock:
            return self._asking.put_first(question, by)

    def prefetch(self) -> tuple[str, ...]:
        """Prepare the next question, while the person thinks, for each choice; returns those."""
        return self._prefetcher.prefetch()

    def tell(
        self,
        number: int,
        choice: str,
        *,
        by: str = "me",
        seconds: float | None = None,
        name: str = "",
    ) -> None:
        """Answer a question. When this returns, the answer is safe in the ledger.

        Another person's answer is never replaced: :class:`~samekind.errors.AnsweredByOther`. With a
        `name` for the group that it puts an item into; both are undone together.
        """
        with self._lock:
            self._answering.tell(
                number, choice, by, seconds, lambda: self.naming.checked(number, choice, name)
            )

    def volunteer(
        self, question: Question, choice: str, *, by: str = "me", aside: Aside | None = None
    ) -> int:
        """Record an answer to a question that was not asked, in one event; returns its number.

        When it is undone, its question is not asked again. Links of earlier answers in `aside` do
        not count for as long as this answer holds.
        """
        with self._lock:
            data = self._log.question_data([question], self.clustering, aside)
            return self._answering.volunteer(question, choice, by, None, data)

    def edit(self, number: int, choice: str, *, by: str = "me", own: bool = False) -> None:
        """Change an earlier answer; it keeps its place in the order of answers.

        With `own`, only an answer that this person gave.
        """
        with self._lock:
            self._answering.edit(number, choice, by, own=own)
            self.clustering = self.naming.named()

    def undo(self, number: int | None = None, *, by: str | None = None) -> int | None:
        """Undo an answer (the last one by default, with `by` this person's); ask it again.

        Returns the question's number, or None when there is nothing to undo.
        """
        with self._lock:
            undone = self._answering.undo(number, by)
            self.clustering = self.naming.named()
            return undone

    def skip(self, number: int, *, by: str | None = None) -> None:
        """Defer a question until after the next refit, or until nothing else is left to ask."""
        with self._lock:
            self._answering.skip(number, by)

    def rename(self, group: int, name: str) -> None:
        """Name a group; it keeps the name across refits. An empty name removes it."""
        with self._lock:
            self.naming.name_group(group, name)
            self.clustering = self.naming.named()

    @property
    def answers(self) -> tuple[Answer, ...]:
        """The answers in force, in the order in which they were given."""
        with self._lock:
            return tuple(self._ledger.answers.values())

    def history(self, by: str, *, own: bool) -> tuple[Answer, ...]:
        """The answers as a person sees them, latest last; with `own` only this person's."""
        with self._lock:
            return self._ledger.history(by, own=own)

    @property
    def second_opinions(self) -> tuple[Answer, ...]:
        """Further people's answers to answered questions, which the groups are not learnt from."""
        with self._lock:
            return tuple(self._ledger.second.values())

    @property
    def constraints(self) -> Constraints:
        """The links that the answers state and imply."""
        return self._log.constraints

    @property
    def due(self) -> bool:
        """Whether enough answers were given, changed or undone for a refit, or one grid."""
        return self.changes >= self.refit_every or self._ledger.has_new_grid

    @property
    def changes(self) -> int:
        """Answers given, changed or undone since the last refit began."""
        return self._ledger.changes

    def asked(self, number: int) -> Asked:
        """A question by its number, answered or not."""
        number = question_number(number)
        with self._lock:
            if number not in self._ledger.asked:
                self._log.catch_up()  # another process may have asked it
            if number not in self._ledger.asked:
                raise AnswerError(f"There is no question {number}. Ask for one first.")
            return self._ledger.asked[number]

    def progress(self) -> dict[str, Any]:
        """Summarise the session as plain JSON: answers, groups, conflicts, quality."""
        with self._lock:
            return summarise(self, *self._statements.now(), moved_lately(self._ledger.refits))

    def refit(self) -> Clustering:
        """Learn from all answers so far, or take over the groups of a quicker process."""
        with self._refitting:
            self.follow()
            if not self.is_stale:
                self._fit_again()
        self._prefetcher.prefetch_again()
        return self.clustering

    @property
    def is_stale(self) -> bool:
        """Whether another process has refitted since: see :meth:`follow`."""
        return self._ledger.refits[-1] is not self._installed

    def follow(self) -> None:
        """Take over the latest groups of another process, by learning from the same answers."""
        with self._refitting:
            refit = self._ledger.refits[-1]
            if refit is not self._installed:
                snapshot, model, known = self._recomputed(refit)
                if self._learnt_from.kinds:
                    snapshot = snapshot.after(self.clustering)
                self._warm_up(snapshot.clustering)
                with self._lock:
                    self._install(snapshot, model, known)
                    self._installed = refit

    def catch_up(self, until: int = 0) -> int:
        """Read what others have written, unless event `until` is known; returns how many."""
        if 0 < until <= self._ledger.seq:
            return 0
        with self._lock:
            found = self._log.catch_up()
            self.clustering = self.naming.named()
            return found

    @property
    def quality(self) -> Accuracy | None:
        """How many items are where the person wants them; None while nothing can be said."""
        return self.statement.accuracy

    @property
    def statement(self) -> Statement:
        """What the answers in force say about the quality."""
        with self._lock:
            return self._statements.now()[0]

    def _open(self) -> None:
        """Begin the ledger, or continue from where it ended."""
        header = header_of(self)
        check_items(self, (asked.question for asked in self._ledger.asked.values()))
        if {**self._ledger.header, "version": header["version"]} != header:
            self._log.append("opened", header)
        if self._ledger.refits:
            self._restore()
        else:
            model = fit_clusterer(self.clusterer, self.X, self.constraints, self.seed)
            groups = FittedGroups.of(model, self.X)
            first = Clustering.first(*groups)
            snapshot = Snapshot.of(first, groups, self.constraints, self.collection)
            self._install(snapshot, model, self.constraints)
            if not self._record_refit(snapshot, self._ledger.seq, 0):
                self.follow()  # another process began the same session at the same moment
        self._warm_up(self.clustering)

    def _restore(self) -> None:
        """Compute the last snapshot again from the answers that it was made of."""
        wanted = self._ledger.refits[-2:] if self._needs_previous() else self._ledger.refits[-1:]
        for refit in wanted:
            self._install(*self._recomputed(refit))
            self._installed = refit

    def _recomputed(self, refit: Refitted) -> tuple[Snapshot, Any, Constraints]:
        """Compute a snapshot in the ledger again, with its model and the answers it knew."""
        known = self._log.constraints_of(self._past.answers_at(refit.after))
        model = fit_clusterer(self.clusterer, self.X, known, self.seed, self.model)
        groups = FittedGroups.of(model, self.X)
        found = recognise_groups(groups, refit, self.positions, known)
        return Snapshot.of(found, groups, known, self.collection), model, known

    def _groups_are_referenced(self) -> bool:
        """Whether the person has named groups or moved items, and so relies on their numbers."""
        return bool(self._ledger.names or self._ledger.volunteered)

    def _fit_again(self) -> None:
        with self._lock:
            constraints, after = self.constraints, self._ledger.seq
            n_refits = len(self._ledger.refits)
        model = fit_clusterer(self.clusterer, self.X, constraints, self.seed, self.model)
        groups = FittedGroups.of(model, self.X)
        referenced = self._groups_are_referenced()
        snapshot = self._next_snapshot(groups, constraints, keep=referenced)
        self._warm_up(snapshot.clustering)
        with self._lock:  # only briefly: all slow work is done
            if not referenced and self._groups_are_referenced():  # since a moment ago
                snapshot = self._next_snapshot(groups, constraints, keep=True)
            if self._record_refit(snapshot, after, n_refits):
                self._install(snapshot, model, constraints)
        del model, groups, snapshot
        self.follow()

    def _next_snapshot(self, groups: FittedGroups, known: Constraints, *, keep: bool) -> Snapshot:
        """The next snapshot. Guesses made before any kinds were told apart keep no numbers."""
        keep = keep or bool(self._learnt_from.kinds)
        following = following_groups(self.clustering, groups, known, keep, self.places)
        return Snapshot.of(following, groups, known, self.collection)

    def _record_refit(self, snapshot: Snapshot, after: int, n_refits: int) -> bool:
        """Store a refit, unless another process has refitted in the meantime."""
        now, referenced = snapshot.clustering, self._groups_are_referenced()
        places = self.places.following(now, snapshot.learnt_from, keep=referenced)
        data, refits = snapshot.event_data(after, places), self._ledger.refits
        if self._log.commit(lambda: ("refitted", data) if len(refits) == n_refits else None):
            self._installed = refits[n_refits]
        return len(refits) > n_refits and self._installed is refits[n_refits]

    @property
    def places(self) -> Places:
        """The place of each group, which gives its key, its colour and its position."""
        with self._lock:
            return Places.of(self._log, self.clustering, self._learnt_from)

    def _install(self, snapshot: Snapshot, model: Any, learnt_from: Constraints) -> None:
        self._previous = getattr(self, "clustering", None) if self._needs_previous() else None
        self._learnt_from = learnt_from
        self.clustering = self.naming.install(snapshot.clustering, learnt_from)
        self.model, self._number_of = model, snapshot.number_of

    def _warm_up(self, clustering: Clustering) -> None:
        """Let the strategy derive what it needs from a snapshot before anyone waits for it."""
        if self.budget is not None and len(self._ledger.answers) >= self.budget:
            return  # no more questions are planned
        with self._lock:
            view = self._state().view()
            if clustering is not self.clustering:
                previous = self.clustering if self._needs_previous() else None
                view = replace(view, clustering=clustering, previous=previous)
        self.strategy.propose(view, self.ahead)

    def _reservations(self, by: str | None) -> Reservations:
        return Reservations(self._ledger, self.people, by, time.time())

    def _state(self, by: str | None = None) -> SessionState:
        return SessionState(
            ledger=self._ledger,
            constraints=self.constraints,
            clustering=self.clustering,
            previous=self._previous,
            strategy=self.strategy,
            ahead=self.ahead,
            n_items=len(self.collection),
            seed=self.seed,
            budget=self.budget,
            reservations=self._reservations(by),
        )

    def _needs_previous(self) -> bool:
        return bool(getattr(self.strategy, "uses_previous", False))
