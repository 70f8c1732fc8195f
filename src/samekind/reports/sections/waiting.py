"""Waiting times of a person, and duration and memory of the runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from samekind.reports.contents import Section, Table
from samekind.reports.figures import DASH, seconds
from samekind.reports.results import Result
from samekind.reports.study import Study

STEPS = ("ask_seconds", "tell_seconds", "refit_seconds")


def waiting_section(study: Study) -> Section | None:
    """One row per system with the worst of its runs; None if no run was timed."""
    rows = []
    for system in study.systems:
        runs = [run for (_, name), some in study.cells.items() if name == system for run in some]
        found = worst(runs)
        if not found:
            continue
        steps = [
            f"{seconds(found.get(f'{step}.p50'))} / {seconds(found.get(f'{step}.p95'))}"
            for step in STEPS
        ]
        memory = found.get("memory_mib")
        rows.append(
            [
                study.name(system),
                *steps,
                seconds(found.get("mean seconds")),
                seconds(found.get("seconds")),
                DASH if memory is None else f"{memory:,.0f} MiB",
            ]
        )
    if not rows:
        return None
    columns = ["system", "ask", "tell", "refit", "run, mean", "run, longest", "memory"]
    table = Table("Median / 95th percentile", columns, rows)
    text = (
        "Waiting for the next question (ask), for an answer to be stored (tell) and for new groups "
        "(refit): median and 95th percentile of a run, each the worst over all runs of the "
        "system. Memory is the peak of the whole process. Times of runs on different machines, "
        "or in parallel on one, are not comparable."
    )
    return Section("waiting", "Waiting", [text, table])


def worst(runs: Sequence[Result]) -> dict[str, float]:
    """Largest times and memory over the runs, and the mean of their whole time."""
    found: dict[str, float] = {}
    for step in STEPS:
        for part in ("p50", "p95"):
            timed = _numbers([(run.row.get(step) or {}).get(part) for run in runs])
            if timed:
                found[f"{step}.{part}"] = max(timed)
    for key in ("seconds", "memory_mib"):
        measured = _numbers([run.row.get(key) for run in runs])
        if measured:
            found[key] = max(measured)
            if key == "seconds":
                found["mean seconds"] = float(np.mean(measured))
    return found


def _numbers(values: Sequence[Any]) -> list[float]:
    return [float(value) for value in values if isinstance(value, int | float)]
