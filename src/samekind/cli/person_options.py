"""Options that say who answers in a simulation."""

from __future__ import annotations

from typing import Annotated, Any

import typer

Person = Annotated[
    str,
    typer.Option(
        help="Who answers. shown: knows the kinds, sees the items shown. matched: the IDC "
        "protocol. boundary: errs between kinds. drifting: changes their mind. two: two people. "
        "replay: a recorded session."
    ),
]
Noise = Annotated[float, typer.Option(min=0, max=1, help="Share of wrong answers.")]
NotSure = Annotated[
    float, typer.Option(min=0, max=1, help="Share of questions answered with not sure.")
]
Second = Annotated[
    str | None, typer.Option(help="Label column of the other orientation: for drifting and two.")
]
Change = Annotated[
    str | None,
    typer.Option(help="Instead of --second: merge the nearest kinds, or split the largest."),
]
Start = Annotated[int | None, typer.Option(min=0, help="For drifting: answers before the change.")]
Over = Annotated[
    int | None, typer.Option(min=0, help="For drifting: answers that the change takes.")
]
Share = Annotated[
    float | None,
    typer.Option(min=0, max=1, help="For two: share of the second; else they take turns."),
]
Replay = Annotated[
    str | None,
    typer.Option(help="A ledger, or a .jsonl file of answers: what follows from it is answered."),
]
ReplaySession = Annotated[
    str | None, typer.Option(help="Which session of the ledger, if there are several.")
]
Otherwise = Annotated[
    str | None, typer.Option(help="For a replay, where nothing follows: unsure or stop.")
]


def given_only(**options: Any) -> dict[str, Any]:
    """The options that were given: persons take no others."""
    return {name: value for name, value in options.items() if value is not None}
