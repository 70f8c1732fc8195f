"""Session: ask, tell, undo, refit. The one path that the page, the terminal and simulations take.

What a session knows is a fold of its ledger; what it asks is a function of ledger and seed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from threading import RLock
from typing import Any

import numpy as np

from samekind import __version__
from samekind.clustering import Clustering, Labels
from samekind.constraints import Constraints
from samekind.errors import AnswerError, ChangedCollection, InputError
from samekind.items import Collection
from samekind.ledger.fold import Asked, EventLog, answer_data
from samekind.ledger.store import MemoryStore
from samekind.protocols import Clusterer, QueryStrategy, Store
from samekind.questions import UNSURE, Answer, Question
from samekind.registry import find
from samekind.session.quality import Moves, Quality, QualityEstimate, expected_gain, quality_summary
from samekind.session.refit import (
    FittedGroups,
    Snapshot,
    answered_weight,
    check_vectors,
    fit_clusterer,
    recognise_groups,
    with_names,
)
from samekind.session.state import Prefetcher, SessionState


class Session:
    """One person's grouping (an orientation) of one collection.

    >>> from samekind import Session
    >>> from samekind.sources import open_source
    >>> tiles = open_source("tiles")
    >>> session = Session(tiles, np.random.default_rng(0).normal(size=(len(tiles), 8)))
    >>> asked = session.ask()
    >>> session.tell(asked.number, asked.question.choices()[0])
    >>> len(session.answers)
    1

    Parameters
    ----------
    collection : the items. X : (n, d) their vectors.
    store : where the ledger is kept; None keeps it in memory.
    name : of the orientation. Several may share one store and one set of vectors.
    clusterer, strategy : objects, or names from ``samekind list``.
    seed : decides every question, together with the ledger. None: the seed in the ledger.
    refit_every : answers after which a refit is due.
    ahead : questions that the strategy is asked for at once; they are queued.
    budget : the number of questions there will be, if known; some strategies plan with it.
    settings : plain JSON to keep in the ledger for whoever opens it again.
    """

    def __init__(
        self,
        collection: Collection,
        X: Any,
        *,
        store: Store | None = None,
        name: str = "main",
        clusterer: Clusterer | str = "live",
        strategy: QueryStrategy | str = "live",
        seed: int | None = None,
        refit_every: int = 5,
        ahead: int = 1,
        budget: int | None = None,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        self.collection = collection
        if len(collection) < 2:
            raise InputError(
                f"Expected at least 2 items to group, got {len(collection)}. Add more items."
            )
        self.X = check_vectors(X, len(collection))
        self.name = name
        self.store = MemoryStore() if store is None else store
        self.clusterer = find("method", clusterer)() if isinstance(clusterer, str) else clusterer
        self.strategy = find("strategy", strategy)() if isinstance(strategy, str) else strategy
        self.refit_every, self.ahead = max(1, refit_every), max(1, ahead)
        self.budget = budget
        self._lock, self._refitting = RLock(), RLock()
        self._log = EventLog(self.store, name, collection)
        self._ledger, self.positions = self._log.ledger, self._log.positions
        self._previous: Clustering | None = None
        self.model: Any = None
        self._estimate = QualityEstimate()
        self._moves = Moves()
        self._prefetcher = Prefetcher(self._state, self._lock)
        header = self._ledger.header
        self.seed = int(header.get("seed", 0)) if seed is None else seed
        self.settings = dict(header.get("settings", {}) if settings is None else settings)
        self._open()

    def ask(self) -> Asked | None:
        """The open question until it is answered; None when nothing is worth asking."""
        with self._lock:
            self._log.catch_up()
            self._name_groups()
            now = self._state()
            if (asked := now.open_question()) is not None:
                return asked
            if questions := self._prefetcher.questions():
                self._log.append("proposed", self._log.question_data(questions, now.clustering))
                return self._state().open_question()
            return now.deferred_question()

    def prefetch(self) -> tuple[str, ...]:
        """Prepare the question after the open one, for each choice where that is quick.

        To be called while the person thinks. Nothing is stored, and :meth:`ask` gives the same
        questions as without. A refit repeats it. Returns the choices that are prepared.
        """
        return self._prefetcher.prefetch()

    def tell(
        self, number: int, choice: str, *, by: str = "me", seconds: float | None = None
    ) -> None:
        """Answer a question. When this returns, the answer is safe in the ledger."""
        with self._lock:
            self._ledger.answer_of(number, choice, by, seconds)
            earlier = self._ledger.answers.get(number)
            if earlier is not None:
                if earlier.choice == choice:
                    return
                raise AnswerError(
                    f"Question {number} was already answered with {earlier.choice!r}. "
                    "To change that, edit the answer."
                )
            self._log.append("told", answer_data(number, choice, by, seconds))

    def volunteer(
        self, question: Question, choice: str, *, by: str = "me", seconds: float | None = None
    ) -> int:
        """Record an answer to a question that was not asked, in one event; returns its number.

        It counts like any other answer. When it is undone, its question is not asked again.
        """
        with self._lock:
            question.check(choice)
            data = answer_data(0, choice, by, seconds)
            data |= self._log.question_data([question], self.clustering)
            del data["number"]  # the ledger assigns it
            seq = self._log.append("volunteered", data)
            found = self._ledger.volunteered
            return next(number for number in reversed(found) if found[number] == seq)

    def edit(self, number: int, choice: str, *, by: str = "me") -> None:
        """Change an earlier answer; it keeps its place in the order of answers."""
        with self._lock:
            if number not in self._ledger.answers:
                raise AnswerError(f"Question {number} has no answer to change. Answer it first.")
            self._ledger.answer_of(number, choice, by, None)
            if self._ledger.answers[number].choice != choice:
                self._log.append("told", answer_data(number, choice, by, None))

    def undo(self, number: int | None = None) -> int | None:
        """Undo an answer (the last one by default); its question is open again.

        Returns the question's number, or None when there is nothing to undo.
        """
        with self._lock:
            answers = self._ledger.answers
            number = next(reversed(answers), None) if number is None else number
            if number is None:
                return None
            if number not in answers:
                raise AnswerError(f"Question {number} has no answer to undo.")
            self._log.append("undone", {"number": number})
            return number

    def skip(self, number: int) -> None:
        """Defer a question until after the next refit, or until nothing else is left to ask."""
        with self._lock:
            if number not in self._ledger.asked or number in self._ledger.answers:
                raise AnswerError(f"Question {number} is not open, so it cannot be skipped.")
            self._log.append("skipped", {"number": number})

    def rename(self, group: int, name: str) -> None:
        """Name a group; it keeps the name across refits. An empty name removes it."""
        with self._lock:
            clean = " ".join(name.split())[:200]
            self.clustering.named(group, clean)
            self._log.append("named", {"group": group, "name": clean})
            self._name_groups()

    @property
    def answers(self) -> tuple[Answer, ...]:
        """The answers in force, in the order in which they were given."""
        with self._lock:
            return tuple(self._ledger.answers.values())

    @property
    def constraints(self) -> Constraints:
        """The links that the answers state and imply."""
        return self._log.constraints

    @property
    def due(self) -> bool:
        """Whether enough answers were given, changed or undone for a refit."""
        return self._ledger.changes >= self.refit_every

    def asked(self, number: int) -> Asked:
        """A question by its number, answered or not."""
        with self._lock:
            if number not in self._ledger.asked:
                raise AnswerError(f"There is no question {number}. Ask for one first.")
            return self._ledger.asked[number]

    def progress(self) -> dict[str, Any]:
        """Summarise the session as plain JSON: answers, groups, conflicts, quality."""
        with self._lock:
            choices = [answer.choice for answer in self._ledger.answers.values()]
            gain = expected_gain(self._moves, self.quality, len(self.collection))
            return {
                "answers": len(choices),
                "choices": {choice: choices.count(choice) for choice in sorted(set(choices))},
                "unsure": choices.count(UNSURE),
                "seconds": sum(a.seconds or 0 for a in self._ledger.answers.values()),
                "placed": len(self.constraints.touched),
                "conflicts": len(self.constraints.conflicts),
                "groups": self.clustering.n_groups,
                "items": len(self.collection),
                "snapshot": self.clustering.snapshot,
                "until_refit": max(0, self.refit_every - self._ledger.changes),
                "gone": sorted(self.positions.gone),
                "renamed": dict(self.positions.renamed),
                **quality_summary(self.quality, self.clustering, gain),
            }

    def refit(self, *, check: bool = True) -> Clustering:
        """Learn from all answers so far. Questions can be asked and answered meanwhile.

        Ends with :meth:`check`, unless that is left to another thread.
        """
        with self._refitting:
            with self._lock:
                constraints, after = self.constraints, self._ledger.seq
            model = fit_clusterer(self.clusterer, self.X, constraints, self.seed, self.model)
            groups = FittedGroups.of(model, self.X)
            referenced = self._groups_are_referenced()
            snapshot = self._next_snapshot(groups, constraints, referenced)
            self._warm_up(snapshot.clustering)
            with self._lock:  # only briefly: all slow work is done
                if not referenced and self._groups_are_referenced():  # since a moment ago
                    snapshot = self._next_snapshot(groups, constraints, True)
                self._install(snapshot, model)
                self._moves = self._moves.then(len(constraints.answers), self.clustering)
                self._record_refit(snapshot, constraints, after)
            del model, groups, snapshot
        self._prefetcher.prefetch_again()
        if check:
            self.check()
        return self.clustering

    def check(self) -> Quality | None:
        """Update the estimate of the quality, if a random check was answered since the last one.

        That takes a fit of its own, so it waits for a refit that is due. It may run in another
        thread during refits: the latest estimate is in :attr:`quality`.
        """
        if not self.due:
            self._estimate.update(self.clusterer, self.X, self.constraints, self.seed)
        return self.quality

    @property
    def quality(self) -> Quality | None:
        """The latest estimate of how well the groups fit; None while there are too few checks."""
        return self._estimate.quality

    def predict(self, X: Any) -> Labels:
        """The group numbers of items outside the collection, by their vectors."""
        raw = self.model.predict(check_vectors(X, len(X)))
        return np.array([self._number_of[int(label)] for label in raw], dtype=np.intp)

    def _open(self) -> None:
        """Begin the ledger, or continue from where it ended."""
        header = self._header()
        asked = len(self._ledger.asked)
        if asked and self.positions.gone and not self._knows_an_item():
            raise ChangedCollection(
                f"Expected items from the {asked} questions of session {self.name!r}, but none of "
                f"them is in {self.collection.name!r}. Open the folder that the answers belong to, "
                "or begin another session. The answers were not changed."
            )
        if {**self._ledger.header, "version": __version__} != header:
            self._log.append("opened", header)
        if self._ledger.refits:
            self._restore()
        else:
            model = fit_clusterer(self.clusterer, self.X, self.constraints, self.seed)
            groups = FittedGroups.of(model, self.X)
            first = Clustering.first(*groups)
            snapshot = Snapshot.of(first, groups, self.constraints, self.collection)
            self._install(snapshot, model)
            self._record_refit(snapshot, self.constraints, self._ledger.seq)
        self._warm_up(self.clustering)

    def _restore(self) -> None:
        """Compute the last snapshot again from the answers that it was made of."""
        events = list(self.store.read(self.name))
        wanted = self._ledger.refits[-2:] if self._needs_previous() else self._ledger.refits[-1:]
        for refit in wanted:
            past = self._ledger.until(refit.after, events)
            known = self._log.constraints_of(past.answers.values())
            model = fit_clusterer(self.clusterer, self.X, known, self.seed, self.model)
            groups = FittedGroups.of(model, self.X)
            found = recognise_groups(groups, refit, self.positions)
            self._install(Snapshot.of(found, groups, known, self.collection), model)
            self._learnt_from = known

    def _groups_are_referenced(self) -> bool:
        """Whether the person has named groups or moved items, and so relies on their numbers."""
        return bool(self._ledger.names or self._ledger.volunteered)

    def _next_snapshot(
        self, groups: FittedGroups, constraints: Constraints, referenced: bool
    ) -> Snapshot:
        """The next snapshot. Guesses made before any kinds were told apart keep no numbers."""
        if self._learnt_from.kinds or referenced:
            weight = answered_weight(constraints)
            following = self.clustering.followed_by(*groups, weight=weight)
        else:
            following = Clustering.first(*groups, snapshot=self.clustering.snapshot + 1)
        return Snapshot.of(following, groups, constraints, self.collection)

    def _record_refit(self, snapshot: Snapshot, constraints: Constraints, after: int) -> None:
        self._learnt_from = constraints
        now = self.clustering
        event = {"snapshot": now.snapshot, "after": after, "last": now.last_number}
        self._log.append("refitted", {**event, "marks": snapshot.marks})

    def _install(self, snapshot: Snapshot, model: Any) -> None:
        self._previous = getattr(self, "clustering", None) if self._needs_previous() else None
        self.clustering = snapshot.clustering
        self._name_groups()
        self.model, self._number_of = model, snapshot.number_of

    def _name_groups(self) -> None:
        self.clustering = with_names(self.clustering, self._ledger.names)

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

    def _state(self) -> SessionState:
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
        )

    def _knows_an_item(self) -> bool:
        """Whether any item that was asked about is still in the collection."""
        n = len(self.collection)
        return any(i < n for asked in self._ledger.asked.values() for i in asked.question.items())

    def _needs_previous(self) -> bool:
        return bool(getattr(self.strategy, "uses_previous", False))

    def _header(self) -> dict[str, Any]:
        return {
            "version": __version__,
            "collection": self.collection.name,
            "n_items": len(self.collection),
            "fingerprint": self.collection.fingerprint,
            "seed": self.seed,
            "settings": self.settings,
        }
