"""``samekind plot``: pictures of simulated runs, and of runs that were saved elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from samekind.cli.console import note, progress_bar, say
from samekind.cli.plot_posterior import posterior
from samekind.errors import ExportError, InputError

if TYPE_CHECKING:
    from samekind.clustering import Clustering
    from samekind.protocols import QueryStrategy
    from samekind.reports.plots import Snapshots
    from samekind.reports.plots.picks import Picks
    from samekind.session import Session
    from samekind.sources import LabelledSet

plot = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Draw pictures: what was learnt, and what an answer is worth.",
)
CHOICES = {
    "Hard": "value-hard",
    "Hard + representative": "value-hard-rep",
    "Hard + representative + diverse": "value",
    "Random": "value-random",
}
"""The parts of value mining (IDC), one after the other: heading and strategy."""
Out = Annotated[Path, typer.Option(help="A new .png, .svg or .pdf file.")]

plot.command()(posterior)


@plot.command()
def evolution(
    source: Annotated[
        str | None, typer.Argument(help="A set (tiles, digits) or a table with labels.")
    ] = None,
    orientation: Annotated[
        list[str] | None, typer.Option(help="What is asked about; give it twice or more.")
    ] = None,
    method: Annotated[str, typer.Option(help="What groups the items; see `list`.")] = "pcl",
    strategy: Annotated[str | None, typer.Option(help="What is asked; see `list`.")] = None,
    encoder: Annotated[
        str | None, typer.Option(help="How items become vectors; see `list`.")
    ] = None,
    questions: Annotated[int, typer.Option(min=1, help="How many for each orientation.")] = 40,
    groups: Annotated[int | None, typer.Option(min=1, help="How many groups, if known.")] = None,
    refit_every: Annotated[int, typer.Option(min=1, help="Answers per refit.")] = 5,
    seed: Annotated[int, typer.Option(help="The same seed gives the same picture.")] = 0,
    items: Annotated[int, typer.Option(min=8, help="Draw at most so many items.")] = 3000,
    saved: Annotated[
        Path | None, typer.Option("--from", help="Draw what a run saved before; runs nothing.")
    ] = None,
    save: Annotated[Path | None, typer.Option(help="Also keep what is drawn: a .npz file.")] = None,
    out: Out = Path("evolution.png"),
) -> None:
    """Map the learnt space before any answer and after answers about each orientation."""
    from samekind.reports.plots.canvas import check_picture, new_figure, write_picture
    from samekind.reports.plots.evolution import draw_evolution
    from samekind.reports.plots.snapshots import Snapshots
    from samekind.strategies import DEFAULT as DEFAULT_STRATEGY

    check_picture(out)
    new_figure(1, 1)  # what is not installed is told before long work begins
    if (source is None) == (saved is None):
        raise InputError("Name a set, such as tiles, or a file to draw --from: one of the two.")
    if saved is not None:
        found = Snapshots.load(saved)
        found = found.under(orientation) if orientation else found
    else:
        if save is not None and save.expanduser().exists():
            raise ExportError(f"{save} exists already. Choose another name.")
        run = _Evolution(
            method, strategy or DEFAULT_STRATEGY, encoder, questions, groups, refit_every, seed
        )
        found = run.simulate(source or "", orientation or [])
    if save is not None:
        found.sampled(items, seed=seed).save(save)
        say(f"Saved what is drawn in {save}.")
    say(f"Drew {write_picture(draw_evolution(found, most=items, seed=seed), out)}.")


@plot.command()
def curves(
    rows: Annotated[
        list[Path], typer.Argument(help="Files of what `simulate --json` or a benchmark wrote.")
    ],
    metric: Annotated[str, typer.Option(help="acc, nmi, ari, fm, pair_f1 or bcubed.")] = "acc",
    by: Annotated[
        list[str] | None, typer.Option(help="Key that tells lines apart, such as strategy.")
    ] = None,
    only: Annotated[
        list[str] | None, typer.Option(help="Draw only rows with KEY=VALUE, as in set=tiles.")
    ] = None,
    log: Annotated[bool, typer.Option("--log", help="Logarithmic axis of answers.")] = False,
    out: Out = Path("curves.png"),
) -> None:
    """Draw the score over the number of answers, for sorted and for held-out items."""
    from samekind.reports.plots.canvas import check_picture, write_picture
    from samekind.reports.plots.curves import draw_curves
    from samekind.simulation.rows import read_runs

    check_picture(out)
    found = read_runs(rows)
    for wish in only or []:
        key, equals, value = wish.partition("=")
        if not equals:
            raise InputError(f"{wish!r} is not a wish of the form KEY=VALUE, such as set=tiles.")
        values = sorted({str(row.get(key)) for row in found})
        found = [row for row in found if str(row.get(key)) == value]
        if not found:
            raise InputError(f"No row has {wish}. Values of {key}: {', '.join(values)}.")
    figure = draw_curves(found, metric=metric, by=by or [], log=log)
    say(f"Drew {write_picture(figure, out)}.")


@plot.command()
def picks(
    source: Annotated[str, typer.Argument(help="A set (tiles, digits) or a table with labels.")],
    orientation: Annotated[
        str | None, typer.Option(help="The true kinds that colour the dots.")
    ] = None,
    choice: Annotated[
        list[str] | None, typer.Option(help="A strategy whose picks are drawn; give several.")
    ] = None,
    method: Annotated[str, typer.Option(help="What groups the items; see `list`.")] = "kmeans",
    encoder: Annotated[
        str | None, typer.Option(help="How items become vectors; see `list`.")
    ] = None,
    questions: Annotated[int, typer.Option(min=1, help="How many items are picked.")] = 50,
    groups: Annotated[
        int | None, typer.Option(min=1, help="How many groups; else as many as there are kinds.")
    ] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same picture.")] = 0,
    items: Annotated[int, typer.Option(min=8, help="Draw at most so many other items.")] = 3000,
    out: Out = Path("picks.png"),
) -> None:
    """Map which items each way of choosing would ask about, before any answer."""
    from samekind.reports.plots.canvas import check_picture, new_figure, write_picture
    from samekind.reports.plots.picks import draw_picks
    from samekind.workspace.labelled import is_table, labelled_set
    from samekind.workspace.pile import check_groups, check_names

    check_picture(out)
    new_figure(1, 1)  # what is not installed is told before long work begins
    chosen = {name: name for name in choice} if choice else CHOICES
    for strategy in chosen.values():
        check_names(method, strategy, encoder)
    wanted = [orientation] if orientation and is_table(source) else []
    labelled = labelled_set(source, wanted, option="--orientation")
    check_groups(groups, labelled.collection)
    column = orientation or next(iter(labelled.orientations))
    run = _Picking(method, encoder, questions, groups, seed)
    found = run.picked(labelled, column, chosen)
    say(f"Drew {write_picture(draw_picks(found, most=items, seed=seed), out)}.")


class _Evolution:
    """The same beginning, then one simulated person per orientation."""

    def __init__(
        self,
        method: str,
        strategy: str,
        encoder: str | None,
        questions: int,
        groups: int | None,
        refit_every: int,
        seed: int,
    ) -> None:
        self.method, self.strategy, self.encoder = method, strategy, encoder
        self.questions, self.groups = questions, groups
        self.refit_every, self.seed = refit_every, seed

    def simulate(self, source: str, orientations: list[str]) -> Snapshots:
        """Run each orientation, and keep the first and the last snapshots."""
        from samekind.workspace.labelled import is_table, labelled_set
        from samekind.workspace.pile import check_groups, check_names

        check_names(self.method, self.strategy, self.encoder)
        wanted = orientations if is_table(source) else []
        labelled = labelled_set(source, wanted, option="--orientation")
        check_groups(self.groups, labelled.collection)
        chosen = list(dict.fromkeys(orientations)) or list(labelled.orientations)[:2]
        for name in chosen:
            labelled.truth(name)  # an unknown name is told before long work begins
        found: Snapshots | None = None
        for name in chosen:
            note(f"Asking {self.questions} questions about {name} ...")
            found = self._with(labelled, chosen, name, found)
        if found is None:
            raise InputError(f"{source!r} has no orientation. Name one with --orientation.")
        return found

    def _note(self) -> str:
        given = "" if self.groups is None else f", {self.groups} groups given"
        return f"Method {self.method}, strategy {self.strategy}{given}, seed {self.seed}"

    def _with(
        self, labelled: LabelledSet, chosen: list[str], asked: str, so_far: Snapshots | None
    ) -> Snapshots:
        """The snapshots so far, with those of one more run."""
        from samekind.simulation import simulate

        found = [] if so_far is None else [so_far]
        last: list[tuple[Session, int]] = []

        def on_record(session: Session, n_answers: int) -> None:
            last[:] = [(session, n_answers)]
            if not found:
                begin = _truths(labelled, chosen, session, self._note())
                found.append(begin.with_moment("Before any answer", session.clustering, 0))

        with progress_bar("Encoding") as progress:
            simulate(
                labelled, orientation=asked, method=self.method, strategy=self.strategy,
                encoder=self.encoder, questions=self.questions, groups=self.groups,
                refit_every=self.refit_every, seed=self.seed, progress=progress,
                on_record=on_record,
            )  # fmt: skip
        ((session, n_answers),) = last
        title = f"Asked about {asked}"
        return found[0].with_moment(title, session.clustering, n_answers, asked=asked)


class _Picking:
    """What strategies would ask about first, from the same groups, without asking anybody."""

    def __init__(
        self, method: str, encoder: str | None, questions: int, groups: int | None, seed: int
    ) -> None:
        self.method, self.encoder, self.questions = method, encoder, questions
        self.groups, self.seed = groups, seed

    def picked(self, labelled: LabelledSet, orientation: str, choices: Mapping[str, str]) -> Picks:
        """The items that each choice picks, under its heading."""
        import numpy as np

        from samekind.registry import find, make_method
        from samekind.reports.plots.picks import Picks
        from samekind.session import Session
        from samekind.sources.sets.labelled import label_texts
        from samekind.workspace.pile import encoded_pile

        labelled.truth(orientation)  # an unknown name is told before long work begins
        with progress_bar("Encoding") as progress:
            pile = encoded_pile(labelled.collection, encoder=self.encoder, progress=progress)
        kept = [labelled.collection.position(id) for id in pile.collection.ids()]
        truth = np.asarray(label_texts(labelled.orientations[orientation]))[kept]
        model = make_method(self.method, self.groups)
        if self.groups is None and hasattr(model, "n_clusters"):
            model = make_method(self.method, len(set(truth.tolist()) - {""}))
        session = Session(pile.collection, pile.X, clusterer=model, seed=self.seed)
        chosen: dict[str, list[int]] = {}
        standing: set[int] = set()
        for title, strategy in choices.items():
            chosen[title], central = self._asked(session.clustering, find("strategy", strategy)())
            standing |= central
        count = session.clustering.n_groups
        note = f"Method {self.method}, {count} groups, {pile.encoded.encoder.name}, "
        return Picks(
            session.clustering.space, session.clustering.labels, orientation, truth, chosen,
            sorted(standing), labelled.name, f"{note}seed {self.seed}",
        )  # fmt: skip

    def _asked(self, clustering: Clustering, strategy: QueryStrategy) -> tuple[list[int], set[int]]:
        """Items that are asked about, and those that stand for the groups, before any answer."""
        import numpy as np

        from samekind.constraints import Constraints
        from samekind.protocols import View

        known, rng = Constraints(len(clustering.labels)), np.random.default_rng(self.seed)
        view = View(clustering, known, rng, budget=self.questions, seed=self.seed)
        items: list[int] = []
        standing: set[int] = set()
        for question in strategy.propose(view, self.questions)[: self.questions]:
            groups = [question.exemplars(choice) for choice in question.choices()]
            shown = {item for group in groups for item in group}
            items += [item for item in question.items() if item not in shown]
            standing |= {group[0] for group in groups if group}
        return items, standing


def _truths(labelled: LabelledSet, chosen: list[str], session: Session, note: str) -> Snapshots:
    """No snapshots yet, but the true kinds of the items that the session has."""
    import numpy as np

    from samekind.reports.plots.snapshots import Snapshots
    from samekind.sources.sets.labelled import label_texts

    kept = [labelled.collection.position(id) for id in session.collection.ids()]
    kinds = {name: np.asarray(label_texts(labelled.orientations[name]))[kept] for name in chosen}
    return Snapshots(kinds, name=labelled.name, note=note)
