"""``samekind simulate``: a simulated person answers, and the grouping is measured."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from samekind.cli import person_options as options
from samekind.cli.console import progress_bar

if TYPE_CHECKING:
    from samekind.sources import LabelledSet


def simulate(
    source: Annotated[str, typer.Argument(help="A set (tiles, digits) or a table with labels.")],
    orientation: Annotated[
        str | None, typer.Option(help="The kinds that the simulated person has in mind.")
    ] = None,
    labels: Annotated[
        str | None, typer.Option(help="Label column of a table, if --orientation is only a title.")
    ] = None,
    map_file: Annotated[
        Path | None, typer.Option("--map", help="JSON {label: group}: other kinds from labels.")
    ] = None,
    method: Annotated[str | None, typer.Option(help="What groups the items; see `list`.")] = None,
    strategy: Annotated[str | None, typer.Option(help="What is asked; see `list`.")] = None,
    encoder: Annotated[str | None, typer.Option(help="What makes vectors; see `list`.")] = None,
    questions: Annotated[int, typer.Option(min=0, help="How many are answered.")] = 50,
    noise: options.Noise = 0.0,
    unsure: options.NotSure = 0.0,
    person: options.Person = "shown",
    second: options.Second = None,
    change: options.Change = None,
    start: options.Start = None,
    over: options.Over = None,
    share: options.Share = None,
    replay: options.Replay = None,
    replay_session: options.ReplaySession = None,
    otherwise: options.Otherwise = None,
    groups: Annotated[int | None, typer.Option(min=1, help="How many groups, if you know.")] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same result.")] = 0,
    refit_every: Annotated[int, typer.Option(min=1, help="Answers per refit.")] = 5,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Let a simulated person answer, and measure the grouping against labels."""
    from samekind.cli.results import read_map, show_curve
    from samekind.clusterers import DEFAULT as DEFAULT_METHOD
    from samekind.simulation import simulate as run_simulation
    from samekind.simulation.suite import Person
    from samekind.strategies import DEFAULT as DEFAULT_STRATEGY
    from samekind.workspace.pile import check_groups, check_names

    method, strategy = method or DEFAULT_METHOD, strategy or DEFAULT_STRATEGY
    check_names(method, strategy, encoder)
    mapping = read_map(map_file)
    labelled, column = _labelled(source, labels, orientation, second)
    check_groups(groups, labelled.collection)
    kind = "replay" if replay and person == "shown" else person
    given = options.given_only(
        second=second, change=change, start=start, over=over, share=share, record=replay,
        session=replay_session, otherwise=otherwise,
    )  # fmt: skip
    with progress_bar("Encoding") as progress:
        result = run_simulation(
            labelled, orientation=column, method=method, strategy=strategy, encoder=encoder,
            questions=questions, person=Person(kind, kind, noise, unsure, given), groups=groups,
            refit_every=refit_every, seed=seed, mapping=mapping, progress=progress,
        )  # fmt: skip
    if labels and orientation:
        result["orientation"] = orientation
    if map_file is not None:
        result["map"] = map_file.name
    typer.echo(json.dumps(result)) if as_json else show_curve(result)


def _labelled(
    source: str, labels: str | None, orientation: str | None, second: str | None
) -> tuple[LabelledSet, str]:
    """A set with labels, and the name of the label column that was asked for."""
    from samekind.workspace.labelled import is_table, labelled_set

    column = labels or orientation
    # Only in a table must somebody say which columns are labels; elsewhere all others are.
    wanted = [column] if column and (labels or is_table(source)) else []
    wanted += [second] if second and wanted else []
    labelled = labelled_set(source, wanted, option="--labels")
    return labelled, column or next(iter(labelled.orientations))
