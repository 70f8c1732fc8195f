"""How choices are worded and which keys give them: the same on every page and in the terminal.

Only the *value* of a choice is looked at, never the kind of its question, so a new kind of
question is shown without a change here.
"""

from __future__ import annotations

from collections.abc import Iterable
from string import ascii_lowercase

from samekind.questions import UNSURE

LABELS = {
    "same": "Same",
    "different": "Different",
    "none": "None of these",
    UNSURE: "Not sure",
}
KEYS = {
    "same": ("y",),
    "different": ("n",),
    "none": ("0",),
    UNSURE: ("u", " "),
}
ACTS = {
    "back": (("z", "Backspace"), "Back: take the last answer away"),
    "skip": (("s",), "Skip for now"),
    "help": (("?",), "Help"),
    "finish": (("q",), "Finish"),
}
"""What can be done beside answering: the keys, and what a person calls it."""


def label(choice: str) -> str:
    """The words on the button of a choice; a group of a question has only its key, a number."""
    if choice.isdecimal():
        return "This one"
    return LABELS.get(choice) or choice.replace("-", " ").capitalize()


def short_label(choice: str) -> str:
    """The words for a choice in a list of answers."""
    return f"Choice {choice}" if choice.isdecimal() else label(choice)


def keys(choices: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """The keys of each choice; a choice that nobody has worded yet gets its first free letter."""
    names = list(choices)
    given = {
        name: (name,) if name.isdecimal() and len(name) == 1 else KEYS.get(name, ())
        for name in names
    }
    taken = {key for group in given.values() for key in group}
    taken |= {key for act, _ in ACTS.values() for key in act}
    for name in names:
        if given[name]:
            continue
        wishes = [*(letter for letter in name.lower() if letter in ascii_lowercase)]
        free = next((key for key in [*wishes, *ascii_lowercase] if key not in taken), "")
        given[name] = (free,) if free else ()
        taken.add(free)
    return given
