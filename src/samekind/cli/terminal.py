"""The terminal door: questions drawn with characters, one key per answer."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

from rich.console import Console as Screen
from rich.text import Text

from samekind.cli.drawings import drawn
from samekind.cli.keys import KEYS, Console
from samekind.questions import NONE, Question, wording
from samekind.session import Session, review
from samekind.session.quality import describe_quality
from samekind.session.review import doubtful_answers
from samekind.simulation.people import BACK, SKIP, STOP

COMMANDS = {BACK: "Back", SKIP: "Skip for now", STOP: "Finish"}
FINISH = KEYS[STOP][0]
END_OF_INPUT = "\x04"
ESCAPE = "\x1b"
ERASING = ("\x7f", "\b")
LOOK_EVERY = 25
"""Answers between two looks at the groups."""


class AtTerminal:
    """The person in front of this terminal, as something that answers.

    Use it as a context: meanwhile keys come one by one and are not echoed.
    """

    def __init__(self, screen: Screen, session: Session) -> None:
        self.finished = False
        """Whether the person has had enough (and not the questions come to an end)."""
        self._screen = screen
        self._session = session
        self._keyboard = Keyboard()
        self._console = Console(self._show, self._read, self._refuse)
        self._several = False

    def __enter__(self) -> Self:
        self._keyboard.open()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._keyboard.close()

    def answer(self, question: Question) -> str:
        """What the person says to a question."""
        choice = self._console.answer(question)
        if choice == STOP:
            self.finished = True
        elif choice == BACK and not self._session.answers:
            self._screen.print("There is no answer to take back yet.")
        elif choice not in (BACK, SKIP) and self._session.progress()["until_refit"] <= 1:
            self._screen.print("[dim]Learning from your answers ...[/dim]")
        return choice

    def _read(self) -> str:
        return self._keyboard.line(self._echo) if self._several else self._keyboard.read()

    def _echo(self, written: str) -> None:
        self._screen.file.write(written)
        self._screen.file.flush()

    def _show(self, question: Question) -> None:
        progress = self._session.progress()
        answered = progress["answers"]
        self._several = question.many
        self._keyboard.forget()
        self._screen.print()
        if answered and answered % LOOK_EVERY == 0:
            sizes = sorted(self._session.clustering.sizes().values(), reverse=True)
            shown = ", ".join(f"{size:,}" for size in sizes[:12])
            more = f" and {len(sizes) - 12} smaller ones" if len(sizes) > 12 else ""
            self._screen.print(f"After {answered} answers: groups of {shown}{more} items.")
            if said := describe_quality(progress):
                self._screen.print(said)
            for odd in doubtful_answers(self._session)[:3]:
                self._screen.print(f"Worth another look (answer {odd.number}): ", end="")
                self._screen.print(Text(review.describe_doubt(self._session, odd)))
        self._screen.rule(f"[bold]Question {answered + 1}[/bold]", align="left")
        self._screen.print(Text(question.prompt, "bold"))
        if question.why:
            self._screen.print(Text(question.why, "dim"))
        height = self._screen.height if self._screen.is_terminal else 40
        self._screen.print(drawn(self._session.collection, question, self._screen.width, height))
        self._screen.print(menu(question))

    def _refuse(self, typed: str, question: Question) -> None:
        if typed.strip() == "?":
            self._screen.print(explained(question))
        elif typed.strip() or self._keyboard.is_terminal:
            said = repr(typed) if typed.isprintable() else "That"
            wrong = f"{said} is not one of the keys."
            if question.many and len(typed) > 1:
                wrong = f"{said} is not made of the numbers {span(question)}."
            self._screen.print(wrong, markup=False, highlight=False)
            self._screen.print(menu(question))


class Keyboard:
    """Keys one by one from a terminal, lines from anything else; the end of input means finish."""

    def __init__(self) -> None:
        self._saved: Any = None
        self.is_terminal = sys.stdin is not None and not sys.stdin.closed and sys.stdin.isatty()

    def open(self) -> None:
        """Stop echoing, and give keys without waiting for Enter. Ctrl-C works as ever."""
        if self.is_terminal:
            import termios
            import tty

            self._saved = termios.tcgetattr(sys.stdin)
            tty.setcbreak(sys.stdin, termios.TCSADRAIN)

    def close(self) -> None:
        """Give the terminal back as it was."""
        if self._saved is not None:
            import termios

            termios.tcsetattr(sys.stdin, termios.TCSADRAIN, self._saved)
            self._saved = None

    def forget(self) -> None:
        """Drop keys pressed before the question was on the screen: they were not meant for it."""
        if self._saved is not None:
            import termios

            termios.tcflush(sys.stdin, termios.TCIFLUSH)

    def read(self) -> str:
        """The next key or line."""
        if not self.is_terminal:
            if sys.stdin is None or sys.stdin.closed:
                return FINISH
            line = sys.stdin.readline()
            return line.rstrip("\r\n") if line else FINISH
        key = self._character()
        if key == ESCAPE:  # an arrow or function key: several characters, and none of our keys
            self.forget()
        return FINISH if key in ("", END_OF_INPUT) else key

    def line(self, echo: Callable[[str], None]) -> str:
        """Numbers up to Enter, shown as they are typed; any other key at once and alone."""
        if not self.is_terminal:
            return self.read()
        typed = ""
        while True:
            key = self.read()
            if typed and key in ERASING:
                typed = typed[:-1]
                echo("\b \b")
            elif key.isdecimal() or (typed and key in " ,"):
                typed += key
                echo(key)
            else:
                echo("\n" if typed else "")
                return typed if key in "\r\n" else key

    def _character(self) -> str:
        read = b""
        while True:
            try:
                more = os.read(sys.stdin.fileno(), 1)
            except OSError:  # the terminal was closed
                return ""
            read += more
            try:
                return read.decode()
            except UnicodeDecodeError:
                if not more or len(read) > 4:
                    return "?"


def span(question: Question) -> str:
    """The numbers among the choices, as in "1-5"; empty when there are none."""
    numbers = [choice for choice in question.choices() if choice.isdecimal()]
    return "-".join(dict.fromkeys((numbers[0], numbers[-1]))) if numbers else ""


def menu(question: Question) -> Text:
    """All keys in one line."""
    numbers = span(question)
    parts = [
        ((*given, choice)[0], wording.label(choice, question.words))
        for choice, given in wording.keys(question.choices(), many=question.many).items()
        if not choice.isdecimal()
    ]
    parts += [(KEYS[verb][0], label) for verb, label in COMMANDS.items()] + [("?", "Help")]
    if numbers:
        one = "-" not in numbers
        words = "This group" if one else "That group"
        if question.many:
            words = "Type its number, then Enter" if one else "Type their numbers, then Enter"
        parts.insert(0, (numbers, words))
    line = Text()
    for position, (key, label) in enumerate(parts):
        line.append(" · " if position else "").append(key, "bold").append(f" {label}")
    return line


def explained(question: Question) -> Text:
    """What the keys do."""
    lines = ["One key is an answer; nothing has to be confirmed, and each answer is saved at once."]
    if question.many:
        none = wording.label(NONE, question.words).lower()
        lines = [
            f"{question.prompt} Type their numbers and press Enter; each answer is saved at once.",
            "  2 5      Enter: those two; commas do as well as spaces, and the order is free",
            f"  Enter    nothing typed: {none}",
        ]
    elif span(question):
        lines.append("  1-5      it belongs to that group      0  to none of those shown")
    if "same" in question.choices():
        lines.append("  y        the same kind                 n  different kinds")
    lines += [
        "  u, space you are not sure              s  not now, ask me later",
        "  z        take the last answer back     q  finish (come back any time)",
    ]
    return Text("\n".join(lines))
