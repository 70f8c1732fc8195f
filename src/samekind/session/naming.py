"""Naming: the names of groups, and of kinds that no refit has made a group of yet.

A name is given to a group by its number, or to the kind of an item: with the answer that starts a
group, or by a person who recognises it in a list. A group has the name of the kind that it has
grown from. Of two names the later one counts.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samekind.characters import one_line
from samekind.clustering import Clustering
from samekind.constraints import Constraints
from samekind.errors import AnswerError, NameTaken
from samekind.ledger.event_log import EventLog
from samekind.ledger.names import Name
from samekind.questions import NONE
from samekind.session.arguments import checked_text, group_number
from samekind.session.refit import with_names

MAX_NAME_LENGTH = 80
"""Characters of a name, as many as the page takes."""
UNNAMED = Name(-1, "")


def clean(name: str) -> str:
    """A name as it is stored, wherever it comes from: one line, not too long, and printable."""
    text = checked_text(name, "a name, such as 'dogs'")
    return one_line(text)[:MAX_NAME_LENGTH].rstrip()


@dataclass
class Naming:
    """Name groups and kinds in a ledger.

    Parameters
    ----------
    log : the ledger. lock : held while that is written.
    """

    log: EventLog
    lock: AbstractContextManager[Any]
    _clustering: Clustering = field(init=False, repr=False)
    _learnt_from: Constraints = field(init=False, repr=False)
    _found: tuple[Any, dict[int, str]] = field(default=(None, {}), init=False, repr=False)

    def install(self, clustering: Clustering, learnt_from: Constraints) -> Clustering:
        """Take over new groups, learnt from these answers; returns them with their names.

        The kinds of later answers have no group yet.
        """
        self._clustering, self._learnt_from = clustering, learnt_from
        return self.named()

    def name_group(self, group: int, name: str, *, free: bool = False) -> None:
        """Store the name of a group; an empty one removes it.

        With `free`, one that another group has is refused: :class:`~samekind.errors.NameTaken`.
        """
        group, text = group_number(group), clean(name)

        def decide() -> tuple[str, dict[str, Any]]:
            self._clustering.named(group, text)
            if free:
                self._check_free(text, but=group)
            return "named", {"group": group, "name": text}

        with self.lock:
            self.log.commit(decide)

    def name_kind(self, item: int, name: str, *, free: bool = False) -> None:
        """Name the kind of an item, which may not be a group yet; an empty name removes it.

        With `free`, one that another group has is refused: :class:`~samekind.errors.NameTaken`.
        """
        id, text = self.log.positions.name(item), clean(name)

        def decide() -> tuple[str, dict[str, Any]]:
            if free and self.of_kind(item) != text:
                self._check_free(text)
            return "named", {"item": id, "name": text}

        with self.lock:
            self.log.commit(decide)

    def named(self) -> Clustering:
        """The groups with their names."""
        names = self.log.ledger.names
        if not names and not self._clustering.names:
            return self._clustering
        latest = dict(names.by_group)
        for item, name in names.of_items():
            number = self._group_of(item)
            if number is not None and name.seq > latest.get(number, UNNAMED).seq:
                latest[number] = name
        texts = {number: name.text for number, name in latest.items()}
        self._clustering = with_names(self._clustering, texts)
        return self._clustering

    def of_kind(self, item: int) -> str:
        """The name of the kind of an item; empty if it has none."""
        return self._of_kinds().get(self._leader(item), "")

    def of_item(self, item: int) -> str:
        """The name of the kind of an item, or else of its group; empty if neither has one."""
        names, labels = self._clustering.names, self._clustering.labels
        group = names.get(int(labels[item]), "") if item < len(labels) else ""
        return self.of_kind(item) or group

    def with_answer(self, number: int) -> str:
        """The name that was given with an answer; empty if there was none."""
        found = self.log.ledger.names.by_answer.get(number)
        return found[1].text if found else ""

    def group_called(self, name: str, *, but: int | None = None) -> int | None:
        """The number of another group with this name; None: there is none."""
        wanted = clean(name).casefold()
        names = self._clustering.names.items()
        return next((k for k, text in names if k != but and text.casefold() == wanted), None)

    def _check_free(self, name: str, *, but: int | None = None) -> None:
        self.named()  # also as others have named them since
        if self.group_called(name, but=but) is not None:
            raise NameTaken(f"There is a group “{name}” already. Merge the two?")

    def checked(self, number: int, choice: str, name: str) -> str:
        """The name as it is stored with an answer.

        Raises :class:`AnswerError` if the answer names no group, or if another group has the name.
        """
        name = clean(name)
        if name in ("", self.with_answer(number)):  # sent again
            return name
        if self.log.ledger.asked[number].question.placed_item(choice) is None:
            raise AnswerError(
                f"Expected a name only with an answer that puts an item into a group, got "
                f"{name!r} with {choice!r}. Answer without a name."
            )
        known = {text.casefold(): text for text in self._of_kinds().values()}
        taken = known.get(name.casefold())
        if choice == NONE and taken is not None:
            raise AnswerError(
                f"There is a group {taken!r} already. Choose that group, or give the new one "
                "another name."
            )
        return name

    def _of_kinds(self) -> dict[int, str]:
        """Names by the first item of each kind."""
        key = (self.log.ledger.seq, self._clustering)
        if self._found[0] != key:
            self._found = (key, self._find())
        return self._found[1]

    def _find(self) -> dict[int, str]:
        latest: dict[int, Name] = {}
        for item, name in self.log.ledger.names.of_items():
            latest[self._leader(item)] = name
        by_group = self.log.ledger.names.by_group
        for kind in self._learnt_from.kinds if by_group else ():
            name = by_group.get(self._number(kind), UNNAMED)
            leader = self._leader(int(kind[0]))
            if name.seq > latest.get(leader, UNNAMED).seq:
                latest[leader] = name
        return {leader: name.text for leader, name in latest.items()}

    def _leader(self, item: int) -> int:
        """The first item that is known to be the same kind."""
        kind = self.log.constraints.component(item)
        return int(kind[0]) if len(kind) else item

    def _group_of(self, item: int) -> int | None:
        """The group of the kind of an item; None: it was not known when they were learnt."""
        touched = self._learnt_from.touched
        place = int(np.searchsorted(touched, item))
        if place == len(touched) or touched[place] != item:
            return None
        return self._number(self._learnt_from.component(item))

    def _number(self, kind: NDArray[np.intp]) -> int:
        """The group that holds most items of a kind."""
        return int(np.bincount(self._clustering.labels[kind]).argmax())
