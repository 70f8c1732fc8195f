"""Session: ask, tell, undo, due, refit. The one path that every door takes.

The page, the terminal and the simulation all call :meth:`Session.ask` and :meth:`Session.tell`.
What a session knows is a fold of its ledger; what it asks is a function of ledger and seed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from threading import RLock
from typing import Any

import numpy as np

from samekind import __version__
from samekind.clustering import Clustering, Labels
from samekind.constraints import Constraints
from samekind.errors import AnswerError, ChangedCollection, InputError
from samekind.items import Collection
from samekind.ledger.fold import Asked, told_data
from samekind.ledger.log import EventLog
from samekind.ledger.store import MemoryStore
from samekind.protocols import Clusterer, QueryStrategy, Store
from samekind.questions import UNSURE, Answer, Question
from samekind.registry import find
from samekind.session.gains import Moves, expected_gain
from samekind.session.next_question import Prefetcher, SessionState
from samekind.session.quality import Quality, trust
from samekind.session.refit import (
    Estimate,
    Groups,
    Ready,
    answered_weight,
    checked_vectors,
    fitted,
    recognised,
    with_names,
)


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
    collection : the items, and X : (n, d) their vectors.
    store : the journal; in memory when None.
    name : the orientation. Several may share one store and one set of vectors.
    clusterer, strategy : objects, or names from ``samekind list``.
    seed : with the ledger, decides every question. None: the seed the ledger was begun with.
    refit_every : answers after which a refit is due.
    ahead : questions that the strategy is asked for at once; they are queued.
    budget : how many questions there will be, if that is known; some strategies plan ahead.
    settings : what a door wants to find again when the ledger is reopened (plain JSON).
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
                f"There is nothing to group: {len(collection)} item came. Bring at least two."
            )
        self.X = checked_vectors(X, len(collection))
        self.name = name
        self.store = MemoryStore() if store is None else store
        self.clusterer = find("method", clusterer)() if isinstance(clusterer, str) else clusterer
        self.strategy = find("strategy", strategy)() if isinstance(strategy, str) else strategy
        self.refit_every, self.ahead = max(1, refit_every), max(1, ahead)
        self.budget = budget
        self._lock, self._refitting = RLock(), RLock()
        self._journal = EventLog(self.store, name, collection)
        self._ledger, self.positions = self._journal.ledger, self._journal.positions
        self._previous: Clustering | None = None
        self.model: Any = None
        self._estimate = Estimate()
        self._moves = Moves()
        self._lookout = Prefetcher(self._standing, self._lock)
        header = self._ledger.header
        self.seed = int(header.get("seed", 0)) if seed is None else seed
        self.settings = dict(header.get("settings", {}) if settings is None else settings)
        self._open()

    def ask(self) -> Asked | None:
        """The open question until it is answered; None when nothing is worth asking."""
        with self._lock:
            self._journal.catch_up()
            self._name_groups()
            now = self._standing()
            if (asked := now.open_question()) is not None:
                return asked
            if questions := self._lookout.questions():
                self._journal.append("proposed", self._as_event(questions))
                return self._standing().open_question()
            return now.put_off()

    def foresee(self) -> tuple[str, ...]:
        """Prepare the question after the open one, for each choice where that is cheap.

        For doors where a person answers, while the person looks at the question. Nothing is
        stored, and :meth:`ask` gives the same questions as without. After a refit it is done again
        by itself. Returns the choices after which the next question is known.
        """
        return self._lookout.look()

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
                    f"To change that, edit the answer."
                )
            self._journal.append("told", told_data(number, choice, by, seconds))

    def volunteer(
        self, question: Question, choice: str, *, by: str = "me", seconds: float | None = None
    ) -> int:
        """Put a question oneself and answer it at once, in one event; its number comes back.

        It is an answer like any other. When it is taken back, nobody asks it again.
        """
        with self._lock:
            question.check(choice)
            data = told_data(0, choice, by, seconds) | self._as_event([question])
            del data["number"]  # the ledger gives it
            seq = self._journal.append("volunteered", data)
            found = self._ledger.volunteered
            return next(number for number in reversed(found) if found[number] == seq)

    def edit(self, number: int, choice: str, *, by: str = "me") -> None:
        """Change an earlier answer; it keeps its place in the order of answers."""
        with self._lock:
            if number not in self._ledger.answers:
                raise AnswerError(
                    f"Question {number} has no answer that could be changed. Tell it."
                )
            self._ledger.answer_of(number, choice, by, None)
            if self._ledger.answers[number].choice != choice:
                self._journal.append("told", told_data(number, choice, by, None))

    def undo(self, number: int | None = None) -> int | None:
        """Take an answer back (the last one by default); its question is open again.

        Returns the question's number, or None when there is no answer to take back.
        """
        with self._lock:
            answers = self._ledger.answers
            number = next(reversed(answers), None) if number is None else number
            if number is None:
                return None
            if number not in answers:
                raise AnswerError(f"Question {number} has no answer that could be taken back.")
            self._journal.append("undone", {"number": number})
            return number

    def skip(self, number: int) -> None:
        """Not now: the question comes back when a refit has gone by or nothing else is left."""
        with self._lock:
            if number not in self._ledger.asked or number in self._ledger.answers:
                raise AnswerError(f"Question {number} is not open, so it cannot be skipped.")
            self._journal.append("skipped", {"number": number})

    def rename(self, group: int, name: str) -> None:
        """Give a group a name, which it keeps across refits; an empty one takes it away."""
        with self._lock:
            clean = " ".join(name.split())[:200]
            self.clustering.named(group, clean)
            self._journal.append("named", {"group": group, "name": clean})
            self._name_groups()

    @property
    def answers(self) -> tuple[Answer, ...]:
        """The answers in force, in the order of telling."""
        with self._lock:
            return tuple(self._ledger.answers.values())

    @property
    def constraints(self) -> Constraints:
        """What the answers say and imply."""
        return self._journal.constraints

    @property
    def due(self) -> bool:
        """Whether enough answers have come (or been taken back) for a refit."""
        return self._ledger.changes >= self.refit_every

    def asked(self, number: int) -> Asked:
        """A question by its number, answered or not."""
        with self._lock:
            if number not in self._ledger.asked:
                raise AnswerError(f"There is no question {number}.")
            return self._ledger.asked[number]

    def progress(self) -> dict[str, Any]:
        """Counts for the person: answers by choice, groups, conflicts, until the next refit."""
        with self._lock:
            choices = [answer.choice for answer in self._ledger.answers.values()]
            gain = expected_gain(self._moves, self.quality, len(self.collection))
            return {
                "answers": len(choices),
                "choices": {choice: choices.count(choice) for choice in sorted(set(choices))},
                "unsure": choices.count(UNSURE),
                "seconds": sum(a.seconds or 0 for a in self._ledger.answers.values()),
                "placed": len(self._journal.constraints.touched),
                "conflicts": len(self._journal.constraints.conflicts),
                "groups": self.clustering.n_groups,
                "items": len(self.collection),
                "snapshot": self.clustering.snapshot,
                "until_refit": max(0, self.refit_every - self._ledger.changes),
                "gone": sorted(self.positions.gone),
                "renamed": dict(self.positions.renamed),
                **trust(self.quality, self.clustering, gain),
            }

    def refit(self, *, check: bool = True) -> Clustering:
        """Learn again from all answers so far. Asking and telling go on meanwhile.

        Then :meth:`check`, unless that is left to another thread.
        """
        with self._refitting:
            with self._lock:
                constraints, after = self._journal.constraints, self._ledger.seq
            model = fitted(self.clusterer, self.X, constraints, self.seed, self.model)
            groups = Groups.of(model, self.X)
            known = self._groups_are_known()
            ready = self._followed_by(groups, constraints, known)
            self._prepare(ready.clustering)
            with self._lock:  # for a moment: all that takes time is done
                if not known and self._groups_are_known():  # just now: they are to be found
                    ready = self._followed_by(groups, constraints, True)
                self._install(ready, model)
                self._moves = self._moves.then(len(constraints.answers), self.clustering)
                self._note_refit(ready, constraints, after)
            del model, groups, ready
        self._lookout.look_again()
        if check:
            self.check()
        return self.clustering

    def check(self) -> Quality | None:
        """Estimate the quality of the groups anew, if a random check was answered since.

        That takes a fit of its own. It never comes before a refit that is due, and may run in
        another thread while refits do: what has been found meanwhile is in :attr:`quality`.
        """
        if not self.due:
            self._estimate.renew(self.clusterer, self.X, self._journal.constraints, self.seed)
        return self.quality

    @property
    def quality(self) -> Quality | None:
        """How well the groups fit, by the random checks at the time of the last estimate."""
        return self._estimate.quality

    def predict(self, X: Any) -> Labels:
        """The group numbers of items that were not in the collection, by their vectors."""
        raw = self.model.predict(checked_vectors(X, len(X)))
        return np.array([self._number_of[int(label)] for label in raw], dtype=np.intp)

    def _open(self) -> None:
        """Begin the ledger, or take it up where it was left."""
        header = self._header(self.collection.fingerprint)
        asked = len(self._ledger.asked)
        if asked and self.positions.gone and not self._someone_is_left():
            raise ChangedCollection(
                f"None of the items in the {asked} questions of session {self.name!r} is in "
                f"{self.collection.name!r} any more. Is this the right folder? The answers are "
                "untouched; open the folder that they belong to, or begin another session."
            )
        if {**self._ledger.header, "version": __version__} != header:
            self._journal.append("opened", header)
        if self._ledger.refits:
            self._take_up()
        else:
            model = fitted(self.clusterer, self.X, self._journal.constraints, self.seed)
            groups = Groups.of(model, self.X)
            ready = Ready.of(
                Clustering.first(*groups), groups, self._journal.constraints, self.collection
            )
            self._install(ready, model)
            self._note_refit(ready, self._journal.constraints, self._ledger.seq)
        self._prepare(self.clustering)

    def _take_up(self) -> None:
        """Compute the last snapshot again from the answers that it knew."""
        events = list(self.store.read(self.name))
        wanted = self._ledger.refits[-2:] if self._needs_previous() else self._ledger.refits[-1:]
        for refit in wanted:
            past = self._ledger.until(refit.after, events)
            known = self._journal.folded(past.answers.values())
            model = fitted(self.clusterer, self.X, known, self.seed, self.model)
            groups = Groups.of(model, self.X)
            found = recognised(groups, refit, self.positions)
            self._install(Ready.of(found, groups, known, self.collection), model)
            self._learnt_from = known

    def _groups_are_known(self) -> bool:
        """Who names a group, or moves items by hand, knows the groups by their numbers."""
        return bool(self._ledger.names or self._ledger.volunteered)

    def _followed_by(self, groups: Groups, constraints: Constraints, known: bool) -> Ready:
        """The next snapshot. Guesses made before any kinds were told apart keep no numbers."""
        if self._learnt_from.kinds or known:
            weight = answered_weight(constraints)
            following = self.clustering.followed_by(*groups, weight=weight)
        else:
            following = Clustering.first(*groups, snapshot=self.clustering.snapshot + 1)
        return Ready.of(following, groups, constraints, self.collection)

    def _note_refit(self, ready: Ready, constraints: Constraints, after: int) -> None:
        self._learnt_from = constraints
        now, marks = self.clustering, ready.marks
        event = {"snapshot": now.snapshot, "after": after, "last": now.last_number, "marks": marks}
        self._journal.append("refitted", event)

    def _install(self, ready: Ready, model: Any) -> None:
        self._previous = getattr(self, "clustering", None) if self._needs_previous() else None
        self.clustering = ready.clustering
        self._name_groups()
        self.model, self._number_of = model, ready.number_of

    def _name_groups(self) -> None:
        self.clustering = with_names(self.clustering, self._ledger.names)

    def _prepare(self, clustering: Clustering) -> None:
        """Let the strategy derive what it needs from a snapshot, off the path of `ask`."""
        with self._lock:
            view = self._standing().view()
            if clustering is not self.clustering:
                previous = self.clustering if self._needs_previous() else None
                view = replace(view, clustering=clustering, previous=previous)
        self.strategy.propose(view, self.ahead)

    def _standing(self) -> SessionState:
        return SessionState(
            ledger=self._ledger,
            constraints=self._journal.constraints,
            clustering=self.clustering,
            previous=self._previous,
            strategy=self.strategy,
            ahead=self.ahead,
            n_items=len(self.collection),
            seed=self.seed,
            budget=self.budget,
        )

    def _someone_is_left(self) -> bool:
        n = len(self.collection)
        return any(i < n for asked in self._ledger.asked.values() for i in asked.question.items())

    def _needs_previous(self) -> bool:
        return bool(getattr(self.strategy, "uses_previous", False))

    def _as_event(self, questions: Sequence[Question]) -> dict[str, Any]:
        shown = {i for question in questions for i in question.items()}
        return {
            "snapshot": self.clustering.snapshot,
            "questions": [question.to_json(self.positions.name) for question in questions],
            "stamps": {self.collection.id(i): self.collection[i].stamp for i in sorted(shown)},
        }

    def _header(self, fingerprint: str) -> dict[str, Any]:
        return {
            "version": __version__,
            "collection": self.collection.name,
            "n_items": len(self.collection),
            "fingerprint": fingerprint,
            "seed": self.seed,
            "settings": self.settings,
        }
