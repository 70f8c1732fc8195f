"""Tables and curves of the suite `live`: mean over seeds with the 95 % interval (Student's t)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from live_run import AT, CHECKED_AT, SYSTEMS, Row
from live_sets import PLANS, plan_of
from scipy.stats import t

from samekind.checks import interval

ALSO = {"heldout_acc": ("acc",), "ari": ("acc",), "acc": ("ari", "unasked_acc")}
"""What else is shown of a set whose first score is this one."""
TITLES = {
    "acc": "ACC of all sorted items", "ari": "ARI of all sorted items",
    "unasked_acc": "ACC of the items that no question showed", "heldout_acc": "held-out ACC",
}  # fmt: skip
AIMS = (
    ("cifar10-2", "personalized", 0.0, 75, 0.873), ("cifar10-2", "personalized", 0.0, 150, 0.90),
    ("cifar10-2", "personalized", 0.0, 500, 0.918), ("cifar10-2", "default", 0.0, 100, 0.965),
    ("digits", "digit", 0.0, 50, 0.92), ("digits", "digit", 0.0, 100, 0.95),
    ("digits", "digit", 0.05, 100, 0.85), ("digits", "digit", 0.1, 200, 0.80),
)  # fmt: skip
"""What `live` is to reach: set, orientation, noise, answers, and the first score of the set."""
KMEANS_ON_DIGITS = 0.668
"""Without questions; with 20 % wrong answers no seed is to fall below it at any number."""
Values = list[float]


def latest(rows: Iterable[Row]) -> list[Row]:
    """Of runs that were done again only the last, in the order of the suite."""
    found = {
        (row["set"], row["orientation"], row["noise"], row["system"], row["seed"]): row
        for row in rows
    }
    sets, systems = list(PLANS), list(SYSTEMS)

    def place(row: Row) -> tuple[Any, ...]:
        system = row["system"]
        known = systems.index(system) if system in systems else len(systems)
        orientation = list(plan_of(row["set"]).columns).index(row["orientation"])
        return sets.index(row["set"]), orientation, row["noise"], known, system, row["seed"]

    return sorted(found.values(), key=place)


def report(rows: Sequence[Row]) -> str:
    """Everything as Markdown."""
    parts = [_origin(rows)]
    for name, some in _grouped(rows, lambda row: str(row["set"])).items():
        first = plan_of(name).metric
        for metric in (first, *ALSO[first]):
            parts += [f"## {name}: {TITLES[metric]}", _scores(some, metric)]
    live = [row for row in rows if row["system"] == "live"]
    if live:
        parts += ["## Aims", _aims(live)]
        parts += ["## Rise of `live` above its result without answers, seed by seed", _rise(live)]
        parts += ["## Random checks: does their interval hold the true share?", _checks(live)]
    parts += ["## Waiting (median over runs of the 95th percentile)", _waiting(rows)]
    return "\n\n".join(parts)


def at(row: Row, questions: int, metric: str) -> float | None:
    """The score after so many answers; a run with nothing left to ask keeps its last score."""
    points = [p for p in row["curve"] if p["questions"] <= questions and p.get(metric) is not None]
    if not points or questions > row["budget"]:
        return None
    ended = row["questions"] < row["budget"] and points[-1]["questions"] == row["questions"]
    return float(points[-1][metric]) if points[-1]["questions"] == questions or ended else None


def mean_and_half(values: Sequence[float]) -> tuple[float, float | None]:
    """Mean, and half the width of its 95 % interval; None with a single value.

    >>> mean_and_half([0.5, 0.7])[0]
    0.6
    """
    n = len(values)
    if n < 2:
        return float(np.mean(values)), None
    half = t.ppf(0.975, n - 1) * np.std(values, ddof=1) / np.sqrt(n)
    return float(np.mean(values)), float(half)


def _origin(rows: Sequence[Row]) -> str:
    commits = Counter(row["commit"] for row in rows)
    told = ", ".join(f"{commit} ({count})" for commit, count in commits.items())
    said = f"{len(rows)} runs. Commit: {told}. {rows[-1]['machine']['cores']} cores, CPU."
    if len(commits) > 1:
        said += " **Runs of several commits are mixed: do not compare them.**"
    encoders = {row["set"]: row["encoder"] for row in rows}
    vectors = "; ".join(f"{name} by {encoder}" for name, encoder in encoders.items())
    return f"{said} Vectors: {vectors}. K is given to `margin` only."


def _scores(rows: Sequence[Row], metric: str) -> str:
    lines = _grouped(rows, lambda row: (row["orientation"], row["noise"], row["system"]))
    shown = [q for q in AT if any(at(row, q, metric) is not None for row in rows)]
    table = [["", "wrong", "method", "seeds", *map(str, shown)]]
    for (orientation, noise, system), some in lines.items():
        cells = [_cell(_values(some, q, metric)) for q in shown]
        table.append([orientation, f"{noise:.0%}", system, str(len(some)), *cells])
    return _markdown(table)


def _aims(live: Sequence[Row]) -> str:
    table = [["set", "orientation", "wrong", "answers", "wanted", "found", "seeds", ""]]
    for name, orientation, noise, questions, aim in AIMS:
        some = _of(live, name, orientation, noise)
        values = _values(some, questions, plan_of(name).metric)
        if values:
            verdict = "met" if np.mean(values) >= aim else "**missed**"
            table.append([name, orientation, f"{noise:.0%}", str(questions), f">= {aim}",
                          _cell(values), str(len(values)), verdict])  # fmt: skip
    noisy = _of(live, "digits", "digit", 0.2)
    lowest = [point["ari"] for row in noisy for point in row["curve"] if point["questions"]]
    if lowest:
        verdict = "met" if min(lowest) >= KMEANS_ON_DIGITS else "**missed**"
        table.append(["digits", "digit", "20%", "any", f">= {KMEANS_ON_DIGITS} in every run",
                      f"{min(lowest):.3f} at worst", str(len(noisy)), verdict])  # fmt: skip
    return _markdown(table)


def _rise(live: Sequence[Row]) -> str:
    shown = (20, 50, 100, 200)
    table = [["set", "orientation", "score", "none", *(f"{q} answers" for q in shown), "clear at"]]
    for (name, orientation, noise), some in _grouped(
        live, lambda row: (row["set"], row["orientation"], row["noise"])
    ).items():
        if noise:
            continue
        metric = plan_of(name).metric
        cells, clear = [], []
        for q in shown:
            rises = [
                after - before
                for row in some
                if (after := at(row, q, metric)) is not None
                and (before := at(row, 0, metric)) is not None
            ]
            cells.append(_cell(rises, sign="+"))
            middle, half = mean_and_half(rises) if rises else (0.0, None)
            clear += [str(q)] if half is not None and middle > half else []
        said = ", ".join(clear) or ("nowhere" if len(some) > 1 else "one seed")
        table.append([name, orientation, metric, _cell(_values(some, 0, metric)), *cells, said])
    return _markdown(table)


def _checks(live: Sequence[Row]) -> str:
    table = [["", "answers", "runs", "no interval", "held", "95 %", "width", "estimate - truth"]]
    clean = [row for row in live if not row["noise"]]
    groups = {"all sets, no wrong answers": clean}
    groups |= _grouped(clean, lambda row: str(row["set"]))
    groups |= _grouped(
        [row for row in live if row["noise"]], lambda row: f"{row['set']}, {row['noise']:.0%} wrong"
    )
    for name, rows in groups.items():
        for questions in CHECKED_AT:
            every = [c for row in rows for c in row["checks"] if c["questions"] == questions]
            if every:
                table.append([name, str(questions), *_coverage(every)])
    return _markdown(table)


def _coverage(checks: Sequence[Row]) -> list[str]:
    some = [c for c in checks if c["low"] is not None]
    if not some:
        return [str(len(checks)), str(len(checks)), "", "", "", ""]
    held = sum(c["low"] <= c["truth"] <= c["high"] for c in some)
    low, high = interval(held, len(some))
    width = np.mean([c["high"] - c["low"] for c in some])
    off = np.mean([c["share"] - c["truth"] for c in some])
    return [str(len(checks)), str(len(checks) - len(some)), f"{held / len(some):.0%}",
            f"{low:.0%} to {high:.0%}", f"{width:.2f}", f"{off:+.3f}"]  # fmt: skip


def _waiting(rows: Sequence[Row]) -> str:
    table = [["set", "items", "method", "refit", "ask", "tell", "whole run"]]
    for (name, system), some in _grouped(rows, lambda row: (row["set"], row["system"])).items():
        refit, ask, tell = (
            float(np.median([row[f"{what}_seconds"]["p95"] for row in some]))
            for what in ("refit", "ask", "tell")
        )
        whole = float(np.median([row["seconds"] for row in some]))
        quick = [f"{1000 * seconds:.1f} ms" for seconds in (ask, tell)]
        counted = f"{some[0]['items']:,}"
        table.append([name, counted, system, f"{refit:.2f} s", *quick, f"{whole:.0f} s"])
    return _markdown(table)


def _values(rows: Sequence[Row], questions: int, metric: str) -> Values:
    return [v for row in rows if (v := at(row, questions, metric)) is not None]


def _of(rows: Sequence[Row], name: str, orientation: str, noise: float) -> list[Row]:
    wanted = (name, orientation, noise)
    return [row for row in rows if (row["set"], row["orientation"], row["noise"]) == wanted]


def _cell(values: Values, sign: str = "") -> str:
    if not values:
        return ""
    middle, half = mean_and_half(values)
    return f"{middle:{sign}.3f}" + ("" if half is None else f" ± {half:.3f}")


def _grouped(rows: Iterable[Row], key: Callable[[Row], Any]) -> dict[Any, list[Row]]:
    found: dict[Any, list[Row]] = {}
    for row in rows:
        found.setdefault(key(row), []).append(row)
    return found


def _markdown(table: Sequence[Sequence[str]]) -> str:
    head, *body = ("| " + " | ".join(row) + " |" for row in table)
    return "\n".join([head, "|" + "---|" * len(table[0]), *body])
