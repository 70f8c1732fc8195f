"""The command line: ``samekind serve PATH`` and the other doors for a terminal."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer
from rich.console import Console as Screen
from rich.table import Table

from samekind import __version__
from samekind.errors import InputError, SamekindError

if TYPE_CHECKING:
    from samekind.pile import Pile
    from samekind.protocols import Progress
    from samekind.session import Session

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Bring a pile, answer a few questions, get the grouping that you had in mind.",
)
screen = Screen()
notes = Screen(stderr=True)

Source = Annotated[str, typer.Argument(help="A folder, a table, or the name of a set (tiles).")]
Orientation = Annotated[str, typer.Option(help="Which of your groupings of this pile.")]
Encoder = Annotated[Optional[str], typer.Option(help="How items become vectors; see `list`.")]
Method = Annotated[str, typer.Option(help="What groups the items; see `list`.")]
Strategy = Annotated[str, typer.Option(help="What is asked; see `list`.")]
Groups = Annotated[Optional[int], typer.Option(min=1, help="How many groups, if you know.")]
Seed = Annotated[int, typer.Option(help="Same seed and answers, same questions.")]
Ledger = Annotated[
    Optional[str], typer.Option("--ledger", help="File (or database URL) that keeps the answers.")
]


@app.command()
def serve(
    path: Source,
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free one.")] = 8765,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    browser: Annotated[bool, typer.Option(help="Open the page in your browser.")] = False,
    orientation: Orientation = "main",
    encoder: Encoder = None,
    method: Method = "propagation",
    strategy: Strategy = "placement",
    groups: Groups = None,
    seed: Seed = 0,
    ledger: Ledger = None,
) -> None:
    """Answer on a page in your browser."""
    from samekind.pile import ledger_file
    from samekind.store import open_store
    from samekind.web.desk import Desk
    from samekind.web.server import listen
    from samekind.web.server import serve as run_server

    if port:
        listen(host, port).close()  # a port in use is told before long work begins
    pile = _pile(path, encoder)
    store = open_store(ledger or ledger_file(path))

    def open_session(name: str) -> Session:
        return _session(pile, store, name, method, strategy, groups, seed)

    desk = Desk(pile.collection, open_session, store=store, first=orientation)
    run_server(desk, port=port, host=host, open_browser=browser, announce=screen.print)


@app.command()
def demo(
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free one.")] = 8765,
    browser: Annotated[bool, typer.Option(help="Open the page in your browser.")] = False,
) -> None:
    """Serve the demo tiles: sort them by colour, shape, pattern or count, as you like."""
    serve("tiles", port=port, browser=browser)


@app.command()
def ask(
    path: Source,
    questions: Annotated[Optional[int], typer.Option(min=1, help="Stop after so many.")] = None,
    orientation: Orientation = "main",
    encoder: Encoder = None,
    method: Method = "propagation",
    strategy: Strategy = "placement",
    groups: Groups = None,
    seed: Seed = 0,
    ledger: Ledger = None,
) -> None:
    """Answer in this terminal, one key per answer."""
    from samekind.pile import ledger_file
    from samekind.simulate import run
    from samekind.store import open_store
    from samekind.terminal import person_at

    pile = _pile(path, encoder)
    target = ledger or ledger_file(path)
    session = _session(pile, open_store(target), orientation, method, strategy, groups, seed)
    log = run(session, person_at(screen, session), questions)
    if log.told:
        session.refit()
    screen.print(_groups_table(session))
    _say_conflicts(session)
    more = (
        "" if questions and log.told >= questions else " Come back any time with the same command."
    )
    screen.print(f"{session.progress()['answers']} answers are saved in {target}.{more}")


@app.command()
def cluster(
    path: Source,
    groups: Groups = None,
    method: Method = "kmeans",
    encoder: Encoder = None,
    seed: Seed = 0,
    out: Annotated[
        Optional[Path], typer.Option(help="Write the groups (csv, json, parquet).")
    ] = None,
) -> None:
    """Group a pile without asking anything."""
    from samekind.store import MemoryStore

    pile = _pile(path, encoder)
    session = _session(pile, MemoryStore(), "main", method, "random", groups, seed)
    screen.print(_groups_table(session))
    if out is not None:
        _export(session, out, None, "copy", yes=True)


@app.command()
def simulate(
    source: Annotated[str, typer.Argument(help="A set (tiles, digits) or a table with labels.")],
    orientation: Annotated[
        Optional[str], typer.Option(help="The kinds the person has in mind.")
    ] = None,
    labels: Annotated[Optional[str], typer.Option(help="Label column of a table.")] = None,
    map_file: Annotated[
        Optional[Path],
        typer.Option("--map", help="JSON file {label: group} that coarsens the labels."),
    ] = None,
    method: Method = "propagation",
    strategy: Strategy = "placement",
    encoder: Encoder = None,
    questions: Annotated[int, typer.Option(min=0, help="How many are answered.")] = 50,
    noise: Annotated[float, typer.Option(min=0, max=1, help="Share of wrong answers.")] = 0.0,
    groups: Groups = None,
    seed: Seed = 0,
    refit_every: Annotated[int, typer.Option(min=1, help="Answers per refit.")] = 5,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Let a simulated person answer, and measure the grouping against labels."""
    from samekind.experiment import Experiment
    from samekind.sources import open_labelled

    labelled = open_labelled(source, labels=[labels] if labels else [])
    chosen = labels or orientation or next(iter(labelled.orientations))
    mapping = _mapping(map_file)
    plan = Experiment(
        chosen, method, strategy, encoder, questions, noise, seed, groups, refit_every
    )
    with _bar("Encoding") as progress:
        result = plan.run(labelled, mapping=mapping, progress=progress)
    if labels and orientation:
        result["orientation"] = orientation
    if map_file is not None:
        result["map"] = map_file.name
    if as_json:
        typer.echo(json.dumps(result))
    else:
        screen.print(_curve_table(result))


@app.command()
def export(
    path: Source,
    target: Annotated[Path, typer.Argument(help="A new .csv, .json, .parquet file or folder.")],
    format: Annotated[Optional[str], typer.Option(help="csv, json, parquet or folders.")] = None,
    mode: Annotated[str, typer.Option(help="For folders: copy or link.")] = "copy",
    yes: Annotated[bool, typer.Option("--yes", help="Do it; without, only show the plan.")] = False,
    undo: Annotated[bool, typer.Option("--undo", help="Take an export into folders back.")] = False,
    orientation: Orientation = "main",
    encoder: Encoder = None,
    method: Method = "propagation",
    groups: Groups = None,
    ledger: Ledger = None,
) -> None:
    """Take the groups home: a table, or one folder per group."""
    from samekind.exports import undo_export

    if undo:
        screen.print(undo_export(target).describe(), markup=False)
        return
    session = _reopened(path, orientation, encoder, method, groups, ledger)
    _export(session, target, format, mode, yes=yes)


@app.command()
def predict(
    path: Source,
    new: Annotated[str, typer.Argument(help="Other items of the same sort: a folder or table.")],
    out: Annotated[Optional[Path], typer.Option(help="Write a CSV file.")] = None,
    orientation: Orientation = "main",
    encoder: Encoder = None,
    method: Method = "propagation",
    groups: Groups = None,
    ledger: Ledger = None,
) -> None:
    """Place other items into the groups that you made, without asking anything."""
    from samekind.clustering import Clustering
    from samekind.exports import plan_export, run_export
    from samekind.sources import open_source

    pile = _pile(path, encoder)
    session = _reopened(path, orientation, encoder, method, groups, ledger, pile)
    items = open_source(new)
    with _bar("Encoding") as progress:
        more = pile.vectors_of(items, progress)
    placed = items.take(more.positions.tolist())
    numbers = session.predict(more.X)
    grouping = Clustering(numbers, more.X, names=dict(session.clustering.names))
    if out is None:
        for id, number in zip(placed.ids(), numbers.tolist(), strict=True):
            typer.echo(f"{id}\t{number}\t{grouping.name(number)}")
    else:
        screen.print(run_export(plan_export(placed, grouping, out)).describe(), markup=False)


@app.command("list")
def list_all(
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """What there is: strategies, methods, encoders, sources."""
    from samekind.encoders import describe as encoders
    from samekind.registry import first_line, shelf
    from samekind.sources import describe as sources

    shelves = {
        "strategies": {name: first_line("strategy", name) for name in shelf("strategy")},
        "methods": {name: first_line("method", name) for name in shelf("method")},
        "encoders": encoders(),
        "sources": sources(),
    }
    if as_json:
        typer.echo(json.dumps(shelves))
        return
    for title, members in shelves.items():
        table = Table("name", "what it is for", title=title, title_justify="left", box=None)
        for name, line in members.items():
            table.add_row(f"[bold]{name}[/bold]", line)
        screen.print(table)


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


def _pile(path: str, encoder: str | None) -> Pile:
    from samekind.pile import encoded_pile
    from samekind.sources import open_source

    collection = open_source(path)
    notes.print(f"{len(collection):,} items in {collection.name}.", highlight=False)
    with _bar("Encoding") as progress:
        pile = encoded_pile(collection, encoder=encoder, progress=progress)
    notes.print(f"Encoder: {pile.reason}.", highlight=False, markup=False)
    for skipped in pile.collection.skipped[:5]:
        notes.print(f"Skipped {skipped.id}: {skipped.reason}", markup=False, highlight=False)
    if len(pile.collection.skipped) > 5:
        notes.print(f"... and {len(pile.collection.skipped) - 5} more files were skipped.")
    return pile


def _session(
    pile: Pile, store: Any, name: str, method: str, strategy: str, groups: int | None, seed: int
) -> Session:
    from samekind.registry import find
    from samekind.session import Session

    clusterer = find("method", method)(n_clusters=groups)
    session = Session(
        pile.collection,
        pile.X,
        store=store,
        name=name,
        clusterer=clusterer,
        strategy=strategy,
        seed=seed,
    )
    _say_changes(session)
    return session


def _reopened(
    path: str,
    orientation: str,
    encoder: str | None,
    method: str,
    groups: int | None,
    ledger: str | None,
    pile: Pile | None = None,
) -> Session:
    """The session as it was left, learnt from every answer; an error when there is none."""
    from samekind.pile import ledger_file
    from samekind.store import open_store

    target = ledger or ledger_file(path)
    there = open_store(target).sessions() if "://" in str(target) or Path(target).exists() else []
    if orientation not in there:
        known = f" There are: {', '.join(there)}." if there else ""
        raise InputError(
            f"There is no grouping {orientation!r} of {path!r} yet.{known} "
            f"Make one first: samekind ask {path}"
        )
    session = _session(
        pile or _pile(path, encoder),
        open_store(target),
        orientation,
        method,
        "placement",
        groups,
        0,
    )
    session.refit()
    return session


def _export(session: Session, target: Path, format: str | None, mode: str, *, yes: bool) -> None:
    from samekind.exports import plan_export, run_export

    answered = frozenset(session.collection.id(int(i)) for i in session.constraints.touched)
    plan = plan_export(
        session.collection, session.clustering, target, format=format, mode=mode, answered=answered
    )
    screen.print(plan.describe(), markup=False, highlight=False)
    if not yes and sys.stdin.isatty() and not plan.conflicts:
        yes = typer.confirm("Do it?")
    if yes:
        screen.print(run_export(plan).describe(), markup=False, highlight=False)
    else:
        screen.print("Nothing was written. Add --yes to do it.")


def _mapping(file: Path | None) -> dict[str, Any] | None:
    if file is None:
        return None
    try:
        mapping = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as problem:
        raise InputError(
            f"The map {str(file)!r} cannot be read: {problem}. Give a JSON object."
        ) from None
    if not isinstance(mapping, dict):
        raise InputError(f"The map {str(file)!r} is not a JSON object like {{'cat': 'animal'}}.")
    return mapping


def _say_changes(session: Session) -> None:
    progress = session.progress()
    if progress["renamed"]:
        notes.print(f"{len(progress['renamed'])} items were renamed; their answers came along.")
    if progress["gone"]:
        notes.print(
            f"{len(progress['gone'])} items that you answered about are gone; the answers are kept."
        )


def _say_conflicts(session: Session) -> None:
    for conflict in session.constraints.conflicts:
        numbers = ", ".join(str(answer.number) for answer in conflict.clash)
        screen.print(
            f"[yellow]Answers {numbers} contradict each other; the last was kept aside.[/]"
        )


def _groups_table(session: Session) -> Table:
    table = Table("group", "items", "for example", title=f"{session.collection.name}", box=None)
    clustering = session.clustering
    for number, size in clustering.sizes().items():
        examples = [session.collection.id(int(i)) for i in clustering.members(number)[:3]]
        table.add_row(clustering.name(number), str(size), ", ".join(examples))
    return table


def _curve_table(result: dict[str, Any]) -> Table:
    title = f"{result['set']}: {result['orientation']}, {result['method']} + {result['strategy']}"
    columns = [
        c
        for c in ("questions", "acc", "nmi", "ari", "heldout_acc", "groups")
        if c in result["curve"][0]
    ]
    table = Table(*columns, title=title, box=None)
    for row in result["curve"]:
        table.add_row(*(str(row[column]) for column in columns))
    return table


@contextmanager
def _bar(title: str) -> Iterator[Progress]:
    """A progress bar that appears only when there is something to wait for."""
    from rich.progress import Progress as Bar

    with Bar(console=notes, transient=True) as bar:
        task: list[Any] = []

        def step(done: int, total: int) -> None:
            if not task:
                task.append(bar.add_task(title, total=total))
            bar.update(task[0], completed=done, total=total)

        yield step


def main() -> None:
    """Run the command line; what goes wrong is told in one sentence, with its own exit code."""
    try:
        app()
    except SamekindError as problem:
        notes.print(f"[bold red]samekind:[/] {problem}", highlight=False)
        raise SystemExit(problem.exit_code) from None
    except KeyboardInterrupt:
        notes.print("Stopped. Everything that you answered is saved.")
        raise SystemExit(130) from None
