"""Console: a person at the terminal, and what their keys mean."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from samekind.questions import Question, wording
from samekind.simulation.people.verbs import BACK, SKIP, STOP


@dataclass(frozen=True)
class Console:
    """A person at the terminal.

    Parameters
    ----------
    show : puts a question on the screen. read : waits for one of the person's keys or words.
    refuse : says that an input is not understood.
    """

    show: Callable[[Question], None]
    read: Callable[[], str]
    refuse: Callable[[str, Question], None]

    def answer(self, question: Question) -> str:
        """Ask until the person gives a choice or a command."""
        self.show(question)
        while True:
            typed = self.read()
            meant = choice_of(typed, question)
            if meant is not None:
                return meant
            self.refuse(typed, question)


_VERBS = {BACK: "back", SKIP: "skip", STOP: "finish"}
KEYS: dict[str, tuple[str, ...]] = wording.KEYS | {v: wording.ACTS[a][0] for v, a in _VERBS.items()}
"""The keys of the page and of the terminal; groups are chosen by their number."""
_TYPED = {"\x7f": "Backspace", "\b": "Backspace", " ": " "}
"""Keys that a terminal sends as characters which stripping would lose."""


def choice_of(typed: str, question: Question) -> str | None:
    """The choice or command that a key or a typed word means; None when it means nothing."""
    word = _TYPED.get(typed) or typed.strip().lower()
    for choice, keys in wording.keys(question.choices()).items():
        if word and (word == choice or word in keys):
            return choice
    for verb, act in _VERBS.items():
        if word and (word == act or word in wording.ACTS[act][0]):
            return verb
    return wording.typed_numbers(typed, question.choices()) if question.many else None
