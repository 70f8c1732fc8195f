"""The command line: ``samekind COMMAND``. One file per command."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from samekind import __version__
from samekind.cli.ask import ask, cluster
from samekind.cli.bench import bench
from samekind.cli.check import check
from samekind.cli.console import complain, note, plain_warnings
from samekind.cli.embed import embed
from samekind.cli.export import export
from samekind.cli.import_labels import import_labels
from samekind.cli.learn import learn
from samekind.cli.list import list_all
from samekind.cli.mcp import mcp
from samekind.cli.more import more
from samekind.cli.plot import plot
from samekind.cli.posterior import posterior
from samekind.cli.predict import PredictCommand, predict
from samekind.cli.repair import repair
from samekind.cli.report import report
from samekind.cli.serve import demo, serve
from samekind.cli.simulate import simulate
from samekind.cli.streams import finish_output, from_system, prepare_streams
from samekind.errors import MissingExtra, SamekindError

INTERRUPTED = 130
"""The exit code after Ctrl-C."""


class Commands(TyperGroup):
    """The commands; each can be stopped with Ctrl-C."""

    stopped = False
    """Whether that was said already."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            Commands.stopped = True
            note("\nStopped. All your answers are saved.")
            raise typer.Exit(INTERRUPTED) from None
        except typer.Exit as end:  # a command that says itself what is kept
            Commands.stopped = Commands.stopped or end.exit_code == INTERRUPTED
            raise


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    help="Sort a pile of things your way: answer a few questions, get the groups you had in mind.",
    epilog="Try it: samekind ask tiles, or samekind demo for a page in your browser.",
)
sorting = (
    *(serve, demo, ask, cluster, posterior, export, predict, check),
    *(learn, embed, more, mcp, repair),
)
for command in (*sorting, simulate, bench, report):
    panel = "Sort your things" if command in sorting else "Measure with simulated people"
    kind = PredictCommand if command is predict else None
    app.command(rich_help_panel=panel, cls=kind)(command)
app.command("import", rich_help_panel="Sort your things")(import_labels)
app.command("list", rich_help_panel="Sort your things")(list_all)
app.add_typer(plot, name="plot", rich_help_panel="Measure with simulated people")


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
    """Run the command line; errors are one sentence on stderr, with an exit code of their own."""
    prepare_streams()
    with plain_warnings():
        try:
            try:
                app(arguments, prog_name="samekind")
            finally:
                finish_output()
        except SamekindError as problem:
            fail(problem)
        except ModuleNotFoundError as problem:
            if problem.name != "torch":
                raise
            fail(MissingExtra("This", "train"))
        except BrokenPipeError:  # `| head` has read enough
            raise SystemExit(1) from None
        except OSError as problem:
            fail(from_system(problem))
        except SystemExit as end:
            if end.code == INTERRUPTED and not Commands.stopped:  # before a command had begun
                note("\nStopped.")
            raise


def fail(problem: SamekindError) -> NoReturn:
    """Say what went wrong, and end with the exit code of the error."""
    with suppress(OSError):  # nobody can be told
        complain(problem)
    raise SystemExit(problem.exit_code) from None
