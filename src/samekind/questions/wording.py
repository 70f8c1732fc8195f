"""Labels and keys of choices, the same on the page and in the terminal.

They depend on the value of a choice and on what the question declares, never on its kind, so a new
kind of question needs no change here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from string import ascii_lowercase

from samekind.questions import NONE, UNSURE, Marking, joined, named

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
"""Keys of the first twelve numbers where several may be named; the others are reached by cursor."""
SEND = "Enter"
"""The key that sends the named numbers, or "none" without any."""
ACTS = {
    "back": (("z", "Backspace"), "Back: undo the last answer"),
    "skip": (("s",), "Skip for now"),
    "help": (("?",), "Help"),
    "finish": (("q",), "Finish"),
}
"""Actions other than answering: their keys and labels."""


def plural(count: int, one: str, many: str = "") -> str:
    """Return a count with its noun, and with a verb where one is given.

    >>> plural(1, "file"), plural(2000, "file"), plural(2, "answer is", "answers are")
    ('1 file', '2,000 files', '2 answers are')
    """
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def label(choice: str, words: Mapping[str, str] | None = None) -> str:
    """The label of a choice; a number is shown with its key and a picture.

    Parameters
    ----------
    words : labels that the question itself gives to some of its choices.
    """
    own = (words or {}).get(choice)
    if choice.isdecimal():
        return own or "This one"
    return own or LABELS.get(choice) or choice.replace("-", " ").capitalize()


def short_label(
    choice: str, words: Mapping[str, str] | None = None, marking: Marking | None = None
) -> str:
    """The label of a choice in a list of answers.

    Parameters
    ----------
    marking : the question's words for the items that a choice names.
    """
    numbers = named(choice)
    if numbers and marking is not None:
        return marking.counted(len(numbers))
    return f"Choice {numbers[0]}" if numbers else label(choice, words)


def typed_numbers(typed: str, choices: Iterable[str]) -> str | None:
    """The choice for numbers typed in any order, separated by spaces or commas.

    Nothing typed, or 0, means "none". None if anything else was typed.

    >>> typed_numbers("5 2,2", ("none", "1", "2", "3", "4", "5", "unsure"))
    '2,5'
    """
    words = re.findall(r"[^\s,;]+", typed)
    if words in ([], ["0"]):
        return NONE
    numbers = {choice for choice in choices if choice.isdecimal()}
    return joined(map(int, words)) if set(words) <= numbers else None


def keys(
    choices: Iterable[str], *, many: bool = False, places: Mapping[str, int] | None = None
) -> dict[str, tuple[str, ...]]:
    """The keys of each choice; an unknown choice gets the first of its letters that is free.

    A choice whose group has one of the first nine places has the key of that place; other numbers
    have the keys that are left.

    >>> keys(("1", "2", "none"), places={"1": 13, "2": 1})
    {'1': ('1',), '2': ('2',), 'none': ('0',)}

    With `many` the first numbers have keys that mark them, and one key sends the marked numbers.
    Space marks the item under the cursor, so it is no answer there.
    """
    names = list(choices)
    given = {name: _known_keys(name, many) for name in names}
    given |= _keys_of_places(names, places or {})
    taken = {key for group in given.values() for key in group}
    taken |= {key for act, _ in ACTS.values() for key in act}
    for name in names:
        if given[name] or name.isdecimal():
            continue
        letters = [letter for letter in name.lower() if letter in ascii_lowercase]
        free = next((key for key in [*letters, *ascii_lowercase] if key not in taken), "")
        given[name] = (free,) if free else ()
        taken.add(free)
    return given


def _keys_of_places(names: Iterable[str], places: Mapping[str, int]) -> dict[str, tuple[str, ...]]:
    """The keys of the first nine places, and those that are left for other numbers."""
    if not places:
        return {}
    found = {c: (str(place + 1),) for c, place in places.items() if place < 9}
    left = [key for key in NUMBERS[:9] if (key,) not in found.values()]
    others = [name for name in names if name.isdecimal() and name not in found]
    return found | {name: tuple(left[k : k + 1]) for k, name in enumerate(others)}


def _known_keys(choice: str, many: bool) -> tuple[str, ...]:
    if many and choice == NONE:
        return (SEND,)
    if many and choice == UNSURE:
        return KEYS[UNSURE][:1]
    if choice.isdecimal():
        if many and 1 <= int(choice) <= len(NUMBERS):
            return (NUMBERS[int(choice) - 1],)
        return (choice,) if len(choice) == 1 else ()
    return KEYS.get(choice, ())
