"""Questions in the terminal: drawn with characters, answered with one key each."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

from rich.console import Console, RenderableType
from rich.text import Text

from samekind.cli.console import at_terminal
from samekind.cli.drawings import drawn, drawn_group
from samekind.cli.group_names import LARGE_GROUPS, NAME, NEW, SHOW, GroupNames
from samekind.cli.posterior import live_report
from samekind.errors import InputError
from samekind.questions import NONE, Question, wording
from samekind.session import Session
from samekind.session.quality import describe_quality
from samekind.session.review import describe_doubt, doubtful_answers
from samekind.session.search import find_like
from samekind.session.visibility import WHAT_HELPS, describe_unseen
from samekind.simulation.people import AGAIN, BACK, SKIP, STOP
from samekind.workspace.posterior import describe_n_groups, has_posterior, posterior_report

COMMANDS = {BACK: ("back", "Back"), SKIP: ("skip", "Skip for now"), STOP: ("finish", "Finish")}
"""Commands beside answering: the names of their keys in `wording.ACTS`, and their labels."""
LIKE_KEY, LIKE_LABEL = "f", "Find more like this"
"""The key that begins a search for more items like the first one shown."""
POSTERIOR_KEY, POSTERIOR_LABEL = "p", "How sure?"
"""The key that shows how sure the groups are, where the method knows."""
FINISH = wording.ACTS["finish"][0][0]
TYPE = "Type the numbers of"
"""How several items are named in a terminal."""
END_OF_INPUT = "\x04"
ESCAPE = "\x1b"
BACKSPACES = ("\x7f", "\b")
SUMMARY_EVERY = 25
"""Answers between two summaries of the groups."""
MAX_SIZES = 12
"""Groups whose sizes a summary lists."""


class TerminalPerson:
    """The person at this terminal, who answers questions.

    Use it as a context manager: meanwhile keys are read one by one and are not echoed.
    """

    def __init__(self, screen: Console, session: Session) -> None:
        self.finished = False
        """Whether the person chose to finish (rather than the questions running out)."""
        self._screen = screen
        self._session = session
        self._keyboard = Keyboard()
        self._several = False
        self._groups: GroupNames | None = None
        self.name_given = ""
        """The name that was given to a new group with the last answer."""

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
        """Show a question until the person gives a choice or a command."""
        self._groups, self.name_given = GroupNames.of(self._session, question), ""
        self._show(question)
        while (choice := self._choice(typed := self._read(), question)) is None:
            self._refuse(typed, question)
        if choice == AGAIN:
            self._find_like(question)
            return choice
        if choice == STOP:
            self.finished = True
        elif choice == BACK and not self._session.answers:
            self._screen.print("There is no answer to take back yet.")
        elif choice not in (BACK, SKIP) and self._session.progress()["until_refit"] <= 1:
            self._screen.print("[dim]Learning from your answers ...[/dim]")
        return choice

    def _find_like(self, question: Question) -> None:
        """Begin a search for more items like the first one shown."""
        try:
            find_like(self._session, question.items()[:1])
        except InputError as problem:
            self._screen.print(Text(str(problem)))

    def refused(self, why: str) -> None:
        """Say why an answer was not saved."""
        self._screen.print(Text(why))

    def _choice(self, typed: str, question: Question) -> str | None:
        """The choice or command that was typed. A name for a group is stored at once."""
        choice = choice_of(typed, question)
        found = self._groups.read(typed) if self._groups and choice is None else None
        if found is None:
            return choice
        if found.renamed is not None:
            item = question.exemplars(found.renamed)[0]
            self._session.naming.name_kind(item, found.name)
            self._groups = GroupNames.of(self._session, question)
        self.name_given = found.name if found.choice else ""
        return found.choice

    def _read(self) -> str:
        if self._groups is not None:
            return self._keyboard.text(self._echo)
        return self._keyboard.line(self._echo) if self._several else self._keyboard.read()

    def _echo(self, text: str) -> None:
        self._screen.file.write(text)
        self._screen.file.flush()

    def _show(self, question: Question) -> None:
        progress = self._session.progress()
        answered = progress["answers"]
        self._several = question.many
        self._keyboard.flush()
        self._screen.print()
        if answered and answered % SUMMARY_EVERY == 0:
            self._summarise(progress)
        self._screen.rule(f"[bold]Question {answered + 1}[/bold]", align="left")
        heading = question.heading(self._session.naming.of_item, TYPE)
        self._screen.print(Text(heading, "bold"))
        if question.why:
            self._screen.print(Text(question.why, "dim"))
        height = self._screen.height if self._screen.is_terminal else 40
        collection, width = self._session.collection, self._screen.width
        if self._groups is None:
            self._screen.print(drawn(collection, question, width, height))
            self._screen.print(self._menu(question))
        else:
            listed = self._groups.listed(width)
            height = max(height // 2, height - len(self._screen.render_lines(listed)) - 1)
            self._screen.print(drawn(collection, question, width, height, LARGE_GROUPS))
            self._screen.print(listed)
            self._screen.print(naming_menu())

    def _summarise(self, progress: dict[str, Any]) -> None:
        sizes = sorted(self._session.clustering.sizes().values(), reverse=True)
        shown = ", ".join(f"{size:,}" for size in sizes[:MAX_SIZES])
        rest = len(sizes) - MAX_SIZES
        more = f" and {wording.plural(rest, 'smaller group')}" if rest > 0 else ""
        answered = wording.plural(progress["answers"], "answer")
        self._screen.print(f"After {answered}: groups of {shown} items{more}.")
        if quality := describe_quality(progress):
            self._screen.print(quality)
        if (report := posterior_report(self._session, 0)) is not None:
            self._screen.print(describe_n_groups(report.n_groups))
        if unseen := describe_unseen(progress):
            self._screen.print(f"{unseen} {WHAT_HELPS}", markup=False, highlight=False)
        for doubt in doubtful_answers(self._session)[:3]:
            self._screen.print(f"Worth another look (answer {doubt.number}): ", end="")
            self._screen.print(Text(describe_doubt(self._session, doubt)))

    def _refuse(self, typed: str, question: Question) -> None:
        if typed.strip() == "?":
            self._screen.print(NAMING_HELP if self._groups else explained(question))
        elif typed.strip().lower() == POSTERIOR_KEY and not self._groups:
            self._screen.print(live_report(self._session))
            self._screen.print(self._menu(question))
        elif self._groups and (found := self._groups.read(typed)):
            said = found.message or f"Group {found.renamed} has the name {found.name!r} now."
            shown: RenderableType = said
            if found.drawn is not None:
                items = [self._session.collection[i] for i in question.exemplars(found.drawn)]
                shown = drawn_group(found.drawn, items, self._screen.width)
            self._screen.print(shown, markup=False, highlight=False)
        elif typed.strip() or self._keyboard.is_terminal:
            given = repr(typed) if typed.isprintable() else "That"
            message = f"{given} is not one of the keys."
            if question.many and len(typed) > 1:
                message = f"Expected numbers from {span(question)}, got {given}."
            self._screen.print(message, markup=False, highlight=False)
            self._screen.print(self._menu(question))

    def _menu(self, question: Question) -> Text:
        return menu(question, certainty=has_posterior(self._session))


class Keyboard:
    """Reads keys from a terminal, and lines from anything else; the end of input means finish."""

    def __init__(self) -> None:
        self._saved: Any = None
        self.is_terminal = at_terminal()

    def open(self) -> None:
        """Stop echoing, and read keys without waiting for Enter. Ctrl-C still works."""
        if self.is_terminal:
            import termios
            import tty

            self._saved = termios.tcgetattr(sys.stdin)
            tty.setcbreak(sys.stdin, termios.TCSADRAIN)

    def close(self) -> None:
        """Restore the terminal."""
        if self._saved is not None:
            import termios

            termios.tcsetattr(sys.stdin, termios.TCSADRAIN, self._saved)
            self._saved = None

    def flush(self) -> None:
        """Drop keys pressed before the question was shown: they were not meant for it."""
        if self._saved is not None:
            import termios

            termios.tcflush(sys.stdin, termios.TCIFLUSH)

    def read(self) -> str:
        """Return the next key or line."""
        if not self.is_terminal:
            if sys.stdin is None or sys.stdin.closed:
                return FINISH
            line = sys.stdin.readline()
            return line.rstrip("\r\n") if line else FINISH
        key = self._character()
        if key == ESCAPE:  # an arrow or function key: several characters, and none of our keys
            self.flush()
        return FINISH if key in ("", END_OF_INPUT) else key

    def line(self, echo: Callable[[str], None]) -> str:
        """Return numbers typed up to Enter, echoing them; any other key is returned at once."""
        if not self.is_terminal:
            return self.read()
        typed = ""
        while True:
            key = self.read()
            if typed and key in BACKSPACES:
                typed = typed[:-1]
                echo("\b \b")
            elif key.isdecimal() or (typed and key in " ,"):
                typed += key
                echo(key)
            else:
                echo("\n" if typed else "")
                return typed if key in "\r\n" else key

    def text(self, echo: Callable[[str], None]) -> str:
        """Return a line of text typed up to Enter, echoing it; Ctrl-D finishes."""
        if not self.is_terminal:
            return self.read()
        typed = ""
        while True:
            key = self._character()
            if key in ("", END_OF_INPUT):
                return FINISH
            if key in ("\r", "\n"):
                echo("\n")
                return typed
            if key == ESCAPE:
                self.flush()
            elif key in BACKSPACES:
                echo("\b \b" if typed else "")
                typed = typed[:-1]
            elif key.isprintable():
                typed += key
                echo(key)

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
    """Return the range of numbers among the choices, such as "1-5"; empty without any."""
    numbers = [choice for choice in question.choices() if choice.isdecimal()]
    return "-".join(dict.fromkeys((numbers[0], numbers[-1]))) if numbers else ""


def menu(question: Question, *, certainty: bool = False) -> Text:
    """Return all keys in one line; with `certainty` also the one that shows what is uncertain."""
    numbers = span(question)
    parts = [
        ((*given, choice)[0], wording.label(choice, question.words))
        for choice, given in wording.keys(question.choices(), many=question.many).items()
        if not choice.isdecimal()
    ]
    parts += [(wording.ACTS[act][0][0], label) for act, label in COMMANDS.values()]
    parts += [] if question.many else [(LIKE_KEY, LIKE_LABEL)]
    parts += [(POSTERIOR_KEY, POSTERIOR_LABEL)] if certainty else []
    parts.append(("?", "Help"))
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


def naming_menu() -> Text:
    """Return what can be typed where all groups are listed."""
    parts = [("number", "or a part of a name"), (f"{NEW} [NAME]", "New group")]
    parts += [("u", "Not sure"), *((wording.ACTS[act][0][0], it) for act, it in COMMANDS.values())]
    line = Text()
    for position, (key, label) in enumerate((*parts, ("?", "Help"))):
        line.append(" · " if position else "").append(key, "bold").append(f" {label}")
    return line


NAMING_HELP = f"""\
Type and press Enter. Every answer is saved at once.
  12           it belongs to group 12
  beag         it belongs to the group with this in its name
  {NEW}          it starts a group        {NEW} Beagle  with this name
  {NAME} 12 Pug  give group 12 a name   {SHOW} 12     see more of it
  u            you are not sure         s  not now, ask me later
  z            take the last answer back     q  finish (continue any time)"""
"""What can be typed where all groups are listed."""
_STRIPPED_KEYS = {"\x7f": "Backspace", "\b": "Backspace", " ": " "}
"""Keys that stripping white space would lose."""


def choice_of(typed: str, question: Question) -> str | None:
    """Return the choice or command that a key or a typed word means; None: neither."""
    word = _STRIPPED_KEYS.get(typed) or typed.strip().lower()
    for choice, keys in wording.keys(question.choices()).items():
        if word and (word == choice or word in keys):
            return choice
    for command, (act, _) in COMMANDS.items():
        if word and (word == act or word in wording.ACTS[act][0]):
            return command
    if word == LIKE_KEY:
        return AGAIN
    return wording.typed_numbers(typed, question.choices()) if question.many else None


def explained(question: Question) -> Text:
    """Explain the keys."""
    lines = ["Press one key to answer; there is nothing to confirm. Every answer is saved at once."]
    if question.many:
        none = wording.label(NONE, question.words).lower()
        lines = [
            f"{question.prompt} Type their numbers and press Enter. Every answer is saved at once.",
            "  2 5      Enter: those two; separated by spaces or commas, in any order",
            f"  Enter    nothing typed: {none}",
        ]
    elif span(question):
        lines.append("  1-5      it belongs to that group      0  to none of those shown")
    if "same" in question.choices():
        lines.append("  y        the same kind                 n  different kinds")
    lines += [
        "  u, space you are not sure              s  not now, ask me later",
        "  z        take the last answer back     q  finish (continue any time)",
        "  f        look for more items like the first one shown",
        "  p        see how sure the groups are, if the method knows",
    ]
    return Text("\n".join(lines))
