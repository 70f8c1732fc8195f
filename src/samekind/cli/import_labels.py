"""``samekind import``: begin a grouping from labels of another tool."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from samekind.cli import options
from samekind.cli.console import note, progress_bar, say, show_json, waiting
from samekind.user_paths import check_no_pipe


def import_labels(
    path: options.Source,
    labels: Annotated[
        Path,
        typer.Argument(
            help="A CSV table or JSON lines, a file of Label Studio, FiftyOne, Argilla, COCO or "
            "cleanlab, or a folder of Hugging Face datasets."
        ),
    ],
    orientation: options.Orientation = "main",
    encoder: options.Encoder = None,
    method: options.Method = None,
    strategy: options.Strategy = None,
    ledger: options.Ledger = None,
    as_json: options.Json = False,
) -> None:
    """Begin a grouping from groups that another tool made; then answer, correct and export."""
    from samekind.cli.ask import groups_json, show_groups
    from samekind.workspace.pile import Request
    from samekind.workspace.starts import check_label_file
    from samekind.workspace.starts import import_labels as begin

    check_no_pipe(labels)
    check_label_file(labels)
    request = Request(path, orientation, encoder, method, strategy, None, None, ledger, note)
    request = request.remembered()
    with progress_bar("Listing") as progress:
        collection = request.items(progress)
    with progress_bar("Encoding", then="Grouping") as progress:
        session = request.session(request.pile(collection, progress), request.store())
    with waiting("Grouping"):
        words = begin(session, labels)
    if as_json:
        show_json(groups_json(session) | {"words": words})
        return
    say(words)
    show_groups(session)
    say(f"Continue:           samekind ask {request.arguments()}")
    say(f"Export the groups:  samekind export {request.arguments()} groups.csv")
