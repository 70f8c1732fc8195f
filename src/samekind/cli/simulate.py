"""``samekind simulate``: a simulated person answers, and the groups are scored against labels."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from samekind.cli import options
from samekind.cli.console import note, progress_bar, say, show_json, show_table

if TYPE_CHECKING:
    from samekind.sources import LabelledSet

COLUMNS = ("questions", "acc", "nmi", "ari", "fm", "heldout_acc", "groups")


def simulate(
    source: options.LabelledSource,
    orientation: options.LabelColumn = None,
    labels: Annotated[
        str | None, typer.Option(help="The label column, if --orientation is only a title.")
    ] = None,
    map_file: Annotated[
        Path | None,
        typer.Option("--map", help="JSON file {label: group} that combines labels into groups."),
    ] = None,
    method: options.Method = None,
    strategy: options.Strategy = None,
    parameters: options.With = None,
    encoder: options.Encoder = None,
    questions: Annotated[int, typer.Option(min=0, help="Number of answers.")] = 50,
    noise: options.Noise = 0.0,
    unsure: options.Unsure = 0.0,
    person: options.Person = "shown",
    overlook: options.Overlook = None,
    second: options.Second = None,
    change: options.Change = None,
    start: options.Start = None,
    over: options.Over = None,
    share: options.Share = None,
    replay: options.Replay = None,
    replay_session: options.ReplaySession = None,
    otherwise: options.Otherwise = None,
    groups: options.Groups = None,
    seed: options.Seed = 0,
    refit_every: options.RefitEvery = 5,
    as_json: options.Json = False,
) -> None:
    """Let a simulated person answer, and score the groups against labels."""
    from samekind.simulation import simulate as run_simulation
    from samekind.simulation.suite import Person
    from samekind.workspace.labelled import read_map
    from samekind.workspace.pile import check_groups, chosen_names

    having, strategy, encoder = options.distributed(parameters, strategy, encoder)
    method, strategy = chosen_names(method, strategy, encoder, having, note)
    mapping = None if map_file is None else read_map(map_file)
    labelled, column = _labelled(source, labels, orientation, second)
    check_groups(groups, labelled.collection)
    kind = "replay" if replay and person == "shown" else person
    given = options.given(
        second=second, change=change, start=start, over=over, share=share, record=replay,
        session=replay_session, otherwise=otherwise, overlook=overlook,
    )  # fmt: skip
    with progress_bar("Encoding", then="Simulating") as progress:
        result = run_simulation(
            labelled, orientation=column, method=method, strategy=strategy, encoder=encoder,
            parameters=having, questions=questions, groups=groups, refit_every=refit_every,
            person=Person(kind, kind, noise, unsure, given), seed=seed, mapping=mapping,
            progress=progress,
        )  # fmt: skip
    result |= {"orientation": orientation} if labels and orientation else {}
    result |= {} if map_file is None else {"map": map_file.name}
    show_json(result) if as_json else show_curve(result)


def show_curve(result: dict[str, Any]) -> None:
    """Print how the scores grow with the number of answers."""
    from samekind.parameters import written

    columns = [c for c in COLUMNS if result["curve"][0].get(c) is not None]
    parameters = ", ".join(f"{name}={written(v)}" for name, v in result["parameters"].items())
    method = f"{result['method']} ({parameters})" if parameters else result["method"]
    say(f"{result['set']}: {result['orientation']}, {method} + {result['strategy']}")
    if result["learner"].casefold() != result["method"]:
        say(f"Learner: {result['learner']}.")
    show_table(columns, ([row[column] for column in columns] for row in result["curve"]))


def _labelled(
    source: str, labels: str | None, orientation: str | None, second: str | None
) -> tuple[LabelledSet, str]:
    """Open a labelled set; return it with the name of the label column to group by."""
    from samekind.workspace.labelled import is_table, labelled_set

    column = labels or orientation
    # Only in a table must somebody say which columns are labels; a set knows its own.
    wanted = [column] if column and (labels or is_table(source)) else []
    wanted += [second] if second and wanted else []
    labelled = labelled_set(source, wanted, option="--labels")
    return labelled, column or next(iter(labelled.orientations))
