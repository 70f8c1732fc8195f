"""The report of a suite: mean and spread over seeds, differences, published figures, curves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from suite_format import METRICS, Run, Suite

Rows = Mapping[str, Mapping[str, Any]]
NAMES = {"acc": "ACC", "nmi": "NMI", "ari": "ARI", "fm": "F"}
ENOUGH = 3
"""Seeds from which on an interval is given."""


def report(suite: Suite, rows: Iterable[Mapping[str, Any]]) -> str:
    """A page of Markdown about the finished runs of a suite."""
    rows = [row for row in rows if row["suite"] == suite.name]
    seeds = sorted({row["seed"] for row in rows})
    runs = suite.runs(seeds=seeds)
    wanted = {run.name for run in runs}
    done = {row["run"]: row for row in rows if row["complete"] and row["run"] in wanted}
    pieces = [f"# {suite.name}", suite.about] if suite.about else [f"# {suite.name}"]
    pieces.append(_origin(suite, list(done.values())))
    for orientation in suite.orientations:
        here = [run for run in runs if run.orientation == orientation and run.name in done]
        if here:
            pieces += [f"## {suite.set}, {orientation}", _table(suite, here, done, orientation)]
            pieces += _curves(suite, here, done)
    pieces += _footnotes(suite, rows, done, wanted)
    return "\n\n".join(pieces) + "\n"


def paired(ours: Mapping[int, float], base: Mapping[int, float]) -> tuple[float, float | None]:
    """Mean difference over the common seeds, and half the width of its 95 % interval."""
    from scipy.stats import t

    seeds = sorted(set(ours) & set(base))
    apart = np.array([ours[seed] - base[seed] for seed in seeds])
    if not len(apart):
        return float("nan"), None
    if len(apart) < ENOUGH:
        return float(apart.mean()), None
    width = t.ppf(0.975, len(apart) - 1) * apart.std(ddof=1) / np.sqrt(len(apart))
    return float(apart.mean()), float(width)


def spread(values: Sequence[float]) -> str:
    """Mean and standard deviation over seeds."""
    mean = figure(float(np.mean(values)))
    return mean if len(values) < 2 else f"{mean} ± {figure(float(np.std(values, ddof=1)))}"


def figure(value: float, *, signed: bool = False) -> str:
    """Three decimals without the leading zero: .597, +.012."""
    if np.isnan(value):
        return "-"
    text = f"{abs(value):.3f}"
    text = text[1:] if text.startswith("0") else text
    if signed:
        return ("-" if value < 0 else "+") + text
    return f"-{text}" if value < 0 else text


def _table(suite: Suite, here: Sequence[Run], done: Rows, orientation: str) -> str:
    """Last scores of each variant, beside what was published."""
    part = _part(done[run.name] for run in here)
    metrics = [NAMES[metric] for metric in METRICS]
    head = ["variant", "answers", "seeds", *(f"{part} {name}" for name in metrics)]
    head += [f"ACC less {suite.compare_with} [95 %]"]
    head += [f"published {'/'.join(metrics)}", "published difference in ACC"]
    lines = [_line(head), _line(["---"] * len(head))]
    base = _published(suite, suite.compare_with, orientation)
    for variant, questions in _groups(here):
        found = [run for run in here if _group(run) == (variant, questions)]
        last = {run.seed: done[run.name]["curve"][-1] for run in found}
        cells = [variant, f"{questions:,}", str(len(last))]
        cells += [spread([row[f"{part}_{m}"] for row in last.values()]) for m in METRICS]
        cells.append(_difference(suite, here, done, (variant, questions), f"{part}_acc"))
        theirs = _published(suite, variant, orientation) if _is_last(here, questions) else None
        cells += _theirs(theirs, base if variant != suite.compare_with else None)
        lines.append(_line(cells))
    return "\n".join(lines)


def _difference(
    suite: Suite, here: Sequence[Run], done: Rows, group: tuple[str, int], metric: str
) -> str:
    if group[0] == suite.compare_with:
        return ""
    ours, base = (
        {run.seed: done[run.name]["curve"][-1][metric] for run in here if _group(run) == each}
        for each in (group, (suite.compare_with, group[1]))
    )
    mean, width = paired(ours, base)
    if width is None:
        return figure(mean, signed=True)
    low, high = figure(mean - width, signed=True), figure(mean + width, signed=True)
    return f"{figure(mean, signed=True)} [{low}, {high}]"


def _theirs(theirs: Mapping[str, Any] | None, base: Mapping[str, Any] | None) -> list[str]:
    if theirs is None:
        return ["", ""]
    figures = "/".join(figure(theirs[m]) if m in theirs else "-" for m in METRICS)
    less = theirs.get("difference")
    if less is None and base is not None and "acc" in theirs and "acc" in base:
        less = theirs["acc"] - base["acc"]
    apart = "" if less is None else figure(less, signed=True)
    return [figures + ("\\*" if "note" in theirs else ""), apart]


def _curves(suite: Suite, here: Sequence[Run], done: Rows) -> list[str]:
    """ACC and NMI against the number of answers, on train and test items."""
    budgets = sorted({run.settings.questions for run in here})
    several = len(budgets) > 1
    at = budgets if several else [*suite.curve_at]
    if not at:
        return []
    parts = [p for p in ("test", "train") if f"{p}_acc" in done[here[0].name]["curve"][0]]
    what = "one run for each number" if several else "during the run"
    pieces = []
    for metric in ("acc", "nmi"):
        head = [f"{NAMES[metric]} after answers ({what})", *(f"{n:,}" for n in at)]
        lines = [_line(head), _line(["---"] * len(head))]
        for variant in dict.fromkeys(run.variant for run in here):
            mine = [run for run in here if run.variant == variant]
            for part in parts:
                key = f"{part}_{metric}"
                cells = [_at(mine, done, n, key, several) for n in at]
                lines.append(_line([f"{variant}, {part} items", *cells]))
        pieces.append("\n".join(lines))
    return pieces


def _at(runs: Sequence[Run], done: Rows, n: int, key: str, several: bool) -> str:
    """The mean over seeds after n answers: the end of runs of n questions, or on the way."""
    if several:
        values = [done[r.name]["curve"][-1][key] for r in runs if r.settings.questions == n]
    else:
        values = []
        for run in runs:
            before = [row for row in done[run.name]["curve"] if row["questions"] <= n]
            reached = max(row["questions"] for row in done[run.name]["curve"]) >= n
            values += [before[-1][key]] if before and reached else []
    return spread(values) if values else "-"


def _origin(suite: Suite, done: Sequence[Mapping[str, Any]]) -> str:
    if not done:
        return "No finished run with these settings."
    facts = {
        "commit": sorted({str(row["commit"]) for row in done}),
        "machine": sorted({str(row["machine"]) for row in done}),
        "seeds": sorted({row["seed"] for row in done}),
        "first day": [min(str(row["when"]) for row in done)[:10]],
    }
    told = "; ".join(f"{name}: {', '.join(map(str, values))}" for name, values in facts.items())
    minutes = sum(row["seconds"] for row in done) / 60
    return f"{len(done)} runs, {minutes:.1f} minutes of runs in all; {told}. Mean ± sd over seeds."


def _footnotes(
    suite: Suite, rows: Sequence[Mapping[str, Any]], done: Rows, wanted: set[str]
) -> list[str]:
    lines = []
    sources = dict.fromkeys(str(each["source"]) for each in suite.published if "source" in each)
    if sources:
        lines.append(f"* Published figures: {'; '.join(sources)}.")
    for each in suite.published:
        if "note" in each:
            where = f"{each['variant']}, {each.get('orientation', 'all')}"
            lines.append(f"* \\* {where}: {each['note']}")
    cut = {r["run"] for r in rows if not r["complete"] and r["run"] in wanted} - set(done)
    if cut:
        lines.append(f"* Left out, because they were cut short: {', '.join(sorted(cut))}.")
    other = {row["run"] for row in rows} - wanted
    if other:
        lines.append(f"* Left out, because they had other settings: {len(other)} runs.")
    return ["\n".join(lines)] if lines else []


def _part(rows: Iterable[Mapping[str, Any]]) -> str:
    """Held-out items where there are some, else those that were trained on."""
    return "test" if all("test_acc" in row["curve"][-1] for row in rows) else "train"


def _published(suite: Suite, variant: str, orientation: str) -> Mapping[str, Any] | None:
    for each in suite.published:
        if each["variant"] == variant and each.get("orientation", orientation) == orientation:
            return each
    return None


def _is_last(here: Sequence[Run], questions: int) -> bool:
    """Published figures are those of the whole budget."""
    return questions == max(run.settings.questions for run in here)


def _group(run: Run) -> tuple[str, int]:
    return run.variant, run.settings.questions


def _groups(runs: Sequence[Run]) -> list[tuple[str, int]]:
    return list(dict.fromkeys(_group(run) for run in runs))


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"
