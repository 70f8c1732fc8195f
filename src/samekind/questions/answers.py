"""Answer: a question with the choice of a person; and the table of all kinds of question."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from samekind.errors import UnknownName
from samekind.questions.all_like import AllLike
from samekind.questions.by_hand import Belongs, Elsewhere, OneKind, OwnKind, SeparateKinds
from samekind.questions.odd_ones import OddOnes
from samekind.questions.pairs import SameGroups, SamePair
from samekind.questions.question import Link, Question
from samekind.questions.which_group import WhichGroup

KINDS: dict[str, type[Question]] = {
    kind.kind: kind
    for kind in (
        *(SamePair, WhichGroup, SameGroups, OddOnes, AllLike),
        *(OneKind, OwnKind, Belongs, Elsewhere, SeparateKinds),  # changes by hand
    )
}
"""Every kind of question by its name. A new kind is one class and one entry here."""


def question_from_json(data: Mapping[str, Any], position: Callable[[str], int]) -> Question:
    """A question of any kind from its JSON form."""
    kind = str(data.get("kind"))
    if kind not in KINDS:
        raise UnknownName("kind of question", kind, KINDS)
    return KINDS[kind].from_json(data, position)


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer: the number of the question, the choice, who gave it, and how long it took."""

    number: int
    question: Question
    choice: str
    by: str = "me"
    seconds: float | None = None
    aside: frozenset[Link] = frozenset()
    """Links that a later change by hand has set aside: they do not count."""

    def __post_init__(self) -> None:
        self.question.check(self.choice)

    @property
    def links(self) -> tuple[Link, ...]:
        """The links that the answer states."""
        return self._holding(self.question.links(self.choice))

    @property
    def omitted(self) -> tuple[Link, ...]:
        """The links that the answer states only by not naming an item."""
        return self._holding(self.question.omitted(self.choice))

    @property
    def explicit(self) -> tuple[Link, ...]:
        """The links that the answer states by naming an item, or by any other choice."""
        omitted = frozenset(self.omitted)
        return tuple(link for link in self.links if link not in omitted) if omitted else self.links

    def _holding(self, links: tuple[Link, ...]) -> tuple[Link, ...]:
        return tuple(link for link in links if link not in self.aside) if self.aside else links
