"""Where the figures come from: suites, commits, machines, commands, and what is missing."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence

from samekind.questions.wording import plural
from samekind.reports.contents import Part, Section, Table
from samekind.reports.results import Result
from samekind.reports.study import Study

MAX_MISSING_ROWS = 30
"""Missing runs listed on the page; the CSV file has all of them."""


def origin_section(study: Study) -> Section:
    """Provenance of all rows, and the runs that are missing from a full crossing."""
    runs = study.results.runs
    parts: list[Part] = [*study.results.notes]
    commits = Counter(str(run.row.get("commit") or "not recorded") for run in runs)
    if len(commits) > 1:
        parts.append("The runs come from several commits: differences may come from the program.")
    parts += [
        _facts(runs, commits),
        Table(
            "Systems",
            ["system", "method", "learner", "strategy", "K given", "settings"],
            [_system(study, name) for name in study.systems],
            "K given: whether the method was given the number of groups. The learner is what "
            "really trained, which a profile of a method can replace.",
            words=6,
        ),
        *_missing(study),
    ]
    return Section("origin", "Where the figures come from", parts)


def missing_runs(study: Study) -> list[tuple[str, str, int]]:
    """Block, system and seed of the runs that are missing from a full crossing, by suite."""
    missing = []
    for suite in dict.fromkeys(block.suite for block in study.blocks):
        here = [run for run in study.results.runs if run.block.suite == suite]
        done = {(run.block, run.system, run.seed) for run in here}
        seeds = sorted({run.seed for run in here})
        systems = sorted({run.system for run in here})
        missing += [
            (study.block_name(block), system, seed)
            for block in study.blocks
            if block.suite == suite
            for system in systems
            for seed in seeds
            if (block, system, seed) not in done
        ]
    return missing


def _facts(runs: Sequence[Result], commits: Counter[str]) -> Table:
    days = sorted({str(run.row["when"])[:10] for run in runs if run.row.get("when")})
    rows = [
        ["suites", _counts(run.block.suite for run in runs)],
        ["runs", f"{len(runs):,}"],
        ["seeds", ", ".join(map(str, sorted({run.seed for run in runs})))],
        ["commits", _counts(commits.elements())],
        ["days", " to ".join(dict.fromkeys([days[0], days[-1]])) if days else "not recorded"],
        ["commands", _counts(str(run.row.get("command") or "not recorded") for run in runs)],
        ["machines", _counts(_machine(run) for run in runs)],
        ["versions", _counts(_flat(run.row.get("versions")) for run in runs)],
        ["vectors", "; ".join(sorted({_vectors(run) for run in runs}))],
    ]
    return Table("Runs", ["", ""], rows, words=2)


def _counts(values: Iterable[str]) -> str:
    """Values with their counts; a single value without."""
    found = Counter(values)
    if len(found) == 1:
        return next(iter(found))
    return "; ".join(f"{value} ({count})" for value, count in sorted(found.items()))


def _vectors(run: Result) -> str:
    return f"{run.block.set}: {run.row.get('encoder') or 'not recorded'}"


def _machine(run: Result) -> str:
    """The machine without its load, which differs for each run."""
    machine = run.row.get("machine")
    if isinstance(machine, dict):
        machine = {key: value for key, value in machine.items() if key != "load"}
    return _flat(machine)


def _flat(value: object) -> str:
    """A mapping as words: ``cores 2, system Linux``."""
    if isinstance(value, dict):
        return ", ".join(f"{key} {_flat(part)}" for key, part in sorted(value.items()))
    return "not recorded" if value is None else str(value)


def _system(study: Study, system: str) -> list[str]:
    runs = [run for run in study.results.runs if run.system == system]
    settings = {
        json.dumps(
            {**(run.row.get("parameters") or {}), **(run.row.get("strategy_with") or {})},
            sort_keys=True,
        )
        for run in runs
    }
    shown = [setting for setting in sorted(settings) if setting != "{}"]
    return [
        study.name(system),
        _counts(str(run.row.get("method") or "-") for run in runs),
        _counts(str(run.row.get("learner") or "-") for run in runs),
        _counts(str(run.row.get("strategy") or "-") for run in runs),
        study.groups_given[system],
        "; ".join(shown) or "defaults",
    ]


def _missing(study: Study) -> list[Part]:
    missing = missing_runs(study)
    if not missing:
        return ["No run is missing: every system has every block and seed of its suite."]
    by_cell = Counter((block, system) for block, system, _ in missing)
    text = (
        "A full crossing has every system, block and seed of a suite. "
        f"Missing: {plural(len(missing), 'run')}."
    )
    rows = [[block, system, str(count)] for (block, system), count in sorted(by_cell.items())]
    more, shown = len(rows) - MAX_MISSING_ROWS, rows[:MAX_MISSING_ROWS]
    note = f"And {more} more; see `tables/missing.csv`." if more > 0 else ""
    return [text, Table("Missing", ["block", "system", "seeds"], shown, note, words=2)]
