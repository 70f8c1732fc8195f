"""How choices are worded and which keys give them: the same on every page and in the terminal.

Only the *value* of a choice and what the question says of itself are looked at, never its kind,
so a new kind of question is shown without a change here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from string import ascii_lowercase

from samekind.questions import NONE, UNSURE, joined, named

LABELS = {
    "same": "Same",
    "different": "Different",
    NONE: "None of these",
    UNSURE: "Not sure",
}
KEYS = {
    "same": ("y",),
    "different": ("n",),
    NONE: ("0",),
    UNSURE: ("u", " "),
}
NUMBERS = "1234567890-="
"""The keys of the numbers of a question in which several may be named; there are up to twelve."""
SEND = "Enter"
"""The key that sends the numbers named; without any it means "none"."""
ACTS = {
    "back": (("z", "Backspace"), "Back: take the last answer away"),
    "skip": (("s",), "Skip for now"),
    "help": (("?",), "Help"),
    "finish": (("q",), "Finish"),
}
"""What can be done beside answering: the keys, and what a person calls it."""


def plural(count: int, one: str, many: str = "") -> str:
    """Return a count with its noun, and with a verb where one is given.

    >>> plural(1, "file"), plural(2000, "file"), plural(2, "answer is", "answers are")
    ('1 file', '2,000 files', '2 answers are')
    """
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def label(choice: str, words: Mapping[str, str] | None = None) -> str:
    """The words on the button of a choice; a number has only its key, and a picture.

    Parameters
    ----------
    words : what the question itself calls some of its choices.
    """
    if choice.isdecimal():
        return "This one"
    own = (words or {}).get(choice)
    return own or LABELS.get(choice) or choice.replace("-", " ").capitalize()


def short_label(choice: str, words: Mapping[str, str] | None = None) -> str:
    """The words for a choice in a list of answers."""
    numbers = ", ".join(map(str, named(choice)))
    return f"Choice {numbers}" if numbers else label(choice, words)


def typed_numbers(typed: str, choices: Iterable[str]) -> str | None:
    """The choice meant by numbers typed in any order, with spaces or commas between them.

    Nothing typed, or 0, means "none". What is not made of the question's numbers means nothing.

    >>> typed_numbers("5 2,2", ("none", "1", "2", "3", "4", "5", "unsure"))
    '2,5'
    """
    words = re.findall(r"[^\s,;]+", typed)
    if words in ([], ["0"]):
        return NONE
    numbers = {choice for choice in choices if choice.isdecimal()}
    return joined(map(int, words)) if set(words) <= numbers else None


def keys(choices: Iterable[str], *, many: bool = False) -> dict[str, tuple[str, ...]]:
    """The keys of each choice; a choice that nobody has worded yet gets its first free letter.

    With `many` each number has a key of its own that marks it, and one key sends what is marked.
    """
    names = list(choices)
    given = {name: _known_keys(name, many) for name in names}
    taken = {key for group in given.values() for key in group}
    taken |= {key for act, _ in ACTS.values() for key in act}
    for name in names:
        if given[name] or name.isdecimal():
            continue
        wishes = [*(letter for letter in name.lower() if letter in ascii_lowercase)]
        free = next((key for key in [*wishes, *ascii_lowercase] if key not in taken), "")
        given[name] = (free,) if free else ()
        taken.add(free)
    return given


def _known_keys(choice: str, many: bool) -> tuple[str, ...]:
    if many and choice == NONE:
        return (SEND,)
    if choice.isdecimal():
        if many and 1 <= int(choice) <= len(NUMBERS):
            return (NUMBERS[int(choice) - 1],)
        return (choice,) if len(choice) == 1 else ()
    return KEYS.get(choice, ())
