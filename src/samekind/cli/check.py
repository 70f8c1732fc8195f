"""``samekind check``: judge a random sample of all labels, for a statement about the whole pile."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from samekind.cli import options
from samekind.cli.console import notes, say, screen, show_json, waiting
from samekind.questions.wording import plural

if TYPE_CHECKING:
    from rich.console import Console

    from samekind.workspace.check import Check, CheckResult


def check(
    labels: Annotated[
        str, typer.Argument(help="Labels of a store of vectors: see `samekind predict`.")
    ],
    items: Annotated[int, typer.Option(min=1, help="Items to draw from all of them.")] = 100,
    vectors: Annotated[
        str | None, typer.Option(help="The vectors (.lance), if they have moved.")
    ] = None,
    seed: options.Seed = 0,
    ledger: options.Ledger = None,
    as_json: options.Json = False,
) -> None:
    """Judge items drawn at random, and learn how many of all items are in the right group."""
    from samekind.bulk.labels import address
    from samekind.ledger.store import open_store
    from samekind.simulation.loop import run
    from samekind.workspace.check import open_check
    from samekind.workspace.locations import ledger_file

    store = open_store(ledger or ledger_file(address(labels)))
    with waiting("Choosing items"):
        found = open_check(labels, items=items, vectors=vectors, store=store, seed=seed)
    with person_at(found, notes if as_json else screen) as person:
        run(found.session, person)
    result = found.result()
    if as_json:
        show_json(result_json(result))
        return
    screen.print()
    say(result.describe())
    if person.finished and result.left:
        say(f"Continue: samekind check {labels}")
    say(f"{plural(len(found.session.answers), 'answer is', 'answers are')} saved.")


def result_json(result: CheckResult) -> dict[str, Any]:
    """Return the result as plain JSON; shares have their 95 % interval."""
    counts = {key: value for key, value in vars(result).items() if isinstance(value, int)}
    shares = {"all": result.all, "fitting": result.fitting}
    intervals = {name: {**vars(one), "interval": one.bounds} for name, one in shares.items()}
    return counts | intervals | {"left": result.left, "words": result.describe()}


def person_at(found: Check, console: Console) -> Any:
    """The person at this terminal; every 25 answers they see the result so far."""
    from samekind.cli.terminal import TerminalPerson

    class Judge(TerminalPerson):
        def _summarise(self, progress: dict[str, Any]) -> None:
            console.print(found.result().describe(), markup=False, highlight=False)

    return Judge(console, found.session)
