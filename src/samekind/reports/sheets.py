"""CSV files of a report: every figure behind the page, one fact per row."""

from __future__ import annotations

from collections.abc import Mapping

from samekind.reports.bands import AXES
from samekind.reports.comparison import Comparison
from samekind.reports.contents import Sheet
from samekind.reports.measures import Reached
from samekind.reports.results import Block
from samekind.reports.sections.curves import block_bands
from samekind.reports.sections.origin import missing_runs
from samekind.reports.sections.waiting import STEPS, worst
from samekind.reports.study import BySeed, Estimate, Study

BLOCK = ("suite", "set", "orientation", "person")
NAMES = (
    "curves",
    "areas",
    "areas_by_second",
    "finals",
    "reach",
    "tests",
    "ranks",
    "waiting",
    "missing",
)
"""All CSV files that a report may have."""


def sheets(study: Study, comparison: Comparison) -> list[Sheet]:
    """The CSV files of a study."""
    return [
        _curves(study),
        _estimates("areas", study, study.areas, study.spans),
        _estimates("areas_by_second", study, study.areas_by_second, study.second_spans),
        _estimates("finals", study, study.finals, study.spans),
        _reach(study),
        _tests(comparison),
        _ranks(comparison),
        _waiting(study),
        Sheet("missing", ("block", "system", "seed"), missing_runs(study)),
    ]


def _of(block: Block) -> tuple[str, str, str, str]:
    return block.suite, block.set, block.orientation, block.person


def _curves(study: Study) -> Sheet:
    rows = [
        (*_of(block), system, axis, *(round(float(value), 6) for value in point), band.seeds)
        for block in study.blocks
        for axis in AXES
        for system, band in block_bands(study, [block], axis).items()
        for point in zip(band.x, band.mean, band.low, band.high, strict=True)
    ]
    return Sheet("curves", (*BLOCK, "system", "axis", "x", "mean", "low", "high", "runs"), rows)


def _estimates(
    name: str,
    study: Study,
    values: dict[tuple[Block, str], BySeed],
    spans: Mapping[Block, tuple[float, float] | None],
) -> Sheet:
    rows = []
    for block in study.blocks:
        within = spans[block] or ("", "")
        for system in study.systems:
            seeds = values.get((block, system))
            if seeds:
                found = Estimate.of([list(seeds.values())])
                figures = (round(part, 6) for part in (found.mean, found.low, found.high))
                rows.append((*_of(block), system, *figures, found.seeds, *within))
    return Sheet(name, (*BLOCK, "system", "mean", "low", "high", "runs", "from", "to"), rows)


def _reach(study: Study) -> Sheet:
    rows = []
    for (block, system), runs in study.cells.items():
        for value in study.qualities:
            found = Reached.of(runs, study.metric, value)
            costs = [
                "" if cost is None else cost
                for axis in AXES
                for cost in (found.median[axis], found.bound[axis])
            ]
            rows.append((*_of(block), system, value, *costs, found.never, found.runs))
    costs_columns = [f"{axis}_{part}" for axis in AXES for part in ("median", "more_than")]
    return Sheet("reach", (*BLOCK, "system", "quality", *costs_columns, "never", "runs"), rows)


def _tests(comparison: Comparison) -> Sheet:
    rows = [
        (p.first, p.second, round(p.difference, 6), p.wins, p.ties, p.losses, p.p, p.corrected)
        for p in comparison.pairs
    ]
    columns = ("first", "second", "median_difference", "wins", "ties", "losses", "p", "p_holm")
    return Sheet("tests", columns, rows)


def _ranks(comparison: Comparison) -> Sheet:
    ranking = comparison.ranking
    rows = []
    if ranking is not None:
        for place, (system, rank) in enumerate(zip(ranking.systems, ranking.ranks, strict=True)):
            bars = [at for at, (a, b) in enumerate(ranking.together, 1) if a <= place <= b]
            figures = (round(float(rank), 6), round(ranking.critical, 6), ranking.units)
            rows.append((system, *figures, " ".join(map(str, bars))))
    return Sheet("ranks", ("system", "mean_rank", "critical_difference", "units", "bars"), rows)


def _waiting(study: Study) -> Sheet:
    keys = [f"{step}.{part}" for step in STEPS for part in ("p50", "p95")]
    keys += ["mean seconds", "seconds", "memory_mib"]
    rows = []
    for block in study.blocks:
        for system in study.systems:
            found = worst(study.cells.get((block, system), []))
            if found:
                rows.append((*_of(block), system, *(found.get(key, "") for key in keys)))
    columns = [key.replace(".", "_").replace(" ", "_") for key in keys]
    return Sheet("waiting", (*BLOCK, "system", *columns), rows)
