"""``samekind check``: judge a random sample of all labels, for a statement about the whole pile."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from samekind.cli import options
from samekind.cli.console import say, screen
from samekind.questions.wording import plural

if TYPE_CHECKING:
    from samekind.workspace.check import Check


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
) -> None:
    """Judge items drawn at random, and learn how many of all items are in the right group."""
    from samekind.bulk.labels import address
    from samekind.ledger.store import open_store
    from samekind.simulation.loop import run
    from samekind.workspace.check import open_check
    from samekind.workspace.pile import ledger_file

    store = open_store(ledger or ledger_file(address(labels)))
    found = open_check(labels, items=items, vectors=vectors, store=store, seed=seed)
    with person_at(found) as person:
        run(found.session, person)
    screen.print()
    result = found.result()
    say(result.describe())
    if person.finished and result.left:
        say(f"Continue: samekind check {labels}")
    say(f"{plural(len(found.session.answers), 'answer is', 'answers are')} saved.")


def person_at(found: Check) -> Any:
    """The person at this terminal; every 25 answers they see the result so far."""
    from samekind.cli.terminal import TerminalPerson

    class Judge(TerminalPerson):
        def _summarise(self, progress: dict[str, Any]) -> None:
            say(found.result().describe())

    return Judge(screen, found.session)
