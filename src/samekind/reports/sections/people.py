"""Robustness: the final score by person, by rising error rate."""

from __future__ import annotations

from collections.abc import Sequence

from samekind.reports.contents import Part, Section, Table
from samekind.reports.figures import metric_title
from samekind.reports.results import Block
from samekind.reports.sections.areas import estimates_table
from samekind.reports.study import Estimate, Study


def people_section(study: Study) -> Section | None:
    """None when one person answered everything."""
    if len(study.people) < 2:
        return None
    parts: list[Part] = [
        f"Final {metric_title(study.metric)} by person: the score at the last question at which "
        "all systems of a block were scored. Small: 95 % interval of the mean over seeds (Student)."
    ]
    whole = [place for place in study.places if len(_people(study, [place])) == len(study.people)]
    if len(whole) > 1:
        parts.append(_table(study, f"Mean over {len(whole)} sets and groupings", whole))
    parts += [
        _table(study, study.place_name(place), [place])
        for place in study.places
        if len(_people(study, [place])) > 1
    ]
    return Section("people", "People who err", parts)


def _people(study: Study, places: Sequence[tuple[str, str, str]]) -> list[str]:
    here = {block.person for block in study.blocks if block.place in places}
    return [person for person in study.people if person in here]


def _table(study: Study, title: str, places: Sequence[tuple[str, str, str]]) -> Table:
    people = _people(study, places)
    cells: dict[str, list[Estimate | None]] = {}
    for system in study.systems:
        cells[system] = [
            study.over(study.finals, [Block(*place, person) for place in places], system)
            for person in people
        ]
    return estimates_table(study, title, people, cells)
