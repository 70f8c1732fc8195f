"""Many groups in a terminal: a list of names, and groups that are found or started by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from samekind.cli.console import printable
from samekind.questions import NONE, Question
from samekind.session import Session

NEW, NAME, SHOW = "new", "name", "show"
"""Words that start a group, name one, and draw one."""
LARGE_GROUPS = 5
"""Groups that are drawn; all of them are listed below."""
COLUMN_WIDTH = 24
MAX_SUGGESTIONS = 5


@dataclass(frozen=True)
class Typed:
    """What a typed line means: an answer, a name for a group, a group to draw, or a message."""

    choice: str | None = None
    name: str = ""
    renamed: str | None = None
    """The choice whose group gets the name."""
    drawn: str | None = None
    """The choice whose group is drawn."""
    message: str = ""


@dataclass(frozen=True)
class GroupNames:
    """The groups of a question by their numbers.

    Parameters
    ----------
    names : the name of each group, by choice; empty: it has none.
    examples : the id of its central item, by choice.
    """

    names: Mapping[str, str]
    examples: Mapping[str, str]

    @classmethod
    def of(cls, session: Session, question: Question) -> GroupNames | None:
        """The groups of a question that shows all of them; None for any other question."""
        if question.placed_item(NONE) is None:
            return None
        first = {c: question.exemplars(c)[0] for c in question.choices() if c.isdecimal()}
        return cls(
            {choice: session.naming.of_kind(item) for choice, item in first.items()},
            {choice: session.positions.name(item) for choice, item in first.items()},
        )

    def read(self, typed: str) -> Typed | None:
        """What a line means; None if it is neither a group nor about one.

        >>> groups = GroupNames({"1": "Boxer", "2": "Scottish Terrier", "3": ""}, {})
        >>> groups.read("terr").choice, groups.read("3").choice, groups.read("new Pug").name
        ('2', '3', 'Pug')
        """
        word, _, rest = " ".join(typed.split()).partition(" ")
        if not word:
            return None
        if word.lower() == NEW or word == "0":
            return self._started(rest)
        if word.lower() == NAME and rest:
            return self._renamed(*rest.partition(" ")[::2])
        if word.lower() == SHOW and rest:
            found = self._found(rest)
            return Typed(drawn=found.choice, message=found.message)
        return self._found(f"{word} {rest}".strip())

    def listed(self, width: int) -> RenderableType:
        """Draw all groups in columns, down and then across."""
        columns = max(1, min(width // COLUMN_WIDTH, len(self.names)))
        down = -(-len(self.names) // columns)
        cells = [self._cell(choice) for choice in self.names]
        table = Table.grid(padding=(0, 2, 0, 0))
        for _ in range(columns):
            table.add_column(width=width // columns - 2, no_wrap=True, overflow="ellipsis")
        for row in range(down):
            table.add_row(*cells[row::down])
        return table

    def _cell(self, choice: str) -> Text:
        line = Text(f"{choice:>3} ", "bold")
        if self.names[choice]:
            return line.append(printable(self.names[choice]), "not bold")
        return line.append(f"like {printable(self.examples[choice])}", "not bold dim")

    def _started(self, name: str) -> Typed:
        taken = next((c for c, n in self.names.items() if n.casefold() == name.casefold()), None)
        if name and taken is not None:
            return Typed(message=f"Group {taken} has the name {self.names[taken]!r} already.")
        return Typed(NONE, name)

    def _renamed(self, choice: str, name: str) -> Typed:
        if choice not in self.names or not name:
            return Typed(
                message=f"Expected a number and a name, as in '{NAME} 3 Beagle', got "
                f"{f'{NAME} {choice} {name}'.strip()!r}."
            )
        return Typed(renamed=choice, name=name)

    def _found(self, typed: str) -> Typed:
        if typed in self.names:
            return Typed(typed)
        wanted = typed.casefold()
        known = {choice: name.casefold() for choice, name in self.names.items() if name}
        fits = [c for c, name in known.items() if name == wanted]
        fits = fits or [c for c, name in known.items() if name.startswith(wanted)]
        fits = fits or [c for c, name in known.items() if wanted in name]
        if len(fits) == 1:
            return Typed(fits[0])
        if not fits:
            return Typed(message=f"No group is called {typed!r}. To start it: {NEW} {typed}")
        some = ", ".join(f"{c} {self.names[c]}" for c in fits[:MAX_SUGGESTIONS])
        more = ", ..." if len(fits) > MAX_SUGGESTIONS else ""
        return Typed(message=f"{typed!r} fits several groups: {some}{more}. Type more of the name.")
