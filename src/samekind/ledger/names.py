"""Names: what a person called groups, by number, by an item, or together with an answer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple


class Name(NamedTuple):
    """A name and the event in which it was given; an empty name removes an earlier one."""

    seq: int
    text: str


@dataclass
class Names:
    """The names in force. Of two names for one group the later one counts.

    >>> names = Names()
    >>> names.by_answer[3] = (7, Name(12, "Beagles"))
    >>> names.by_item[7] = Name(15, "Hounds")
    >>> [(item, name.text) for item, name in names.of_items()]
    [(7, 'Beagles'), (7, 'Hounds')]
    """

    by_group: dict[int, Name] = field(default_factory=dict)
    """By group number."""
    by_item: dict[int, Name] = field(default_factory=dict)
    """By an item: the name of whatever group its kind is in."""
    by_answer: dict[int, tuple[int, Name]] = field(default_factory=dict)
    """By question number: the item that was put into the group, and the name given with it."""

    def __bool__(self) -> bool:
        return bool(self.by_group or self.by_item or self.by_answer)

    def copy(self) -> Names:
        """A copy that can be changed by itself."""
        return Names(dict(self.by_group), dict(self.by_item), dict(self.by_answer))

    def told(self, number: int, item: int | None, text: str, seq: int) -> None:
        """Take in the name given with an answer; an answer without one removes an earlier one."""
        self.by_answer.pop(number, None)
        if text and item is not None:
            self.by_answer[number] = (item, Name(seq, text))

    def of_items(self) -> Iterator[tuple[int, Name]]:
        """Items with the names that were given to their kinds, in the order of the events."""
        given = (*self.by_item.items(), *self.by_answer.values())
        yield from sorted(given, key=lambda pair: pair[1].seq)
