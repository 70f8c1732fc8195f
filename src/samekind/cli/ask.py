"""``samekind ask`` and ``samekind cluster``: group a pile in the terminal."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Annotated, Any

import typer

from samekind.cli import options
from samekind.cli.console import (
    note,
    notes,
    progress_bar,
    say,
    screen,
    show_json,
    show_table,
    waiting,
)
from samekind.cli.posterior import show_certainty
from samekind.questions.wording import plural

if TYPE_CHECKING:
    from samekind.session import Session


def ask(
    path: options.Source,
    questions: Annotated[
        int | None, typer.Option(min=1, help="Stop after this many answers.")
    ] = None,
    orientation: options.Orientation = "main",
    encoder: options.Encoder = None,
    method: options.Method = None,
    strategy: options.Strategy = None,
    parameters: options.With = None,
    groups: options.Groups = None,
    seed: options.SessionSeed = None,
    ledger: options.Ledger = None,
    by: Annotated[
        str | None,
        typer.Option(help="Your name, if several people share the questions of this ledger."),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Answer questions in this terminal, with one key per answer."""
    from samekind.cli.terminal import TerminalPerson
    from samekind.simulation.loop import run
    from samekind.workspace.pile import Request

    given, strategy, encoder = options.distributed(parameters, strategy, encoder)
    request = Request(
        path, orientation, encoder, method, strategy, groups, seed, ledger, note, given
    ).remembered()
    with progress_bar("Listing") as progress:
        collection = request.items(progress)
    store = request.store()
    with progress_bar("Encoding", then="Grouping") as progress:
        session = request.session(request.pile(collection, progress), store)
    with TerminalPerson(notes if as_json else screen, session) as person:
        log = run(session, person, questions, person=by)
    if session.progress()["until_refit"] < session.refit_every:
        with waiting("Grouping"):
            session.refit()
    if as_json:
        show_json(groups_json(session) | {"answers": session.progress()["answers"]})
        return
    screen.print()
    show_groups(session)
    screen.print()
    show_contradictions(session)
    show_people(session)
    if not person.finished and (questions is None or log.n_answers < questions):
        say("There are no more questions worth asking.")
    count = session.progress()["answers"]
    say(f"{plural(count, 'answer is', 'answers are')} saved in {request.shown_target}.")
    show_certainty(session, request.arguments())
    say(f"Continue:           samekind ask {request.arguments()}")
    say(f"Export the groups:  samekind export {request.arguments()} groups.csv")


def cluster(
    path: options.Source,
    groups: options.Groups = None,
    method: options.Method = None,
    parameters: options.With = None,
    encoder: options.Encoder = None,
    seed: options.Seed = 0,
    out: options.TableOut = None,
    as_json: options.Json = False,
) -> None:
    """Group a pile without asking any questions."""
    from samekind.cli.export import write_groups
    from samekind.exports.placements import check_table
    from samekind.ledger.store import MemoryStore
    from samekind.workspace.exports import ExportRequest, export_groups
    from samekind.workspace.pile import Request

    check_table(out)
    given, _, encoder = options.distributed(parameters, None, encoder)
    request = Request(
        path,
        encoder=encoder,
        method=method,
        groups=groups,
        seed=seed,
        on_notice=note,
        parameters=given,
    )
    with progress_bar("Listing") as progress:
        collection = request.items(progress)
    with progress_bar("Encoding", then="Grouping") as progress:
        session = request.session(request.pile(collection, progress), MemoryStore())
    if as_json:
        show_json(groups_json(session))
        if out is not None:
            export_groups(session, out)
        return
    show_groups(session)
    same = [
        *(["--method", method] if method else []),
        *(word for one in parameters or [] for word in ("--with", one)),
    ]
    show_certainty(session, f"{request.arguments()} {shlex.join(same)}")
    if out is not None:
        write_groups(session, ExportRequest(None, "copy", out, str(out)), yes=True)


def groups_json(session: Session) -> dict[str, Any]:
    """Return the groups as plain JSON."""
    found, sizes = session.clustering, session.clustering.sizes()
    members = [
        {
            "number": number,
            "name": found.name(number),
            "size": sizes[number],
            "items": [session.collection.id(int(i)) for i in found.members(number)],
        }
        for number in found.numbers
    ]
    return {"items": len(session.collection), "groups": members}


def show_groups(session: Session) -> None:
    """Print the groups with their sizes and a few of their items."""
    clustering = session.clustering
    say(f"{session.collection.name}: {plural(clustering.n_groups, 'group')}")
    rows = []
    for number, size in sorted(clustering.sizes().items(), key=lambda pair: -pair[1]):
        examples = [session.collection.id(int(i)) for i in clustering.members(number)[:3]]
        more = ", ..." if size > len(examples) else ""
        rows.append((clustering.name(number), f"{size:,}", ", ".join(examples) + more))
    show_table(("group", "items", "examples"), rows)


def show_people(session: Session) -> None:
    """Print how far people agree, if there are several."""
    from samekind.session.agreement import agreement, describe_agreement

    found = agreement(session)
    if not (words := describe_agreement(found)):
        return
    say(words)
    rows = []
    for one in found.people:
        wrong = "" if one.error is None else f"{100 * one.error:.0f} %"
        agreed = f"{one.agreed} of {one.shared}" if one.shared else ""
        rows.append((one.name, f"{one.answers:,}", f"{one.second_opinions:,}", agreed, wrong))
    show_table(("person", "answers", "second opinions", "agreed", "probably wrong"), rows)


def show_contradictions(session: Session) -> None:
    """Print which answers cannot all be true; none of them is lost."""
    for conflict in session.constraints.conflicts:
        numbers = " and ".join(str(answer.number) for answer in conflict.clash)
        say(
            f"Answers {numbers} contradict each other. Answer {conflict.answer.number} was set "
            "aside; nothing is lost, and you can change any of them on the page."
        )
