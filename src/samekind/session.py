"""Session: ask, tell, undo, due, refit. The one path that every door takes.

The page, the terminal and the simulation all call :meth:`Session.ask` and :meth:`Session.tell`.
What a session knows is a fold of its ledger; what it asks is a function of ledger and seed.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from threading import RLock
from typing import Any

import numpy as np

from samekind import __version__
from samekind.checks import Quality, trust
from samekind.clustering import Clustering, Labels
from samekind.constraints import Constraints
from samekind.errors import AnswerError, ChangedCollection, InputError
from samekind.gains import Moves, expected_gain
from samekind.items import Collection
from samekind.ledger import Asked, Ledger, told_data
from samekind.positions import Positions
from samekind.protocols import Clusterer, Event, QueryStrategy, Store, View
from samekind.questions import UNSURE, Answer, Question
from samekind.refits import (
    Groups,
    answered_weight,
    checked_vectors,
    cross_checked,
    fitted,
    marked,
    recognised,
)
from samekind.registry import find
from samekind.store import MemoryStore


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
        clusterer: Clusterer | str = "propagation",
        strategy: QueryStrategy | str = "placement",
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
        self.positions = Positions(collection)
        self._ledger = Ledger(self.positions)
        self._constraints = Constraints(len(collection))
        self._previous: Clustering | None = None
        self.model: Any = None
        self.quality: Quality | None = None
        self._moves = Moves()
        self._catch_up()
        header = self._ledger.header
        self.seed = int(header.get("seed", 0)) if seed is None else seed
        self.settings = dict(header.get("settings", {}) if settings is None else settings)
        self._open()

    def ask(self) -> Asked | None:
        """The open question until it is answered; None when nothing is worth asking."""
        with self._lock:
            self._catch_up()
            if (asked := self._open_question()) is not None:
                return asked
            if questions := self._proposals():
                self._append("proposed", self._as_event(questions))
                return self._open_question()
            return self._put_off()

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
            self._append("told", told_data(number, choice, by, seconds))

    def edit(self, number: int, choice: str, *, by: str = "me") -> None:
        """Change an earlier answer; it keeps its place in the order of answers."""
        with self._lock:
            if number not in self._ledger.answers:
                raise AnswerError(
                    f"Question {number} has no answer that could be changed. Tell it."
                )
            self._ledger.answer_of(number, choice, by, None)
            if self._ledger.answers[number].choice != choice:
                self._append("told", told_data(number, choice, by, None))

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
            self._append("undone", {"number": number})
            return number

    def skip(self, number: int) -> None:
        """Not now: the question comes back when a refit has gone by or nothing else is left."""
        with self._lock:
            if number not in self._ledger.asked or number in self._ledger.answers:
                raise AnswerError(f"Question {number} is not open, so it cannot be skipped.")
            self._append("skipped", {"number": number})

    def rename(self, group: int, name: str) -> None:
        """Give a group a name, which it keeps across refits; an empty one takes it away."""
        with self._lock:
            clean = " ".join(name.split())[:200]
            self.clustering.named(group, clean)
            self._append("named", {"group": group, "name": clean})

    @property
    def answers(self) -> tuple[Answer, ...]:
        """The answers in force, in the order of telling."""
        with self._lock:
            return tuple(self._ledger.answers.values())

    @property
    def constraints(self) -> Constraints:
        """What the answers say and imply."""
        return self._constraints

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
                "placed": len(self._constraints.touched),
                "conflicts": len(self._constraints.conflicts),
                "groups": self.clustering.n_groups,
                "items": len(self.collection),
                "snapshot": self.clustering.snapshot,
                "until_refit": max(0, self.refit_every - self._ledger.changes),
                "gone": sorted(self.positions.gone),
                "renamed": dict(self.positions.renamed),
                **trust(self.quality, self.clustering, gain),
            }

    def refit(self) -> Clustering:
        """Learn again from all answers so far. Asking and telling go on meanwhile."""
        with self._refitting:
            with self._lock:
                constraints, after = self._constraints, self._ledger.seq
            model = fitted(self.clusterer, self.X, constraints, self.seed, self.model)
            groups = Groups.of(model, self.X)
            with self._lock:
                self._install(self._following(groups, constraints), model, groups)
                self._moves = self._moves.then(len(constraints.answers), self.clustering)
                self._note_refit(constraints, after)
                self._prepare()
            del model, groups  # the check fits another model: the groups need not wait for it
            self.quality = cross_checked(self.clusterer, self.X, constraints, self.seed)
            return self.clustering

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
            self._append("opened", header)
        if self._ledger.refits:
            self._take_up()
        else:
            model = fitted(self.clusterer, self.X, self._constraints, self.seed)
            groups = Groups.of(model, self.X)
            self._install(Clustering.first(*groups), model, groups)
            self._note_refit(self._constraints, self._ledger.seq)
        self._prepare()

    def _take_up(self) -> None:
        """Compute the last snapshot again from the answers that it knew."""
        events = list(self.store.read(self.name))
        wanted = self._ledger.refits[-2:] if self._needs_previous() else self._ledger.refits[-1:]
        for refit in wanted:
            past = self._ledger.until(refit.after, events)
            known = self._folded(past.answers.values())
            model = fitted(self.clusterer, self.X, known, self.seed, self.model)
            groups = Groups.of(model, self.X)
            self._install(recognised(groups, refit, self.positions), model, groups)
            self._learnt_from = known

    def _following(self, groups: Groups, constraints: Constraints) -> Clustering:
        """The next snapshot. Guesses made before any kinds were told apart keep no numbers."""
        if not self._learnt_from.kinds and not self._ledger.names:
            return Clustering.first(*groups, snapshot=self.clustering.snapshot + 1)
        return self.clustering.followed_by(*groups, weight=answered_weight(constraints))

    def _note_refit(self, constraints: Constraints, after: int) -> None:
        self._learnt_from = constraints
        now = self.clustering
        marks = marked(now, constraints, self.collection)
        event = {"snapshot": now.snapshot, "after": after, "last": now.last_number, "marks": marks}
        self._append("refitted", event)

    def _install(self, clustering: Clustering, model: Any, groups: Groups) -> None:
        names = {k: v for k, v in self._ledger.names.items() if v and k in clustering.numbers}
        for number, name in names.items():
            clustering = clustering.named(number, name)
        self._previous = getattr(self, "clustering", None) if self._needs_previous() else None
        self.clustering = clustering
        self.model = model
        first = {
            int(label): int(i)
            for label, i in zip(*np.unique(groups.labels, return_index=True), strict=True)
        }
        self._number_of = {label: int(clustering.labels[i]) for label, i in first.items()}

    def _prepare(self) -> None:
        """Let the strategy derive what it needs from the new snapshot, off the path of `ask`."""
        self.strategy.propose(self._view(len(self._ledger.asked) + 1), self.ahead)

    def _view(self, number: int) -> View:
        return View(
            clustering=self.clustering,
            previous=self._previous,
            constraints=self._constraints,
            rng=np.random.default_rng((self.seed, number)),
            spent=len(self._ledger.answers),
            budget=self.budget,
            passed=self._ledger.passed,
            seed=self.seed,
        )

    def _proposals(self) -> list[Question]:
        passed = set(self._ledger.passed)
        proposed = self.strategy.propose(self._view(len(self._ledger.asked) + 1), self.ahead)
        return [q for q in proposed if not self._implied(q) and q not in passed]

    def _open_question(self) -> Asked | None:
        ledger = self._ledger
        late = {n for n, at in ledger.skipped.items() if at == ledger.snapshot}
        for number in (*reversed(ledger.reopened), *ledger.pending):
            asked = ledger.asked[number]
            if number in late or self._implied(asked.question) or self._is_gone(asked.question):
                continue
            return asked
        return None

    def _put_off(self) -> Asked | None:
        """The oldest skipped question, when there is nothing else."""
        waiting = (self._ledger.asked[n] for n in self._ledger.skipped)
        open_ones = (a for a in waiting if not self._implied(a.question))
        return next((a for a in open_ones if not self._is_gone(a.question)), None)

    def _implied(self, question: Question) -> bool:
        return question.truthful(self._constraints.same) != UNSURE

    def _is_gone(self, question: Question) -> bool:
        return max(question.items()) >= len(self.collection)

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

    def _append(self, kind: str, data: dict[str, Any]) -> None:
        event = Event(kind, data, time.time())
        seq = self.store.append(self.name, event)
        if seq == self._ledger.seq + 1:
            self._fold(Event(kind, data, event.at, seq))
        else:  # another process wrote in between: take its events first
            self._catch_up()

    def _catch_up(self) -> None:
        events = list(self.store.read(self.name, after=self._ledger.seq))
        for event in events:
            self._fold(event, refold=False)
        if any(event.kind in ("told", "undone", "proposed") for event in events):
            self._constraints = self._folded(self._ledger.answers.values())

    def _fold(self, event: Event, *, refold: bool = True) -> None:
        if event.kind == "proposed":
            self.positions.remember(event.data.get("stamps", {}))
        self._ledger.fold(event)
        known, told = self._constraints, self._ledger.answers
        if event.kind == "named" and hasattr(self, "clustering"):
            group, name = int(event.data["group"]), str(event.data["name"])
            if group in self.clustering.numbers:
                self.clustering = self.clustering.named(group, name)
        if not refold:
            return
        if known.n_gone != len(self.positions.gone):
            self._constraints = self._folded(told.values())
        elif event.kind == "told" and len(told) == len(known.answers) + 1:
            self._constraints = known.with_answer(next(reversed(told.values())))
        elif event.kind in ("told", "undone"):
            self._constraints = self._folded(told.values())

    def _folded(self, answers: Any) -> Constraints:
        gone = len(self.positions.gone)
        return Constraints.from_answers(len(self.collection), answers, n_gone=gone)
