"""The terminal door: questions drawn with characters, one key per answer."""

from __future__ import annotations

import io
import sys

from rich.columns import Columns
from rich.console import Console as Screen
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.text import Text

from samekind.items import Item
from samekind.oracles import BACK, KEYS, SKIP, STOP, Console
from samekind.questions import UNSURE, Question
from samekind.session import Session

LABELS = {"same": "Same", "different": "Different", "none": "None of these", UNSURE: "Not sure"}
COMMANDS = {BACK: "Back", SKIP: "Skip for now", STOP: "Finish"}
CELLS = 22
"""Width of a picture in characters; each shows two pixels, one above the other."""


def person_at(screen: Screen, session: Session) -> Console:
    """The person in front of this terminal, as something that answers."""

    def show(question: Question) -> None:
        answered = session.progress()["answers"]
        screen.print()
        screen.rule(f"[bold]Question {answered + 1}[/bold]", align="left")
        screen.print(f"[bold]{question.prompt}[/bold]")
        if question.why:
            screen.print(f"[dim]{question.why}[/dim]")
        screen.print(_drawn(session, question))
        screen.print(_menu(question))

    def refuse(typed: str, question: Question) -> None:
        if typed.strip() == "?":
            screen.print(_help(question))
        else:
            said = repr(typed.strip() or typed)
            screen.print(f"{said} is not one of the keys. {_menu(question)}", highlight=False)

    return Console(show, read_key, refuse)


def read_key() -> str:
    """One key from a terminal, one line from anything else; the end of input means finish."""
    if sys.stdin.isatty():
        import click

        try:
            return click.getchar()
        except (KeyboardInterrupt, EOFError):
            return STOP
    line = sys.stdin.readline()
    return line.rstrip("\n") if line else STOP


def picture(data: bytes, cells: int = CELLS) -> Text:
    """A picture of coloured half blocks."""
    from PIL import Image

    with Image.open(io.BytesIO(data)) as opened:
        image = opened.convert("RGB")
    height = max(2, round(cells * image.height / image.width / 2) * 2)
    pixels = image.resize((cells, min(height, 2 * cells))).load()
    rows = min(height, 2 * cells)
    text = Text(no_wrap=True)
    for y in range(0, rows - 1, 2):
        for x in range(cells):
            top, below = pixels[x, y], pixels[x, y + 1]  # type: ignore[index]
            text.append("▀", style=f"rgb({_rgb(top)}) on rgb({_rgb(below)})")
        if y < rows - 2:
            text.append("\n")
    return text


def _rgb(pixel: object) -> str:
    return ",".join(map(str, pixel))  # type: ignore[call-overload]


def _drawn(session: Session, question: Question) -> RenderableType:
    """The items of a question: single ones as they are, groups of exemplars under their key."""
    grouped = {choice: question.exemplars(choice) for choice in question.choices()}
    beside = {i for exemplars in grouped.values() for i in exemplars}
    alone = [_panel(session.collection[i], "") for i in question.items() if i not in beside]
    rows: list[RenderableType] = [Columns(alone, padding=(0, 2))]
    for choice, exemplars in grouped.items():
        if exemplars:
            shown = [_panel(session.collection[i], _key(choice), cells=14) for i in exemplars]
            rows.append(Columns(shown, padding=(0, 1)))
    return Group(*rows)


def _panel(item: Item, title: str, cells: int = CELLS) -> Panel:
    preview = item.preview()
    body: RenderableType
    if preview.mime.startswith("image/"):
        body = picture(preview.data, cells)
    else:
        body = Text(preview.data.decode("utf-8", "replace")[:400])
    width = cells + 4 if preview.mime.startswith("image/") else 40
    return Panel(
        body, title=title or None, subtitle=Text(item.id[-width + 6 :], "dim"), width=width
    )


def _menu(question: Question) -> str:
    choices = [f"[b]{_key(choice)}[/b] {_label(choice)}" for choice in question.choices()]
    commands = [f"[b]{KEYS[verb][0]}[/b] {label}" for verb, label in COMMANDS.items()]
    return " · ".join([*choices, *commands, "[b]?[/b] Help"])


def _help(question: Question) -> str:
    lines = [f"  {_key(choice)}  {_label(choice)}" for choice in question.choices()]
    lines += ["  z  take the last answer back", "  s  not now, ask me later"]
    lines += ["  q  finish; everything is saved already"]
    return "\n".join(["One key is an answer. Nothing has to be confirmed.", *lines])


def _key(choice: str) -> str:
    return KEYS[choice][0] if choice in KEYS else choice


def _label(choice: str) -> str:
    return LABELS.get(choice, f"Group {choice}")
