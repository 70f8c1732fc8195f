"""``samekind report``: a page with curves, tables and tests from the rows of benchmarks."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from samekind.cli import options
from samekind.cli.console import note, say, show_json, waiting
from samekind.questions.wording import plural
from samekind.user_paths import expanded


def report(
    rows: Annotated[list[Path], typer.Argument(help="JSONL files that `samekind bench` wrote.")],
    out: Annotated[Path, typer.Option(help="Folder for the page, Markdown and CSV files.")],
    metric: Annotated[
        str, typer.Option(help="acc, nmi, ari, ..., heldout_acc, unasked_ari, ...")
    ] = "ari",
    quality: Annotated[
        list[float] | None, typer.Option(help="A score whose cost is reported; repeatable.")
    ] = None,
    title: Annotated[str, typer.Option(help="Heading of the page.")] = "",
    systems: Annotated[
        list[str] | None, typer.Option("--systems", help="Only this system; repeatable.")
    ] = None,
    sets: Annotated[
        list[str] | None, typer.Option("--sets", help="Only this set; repeatable.")
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Write a page with curves, tables and tests from the rows of benchmarks."""
    from samekind.reports.plots.canvas import new_figure
    from samekind.reports.report import Report, check_folder
    from samekind.reports.results import read_results
    from samekind.reports.study import Study

    new_figure(1, 1)  # a missing package fails early, before any long work
    check_folder(expanded(out))
    found = read_results(rows).only(systems or [], sets or []).scored(metric)
    for line in found.notes:
        note(line)
    qualities = tuple(sorted(set(quality or (0.8, 0.9, 0.95))))
    with waiting("Drawing"):
        page = Report.of(Study(found, metric, qualities), title).write(out)
    if as_json:
        show_json({"page": str(page), "runs": len(found.runs), "metric": metric})
        return
    say(f"Wrote {page} from {plural(len(found.runs), 'run')}, with report.md and tables beside it.")
