"""Questions, pairs and seconds needed to reach a quality, and how many runs never do."""

from __future__ import annotations

from collections.abc import Sequence

from samekind.reports.contents import Cell, Folded, Part, Section, Table
from samekind.reports.figures import DASH, metric_title, score
from samekind.reports.measures import Reached
from samekind.reports.results import Block
from samekind.reports.study import Study

MAX_COLUMNS = 6


def reach_section(study: Study) -> Section:
    """One table per quality and person."""
    parts: list[Part] = [
        f"Median over seeds of the questions until {metric_title(study.metric)} first reaches the "
        "value. Small: pair comparisons and modelled seconds of the person at that point, and how "
        "many runs never reach it. If the median run never does, the cell shows the number of "
        "questions asked (`> 60`); its cost in pairs and seconds is in `tables/reach.csv`. A "
        "quality is only noticed where a run was scored, so the true number may be smaller."
    ]
    for person in study.people:
        blocks = study.of_person(person)
        tables = [
            table for value in study.qualities for table in _tables(study, blocks, value, person)
        ]
        parts += tables if person == study.people[0] else [Folded(person, tables)]
    return Section("reach", "Questions to reach a quality", parts)


def _tables(study: Study, blocks: Sequence[Block], value: float, person: str) -> list[Table]:
    tables = []
    for at in range(0, len(blocks), MAX_COLUMNS):
        some = blocks[at : at + MAX_COLUMNS]
        rows: list[list[str | Cell]] = []
        never: list[str] = []
        for system in study.systems:
            runs = [study.cells.get((block, system), []) for block in some]
            found = [Reached.of(part, study.metric, value) if part else None for part in runs]
            if any(part is not None and part.never < part.runs for part in found):
                rows.append([study.name(system), *map(_cell, found)])
            elif any(found):
                never.append(study.name(system))
        columns = ["system", *(study.place_name(block.place) for block in some)]
        note = f"No run reaches it on any of the sets: {', '.join(never)}."
        part = f", part {at // MAX_COLUMNS + 1}" if len(blocks) > MAX_COLUMNS else ""
        title = f"At least {score(value)}, {person}{part}"
        tables.append(Table(title, columns, rows, note if never else ""))
    return tables


def _cell(found: Reached | None) -> Cell:
    if found is None:
        return Cell(DASH)
    never = f"{found.never} of {found.runs} never" if found.never else ""
    median, bound = found.median["questions"], found.bound["questions"]
    if median is None:
        return Cell(DASH if bound is None else f"> {bound:,.0f}", never)
    costs = [
        f"{cost:,.0f} {unit}"
        for axis, unit in (("pairs", "pairs"), ("person_seconds", "s"))
        if (cost := found.median[axis]) is not None
    ]
    return Cell(f"{median:,.0f}", "\n".join(filter(None, [", ".join(costs), never])))
