"""A study: runs grouped into blocks, with their measures and the order of the systems."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from samekind.reports.measures import area, final, span
from samekind.reports.results import Block, Result, Results
from samekind.reports.statistics import mean_interval, without_gaps

BySeed = dict[int, float]
Place = tuple[str, str, str]
HIGHLIGHTED = 7
"""Systems drawn in colour; more colours would be hard to distinguish."""


@dataclass(frozen=True)
class Estimate:
    """A mean over blocks with its 95 % interval; `seeds`: those of the largest block."""

    mean: float
    low: float
    high: float
    seeds: int

    @classmethod
    def of(cls, parts: Sequence[Sequence[float]]) -> Estimate:
        """The estimate over one or several blocks, each with the values of its seeds."""
        mean, low, high = map(float, mean_interval(parts))
        return cls(mean, low, high, max(map(len, parts)))


@dataclass(frozen=True, eq=False)
class Study:
    """The data of a report.

    Parameters
    ----------
    results : the runs, with notes on what was left out.
    metric : the reported score. qualities : scores whose cost is reported.
    """

    results: Results
    metric: str = "ari"
    qualities: tuple[float, ...] = (0.8, 0.9, 0.95)

    @cached_property
    def cells(self) -> dict[tuple[Block, str], list[Result]]:
        """Runs by block and system, by rising seed."""
        cells: dict[tuple[Block, str], list[Result]] = defaultdict(list)
        for run in self.results.runs:
            cells[run.block, run.system].append(run)
        return dict(cells)

    @cached_property
    def blocks(self) -> list[Block]:
        """Blocks by suite and set; within a set, people by rising error rate."""
        order = {person: at for at, person in enumerate(self.people)}
        blocks = {block for block, _ in self.cells}
        return sorted(blocks, key=lambda b: (*b.place, order[b.person]))

    @cached_property
    def places(self) -> list[Place]:
        """Blocks without the person."""
        return list(dict.fromkeys(block.place for block in self.blocks))

    @cached_property
    def people(self) -> list[str]:
        """The people, by rising error rate."""
        errs: dict[str, tuple[float, float, str]] = {}
        for run in self.results.runs:
            person = run.block.person
            wrong, unsure = (float(run.row.get(key) or 0.0) for key in ("noise", "unsure"))
            errs.setdefault(person, (wrong, unsure, person))
        return sorted(errs, key=lambda person: (person != "perfect", errs[person]))

    @cached_property
    def spans(self) -> dict[Block, tuple[float, float] | None]:
        """The questions over which the curves of a block are compared."""
        return self._spans("questions")

    @cached_property
    def areas(self) -> dict[tuple[Block, str], BySeed]:
        """Area under the curve of each run that has one."""
        return self._areas("questions", self.spans)

    @cached_property
    def areas_by_second(self) -> dict[tuple[Block, str], BySeed]:
        """Area under the curve over modelled seconds of the person."""
        return self._areas("person_seconds", self.second_spans)

    @cached_property
    def second_spans(self) -> dict[Block, tuple[float, float] | None]:
        """The modelled seconds over which the curves of a block are compared."""
        return self._spans("person_seconds")

    def _spans(self, axis: str) -> dict[Block, tuple[float, float] | None]:
        by_block: dict[Block, list[Result]] = defaultdict(list)
        for (block, _), runs in self.cells.items():
            by_block[block] += runs
        return {block: span(runs, self.metric, axis) for block, runs in by_block.items()}

    def _areas(
        self, axis: str, spans: dict[Block, tuple[float, float] | None]
    ) -> dict[tuple[Block, str], BySeed]:
        found: dict[tuple[Block, str], BySeed] = {}
        for (block, system), runs in self.cells.items():
            within = spans[block]
            values = {r.seed: area(r, self.metric, within, axis) for r in runs} if within else {}
            kept = {seed: value for seed, value in values.items() if value is not None}
            if kept:
                found[block, system] = kept
        return found

    @cached_property
    def finals(self) -> dict[tuple[Block, str], BySeed]:
        """Last score of each run."""
        found: dict[tuple[Block, str], BySeed] = {}
        for (block, system), runs in self.cells.items():
            values = {r.seed: final(r, self.metric, self.spans[block]) for r in runs}
            found[block, system] = {s: value for s, value in values.items() if value is not None}
        return found

    @cached_property
    def ranks(self) -> dict[str, float]:
        """Mean rank by area, 1 the best, over the blocks that a system has with others."""
        from scipy.stats import rankdata

        places: dict[str, list[float]] = defaultdict(list)
        for block in self.blocks:
            here = {s: np.mean(list(v.values())) for (b, s), v in self.areas.items() if b == block}
            if len(here) < 2:
                continue  # a single system always ranks first
            ranks = rankdata(-np.round(list(here.values()), 10))
            for system, rank in zip(here, ranks, strict=True):
                places[system].append(float(rank))
        return {system: float(np.mean(some)) for system, some in places.items()}

    @cached_property
    def systems(self) -> list[str]:
        """By mean rank, the best first."""
        names = {system for _, system in self.cells}
        return sorted(names, key=lambda name: (self.ranks.get(name, np.inf), name))

    @cached_property
    def groups_given(self) -> dict[str, str]:
        """Whether a system was given the number of groups: ``yes``, ``no`` or ``in some runs``."""
        given: dict[str, set[bool]] = defaultdict(set)
        for run in self.results.runs:
            given[run.system].add(run.groups_given)
        words = {frozenset({True}): "yes", frozenset({False}): "no"}
        return {name: words.get(frozenset(found), "in some runs") for name, found in given.items()}

    def colours(self, drawn: Collection[str]) -> dict[str, int]:
        """Colour index of up to seven systems of a picture, the best-ranked ones.

        A system keeps its colour in all pictures. One that is coloured only because better ones
        have no runs there takes one of their colours.
        """
        chosen = [system for system in self.systems if system in drawn][:HIGHLIGHTED]
        found = {s: self.number(s) - 1 for s in chosen if self.number(s) <= HIGHLIGHTED}
        free = (place for place in range(HIGHLIGHTED) if place not in found.values())
        return {system: found[system] if system in found else next(free) for system in chosen}

    @cached_property
    def leader(self) -> str | None:
        """The system of the best mean rank, if it was run in all blocks that compare systems."""
        contested = {b for b in self.blocks if sum(block == b for block, _ in self.areas) > 1}
        first = self.systems[0]
        everywhere = all((block, first) in self.areas for block in contested)
        return first if contested and everywhere else None

    def number(self, system: str) -> int:
        """The number of a system in the report, from 1."""
        return self.systems.index(system) + 1

    @cached_property
    def stand_ins(self) -> dict[str, str]:
        """What learnt under the name of a system that is called after another method."""
        found: dict[str, set[str]] = defaultdict(set)
        for run in self.results.runs:
            found[run.system] |= {run.stand_in} - {""}
        return {system: " or ".join(sorted(names)) for system, names in found.items() if names}

    def name(self, system: str) -> str:
        """The name of a system, marked (K) if it was given the number of groups.

        A system in which something else than its method learnt is named after that, too.
        """
        named = f"{self.stand_ins[system]} as {system}" if system in self.stand_ins else system
        return f"{named} (K)" if self.groups_given[system] != "no" else named

    def place_name(self, place: Place) -> str:
        """``digits, digit``; with the suite when there are several."""
        suite, name, orientation = place
        words = name if orientation == "-" else f"{name}, {orientation}"
        several = len({place[0] for place in self.places}) > 1
        return f"{words} ({suite})" if several else words

    def block_name(self, block: Block) -> str:
        """``digits, digit, perfect``."""
        return f"{self.place_name(block.place)}, {block.person}"

    def of_person(self, person: str) -> list[Block]:
        """The blocks in which this person answers."""
        return [block for block in self.blocks if block.person == person]

    def shared(self, blocks: Sequence[Block]) -> list[Block]:
        """The blocks over which means of systems are comparable.

        Blocks with one system are left out, and so are those with the largest share of gaps where
        not all systems were run everywhere. A system that lacks one of the others has no mean.
        """
        contested = [b for b in blocks if sum((b, s) in self.areas for s in self.systems) > 1]
        gaps = [[(block, s) not in self.areas for s in self.systems] for block in contested]
        if not gaps:
            return list(blocks)
        rows, _ = without_gaps(np.array(gaps))
        return [contested[at] for at in rows]

    def over(
        self, values: dict[tuple[Block, str], BySeed], blocks: Sequence[Block], system: str
    ) -> Estimate | None:
        """Mean over blocks; None if the system lacks one of them."""
        parts = [list(values.get((block, system), {}).values()) for block in blocks]
        return Estimate.of(parts) if parts and all(parts) else None
