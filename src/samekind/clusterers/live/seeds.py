"""Seeds: the items whose group is known, from which groups spread."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samekind.constraints import Constraints

Floats = NDArray[Any]
Ints = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Seeds:
    """Rows with a known group, `labels` from 0 to ``n_kinds - 1``."""

    rows: Ints
    labels: Ints
    n_kinds: int
    everywhere: bool = False
    """Whether every row is a seed, so that nothing is left to spread to."""

    @classmethod
    def from_answers(cls, answers: Constraints) -> Seeds:
        """The kinds that the answers tell apart, in the order in which they came up."""
        kinds = answers.kinds
        if not kinds:
            return cls(np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp), 0)
        labels = np.repeat(np.arange(len(kinds)), [len(kind) for kind in kinds])
        return cls(np.concatenate(kinds), labels, len(kinds))

    @classmethod
    def from_groups(cls, labels: Ints) -> Seeds:
        """Every row in its group."""
        found, index = np.unique(labels, return_inverse=True)
        return cls(np.arange(len(labels)), index.astype(np.intp), len(found), everywhere=True)

    def completed(self, Z: Floats, groups: Ints, answered: Ints, *, share: float = 1.0) -> Seeds:
        """With the middle of each group (of a plain clustering) that no kind has reached yet.

        Answered items are left out of the middles: they are placed as whole components later.
        Groups are taken from the largest on until they hold this share of all items.
        """
        if not self.n_kinds:
            return Seeds.from_groups(groups)
        reached = set(groups[self.rows].tolist())
        rows, labels = [self.rows], [self.labels]
        count = self.n_kinds
        sizes = np.bincount(groups)
        new = sorted(set(groups.tolist()) - reached)
        if share < 1:
            new = sorted(new, key=lambda group: (-sizes[group], group))
            held = np.cumsum(sizes[new]) if new else np.empty(0)
            new = [group for group, mass in zip(new, held, strict=True) if mass <= share * len(Z)]
        for group in new:
            members = np.setdiff1d(np.flatnonzero(groups == group), answered)
            if not len(members):
                continue
            apart = ((Z[members] - Z[members].mean(axis=0)) ** 2).sum(axis=1)
            middle = members[np.argsort(apart, kind="stable")[:5]]
            rows.append(middle)
            labels.append(np.full(len(middle), count))
            count += 1
        return Seeds(np.concatenate(rows), np.concatenate(labels), count)


def placed(seeds: Seeds, strength: Floats, answers: Constraints) -> Seeds:
    """Seeds and every other answered component, each in the best group that the answers allow.

    Larger components choose first. One that no group may take opens a group of its own, so that
    every answer is honoured.
    """
    components = answers.components
    home: dict[int, int] = dict(
        zip(components[seeds.rows].tolist(), seeds.labels.tolist(), strict=True)
    )
    foes: dict[int, set[int]] = {}
    for a, b in answers.component_links().tolist():
        foes.setdefault(a, set()).add(b)
        foes.setdefault(b, set()).add(a)
    touched = answers.touched
    waiting: dict[int, list[int]] = {}
    for row in touched.tolist():
        if (component := int(components[row])) not in home:
            waiting.setdefault(component, []).append(row)
    count = max(seeds.n_kinds, strength.shape[1])  # plain groups have no seeds of their own
    rows, labels = [seeds.rows], [seeds.labels]
    for component, members in sorted(waiting.items(), key=lambda entry: (-len(entry[1]), entry[0])):
        score = np.log(strength[members] + 1e-9).sum(axis=0)
        taken = {home[foe] for foe in foes.get(component, ()) if foe in home}
        allowed = [k for k in range(strength.shape[1]) if k not in taken]
        if allowed:
            home[component] = allowed[int(np.argmax(score[allowed]))]
        else:
            home[component], count = count, count + 1
        rows.append(np.array(members))
        labels.append(np.full(len(members), home[component]))
    return Seeds(np.concatenate(rows), np.concatenate(labels), count)


def restricted(known: Constraints, rows: Ints) -> Constraints:
    """The same knowledge about some rows only (ascending, every answered item among them)."""
    if len(rows) == known.n_items and not known.n_gone:
        return known
    touched = known.touched
    at = {
        int(item): int(place)
        for item, place in zip(touched, np.searchsorted(rows, touched), strict=True)
    }
    first: dict[int, int] = {}
    links: list[tuple[int, int, bool]] = []
    for item in touched.tolist():
        component = int(known.components[item])
        if component in first:
            links.append((first[component], at[item], True))
        first.setdefault(component, at[item])
    order = {
        component: k
        for k, kind in enumerate(known.kinds)
        for component in {int(known.components[kind[0]])}
    }
    pairs = sorted(
        known.component_links().tolist(),
        key=lambda pair: (max(order.get(c, len(order)) for c in pair), pair),
    )
    links.extend((first[a], first[b], False) for a, b in pairs)
    return Constraints.from_links(len(rows), links)
