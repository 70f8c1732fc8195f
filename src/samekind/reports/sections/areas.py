"""Area under the curve, by person: one column per set and grouping, and one over all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from samekind.reports.contents import Cell, Folded, Part, Section, Table
from samekind.reports.figures import estimate, metric_title
from samekind.reports.results import Block
from samekind.reports.study import BySeed, Estimate, Study

MAX_COLUMNS = 6
"""Sets in one table; more would not fit on a screen."""


def area_section(study: Study) -> Section:
    """Means with their intervals, the best of each column bold."""
    parts: list[Part] = [
        f"Mean {metric_title(study.metric)} over the questions, from the first to the last at "
        "which all systems of a block were scored: 1 would be a perfect grouping from the first "
        "question on. Small: 95 % interval of the mean over seeds (Student). Bold: the largest "
        "of a column. The last column is the mean over the sets that the systems share; a set "
        "with one seed adds nothing to its interval."
    ]
    return Section("areas", "Area under the curve", [*parts, *_by_person(study, study.areas)])


def seconds_section(study: Study) -> Section | None:
    """The same over modelled seconds of the person; None where no row has them."""
    if not study.areas_by_second:
        return None
    parts: list[Part] = [
        f"Mean {metric_title(study.metric)} over the modelled seconds of the person, up to the end "
        "of the quickest run of a block. A grid costs more than a placement and tells more, so "
        "systems that ask different kinds of question are compared here."
    ]
    parts += _by_person(study, study.areas_by_second)
    return Section("seconds", "Area over seconds of the person", parts)


def _by_person(study: Study, values: dict[tuple[Block, str], BySeed]) -> list[Part]:
    """The tables of the first person, and those of the others folded."""
    parts: list[Part] = []
    for person in study.people:
        tables = value_tables(study, values, study.of_person(person), person)
        parts += tables if person == study.people[0] else [Folded(person, tables)]
    return parts


def value_tables(
    study: Study,
    values: dict[tuple[Block, str], BySeed],
    blocks: Sequence[Block],
    title: str,
) -> list[Table]:
    """Estimates by system and block, split into tables that fit on a screen."""
    tables = []
    shared = study.shared(blocks)
    for at in range(0, len(blocks), MAX_COLUMNS):
        some = list(blocks[at : at + MAX_COLUMNS])
        part = f", part {at // MAX_COLUMNS + 1}" if len(blocks) > MAX_COLUMNS else ""
        columns = [study.place_name(block.place) for block in some]
        cells: dict[str, list[Estimate | None]] = {
            system: [study.over(values, [block], system) for block in some]
            for system in study.systems
        }
        if len(shared) > 1 and at + MAX_COLUMNS >= len(blocks):
            whole = len(shared) == len(blocks)
            columns.append(f"all {len(blocks)}" if whole else f"{len(shared)} of {len(blocks)}")
            for system, found in cells.items():
                found.append(study.over(values, shared, system))
        tables.append(estimates_table(study, title + part, columns, cells))
    return tables


def estimates_table(
    study: Study,
    title: str,
    columns: Sequence[str],
    cells: Mapping[str, Sequence[Estimate | None]],
) -> Table:
    """Estimates by system, the largest of each column bold; systems without any are left out."""
    best = [_largest(column) for column in zip(*cells.values(), strict=True)]
    rows: list[list[Cell | str]] = []
    for system, found in cells.items():
        if any(found):
            shown = zip(found, best, strict=True)
            bold = [estimate(cell, strong=bool(cell and cell.mean == top)) for cell, top in shown]
            rows.append([study.name(system), *bold])
    return Table(title, ["system", *columns], rows)


def _largest(column: Sequence[Estimate | None]) -> float | None:
    return max((cell.mean for cell in column if cell is not None), default=None)
