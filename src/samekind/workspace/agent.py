"""An agent: a program that answers questions and reads groups, under a name of its own.

It uses the same ask and tell as people do. Its answers are known by its name, so how often it errs
is learnt as for any other person. It can neither open nor write files.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from samekind.errors import InputError, NotFound
from samekind.items import Preview
from samekind.questions import NONE, Question, wording
from samekind.session import Session

MAX_TEXT = 2_000
"""Characters of a text that are shown."""
MAX_EXEMPLARS = 3
"""Members by which each group of a question is shown."""
MAX_LISTED = 200
"""Items of a group in one answer."""
MAX_NAME = 60


@dataclass(frozen=True)
class Shown:
    """What an agent sees: plain JSON, and the pictures that it mentions, each with its id."""

    content: dict[str, Any]
    pictures: tuple[tuple[str, Preview], ...] = ()


@dataclass
class _Sight:
    """Describes items as plain JSON, and keeps the pictures among them."""

    session: Session
    pictures: dict[str, Preview] = field(default_factory=dict)

    def item(self, position: int) -> dict[str, str]:
        """An item: its id, and its text or that there is a picture of it."""
        item = self.session.collection[position]
        if item.kind == "text":
            return {"id": item.id, "text": str(item.load())[:MAX_TEXT]}
        preview = item.preview()
        if preview.mime.startswith("text/"):
            return {"id": item.id, "text": preview.data.decode("utf-8", "replace")[:MAX_TEXT]}
        self.pictures[item.id] = preview
        return {"id": item.id, "picture": preview.mime}

    def items(self, positions: Sequence[int]) -> list[dict[str, str]]:
        return [self.item(position) for position in positions]

    def shown(self, content: dict[str, Any]) -> Shown:
        return Shown(content, tuple(self.pictures.items()))


@dataclass(frozen=True)
class Agent:
    """A program at a session.

    Parameters
    ----------
    by : its name in the ledger.
    """

    session: Session
    by: str = "agent"

    def __post_init__(self) -> None:
        if not self.by.strip() or len(self.by) > MAX_NAME or not self.by.isprintable():
            raise InputError(
                f"Expected a name of 1 to {MAX_NAME} characters for the agent, got {self.by!r}."
            )

    def next_question(self) -> Shown:
        """The open question, reserved for this agent for a few minutes."""
        asked = self.session.ask(by=self.by)
        if asked is None:
            return Shown({"question": None, **self._counts()})
        sight = _Sight(self.session)
        question = asked.question
        content = {
            "number": asked.number,
            "prompt": question.prompt,
            "why": question.why,
            "items": [sight.items(part) for part in question.parts()],
            "choices": [self._choice(question, choice, sight) for choice in question.choices()],
            "several": question.many,
        }
        return sight.shown({"question": content, **self._counts()})

    def answer(self, number: int, choice: str, name: str = "") -> Shown:
        """Answer a question; returns the next one.

        Parameters
        ----------
        choice : the value of a choice. Several numbers, where that is allowed, as ``2,5``.
        name : for a new group, with the choice ``none`` of a question about groups.
        """
        self.session.tell(number, choice, by=self.by, name=name)
        self._refit_if_due()
        return self.next_question()

    def skip(self, number: int) -> Shown:
        """Defer a question; returns the next one."""
        self.session.skip(number, by=self.by)
        return self.next_question()

    def undo(self) -> Shown:
        """Take back the latest answer of this agent; returns the question, asked again."""
        if self.session.undo(by=self.by) is None:
            raise NotFound(f"There is no answer of {self.by!r} to take back.")
        self._refit_if_due()
        return self.next_question()

    def groups(self) -> Shown:
        """The groups, largest first, each with some of its items."""
        self.session.catch_up()
        found = self.session.clustering
        sight, sizes = _Sight(self.session), found.sizes()
        listed = [
            {
                "number": number,
                "name": found.name(number),
                "size": sizes[number],
                "examples": sight.items(found.members(number)[:MAX_EXEMPLARS].tolist()),
            }
            for number in sorted(found.numbers, key=lambda number: -sizes[number])
        ]
        return sight.shown({"groups": listed, **self._counts()})

    def members(self, group: int, offset: int = 0, limit: int = 50) -> Shown:
        """The ids of the items of a group."""
        found = self.session.clustering
        if group not in found.numbers:
            known = ", ".join(map(str, found.numbers))
            raise NotFound(f"There is no group {group}. The groups are {known}.")
        if offset < 0 or not 1 <= limit <= MAX_LISTED:
            raise InputError(
                f"Expected an offset from 0 on and a limit from 1 to {MAX_LISTED}, got {offset} "
                f"and {limit}."
            )
        members = found.members(group)
        ids = [self.session.collection.id(int(i)) for i in members[offset : offset + limit]]
        total = len(members)
        return Shown({"group": group, "name": found.name(group), "size": total, "items": ids})

    def item(self, id: str) -> Shown:
        """One item, and the group that it is in."""
        try:
            position = self.session.collection.position(id)
        except KeyError:
            raise NotFound(
                f"There is no item {id!r}. Use an id from a question or a group."
            ) from None
        sight, found = _Sight(self.session), self.session.clustering
        number = int(found.labels[position])
        group = {"number": number, "name": found.name(number)}
        return sight.shown({**sight.item(position), "group": group})

    def name_group(self, group: int, name: str) -> Shown:
        """Name a group."""
        self.members(group, limit=1)
        self.session.rename(group, name)
        return self.groups()

    def progress(self) -> Shown:
        """How far it is, and how often everybody is probably wrong."""
        self.session.catch_up()
        found = self.session.report()
        people = {
            name: {"answers": answers, "probably_wrong": found.errors.get(name)}
            for name, answers in found.people.items()
        }
        state = {"words": found.words, "conflicts": found.conflicts, "enough": found.enough}
        return Shown({**self._counts(), **state, "people": people})

    def _choice(self, question: Question, choice: str, sight: _Sight) -> dict[str, Any]:
        shown = question.exemplars(choice)[:MAX_EXEMPLARS]
        content: dict[str, Any] = {"value": choice, "label": wording.label(choice, question.words)}
        if shown and question.placed_item(choice) is not None and choice != NONE:
            content["group"] = self.session.places.title(shown[0])
        if shown:
            content["like"] = sight.items(shown)
        return content

    def _counts(self) -> dict[str, int]:
        return {
            "answers": len(self.session.answers),
            "groups_now": self.session.clustering.n_groups,
            "items_in_all": len(self.session.collection),
        }

    def _refit_if_due(self) -> None:
        if self.session.due:
            self.session.refit()
