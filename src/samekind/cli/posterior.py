"""``samekind posterior``: how sure the groups are, in the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from samekind.cli import options
from samekind.cli.console import note, printable, progress_bar, say, screen, show_json, waiting
from samekind.questions.wording import plural

if TYPE_CHECKING:
    from samekind.items import Item
    from samekind.session import Session
    from samekind.workspace.alternatives import Alternative
    from samekind.workspace.posterior import PosteriorReport

BAR_WIDTH = 30
"""Width of the bar of the most probable number of groups."""
EIGHTHS = " ▏▎▍▌▋▊▉█"
MIN_SHARE = 0.005
"""Numbers of groups that are less probable are not drawn."""
MAX_NAME = 38
"""Characters of an item's name or text."""
MAX_ALTERNATIVES = 3


def posterior(
    path: options.Source,
    pairs: Annotated[int, typer.Option(min=0, help="Number of uncertain pairs to list.")] = 6,
    orientation: options.Orientation = "main",
    method: options.Method = None,
    parameters: options.With = None,
    encoder: options.Encoder = None,
    seed: options.SessionSeed = None,
    ledger: options.Ledger = None,
    as_json: options.Json = False,
) -> None:
    """Show how many groups there probably are, uncertain pairs, and other plausible groupings.

    Your answers count, if there are any; nothing is changed.
    """
    from samekind.cli.ask import show_groups
    from samekind.workspace.alternatives import alternatives
    from samekind.workspace.pile import Request
    from samekind.workspace.posterior import open_to_report, posterior_report

    given, _, encoder = options.distributed(parameters, None, encoder)
    request = Request(path, orientation, encoder, method, None, None, seed, ledger, note, given)
    with progress_bar("Encoding", then="Grouping") as progress:
        session = open_to_report(request, progress)
    with waiting("Comparing groupings"):
        found, others = posterior_report(session, pairs), alternatives(session)
    assert found is not None
    if as_json:
        show_json(as_plain(session, found, others))
        return
    show_groups(session)
    screen.print()
    screen.print(drawn_report(session, found, others, chances=True))


def drawn_report(
    session: Session,
    found: PosteriorReport,
    others: tuple[Alternative, ...],
    *,
    chances: bool,
) -> RenderableType:
    """Draw a report; without `chances` nothing in it suggests an answer."""
    from samekind.workspace.posterior import describe_basis, describe_n_groups

    sentence = f"{describe_n_groups(found.n_groups)} {describe_basis(found)}"
    parts: list[RenderableType] = [Text(sentence.strip(), "bold"), _bars(found)]
    if found.pairs:
        parts += [Text("\nUncertain pairs", "bold"), _pairs(session, found, chances=chances)]
    if others:
        parts.append(Text("\nOther plausible groupings", "bold"))
        parts += [_alternative(one) for one in others[:MAX_ALTERNATIVES]]
    return Group(*parts)


def show_certainty(session: Session, arguments: str) -> None:
    """Print how many groups there probably are, if the method knows, and where to see more."""
    from samekind.workspace.posterior import describe_basis, describe_n_groups, posterior_report

    if (found := posterior_report(session, 0)) is not None:
        say(f"{describe_n_groups(found.n_groups)} {describe_basis(found)}".strip())
        say(f"What is uncertain:  samekind posterior {arguments}")


def as_plain(
    session: Session, found: PosteriorReport, others: tuple[Alternative, ...]
) -> dict[str, Any]:
    """Return a report as plain JSON."""
    name = session.collection.id
    return {
        "items": found.items,
        "placed": found.placed,
        "groups": found.groups,
        "n_groups": {str(number): round(share, 6) for number, share in found.n_groups.items()},
        "pairs": [
            {"a": name(pair.a), "b": name(pair.b), "together": round(pair.together, 6)}
            for pair in found.pairs
        ],
        "alternatives": [
            {
                "share": round(one.share, 6),
                "groups": one.n_groups,
                "changes": [
                    {"words": change.words, "items": [name(int(i)) for i in change.items]}
                    for change in one.changes
                ],
                "more": one.more,
            }
            for one in others
        ],
    }


def bar(share: float, width: int = BAR_WIDTH) -> str:
    """Draw a share of a width with blocks.

    >>> bar(0.5, 4), bar(0.28, 4)
    ('██', '█▏')
    """
    eighths = round(share * width * 8)
    return ("█" * (eighths // 8) + EIGHTHS[eighths % 8]).strip()


def _bars(found: PosteriorReport) -> Table:
    from samekind.workspace.posterior import percent

    most = max(found.n_groups.values())
    table = Table.grid(padding=(0, 1))
    for number in sorted({*found.n_groups, found.groups}):
        share = found.n_groups.get(number, 0.0)
        if share >= MIN_SHARE or number == found.groups:
            now = number == found.groups
            line = Text(bar(share / most) or "▏", "cyan").append(f" {percent(share)}", "default")
            line.append(", now" if now else "", "bold")
            table.add_row(Text(f"{plural(number, 'group'):>11}", "bold" if now else ""), line)
    return table


def _pairs(session: Session, found: PosteriorReport, *, chances: bool) -> Table:
    from samekind.workspace.posterior import percent

    table = Table(box=None)
    for heading in ("item", "item", *(["same kind"] if chances else [])):
        table.add_column(heading, no_wrap=True, overflow="ellipsis")
    for pair in found.pairs:
        names = [item_words(session.collection[i]) for i in (pair.a, pair.b)]
        share = [percent(pair.together)] if chances else []
        table.add_row(*(Text(cell) for cell in (*names, *share)))
    return table


def _alternative(one: Alternative) -> Text:
    from samekind.workspace.posterior import percent

    text = Text(f"{percent(one.share)} of the draws: {plural(one.n_groups, 'group')}\n")
    lines = [f"  {change.words}" for change in one.changes]
    lines += [f"  {plural(one.more, 'item')} in smaller changes."] if one.more else []
    return text.append(printable("\n".join(lines)))


def live_report(session: Session) -> RenderableType:
    """Draw a report for somebody who is being asked, without anything that suggests an answer."""
    from samekind.workspace.alternatives import alternatives
    from samekind.workspace.posterior import posterior_report

    found = posterior_report(session)
    if found is None:
        return Text("This method gives one grouping and does not say how sure it is.")
    return drawn_report(session, found, alternatives(session), chances=False)


def item_words(item: Item) -> str:
    """Return the beginning of a text, or the name of anything else."""
    preview = item.preview()
    text = item.id
    if item.kind == "text" and preview.mime.startswith("text/"):
        text = " ".join(preview.data.decode("utf-8", "replace").split()) or item.id
    text = printable(text)
    return text if len(text) <= MAX_NAME else f"{text[: MAX_NAME - 1]}…"
