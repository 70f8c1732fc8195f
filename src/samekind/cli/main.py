"""The command line: ``samekind serve PATH`` and the other doors for a terminal."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from samekind import __version__
from samekind.cli.bench import bench
from samekind.cli.console import complain, note, plain_warnings, progress_bar, say, screen
from samekind.cli.export import export
from samekind.cli.learn import learn
from samekind.cli.plot import plot
from samekind.cli.predict import predict
from samekind.cli.report import report
from samekind.cli.simulate import simulate
from samekind.errors import SamekindError


class Doors(TyperGroup):
    """The commands; whoever presses Ctrl-C in one of them is told that nothing was lost."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            note("\nStopped. Everything that you answered is saved.")
            raise typer.Exit(130) from None


app = typer.Typer(
    cls=Doors,
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    help="Bring a pile, answer a few questions, get the grouping that you had in mind.",
    epilog="Begin with: samekind ask tiles (or samekind demo, for a page in your browser)",
)

app.add_typer(plot, name="plot")

Source = Annotated[str, typer.Argument(help="A folder, a table, or a set (tiles, digits).")]
Orientation = Annotated[str, typer.Option(help="Which of your groupings of this pile.")]
Encoder = Annotated[str | None, typer.Option(help="How items become vectors; see `list`.")]
Method = Annotated[str | None, typer.Option(help="What groups the items; see `list`.")]
Strategy = Annotated[str | None, typer.Option(help="What is asked; see `list`.")]
Groups = Annotated[int | None, typer.Option(min=1, help="How many groups, if you know.")]
Seed = Annotated[int, typer.Option(help="The same seed gives the same result.")]
KeptSeed = Annotated[
    int | None, typer.Option(help="Same seed and answers, same questions. Kept in the ledger.")
]
Port = Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free one.")]
Browser = Annotated[bool, typer.Option("--browser", help="Open the page in your browser.")]
Ledger = Annotated[
    str | None, typer.Option("--ledger", help="File (or database address) that keeps the answers.")
]
OWN_MACHINE = ("127.0.0.1", "localhost", "::1")
"""Addresses of this machine alone: only there, and with a token, may the page name paths."""
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


@app.command()
def serve(
    path: Annotated[
        str | None, typer.Argument(help="A folder, a table, or a set; without, the page asks.")
    ] = None,
    port: Port = 8765,
    host: Annotated[str, typer.Option(help="Address of this machine to listen on.")] = "127.0.0.1",
    browser: Browser = False,
    orientation: Orientation = "main",
    encoder: Encoder = None,
    method: Method = None,
    strategy: Strategy = None,
    groups: Groups = None,
    seed: KeptSeed = None,
    ledger: Ledger = None,
    token: Annotated[
        bool,
        typer.Option("--token/--no-token", help="Only who has the printed address may use it."),
    ] = True,
) -> None:
    """Answer on a page in your browser."""
    from samekind.web.server import listen
    from samekind.web.server import serve as run_server
    from samekind.workspace.pile import Request

    if port:
        listen(host, port).close()  # a port in use is told before long work begins
    from samekind.workspace.workspaces import Workspaces

    workspaces = Workspaces.at_home(paths=token and host in OWN_MACHINE)
    if path is not None:
        request = Request(path, orientation, encoder, method, strategy, groups, seed, ledger, note)
        with progress_bar("Encoding") as progress:
            workspaces.open(request.remembered(), progress)
    run_server(
        workspaces,
        port=port,
        host=host,
        open_browser=browser,
        announce=say,
        token=token,
    )


@app.command()
def demo(port: Port = 8765, browser: Browser = False) -> None:
    """Serve the demo tiles: sort them by colour, shape, pattern or count."""
    serve("tiles", port=port, browser=browser)


@app.command()
def ask(
    path: Source,
    questions: Annotated[int | None, typer.Option(min=1, help="Stop after so many.")] = None,
    orientation: Orientation = "main",
    encoder: Encoder = None,
    method: Method = None,
    strategy: Strategy = None,
    groups: Groups = None,
    seed: KeptSeed = None,
    ledger: Ledger = None,
) -> None:
    """Answer in this terminal, one key per answer."""
    from samekind.cli.results import show_contradictions, show_groups
    from samekind.cli.terminal import AtTerminal
    from samekind.simulation.loop import run
    from samekind.workspace.pile import Request

    request = Request(path, orientation, encoder, method, strategy, groups, seed, ledger, note)
    request = request.remembered()
    collection = request.items()
    store = request.store()
    with progress_bar("Encoding") as progress:
        session = request.session(request.pile(collection, progress), store)
    with AtTerminal(screen, session) as person:
        log = run(session, person, questions)
    if session.progress()["until_refit"] < session.refit_every:
        session.refit()
    screen.print()
    show_groups(session)
    screen.print()
    show_contradictions(session)
    if not person.finished and (questions is None or log.n_answers < questions):
        say("Nothing is left that would be worth asking.")
    count = session.progress()["answers"]
    kept = "1 answer is" if count == 1 else f"{count} answers are"
    say(f"{kept} saved in {request.shown_target}.")
    say(f"Go on:                 samekind ask {request.arguments()}")
    say(f"Take the groups home:  samekind export {request.arguments()} groups.csv")


@app.command()
def cluster(
    path: Source,
    groups: Groups = None,
    method: Method = "kmeans",
    encoder: Encoder = None,
    seed: Seed = 0,
    out: Annotated[Path | None, typer.Option(help="A new .csv, .json or .parquet file.")] = None,
) -> None:
    """Group a pile without asking anything."""
    from samekind.cli.results import check_free, show_groups, write_groups
    from samekind.ledger.store import MemoryStore
    from samekind.workspace.pile import Request

    check_free(out)
    request = Request(
        path, encoder=encoder, method=method, groups=groups, seed=seed, on_notice=note
    )
    with progress_bar("Encoding") as progress:
        session = request.session(request.pile(request.items(), progress), MemoryStore())
    show_groups(session)
    if out is not None:
        write_groups(session, out, None, "copy", yes=True)


app.command()(simulate)
app.command()(bench)
app.command()(export)
app.command()(predict)
app.command()(learn)
app.command()(report)


@app.command("list")
def list_all(as_json: Json = False) -> None:
    """What there is: strategies, methods, encoders, sets and paths."""
    from samekind.cli.results import show_shelves
    from samekind.encoders import describe as encoders
    from samekind.registry import first_line, shelf
    from samekind.sources import SETS
    from samekind.sources import describe as sources

    found = sources()
    shelves = {
        "strategies": {name: first_line("strategy", name) for name in shelf("strategy")},
        "methods": {name: first_line("method", name) for name in shelf("method")},
        "encoders": encoders(),
        "sets": {name: line for name, line in found.items() if name in SETS},
        "paths": {name: line for name, line in found.items() if name not in SETS},
    }
    if as_json:
        typer.echo(json.dumps(shelves))
    else:
        show_shelves(shelves)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"samekind {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; what goes wrong is told in one sentence, with its own exit code."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a file name that is not Unicode must not end a listing
            stream.reconfigure(errors="backslashreplace")
    with plain_warnings():
        try:
            app(arguments, prog_name="samekind")
        except SamekindError as problem:
            complain(problem)
            raise SystemExit(problem.exit_code) from None
