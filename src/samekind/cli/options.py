"""Options that several commands share, each defined once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from samekind.errors import InputError


def _names(kind: str) -> Callable[[str], list[str]]:
    """Complete the names of a registry."""

    def complete(incomplete: str) -> list[str]:
        from samekind.registry import registered

        return [name for name in registered(kind) if name.startswith(incomplete)]

    return complete


Source = Annotated[str, typer.Argument(help="A folder, a table, or a named set (tiles, digits).")]
LabelledSource = Annotated[
    str, typer.Argument(help="A named set (tiles, digits) or a table with labels.")
]
NewItems = Annotated[
    str | None,
    typer.Argument(help="Other items of the same kind: a folder, table, set, or vectors (.lance)."),
]

Orientation = Annotated[
    str, typer.Option(help="Name of the grouping; one pile can have several, such as colour.")
]
LabelColumn = Annotated[
    str | None, typer.Option("--orientation", help="The label column to group by.")
]
Encoder = Annotated[
    str | None,
    typer.Option(
        help="How items are turned into vectors; see `samekind list`.",
        autocompletion=_names("encoder"),
    ),
]
Method = Annotated[
    str | None,
    typer.Option(
        help="How vectors are grouped; see `samekind list`.", autocompletion=_names("method")
    ),
]
Strategy = Annotated[
    str | None,
    typer.Option(
        help="How the next question is chosen; see `samekind list`.",
        autocompletion=_names("strategy"),
    ),
]
With = Annotated[
    list[str] | None,
    typer.Option(
        "--with",
        metavar="NAME=VALUE",
        help="A parameter of the method; strategy.NAME=VALUE and encoder.NAME=VALUE are those of "
        "--strategy and --encoder. Repeatable. See `samekind list NAME`.",
    ),
]
Groups = Annotated[int | None, typer.Option(min=1, help="Number of groups, if you know it.")]
RefitEvery = Annotated[int, typer.Option(min=1, help="Answers between two refits.")]
Seed = Annotated[int, typer.Option(help="The same seed gives the same result.")]
SessionSeed = Annotated[
    int | None,
    typer.Option("--seed", help="The same seed and answers give the same questions."),
]
Ledger = Annotated[
    str | None, typer.Option(help="File or database URL in which your answers are stored.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")]
TableOut = Annotated[
    Path | None,
    typer.Option("--out", help="Write to a new .csv, .json or .parquet file."),
]
LabelsOut = Annotated[
    str | None,
    typer.Option(
        "--out",
        help="Write to a new .csv, .json or .parquet file; for vectors, to a folder .parquet or "
        ".lance, which a second call continues.",
    ),
]
On = Annotated[
    str,
    typer.Option(help="For vectors: local, or a Ray cluster: ray://HOST:10001, auto, or ray."),
]
Workers = Annotated[
    int | None, typer.Option(min=1, help="For vectors: processes of Ray; default: all cores.")
]
Picture = Annotated[Path, typer.Option("--out", help="A new .png, .svg or .pdf file.")]
MaxItems = Annotated[int, typer.Option("--items", min=8, help="Draw at most this many items.")]
Port = Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0: any free port.")]
Host = Annotated[str, typer.Option(help="Address of this machine to listen on.")]
Token = Annotated[
    bool,
    typer.Option(
        "--token/--no-token", help="Only someone with the printed address may use the page."
    ),
]
People = Annotated[
    str | None,
    typer.Option(
        metavar="NAMES", help="Several people answer, such as anna,ben; one address each."
    ),
]
Overlap = Annotated[
    float,
    typer.Option(min=0.0, max=1.0, help="Share of the questions that a second person is asked."),
]
HideAnswers = Annotated[
    bool, typer.Option("--hide-answers", help="People do not see each other's answers.")
]
PublicUrl = Annotated[
    str | None,
    typer.Option(metavar="URL", help="Address of a reverse proxy in front of the page."),
]
OnPhone = Annotated[
    bool,
    typer.Option("--phone", help="Also let a phone in the same network answer: prints a code."),
]
Bursts = Annotated[
    bool | None,
    typer.Option(
        "--bursts/--no-bursts", help="Sort near-duplicate photos together; default: in new piles."
    ),
]
Allow = Annotated[
    list[str] | None,
    typer.Option(
        metavar="FOLDER",
        help="A folder that may be opened from the page, besides your home folder; repeatable.",
    ),
]
Browser = Annotated[bool, typer.Option("--browser", help="Open the page in your browser.")]

Person = Annotated[
    str,
    typer.Option(
        help="The simulated person. shown: knows the kinds and looks at the items shown. "
        "overlooking: misses some items in grids. matched: the protocol of IDC. boundary: errs "
        "between similar kinds. drifting: changes their mind. two: two people. replay: a recorded "
        "session."
    ),
]
Noise = Annotated[float, typer.Option(min=0, max=1, help="Share of wrong answers.")]
Unsure = Annotated[float, typer.Option(min=0, max=1, help="Share of answers that are “not sure”.")]
Overlook = Annotated[
    float | None,
    typer.Option(min=0, max=1, help="Share of the items to name in grids that are overlooked."),
]
Second = Annotated[
    str | None, typer.Option(help="For drifting and two: the label column of the second grouping.")
]
Change = Annotated[
    str | None,
    typer.Option(help="Instead of --second: merge the most similar kinds, or split the largest."),
]
Start = Annotated[int | None, typer.Option(min=0, help="For drifting: answers before the change.")]
Over = Annotated[
    int | None, typer.Option(min=0, help="For drifting: answers over which the change happens.")
]
Share = Annotated[
    float | None,
    typer.Option(
        min=0,
        max=1,
        help="For two: share of the second person; default: they alternate.",
    ),
]
Replay = Annotated[
    str | None, typer.Option(help="For replay: a ledger, or a .jsonl file of answers.")
]
ReplaySession = Annotated[
    str | None, typer.Option(help="For replay: the session, if the ledger has several.")
]
Otherwise = Annotated[
    str | None, typer.Option(help="For replay, where no answer follows: unsure or stop.")
]


def distributed(
    words: list[str] | None, strategy: str | None = None, encoder: str | None = None
) -> tuple[dict[str, Any], str | None, str | None]:
    """Read --with: the parameters of the method, and strategy and encoder with theirs.

    >>> distributed(["tol=1", "strategy.tries=3"], "random")
    ({'tol': 1}, 'random(tries=3)', None)
    """
    from samekind.parameters import parse_assignments
    from samekind.registry import with_parameters

    mine = parse_assignments(words or [])
    named = {"strategy": strategy, "encoder": encoder}
    for kind, name in named.items():
        own = {key: mine.pop(key) for key in list(mine) if key.startswith(f"{kind}.")}
        if own and name is None:
            raise InputError(
                f"Expected --{kind} NAME with --with {next(iter(own))}=..., got none. Add it."
            )
        if own:
            plain = {key.partition(".")[2]: value for key, value in own.items()}
            named[kind] = with_parameters(str(name), plain)
    return mine, named["strategy"], named["encoder"]


def given(**options: Any) -> dict[str, Any]:
    """Return the options that are not None."""
    return {name: value for name, value in options.items() if value is not None}
