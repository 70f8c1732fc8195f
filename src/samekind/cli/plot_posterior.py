"""``samekind plot posterior``: how a few items may be grouped, before and after answers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from samekind.cli.console import note, progress_bar, say
from samekind.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from samekind.constraints import Constraints
    from samekind.items import Collection
    from samekind.reports.plots.posterior import Belief


def posterior(
    source: Annotated[
        str | None,
        typer.Argument(help="A set (tiles, digits) or a table with labels; else points are drawn."),
    ] = None,
    orientation: Annotated[str | None, typer.Option(help="What is asked about.")] = None,
    questions: Annotated[int, typer.Option(min=0, help="Answers after which it is drawn.")] = 3,
    strategy: Annotated[str, typer.Option(help="What is asked; see `list`.")] = "posterior",
    encoder: Annotated[
        str | None, typer.Option(help="How items become vectors; see `list`.")
    ] = None,
    weights: Annotated[
        Path | None, typer.Option(help="Weights of the network; else those of the package.")
    ] = None,
    items: Annotated[int, typer.Option(min=1, help="How many items, drawn by chance.")] = 40,
    samples: Annotated[int, typer.Option(min=1, help="Groupings that are drawn.")] = 2000,
    seed: Annotated[int, typer.Option(help="The same seed gives the same picture.")] = 0,
    out: Annotated[Path, typer.Option(help="A new .png, .svg or .pdf file.")] = Path(
        "posterior.png"
    ),
) -> None:
    """Draw the most probable groupings, the law of their number, and who is with whom."""
    from samekind.reports.plots.canvas import check_picture, new_figure, write_picture
    from samekind.reports.plots.posterior import MOST_ITEMS, draw_posterior

    check_picture(out)
    new_figure(1, 1)  # what is not installed is told before long work begins
    if items > MOST_ITEMS:
        raise InputError(f"{items:,} items are too many for this picture: at most {MOST_ITEMS}.")
    pile = _drawn(items, seed) if source is None else _labelled(source, orientation, encoder)
    pile = pile.some(items, seed)
    run = _Asking(samples, weights, strategy, seed)
    figure = draw_posterior(
        pile.X, run.beliefs(pile, questions), truth=pile.truth, name=pile.name,
        note=run.note(), seed=seed,
    )  # fmt: skip
    say(f"Drew {write_picture(figure, out)}.")


class _Pile(NamedTuple):
    """Items with their vectors, and beside them the kinds that only the simulated person sees."""

    name: str
    collection: Collection
    X: NDArray[np.float32]
    truth: NDArray[np.intp]

    def some(self, most: int, seed: int) -> _Pile:
        """The same with at most so many items, whose kinds are known."""
        import numpy as np

        known = np.flatnonzero(self.truth >= 0)
        if len(known) == len(self.truth) <= most:
            return self._replace(name=f"{len(known)} {self.name}")
        drawn = np.sort(np.random.default_rng(seed).permutation(known)[:most])
        name = f"{len(drawn)} of {len(self.truth):,} {self.name}"
        taken = self.collection.take(drawn.tolist())
        return _Pile(name, taken, self.X[drawn], self.truth[drawn])


class _Asking:
    """A simulated person answers a few questions; the posterior is drawn before and after."""

    def __init__(self, samples: int, weights: Path | None, strategy: str, seed: int) -> None:
        self.samples, self.weights = samples, weights
        self.strategy, self.seed = strategy, seed

    def beliefs(self, pile: _Pile, questions: int) -> list[Belief]:
        """What is believed before any answer, and after the last one."""
        from samekind.constraints import Constraints
        from samekind.registry import find
        from samekind.session import Session
        from samekind.simulation.loop import run
        from samekind.simulation.people import Truth

        strategy = find("strategy", self.strategy)()  # an unknown name is told before long work
        nothing = Constraints(len(pile.truth))
        found = [self._belief("Before any answer", pile, nothing)]
        if questions:
            session = Session(
                pile.collection, pile.X, clusterer=self._model(), strategy=strategy,
                seed=self.seed, refit_every=1, budget=questions,
            )  # fmt: skip
            told = run(session, Truth(pile.truth), questions).n_answers
            if told < questions:
                note(f"Only {told} questions were worth asking.")
            title = "After 1 answer" if told == 1 else f"After {told} answers"
            found.append(self._belief(title, pile, session.constraints))
        return found

    def note(self) -> str:
        """What the picture depends on."""
        asked = f"questions by {self.strategy}, seed {self.seed}"
        own = "" if self.weights is None else f", weights {self.weights.name}"
        return f"{self.samples:,} samples, {asked}{own}"

    def _model(self) -> Any:
        from samekind.clusterers.ncp.estimator import NCP
        from samekind.reports.plots.posterior import MOST_ITEMS

        return NCP(
            n_samples=self.samples, weights=self.weights, max_placed=MOST_ITEMS,
            random_state=self.seed,
        )  # fmt: skip

    def _belief(self, title: str, pile: _Pile, known: Constraints) -> Belief:
        import numpy as np

        from samekind.reports.plots.posterior import Belief

        draws = self._model().fit(pile.X, constraints=known).draws_
        told = zip(*known.links()[:3], strict=True)
        links = [(int(a), int(b), bool(same)) for a, b, same in told]
        return Belief(title, draws.labels.astype(np.intp), np.asarray(draws.weight), links)


def _drawn(n: int, seed: int) -> _Pile:
    """Points of a 2-D mixture whose groups overlap a little."""
    import numpy as np
    import torch

    from samekind.clusterers.ncp.amortized.generators import GaussianMixtures
    from samekind.sources.files.arrays import vectors_collection

    mixture = GaussianMixtures(spread=4.0, scale=(0.5, 2.0), scales="group", max_groups=n)
    x, labels, _ = mixture.draw(1, torch.Generator().manual_seed(seed), (n, n))
    X = np.ascontiguousarray(x[0].numpy())
    collection = vectors_collection("points", X, "points drawn by chance")
    return _Pile("points", collection, X, labels[0].numpy().astype(np.intp))


def _labelled(source: str, orientation: str | None, encoder: str | None) -> _Pile:
    from samekind.workspace.labelled import is_table, labelled_set
    from samekind.workspace.pile import encoded_pile

    wanted = [orientation] if orientation and is_table(source) else []
    labelled = labelled_set(source, wanted, option="--orientation")
    truth, _ = labelled.truth(orientation or next(iter(labelled.orientations)))
    with progress_bar("Encoding") as progress:
        pile = encoded_pile(labelled.collection, encoder=encoder, progress=progress)
    kept = [labelled.collection.position(id) for id in pile.collection.ids()]
    return _Pile(labelled.name, pile.collection, pile.X, truth[kept])
