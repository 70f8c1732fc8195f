"""``samekind plot``: pictures of simulated runs, and of runs that were saved."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from samekind.cli import options
from samekind.cli.console import note, progress_bar, say, show_json, waiting
from samekind.errors import InputError

plot = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Draw pictures of runs: learnt spaces, curves, first questions, beliefs.",
)
STRATEGIES = {
    "Hard": "value-hard",
    "Hard + representative": "value-hard-rep",
    "Hard + representative + diverse": "value",
    "Random": "value-random",
}
"""The parts of value mining (IDC), one after the other: heading and strategy."""


def show_picture(picture: Path, as_json: bool, more: dict[str, Any] | None = None) -> None:
    """Say which picture was drawn."""
    if as_json:
        show_json({"picture": str(picture), **(more or {})})
    else:
        say(f"Drew {picture}.")


@plot.command()
def evolution(
    source: Annotated[
        str | None, typer.Argument(help="A named set (tiles, digits) or a table with labels.")
    ] = None,
    orientation: Annotated[
        list[str] | None, typer.Option(help="A label column to ask about; repeatable.")
    ] = None,
    method: options.Method = "pcl",
    strategy: options.Strategy = None,
    parameters: options.With = None,
    encoder: options.Encoder = None,
    questions: Annotated[int, typer.Option(min=1, help="Answers for each orientation.")] = 40,
    groups: options.Groups = None,
    refit_every: options.RefitEvery = 5,
    seed: options.Seed = 0,
    items: options.MaxItems = 3000,
    saved: Annotated[
        Path | None, typer.Option("--from", help="Draw a run that was saved; runs nothing.")
    ] = None,
    save: Annotated[Path | None, typer.Option(help="Also save the run to a new .npz file.")] = None,
    as_json: options.Json = False,
    out: options.Picture = Path("evolution.png"),
) -> None:
    """Draw the learnt space before any answer and after answers about each orientation."""
    from samekind.exports.placements import check_new
    from samekind.reports.plots.canvas import check_picture, new_figure, write_picture
    from samekind.reports.plots.evolution import draw_evolution
    from samekind.reports.plots.snapshots import Snapshots

    check_picture(out)
    new_figure(1, 1)  # a missing package fails early, before any long work
    if saved is not None and source is None:
        found = Snapshots.load(saved)
        found = found.under(orientation) if orientation else found
    elif saved is None and source is not None:
        from samekind.reports.plots.simulated import Evolution
        from samekind.workspace.pile import chosen_names

        check_new([save])
        given, strategy, encoder = options.distributed(parameters, strategy, encoder)
        names = chosen_names(method, strategy, encoder, given, note)
        plan = Evolution(*names, encoder, questions, groups, refit_every, seed, given)
        with progress_bar("Encoding", then="Simulating") as progress:
            found = plan.run(source, orientation or [], on_notice=note, progress=progress)
    else:
        raise InputError("Expected either a set, such as tiles, or a saved run with --from FILE.")
    if save is not None:
        found.sampled(items, seed=seed).save(save)
    with waiting("Drawing"):
        picture = write_picture(draw_evolution(found, most=items, seed=seed), out)
    if save is not None and not as_json:
        say(f"Saved the run in {save}.")
    show_picture(picture, as_json, {} if save is None else {"saved": str(save)})


@plot.command()
def curves(
    rows: Annotated[
        list[Path], typer.Argument(help="Files that `simulate --json` or `bench` wrote.")
    ],
    metric: Annotated[str, typer.Option(help="acc, nmi, ari, fm, pair_f1 or bcubed.")] = "acc",
    by: Annotated[
        list[str] | None, typer.Option(help="Key that tells lines apart, such as strategy.")
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=VALUE", help="Draw only these rows, such as set=tiles."),
    ] = None,
    log: Annotated[bool, typer.Option("--log", help="Logarithmic axis of answers.")] = False,
    as_json: options.Json = False,
    out: options.Picture = Path("curves.png"),
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
            raise InputError(f"Expected --only KEY=VALUE, such as set=tiles, got {wish!r}.")
        values = sorted({str(row.get(key)) for row in found})
        found = [row for row in found if str(row.get(key)) == value]
        if not found:
            raise InputError(f"No row has {wish}. Values of {key}: {', '.join(values)}.")
    with waiting("Drawing"):
        picture = write_picture(draw_curves(found, metric=metric, by=by or [], log=log), out)
    show_picture(picture, as_json, {"rows": len(found), "metric": metric})


@plot.command()
def picks(
    source: options.LabelledSource,
    orientation: options.LabelColumn = None,
    choice: Annotated[
        list[str] | None, typer.Option(help="A strategy whose picks are drawn; repeatable.")
    ] = None,
    method: options.Method = "kmeans",
    parameters: options.With = None,
    encoder: options.Encoder = None,
    questions: Annotated[int, typer.Option(min=1, help="Number of items picked.")] = 50,
    groups: options.Groups = None,
    seed: options.Seed = 0,
    items: options.MaxItems = 3000,
    as_json: options.Json = False,
    out: options.Picture = Path("picks.png"),
) -> None:
    """Draw which items each strategy would ask about first, before any answer."""
    from samekind.parameters import parse_assignments, read_parameters
    from samekind.reports.plots.canvas import check_picture, new_figure, write_picture
    from samekind.reports.plots.picks import draw_picks
    from samekind.reports.plots.simulated import FirstPicks

    check_picture(out)
    new_figure(1, 1)  # a missing package fails early, before any long work
    strategies = {name: name for name in choice} if choice else STRATEGIES
    given = read_parameters(str(method), parse_assignments(parameters or []))
    plan = FirstPicks(str(method), encoder, questions, groups, seed, given)
    with progress_bar("Encoding", then="Simulating") as progress:
        found = plan.run(source, orientation, strategies, progress)
    with waiting("Drawing"):
        picture = write_picture(draw_picks(found, most=items, seed=seed), out)
    show_picture(picture, as_json)


@plot.command()
def posterior(
    source: Annotated[
        str | None,
        typer.Argument(help="A named set or a table with labels; omit it to draw random points."),
    ] = None,
    orientation: options.LabelColumn = None,
    questions: Annotated[int, typer.Option(min=0, help="Number of answers.")] = 3,
    strategy: options.Strategy = "posterior",
    encoder: options.Encoder = None,
    parameters: options.With = None,
    weights: Annotated[Path | None, typer.Option(help="The same as --with weights=FILE.")] = None,
    items: Annotated[int, typer.Option(min=1, help="Number of items, chosen at random.")] = 40,
    samples: Annotated[int, typer.Option(min=1, help="Number of groupings sampled.")] = 2000,
    seed: options.Seed = 0,
    as_json: options.Json = False,
    out: options.Picture = Path("posterior.png"),
) -> None:
    """Draw the most probable groupings of a few items by ncp, before and after answers."""
    from samekind.parameters import parse_assignments, read_parameters
    from samekind.reports.plots.beliefs import Beliefs, labelled_items, random_points
    from samekind.reports.plots.canvas import check_picture, new_figure, write_picture
    from samekind.reports.plots.posterior import MAX_ITEMS, draw_posterior

    check_picture(out)
    new_figure(1, 1)  # a missing package fails early, before any long work
    if items > MAX_ITEMS:
        raise InputError(f"Expected --items from 1 to {MAX_ITEMS}, got {items:,}.")
    given = {} if weights is None else {"weights": str(weights)}
    given = read_parameters("ncp", given | parse_assignments(parameters or []))
    if source is None:
        pile = random_points(items, seed)
    else:
        with progress_bar("Encoding", then="Simulating") as progress:
            pile = labelled_items(source, orientation, encoder, progress)
    pile = pile.at_most(items, seed)
    plan = Beliefs(samples, str(strategy), seed, given)
    with waiting("Simulating"):
        beliefs = plan.run(pile, questions, note)
    figure = draw_posterior(
        pile.X, beliefs, truth=pile.truth, name=pile.name, note=plan.note(), seed=seed
    )
    show_picture(write_picture(figure, out), as_json)
