"""``samekind serve`` and ``samekind demo``: answer on a page in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from samekind.cli import options
from samekind.cli.console import note, progress_bar, say

if TYPE_CHECKING:
    from samekind.web.phone import Phone


def serve(
    path: Annotated[
        str | None,
        typer.Argument(help="A folder, a table, or a named set; omit it to choose on the page."),
    ] = None,
    port: options.Port = 8765,
    host: options.Host = "127.0.0.1",
    browser: options.Browser = False,
    orientation: options.Orientation = "main",
    encoder: options.Encoder = None,
    method: options.Method = None,
    strategy: options.Strategy = None,
    parameters: options.With = None,
    groups: options.Groups = None,
    seed: options.SessionSeed = None,
    ledger: options.Ledger = None,
    token: options.Token = True,
    people: options.People = None,
    overlap: options.Overlap = 0.1,
    hide_answers: options.HideAnswers = False,
    public_url: options.PublicUrl = None,
    allow: options.Allow = None,
    phone: options.OnPhone = False,
    bursts: options.Bursts = None,
) -> None:
    """Answer questions on a page in your browser."""
    from samekind.errors import InputError
    from samekind.session.people import People
    from samekind.web.addresses import LOCAL_HOSTS, check_open, check_people
    from samekind.web.server import listen
    from samekind.web.server import serve as run_server
    from samekind.workspace.pile import Request
    from samekind.workspace.workspaces import Workspaces

    given, strategy, encoder = options.distributed(parameters, strategy, encoder)
    check_open(host, token=token, public_url=public_url)
    names = check_people(people.split(",") if people is not None else (), token=token)
    if names and path is None:
        raise InputError("Expected a pile for these people: samekind serve PATH --people NAMES")
    alone = host in LOCAL_HOSTS and not names and public_url is None
    reachable = _reachable(alone and token) if phone else None
    if port:
        listen(host, port).close()  # fails early, before any long work, if the port is in use
    # Only the user of this machine, who has a token, may name paths on the page.
    folders = [*(allow or []), *([path] if path is not None and Path(path).exists() else [])]
    workspaces = Workspaces.at_home(paths=token and alone, allow=folders)
    shared = People(overlap=overlap, hidden=hide_answers) if names else None
    if path is not None:
        request = Request(
            path, orientation, encoder, method, strategy, groups, seed, ledger, note, given, bursts
        )
        with progress_bar("Encoding", then="Grouping") as progress:
            workspaces.open(request.remembered(), progress, people=shared)
    who: dict[str, Any] = {"token": token, "people": names, "public_url": public_url}
    who["phone"] = reachable
    run_server(workspaces, port=port, host=host, open_browser=browser, announce=say, **who)


def _reachable(alone: bool) -> Phone:
    """Find the address for a phone, unless others are let in as well."""
    from samekind.errors import InputError
    from samekind.web.phone import Phone

    if not alone:
        raise InputError(
            "Expected --phone without --host, --people, --public-url and --no-token: it lets "
            "your own phone answer. For several people use --people."
        )
    return Phone.on_network()


def demo(port: options.Port = 8765, browser: options.Browser = False) -> None:
    """Try the page with 384 tiles: sort them by colour, shape, pattern or count."""
    serve("tiles", port=port, browser=browser)
