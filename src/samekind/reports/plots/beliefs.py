"""Beliefs about a few items: samples of groupings before and after a simulated person's answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from samekind.constraints import Constraints
from samekind.items import Collection
from samekind.parameters import written
from samekind.questions.wording import plural
from samekind.registry import find, make_method
from samekind.reports.plots.posterior import MAX_ITEMS, Belief
from samekind.session import Session
from samekind.simulation.loop import run
from samekind.simulation.people import Truth
from samekind.workspace.labelled import is_table, labelled_set
from samekind.workspace.pile import encoded_pile

if TYPE_CHECKING:
    from samekind.protocols import Progress


class Sample(NamedTuple):
    """Items with their vectors, and their true kinds, which only the simulated person sees."""

    name: str
    collection: Collection
    X: NDArray[np.float32]
    truth: NDArray[np.intp]

    def at_most(self, n: int, seed: int) -> Sample:
        """Draw at most `n` items whose kinds are known."""
        known = np.flatnonzero(self.truth >= 0)
        if len(known) == len(self.truth) <= n:
            return self._replace(name=f"{len(known)} {self.name}")
        drawn = np.sort(np.random.default_rng(seed).permutation(known)[:n])
        name = f"{len(drawn)} of {len(self.truth):,} {self.name}"
        return Sample(name, self.collection.take(drawn.tolist()), self.X[drawn], self.truth[drawn])


def random_points(n: int, seed: int) -> Sample:
    """Draw points from a 2-D mixture whose groups overlap a little."""
    import torch

    from samekind.clusterers.ncp.amortized.generators import GaussianMixtures
    from samekind.sources import vectors_collection

    mixture = GaussianMixtures(spread=4.0, scale=(0.5, 2.0), scales="group", max_groups=n)
    x, labels, _ = mixture.draw(1, torch.Generator().manual_seed(seed), (n, n))
    X = np.ascontiguousarray(x[0].numpy())
    collection = vectors_collection("points", X, "random points")
    return Sample("points", collection, X, labels[0].numpy().astype(np.intp))


def labelled_items(
    source: str, orientation: str | None, encoder: str | None, progress: Progress | None = None
) -> Sample:
    """Open and encode a labelled set."""
    wanted = [orientation] if orientation and is_table(source) else []
    labelled = labelled_set(source, wanted, option="--orientation")
    truth, _ = labelled.truth(orientation or next(iter(labelled.orientations)))
    pile = encoded_pile(labelled.collection, encoder=encoder, mixed=False, progress=progress)
    kept = [labelled.collection.position(id) for id in pile.collection.ids()]
    return Sample(labelled.name, pile.collection, pile.X, truth[kept])


@dataclass(frozen=True)
class Beliefs:
    """Samples groupings before and after the answers of a simulated person.

    Parameters
    ----------
    samples : groupings that are drawn.
    strategy : chooses the questions.
    parameters : of NCP, such as weights, variant and estimate.
    """

    samples: int
    strategy: str
    seed: int
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def run(self, pile: Sample, questions: int, on_notice: Callable[[str], None]) -> list[Belief]:
        """Return what is believed before any answer, and after the last one."""
        strategy = find("strategy", self.strategy)()  # an unknown name fails early
        found = [self.believe("Before any answer", pile, Constraints(len(pile.truth)))]
        if questions:
            session = Session(
                pile.collection, pile.X, clusterer=self._model(), strategy=strategy,
                seed=self.seed, refit_every=1, budget=questions,
            )  # fmt: skip
            answers = run(session, Truth(pile.truth), questions).n_answers
            if answers < questions:
                on_notice(f"Only {plural(answers, 'question was', 'questions were')} worth asking.")
            title = f"After {plural(answers, 'answer')}"
            found.append(self.believe(title, pile, session.constraints))
        return found

    def believe(self, title: str, pile: Sample, known: Constraints) -> Belief:
        """Sample groupings that agree with the answers."""
        draws = self._model().fit(pile.X, constraints=known).draws_
        told = zip(*known.links()[:3], strict=True)
        links = [(int(a), int(b), bool(same)) for a, b, same in told]
        return Belief(title, draws.labels.astype(np.intp), np.asarray(draws.weight), links)

    def note(self) -> str:
        """Describe what the picture depends on."""
        shown = {k: Path(v).name if k == "weights" else v for k, v in self.parameters.items()}
        own = "".join(f", {name} {written(value)}" for name, value in shown.items())
        return f"{self.samples:,} samples, questions by {self.strategy}, seed {self.seed}{own}"

    def _model(self) -> Any:
        own = {"n_samples": self.samples, "max_placed": MAX_ITEMS, **self.parameters}
        return make_method("ncp", parameters=own).set_params(random_state=self.seed)
