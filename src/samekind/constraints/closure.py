"""Closure: everything that a consistent set of links implies, by union-find.

Time and memory grow with the answers, not with the collection.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from samekind.constraints.layers import LayeredDict
from samekind.questions import Link

P = TypeVar("P", list[Any], set[Any])

Ties = list[tuple[int, frozenset[int]]]
"""For one item: (answer index, items that this answer states are the same kind)."""
_Reach = dict[int, tuple[int, int | None, int]]
"""Item -> (answers needed to reach it, the last of them, the previous item)."""


class Closure:
    """Components of "same" items, and which components are "different". All links are consistent.

    Copies share their parts until one of them changes a part (copy on write).
    """

    def __init__(self) -> None:
        self.parent: LayeredDict[int] = LayeredDict()
        self.members: LayeredDict[list[int]] = LayeredDict()  # root -> items
        self.foes: LayeredDict[set[int]] = LayeredDict()  # root -> roots known to be different
        self.ties: LayeredDict[Ties] = LayeredDict()  # item -> answers that state "same"
        self.different: LayeredDict[list[tuple[int, int]]] = (
            LayeredDict()
        )  # item -> (other, answer index)
        self._own: set[int] = set()  # ids of the parts that this copy may change in place

    def copy(self) -> Closure:
        """An independent copy; cheap, because parts are shared until changed."""
        other = Closure()
        other.parent = self.parent.copy()
        other.members = self.members.copy()
        other.foes = self.foes.copy()
        other.ties = self.ties.copy()
        other.different = self.different.copy()
        self._own = set()
        return other

    def find(self, item: int) -> int:
        """The root of an item's component (the item itself when no answer touched it)."""
        parent = self.parent
        while (above := parent.get(item, item)) != item:
            item = above
        return item

    def same(self, a: int, b: int) -> bool | None:
        """True, False, or None when nothing is known."""
        root_a, root_b = self.find(a), self.find(b)
        if root_a == root_b:
            return True
        return False if root_b in self.foes.get(root_a, ()) else None

    def accepts(self, links: Sequence[Link]) -> bool:
        """Whether all these links together are consistent with what is known."""
        if len(links) == 1:
            a, b, same = links[0]
            return self.same(a, b) in (None, same)
        blocks = self._merged_roots(links)
        for block in blocks:
            if any(self.foes.get(root, set()) & block for root in block):
                return False
        home = {root: k for k, block in enumerate(blocks) for root in block}
        for a, b, same in links:
            root_a, root_b = self.find(a), self.find(b)
            if not same and (root_a == root_b or home.get(root_a, -1) == home.get(root_b, -2)):
                return False
        return True

    def add(self, links: Sequence[Link], answer: int) -> None:
        """Add the consistent links of one answer, given by its index."""
        for block in connected(link for link in links if link.same):
            for item in block:
                self._touch(item)
                self._owned(self.ties, item, list).append((answer, block))
            first, *rest = sorted(block)
            for item in rest:
                self._union(first, item)
        for a, b, same in links:
            if not same:
                self._touch(a)
                self._touch(b)
                self._owned(self.different, a, list).append((b, answer))
                self._owned(self.different, b, list).append((a, answer))
                root_a, root_b = self.find(a), self.find(b)
                self._owned(self.foes, root_a, set).add(root_b)
                self._owned(self.foes, root_b, set).add(root_a)

    def component(self, item: int) -> list[int]:
        """All items known to be the same kind as this one, itself included."""
        found: list[int] = self.members.get(self.find(item), [item])
        return found

    def clash(self, links: Sequence[Link], before: int) -> set[int]:
        """The smallest set of accepted answers that contradict these links of one more answer.

        Only answers with an index below `before` count: those that were there at its time.
        Exact (fewest answers) if the same-links of each answer are connected, as they are for
        every kind of question in this package.
        """
        blocks = connected(link for link in links if link.same)
        clashes: list[tuple[int, _Reach, tuple[int, ...], tuple[int, ...]]] = []
        for a, b, same in links:
            reach = {} if same else self._reach({a}, blocks, before)
            if b in reach:
                clashes.append((reach[b][0], reach, (b,), ()))
        for block in blocks:
            reach = self._reach(block, blocks, before)
            for item, (cost, _, _) in reach.items():
                for other, answer in self.different.get(item, ()):
                    if answer < before and item < other and other in reach:
                        total = cost + reach[other][0] + 1
                        clashes.append((total, reach, (item, other), (answer,)))
        if not clashes:
            return set()
        _, reach, ends, answers = min(clashes, key=lambda clash: clash[0])
        return {*answers, *(answer for end in ends for answer in _answers_on_path(reach, end))}

    def _reach(self, start: Iterable[int], free: Sequence[frozenset[int]], before: int) -> _Reach:
        """Fewest answers that tie each reachable item to `start`; ties in `free` cost nothing."""
        reached: _Reach = {item: (0, None, item) for item in start}
        queue = deque(reached)
        used: set[tuple[int, frozenset[int]]] = set()
        while queue:
            item = queue.popleft()
            cost = reached[item][0]
            for block in free:
                if item in block:
                    for other in block:
                        if other not in reached or reached[other][0] > cost:
                            reached[other] = (cost, None, item)
                            queue.appendleft(other)
            for tie in self.ties.get(item, ()):
                if tie[0] >= before or tie in used:
                    continue
                used.add(tie)
                for other in tie[1]:
                    if other not in reached:
                        reached[other] = (cost + 1, tie[0], item)
                        queue.append(other)
        return reached

    def _merged_roots(self, links: Sequence[Link]) -> list[frozenset[int]]:
        roots = (Link(self.find(a), self.find(b), True) for a, b, same in links if same)
        return connected(roots)

    def _touch(self, item: int) -> None:
        if item not in self.parent:
            self.parent[item] = item
            self.members[item] = [item]

    def _union(self, a: int, b: int) -> None:
        keep, drop = self.find(a), self.find(b)
        if keep == drop:
            return
        if len(self.members[keep]) < len(self.members[drop]):
            keep, drop = drop, keep
        self.parent[drop] = keep
        self._owned(self.members, keep, list).extend(self.members.pop(drop))
        for foe in self.foes.pop(drop, ()):
            self._owned(self.foes, foe, set).discard(drop)
            self.foes[foe].add(keep)
            self._owned(self.foes, keep, set).add(foe)

    def _owned(self, parts: LayeredDict[P], key: int, new: type[P]) -> P:
        """The part at `key`, copied first if another closure shares it."""
        part: P | None = parts.get(key)
        if part is None or id(part) not in self._own:
            part = new() if part is None else new(part)
            parts[key] = part
            self._own.add(id(part))
        return part


def connected(links: Iterable[Link]) -> list[frozenset[int]]:
    """The connected sets of items under these links (all "same")."""
    home: dict[int, set[int]] = {}
    for a, b, _ in links:
        small, large = home.setdefault(a, {a}), home.setdefault(b, {b})
        if small is large:
            continue
        if len(small) > len(large):
            small, large = large, small
        large |= small  # each item moves into a larger block a few times at most
        home.update(dict.fromkeys(small, large))
    blocks = {id(block): block for block in home.values()}
    return [frozenset(block) for block in blocks.values()]


def _answers_on_path(reach: _Reach, item: int) -> Iterable[int]:
    while True:
        _, answer, before = reach[item]
        if answer is not None:
            yield answer
        if before == item:
            return
        item = before
