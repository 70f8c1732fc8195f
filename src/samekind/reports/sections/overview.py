"""Summary of the report, and all systems in one table."""

from __future__ import annotations

import numpy as np

from samekind.questions.wording import plural
from samekind.reports.comparison import Comparison
from samekind.reports.contents import Cell, Part, Section, Table
from samekind.reports.figures import DASH, estimate, listed, metric_title, seconds
from samekind.reports.results import Block
from samekind.reports.sections.waiting import worst
from samekind.reports.study import Study


def overview(study: Study, comparison: Comparison) -> Section:
    """The first section."""
    seeds = {run.seed for run in study.results.runs}
    text = (
        f"{plural(len(study.results.runs), 'run')}: {plural(len(study.systems), 'system')} on "
        f"{plural(len(study.places), 'grouping')} ({_places(study)}), answered by "
        f"{plural(len(study.people), 'simulated person', 'simulated people')} "
        f"({listed(study.people)}), {plural(len(seeds), 'seed')}. "
        f"The score is {metric_title(study.metric)}."
    )
    parts: list[Part] = [text, *_winner(study, comparison), *_unlike(study), _table(study)]
    return Section("overview", "At a glance", parts)


def _places(study: Study) -> str:
    names = [study.place_name(place) for place in study.places]
    return "; ".join(names) if len(names) <= 6 else f"{'; '.join(names[:5])}; and others"


def _winner(study: Study, comparison: Comparison) -> list[str]:
    if len(comparison.systems) < 2:
        return []
    first = study.leader
    if first is None:
        return ["The first-ranked system was not run in all blocks, so no system leads overall."]
    better = [pair for pair in comparison.against_first if pair.difference > 0]
    clear = sum(pair.corrected < 0.05 for pair in better)
    units = "seeds of the sets" if comparison.by_seed else "blocks"
    text = (
        f"By area under the curve `{study.name(first)}` ranks first (mean rank "
        f"{study.ranks[first]:.1f} over {plural(comparison.blocks, 'block')}). Signed-rank tests "
        f"over the {units}, corrected by Holm over all pairs, find it better than {clear} of the "
        f"other {len(comparison.systems) - 1} at .05."
    )
    if comparison.by_seed:
        text += " With so few blocks this holds for these sets and says little about others."
    return [text]


def _unlike(study: Study) -> list[str]:
    """A warning when systems of one block did not have the same things to sort."""
    seen: dict[Block, set[tuple[str, str]]] = {}
    for run in study.results.runs:
        had = (str(run.row.get("encoder")), str(run.row.get("items")))
        seen.setdefault(run.block, set()).add(had)
    unlike = [study.block_name(block) for block in study.blocks if len(seen[block]) > 1]
    if not unlike:
        return []
    names = "; ".join(unlike[:4]) + ("; and others" if len(unlike) > 4 else "")
    return [
        f"Caution: in {plural(len(unlike), 'block')} not all runs had the same vectors or the "
        f"same number of items ({names}). Differences there may come from that."
    ]


def _table(study: Study) -> Table:
    shared = study.shared(study.blocks)
    means = {system: study.over(study.areas, shared, system) for system in study.systems}
    best = max((m.mean for m in means.values() if m), default=np.nan)
    rows: list[list[Cell | str]] = []
    for system in study.systems:
        last = study.over(study.finals, shared, system)
        here = sum((block, system) in study.cells for block in study.blocks)
        mean = means[system]
        rank = study.ranks.get(system)
        wait = worst([r for (_, s), runs in study.cells.items() if s == system for r in runs])
        rows.append(
            [
                str(study.number(system)),
                study.name(system),
                estimate(mean, strong=mean is not None and mean.mean == best),
                DASH if rank is None else f"{rank:.1f}",
                estimate(last),
                seconds(wait.get("ask_seconds.p95")),
                Cell(f"{here} of {len(study.blocks)}"),
            ]
        )
    columns = ["no.", "system", "area", "mean rank", "final score", "longest ask", "blocks"]
    note = (
        "Area: mean height of the curve over the questions, averaged over "
        f"{plural(len(shared), 'block')} that the systems share, with the 95 % interval of the "
        "mean over seeds (Student). A system that lacks one of these blocks has no mean "
        f"({DASH}). Mean rank: over all blocks that a system shares with others. Longest ask: the "
        "largest 95th "
        "percentile of a run. (K): was given the number of groups. A block is a set, a grouping "
        "of it and a person."
    )
    return Table("All systems", columns, rows, note, words=2, named_by=1)
