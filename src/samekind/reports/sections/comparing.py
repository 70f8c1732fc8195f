"""Significance tests of all pairs of systems, and mean ranks with their critical difference."""

from __future__ import annotations

from collections.abc import Sequence

from samekind.questions.wording import plural
from samekind.reports.comparison import MIN_BLOCKS, MIN_UNITS, Comparison, Pair
from samekind.reports.contents import Cell, Folded, Gallery, Part, Picture, Section, Table
from samekind.reports.figures import listed, p_value, signed
from samekind.reports.pictures import draw_ranks
from samekind.reports.statistics import holm
from samekind.reports.study import Study

MAX_SYSTEMS_OPEN = 5
"""Systems up to which the table of all pairs is not folded."""


def comparing_section(study: Study, comparison: Comparison) -> Section:
    """Signed-rank tests corrected by Holm, then Friedman and Nemenyi."""
    parts: list[Part] = [_units(comparison)]
    if len(comparison.systems) < 2:
        parts.append("There is one system with an area, so there is nothing to compare.")
        return Section("tests", "Tests", parts)
    parts += _signed_ranks(study, comparison)
    parts += _ranks(study, comparison)
    return Section("tests", "Tests", parts)


def _units(comparison: Comparison) -> str:
    blocks = plural(comparison.blocks, "block")
    if not comparison.by_seed:
        return (
            f"Units are the {blocks} (set, grouping, person); seeds are averaged inside a block. "
            "Blocks of the same set are not fully independent of each other, so read p-values "
            "near .05 with care."
        )
    are = "is" if comparison.blocks == 1 else "are"
    return (
        f"There {are} only {blocks} (set, grouping, person), fewer than {MIN_BLOCKS}, so the "
        f"units are the {len(comparison.units)} pairs of block and seed. Seeds of one set are not "
        "independent sets: a small p-value means that the difference would recur with other "
        "seeds on these sets, not that it would recur on other sets."
    )


def _signed_ranks(study: Study, comparison: Comparison) -> list[Part]:
    pairs = comparison.pairs
    smallest = 2.0 ** (1 - len(comparison.units))
    exact = all(pair.exact for pair in pairs)
    how = "exact" if exact else "exact up to 50 differences, else by the normal approximation"
    text = (
        f"Two-sided Wilcoxon signed-rank tests of the areas ({how}; equal areas are left out of "
        f"the ranks), corrected by Holm over all {plural(len(pairs), 'pair')} of systems. "
        "Effect: median of the first minus the second."
    )
    if smallest * len(pairs) >= 0.05:
        text += (
            f" With {len(comparison.units)} units a system that wins everywhere gets p = "
            f"{p_value(smallest)}, which is {p_value(min(1.0, smallest * len(pairs)))} after the "
            "correction: there are too few units to find a difference in any of so many pairs."
        )
    elif pairs and min(pair.corrected for pair in pairs) >= 0.05:
        text += " After the correction no pair differs significantly at .05."
    if len(comparison.systems) <= MAX_SYSTEMS_OPEN:
        return [text, _table(study, "All pairs", pairs)]
    first = study.name(comparison.systems[0])
    against = comparison.against_first
    text += (
        f" The table corrects the {len(against)} tests of the first-ranked system also by "
        "themselves. That is right for a system that was chosen in advance, and too "
        "optimistic for one that was chosen because it ranks first."
    )
    return [
        text,
        _table(study, f"{first}, first by mean rank, against the others", against, alone=True),
        Folded(f"All {len(pairs)} pairs", [_table(study, "All pairs", pairs)]),
    ]


def _table(study: Study, title: str, pairs: Sequence[Pair], *, alone: bool = False) -> Table:
    """Pairs of systems; `alone` adds the correction over these tests only."""
    corrected = holm([pair.p for pair in pairs]).tolist()
    rows: list[list[Cell | str]] = [
        [
            study.name(pair.first),
            study.name(pair.second),
            signed(pair.difference),
            f"{pair.wins} / {pair.ties} / {pair.losses}",
            p_value(pair.p),
            *([Cell(p_value(here), strong=here < 0.05)] if alone else []),
            Cell(p_value(pair.corrected), strong=pair.corrected < 0.05),
        ]
        for pair, here in zip(pairs, corrected, strict=True)
    ]
    columns = ["first", "second", "effect", "wins / ties / losses", "p"]
    columns += [f"Holm, these {len(pairs)}", "Holm, all pairs"] if alone else ["p after Holm"]
    return Table(title, columns, rows, words=2, named_by=1)


def _ranks(study: Study, comparison: Comparison) -> list[Part]:
    ranking, part = comparison.ranking, comparison.whole
    if ranking is None:
        return [
            f"Mean ranks are not shown: they need at least 3 systems and {MIN_UNITS} units "
            f"without gaps, and there are {len(part.systems)} and {len(part.units)}."
        ]
    units = "pairs of block and seed" if comparison.by_seed else "blocks"
    text = (
        f"Friedman test over {ranking.units} {units}: chi-square {ranking.chi_square:.1f} with "
        f"{len(ranking.systems) - 1} degrees of freedom, p {_relation(ranking.p)}. Nemenyi's "
        f"critical difference at .05 is {ranking.critical:.2f} ranks: systems joined by a bar do "
        "not differ significantly."
    )
    if ranking.p >= 0.05:
        text += " The Friedman test finds no difference, so ignore the bars."
    if comparison.blocks < 10:
        text += f" With {plural(comparison.blocks, 'block')} such a test has little power."
    missing = [study.name(s) for s in comparison.systems if s not in part.systems]
    if missing:
        text += f" Not ranked because runs are missing: {listed(missing)}."
    if len(part.units) < len(comparison.units):
        gaps = len(comparison.units) - len(part.units)
        text += f" Left out because systems are missing there: {plural(gaps, 'unit')}."
    names = {system: study.name(system) for system in ranking.systems}
    order = ", ".join(
        f"{names[system]} {rank:.2f}"
        for system, rank in zip(ranking.systems, ranking.ranks.tolist(), strict=True)
    )
    svg = draw_ranks("ranks", ranking, names)
    picture = Picture(svg, "Mean rank by area; 1 is the best.", f"Mean ranks: {order}.")
    return [text, Gallery("Critical difference", [picture])]


def _relation(p: float) -> str:
    return p_value(p) if p < 0.001 else f"= {p_value(p)}"
