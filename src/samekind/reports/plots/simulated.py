"""Simulated runs for pictures: snapshots along the answers, and the first picks of strategies."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from samekind.constraints import Constraints
from samekind.errors import InputError
from samekind.parameters import written
from samekind.protocols import View
from samekind.registry import find, make_method, weighs_blocks, with_blocks
from samekind.reports.plots.picks import Picks
from samekind.reports.plots.snapshots import Snapshots
from samekind.session import Session
from samekind.simulation import simulate
from samekind.sources import label_texts
from samekind.workspace.labelled import is_table, labelled_set
from samekind.workspace.pile import check_groups, check_names, encoded_pile

if TYPE_CHECKING:
    from samekind.clustering import Clustering
    from samekind.protocols import Progress, QueryStrategy
    from samekind.sources import LabelledSet


def named_method(method: str, parameters: Mapping[str, Any]) -> str:
    """Name a method with the parameters that were given.

    >>> named_method("ncp", {"variant": "acp"}), named_method("kmeans", {})
    ('ncp (variant=acp)', 'kmeans')
    """
    given = ", ".join(f"{name}={written(value)}" for name, value in parameters.items())
    return f"{method} ({given})" if given else method


def _ignore(notice: str) -> None:
    """Drop a notice."""


@dataclass(frozen=True)
class Evolution:
    """Simulates one person per orientation, all starting with the same groups."""

    method: str
    strategy: str
    encoder: str | None = None
    questions: int = 40
    groups: int | None = None
    refit_every: int = 5
    seed: int = 0
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def run(
        self,
        source: str,
        orientations: Sequence[str] = (),
        *,
        on_notice: Callable[[str], None] = _ignore,
        progress: Progress | None = None,
    ) -> Snapshots:
        """Simulate each orientation, and keep the first and the last snapshots."""
        check_names(self.method, self.strategy, self.encoder)
        labelled = _open(source, orientations)
        check_groups(self.groups, labelled.collection)
        chosen = list(dict.fromkeys(orientations)) or list(labelled.orientations)[:2]
        for name in chosen:
            labelled.truth(name)  # an unknown name fails early, before any long work
        if not chosen:
            raise InputError(f"{source!r} has no orientation. Name one with --orientation.")
        found: Snapshots | None = None
        for name in chosen:
            on_notice(f"Asking {self.questions} questions about {name} ...")
            found = self._with(labelled, chosen, name, found, progress)
        assert found is not None
        return found

    def _with(
        self,
        labelled: LabelledSet,
        chosen: Sequence[str],
        asked: str,
        so_far: Snapshots | None,
        progress: Progress | None,
    ) -> Snapshots:
        """Return the snapshots so far, with those of one more run."""
        found = [] if so_far is None else [so_far]
        last: list[tuple[Session, int]] = []

        def on_record(session: Session, n_answers: int) -> None:
            last[:] = [(session, n_answers)]
            if not found:
                kinds = {name: _kinds(labelled, name, session.collection.ids()) for name in chosen}
                begin = Snapshots(kinds, name=labelled.name, note=self._note())
                found.append(begin.with_moment("Before any answer", session.clustering, 0))

        simulate(
            labelled, orientation=asked, method=self.method, strategy=self.strategy,
            parameters=self.parameters, encoder=self.encoder, questions=self.questions,
            groups=self.groups,
            refit_every=self.refit_every, seed=self.seed, progress=progress, on_record=on_record,
        )  # fmt: skip
        ((session, n_answers),) = last
        title = f"Asked about {asked}"
        return found[0].with_moment(title, session.clustering, n_answers, asked=asked)

    def _note(self) -> str:
        given = "" if self.groups is None else f", {self.groups} groups given"
        method = named_method(self.method, self.parameters)
        return f"Method {method}, strategy {self.strategy}{given}, seed {self.seed}"


@dataclass(frozen=True)
class FirstPicks:
    """Finds what strategies would ask about first, from the same groups, without asking anybody."""

    method: str
    encoder: str | None = None
    questions: int = 50
    groups: int | None = None
    seed: int = 0
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def run(
        self,
        source: str,
        orientation: str | None,
        strategies: Mapping[str, str],
        progress: Progress | None = None,
    ) -> Picks:
        """Return the items that each strategy picks, by the heading given to it."""
        for strategy in strategies.values():
            check_names(self.method, strategy, self.encoder)
        labelled = _open(source, [orientation] if orientation else [])
        check_groups(self.groups, labelled.collection)
        column = orientation or next(iter(labelled.orientations))
        labelled.truth(column)  # an unknown name fails early, before any long work
        mixed = weighs_blocks(self.method)
        pile = encoded_pile(
            labelled.collection, encoder=self.encoder, mixed=mixed, progress=progress
        )
        truth = _kinds(labelled, column, pile.collection.ids())
        model = make_method(self.method, self.groups, self.parameters)
        known = self.groups is not None or "n_clusters" in self.parameters
        if not known and hasattr(model, "n_clusters"):
            model = make_method(self.method, len(set(truth.tolist()) - {""}), self.parameters)
        model = with_blocks(model, pile.encoded.blocks)
        session = Session(pile.collection, pile.X, clusterer=model, seed=self.seed)
        picked: dict[str, list[int]] = {}
        exemplars: set[int] = set()
        for title, strategy in strategies.items():
            picked[title], shown = self._asked(session.clustering, find("strategy", strategy)())
            exemplars |= shown
        count = session.clustering.n_groups
        method = named_method(self.method, self.parameters)
        note = f"Method {method}, {count} groups, {pile.encoded.encoder.name}, "
        return Picks(
            session.clustering.space, session.clustering.labels, column, truth, picked,
            sorted(exemplars), labelled.name, f"{note}seed {self.seed}",
        )  # fmt: skip

    def _asked(self, clustering: Clustering, strategy: QueryStrategy) -> tuple[list[int], set[int]]:
        """Return the items asked about, and those that represent the groups."""
        known, rng = Constraints(len(clustering.labels)), np.random.default_rng(self.seed)
        view = View(clustering, known, rng, budget=self.questions, seed=self.seed)
        items: list[int] = []
        exemplars: set[int] = set()
        for question in strategy.propose(view, self.questions)[: self.questions]:
            groups = [question.exemplars(choice) for choice in question.choices()]
            shown = {item for group in groups for item in group}
            items += [item for item in question.items() if item not in shown]
            exemplars |= {group[0] for group in groups if group}
        return items, exemplars


def _open(source: str, orientations: Sequence[str]) -> LabelledSet:
    """Open a labelled set; only in a table are the orientations the label columns to read."""
    wanted = orientations if is_table(source) else []
    return labelled_set(source, wanted, option="--orientation")


def _kinds(labelled: LabelledSet, orientation: str, ids: Iterable[str]) -> np.ndarray:
    """(n,) the true kinds of these items, as texts."""
    kept = [labelled.collection.position(id) for id in ids]
    return np.asarray(label_texts(labelled.orientations[orientation]))[kept]
