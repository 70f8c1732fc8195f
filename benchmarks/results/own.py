"""Tables of whole trainings by a paper's own loss, of repaired profiles, of seconds per epoch."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.results.gpu import GPU, LAST_SCORES, SUITE, settled
from benchmarks.results.labels import learner_label
from benchmarks.results.rows import matching, point, short
from samekind.questions.wording import plural
from samekind.reports.markdown import pipe_table
from samekind.reports.published import figures
from samekind.simulation.rows import Row

NOT_YET = "Not measured yet."
PRINTED = {
    ("pcl", "default"): ("pcl-2", "PCL"), ("pcl", "personalized"): ("pcl-3", "PCL"),
    ("occ", "default"): ("occ-2", "OCC"), ("occ", "personalized"): ("occ-2", "OCC"),
}  # fmt: skip
"""Published table and method of a recipe, by its method and orientation."""
EPOCHS = (10, 20, 40, 70, 100, 150, 200, 250, 300, 350, 400, 450, 500, 600, 700, 800, 900, 1000)
"""Epochs whose scores are shown, where they were done."""
ANSWERS = (0, 100, 200, 500, 1000, 2000, 5000, 10000, 50000)
SETS = {"cifar10-2": "CIFAR10-2", "cifar100-4": "CIFAR100-4"}
SPELLED = {"default": "default", "personalized": "personalised"}


def own_table(name: str, rows: Sequence[Row]) -> str:
    """Whole trainings of a method by its own loss: the last score and the mean of the last ten."""
    found = whole_runs(rows, name)
    if not found:
        return NOT_YET
    lines = [_whole_run(row) for row in found]
    head = ["set", "learner", "pairs by", "answers", "epochs", "last ACC",
            f"**mean of the last {LAST_SCORES}**", "lowest to highest", "NMI", "ARI",
            "training items, answers honoured", "published ACC", "seed", "minutes",
            "file"]  # fmt: skip
    blank = [at for at, _ in enumerate(head) if not any(line[at] for line in lines)]
    kept = [at for at, _ in enumerate(head) if at not in blank]
    return pipe_table([head[at] for at in kept], [[line[at] for at in kept] for line in lines])


def _whole_run(row: Row) -> list[str]:
    mean_of_last, part = settled(row), score_prefix(row)
    last = [p[f"{part}acc"] for p in row["curve"] if p["questions"] == row["questions"]]
    last = last[-LAST_SCORES:]
    about = row["protocol"]
    planned = about["epochs_planned"] if about["epochs_planned"] != about["epochs_done"] else None
    epochs = f"{about['epochs_done']:g}" + (f" of {planned:g}" if planned else "")
    count = "" if len(last) == LAST_SCORES else f" ({plural(len(last), 'score')})"
    seconds = row.get("seconds")
    return [
        set_name(row), learner_label([row]), f"`{row['strategy']}`", f"{row['questions']:,}",
        epochs, short(last[-1]), f"**{short(mean_of_last[part + 'acc'])}**{count}",
        f"{short(min(last))} to {short(max(last))}" if len(last) > 1 else "",
        short(mean_of_last.get(f"{part}nmi")),
        short(mean_of_last.get(f"{part}ari")), short(mean_of_last.get("acc")) if part else "",
        short(printed(row)), str(row.get("seed")), f"{seconds / 60:.0f}" if seconds else "",
        f"`{row['protocol']['from']}`",
    ]  # fmt: skip


def epochs_table(name: str, rows: Sequence[Row]) -> str:
    """ACC of whole trainings over the epochs, with the answers that were in force."""
    found = whole_runs(rows, name)
    done = max((row["protocol"]["epochs_done"] for row in found), default=0)
    shown = [epoch for epoch in EPOCHS if epoch <= done]
    if not found or not shown:
        return ""
    lines = []
    for row in found:
        part = score_prefix(row)
        cells = [_at_epoch(row, epoch, f"{part}acc") for epoch in shown]
        about = f"{learner_label([row])}, `{row['strategy']}`, seed {row.get('seed')}"
        lines.append([f"{set_name(row)}, {about}", *cells])
    return pipe_table(["ACC after epoch", *map(str, shown)], lines)


def _at_epoch(row: Row, epoch: int, metric: str) -> str:
    """The first score at or after an epoch, if it lies before the next one that is shown."""
    after = [at for at in EPOCHS if at > epoch]
    limit = after[0] if after else float("inf")
    points = [p for p in row["curve"] if epoch <= (p.get("epochs") or -1) < limit]
    if not points:
        return ""
    first = points[0]
    asked = "" if first["questions"] == row["questions"] else f" ({first['questions']:,})"
    return short(first[metric]) + asked


def repaired_table(name: str, rows: Sequence[Row]) -> str:
    """ACC of the repaired profile over the answers, one line per run."""
    found = _of(rows, name, "repaired")
    if not found:
        return NOT_YET
    shown = [n for n in ANSWERS if any(point(row, n) for row in found)]
    lines = []
    for row in found:
        metric = f"{score_prefix(row)}acc"
        scores = [p.get(metric) if (p := point(row, n)) else None for n in shown]
        cells = ["" if value is None else short(value) for value in scores]
        about = [set_name(row), learner_label([row]), f"`{row['strategy']}`", str(row.get("seed"))]
        lines.append([*about, *cells, short(printed(row)), f"`{row['protocol']['from']}`"])
    heads = ["set", "learner", "pairs by", "seed", *(f"{n:,}" for n in shown)]
    return pipe_table([*heads, "published, another learner", "file"], lines)


def epoch_table(folder: Path = GPU) -> str:
    """Seconds per epoch, a column for each ``epoch-*.json`` of `benchmarks.throughput.epoch`."""
    files = sorted(folder.glob("epoch-*.json"), key=lambda path: ("before" not in path.stem, path))
    results = [json.loads(path.read_text(encoding="utf-8")) for path in files]
    if not results:
        return NOT_YET
    columns = [dict(_figures(result)) for result in results]
    fullest = sorted(columns, key=len, reverse=True)  # its order is that of the table
    names = dict.fromkeys(name for column in fullest for name in column)
    lines = [[name, *(_cell(column.get(name)) for column in columns)] for name in names]
    heads = [f"{path.stem.removeprefix('epoch-')}, {result.get('label', path.stem)}"
             for path, result in zip(files, results, strict=True)]  # fmt: skip
    return pipe_table(["seconds per epoch", *heads], lines)


def _figures(result: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """The seconds of a result by what they were spent on, and the share of the card's peak."""
    found: list[tuple[str, Any]] = []
    for title, value in result.items():
        if title.endswith(", s"):
            name = title.removesuffix(", s")
            parts = value if isinstance(value, Mapping) else {"whole": value}
            found += [(f"{name}: {part}" if part != "whole" else f"**{name}**", seconds)
                      for part, seconds in parts.items() if part != "not split"]  # fmt: skip
    share = result.get("share of peak")
    return found + ([] if share is None else [("share of the card's peak", f"{100 * share:.1f} %")])


def _cell(value: object) -> str:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
    return "" if value is None else str(value)


def whole_runs(rows: Sequence[Row], method: str) -> list[Row]:
    """Trainings by epochs of a method, by its own loss."""
    return _of(rows, method, "paper")


def _of(rows: Sequence[Row], method: str, profile: str) -> list[Row]:
    found = matching(rows, {"suite": SUITE, "method": method, "parameters.profile": profile})
    keys = ("set", "orientation", "strategy", "seed")
    return sorted(found, key=lambda row: tuple(str(row.get(key)) for key in keys))


def score_prefix(row: Row) -> str:
    """The prefix of the scores that are reported: of held-out items, else by the network alone."""
    return next((p for p in ("heldout_", "network_") if f"{p}acc" in row["curve"][-1]), "")


def set_name(row: Row) -> str:
    """Set and orientation in words."""
    return f"{SETS.get(row['set'], row['set'])} {SPELLED[row['orientation']]}"


def printed(row: Row) -> float | None:
    """The published accuracy on the set of a row."""
    table, method = PRINTED[row["method"], row["orientation"]]
    found = figures(row["set"], row["orientation"], table=table)
    return next((figure.acc for figure in found if figure.method == method), None)
