"""Published tables with our measured rows under them, as Markdown."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from results_rows import (
    Row,
    machine,
    matching,
    numbers,
    place,
    point,
    scores,
    short,
    spread,
)

from samekind.reports.published import Figure, figures, titles

NAMES = {
    "cifar10-2": "CIFAR10-2",
    "cifar100-4": "CIFAR100-4",
    "imagenet10-2": "ImageNet10-2",
    "imagenet-dogs-2": "ImageNet-Dogs, 2 groups",
    "cifar10": "CIFAR-10",
    "cifar20": "CIFAR-20",
    "stl10": "STL-10",
    "imagenet10": "ImageNet-10",
    "imagenet-dogs": "ImageNet-Dogs",
}
SLASH = "\N{NO-BREAK SPACE}/\N{NO-BREAK SPACE}"
SPELLED = {"default": "default", "personalized": "personalised"}
MARKS = "abcdefghijklmnopqrstuvwxyz"
Column = tuple[str, str]


@dataclass(frozen=True)
class Ours:
    """One measured line of a table: its runs by column."""

    label: str
    beside: str | None
    at: int | None
    prefix: str
    runs: Mapping[Column, Sequence[Row]]

    @property
    def answers(self) -> str:
        """Answers at which the scores were taken."""
        taken = {
            p["questions"] for rows in self.runs.values() for row in rows if (p := self.of(row))
        }
        return " or ".join(f"{number:,}" for number in sorted(taken))

    def of(self, row: Row) -> Mapping[str, float] | None:
        return point(row, self.at)

    def cell(self, column: Column, metrics: Sequence[str]) -> str:
        """Scores of one column, the accuracy with its spread."""
        rows = self.runs.get(column, [])
        values = [scores(rows, self.at, self.prefix + name) for name in metrics]
        if not any(values):
            return ""
        first, *others = [spread(v) if i == 0 else short(_mean(v)) for i, v in enumerate(values)]
        return SLASH.join([first.replace(" ", "\N{NO-BREAK SPACE}"), *others])

    def provenance(self) -> str:
        """Seeds, commits, machines and files of all runs of the line."""
        rows = [row for found in self.runs.values() for row in found]
        seeds = {numbers(row["seed"] for row in found) for found in self.runs.values()}
        named = " or ".join(sorted(seeds))
        commits = sorted({row.get("commit") or "not noted" for row in rows})
        sources = sorted({(row.get("protocol") or {}).get("from", "") for row in rows} - {""})
        kept = sorted({f"`benchmarks/rows/{row['file']}`" for row in rows})
        came = f" (from {', '.join(f'`{name}`' for name in sources)})" if sources else ""
        return (
            f"{'seed' if len(named) < 2 else 'seeds'} {named}; commit {', '.join(commits)}; "
            f"{', '.join(sorted({machine(row) for row in rows}))}; {', '.join(kept)}{came}"
        )

    def told(self) -> str:
        """Whether the method was told the number of groups."""
        given = {row.get("groups_given") is not None for rows in self.runs.values() for row in rows}
        return "yes and no" if len(given) > 1 else "yes" if given.pop() else "**no**"

    def seeds(self) -> str:
        counts = {len({row["seed"] for row in rows}) for rows in self.runs.values()}
        if counts == {1}:
            return "1 seed"
        return " or ".join(map(str, sorted(counts))) + " seeds"


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


@dataclass
class Notes:
    """Notes under a table, each written once and referred to by its mark: a, b ... or 1, 2 ..."""

    letters: bool = True
    texts: list[str] = field(default_factory=list)

    def mark(self, text: str) -> str:
        """The mark of a note, which is kept for the list below."""
        if text not in self.texts:
            self.texts.append(text)
        return self._sign(self.texts.index(text))

    def lines(self) -> list[str]:
        return [f"* {self._sign(number)} {text}" for number, text in enumerate(self.texts)]

    def _sign(self, number: int) -> str:
        letters = MARKS[number % len(MARKS)] * (1 + number // len(MARKS))  # ... z, aa, bb
        return f"<sup>{letters if self.letters else number + 1}</sup>"


def bound(table: str, binding: Mapping[str, Any], rows: Sequence[Row]) -> list[Ours]:
    """Our lines of a published table: those named in the binding, then those that match by name."""
    columns = _columns(table, binding)
    found = [
        line
        for entry in binding["ours"]
        if table in entry["tables"]
        for line in _named(entry, columns, rows)
    ]
    for rule in binding.get("automatic", []):
        if table in rule["tables"]:
            found += _automatic(rule, table, columns, rows)
    return found


def _named(entry: Mapping[str, Any], columns: Sequence[Column], rows: Sequence[Row]) -> list[Ours]:
    chosen = matching(rows, entry["where"])
    points = entry.get("at")
    lines = []
    for at in points if isinstance(points, list) else [points]:
        runs = _by_column(chosen, columns, at, entry["scores"])
        if runs:
            lines.append(Ours(entry["label"], entry.get("beside"), at, entry["scores"], runs))
    return lines


def _automatic(
    rule: Mapping[str, Any], table: str, columns: Sequence[Column], rows: Sequence[Row]
) -> list[Ours]:
    """Lines of a file whose systems are called like the published methods, one per setting."""
    methods = {plain(method): method for method in _methods(figures(table=table))}
    others, note = rule["others"], rule.get("note", "")
    chosen = [
        row
        for row in matching(rows, {"file": rule["file"]})
        if not row.get("noise")
        and not row.get("unsure")
        and (others == "all" or row["system"] in others or plain(row["system"]) in methods)
    ]
    settings: dict[str, list[Row]] = {}
    for row in chosen:
        told, parameters = row.get("groups_given") is not None, row.get("parameters")
        same = (row["system"], row.get("strategy"), told, row.get("budget"), parameters)
        settings.setdefault(json.dumps(same, sort_keys=True), []).append(row)
    lines = []
    for _, group in sorted(settings.items()):
        system = group[0]["system"]
        runs = _by_column(group, columns, None, rule["scores"])
        if runs:
            lines.append(
                Ours(f"`{system}`{note}", methods.get(plain(system)), None, rule["scores"], runs)
            )
    return lines


def plain(name: str) -> str:
    """A name without differences of spelling; IDC that begins from TCL is simply IDC."""
    return re.sub(r"[^a-z0-9+]", "", name.lower().removesuffix(" (tcl)"))


def _by_column(
    rows: Sequence[Row], columns: Sequence[Column], at: int | None, prefix: str
) -> dict[Column, list[Row]]:
    runs: dict[Column, list[Row]] = {}
    for row in rows:
        column, taken = place(row), point(row, at)
        if column in columns and taken is not None and taken.get(prefix + "acc") is not None:
            runs.setdefault(column, []).append(row)
    return runs


def _columns(table: str, binding: Mapping[str, Any]) -> list[Column]:
    """The sets and orientations of a published table, then those that only we have."""
    published = [(f.set, f.orientation) for f in figures(table=table)]
    ours = [(name, way) for name, way in binding.get("columns", {}).get(table, [])]
    return list(dict.fromkeys([*published, *ours]))


def _methods(found: Sequence[Figure]) -> list[str]:
    return list(dict.fromkeys(f.method for f in found))


def published_table(table: str, binding: Mapping[str, Any], rows: Sequence[Row]) -> str:
    """A published table as Markdown: its rows, ours under them, and the notes that both need."""
    found, lines = figures(table=table), bound(table, binding, rows)
    columns = _columns(table, binding)
    many_sets = len({name for name, _ in columns}) > 1
    ways = list(dict.fromkeys(way for _, way in columns)) if many_sets else [""]
    notes, doubts = Notes(), Notes(letters=False)
    out = [f"### {titles()[table]}", "", binding["difference"][table], ""]
    for way in ways:
        part = [column for column in columns if way in ("", column[1])]
        if len(ways) > 1:
            out += [f"**{SPELLED[way].capitalize()} orientation**", ""]
        out += [*_body(found, part, lines, notes, doubts), ""]
    out += [*doubts.lines(), *notes.lines(), f"* {_missing(found, columns, lines)}"]
    return "\n".join(out)


def _body(
    found: Sequence[Figure],
    columns: Sequence[Column],
    lines: Sequence[Ours],
    notes: Notes,
    doubts: Notes,
) -> list[str]:
    with_f = any(f.f is not None for f in found)
    metrics = ("acc", "nmi", "ari", "fm") if with_f else ("acc", "nmi", "ari")
    heads = [NAMES[name] if len({c[0] for c in columns}) > 1 else f"{NAMES[name]} {SPELLED[way]}"
             for name, way in columns]  # fmt: skip
    what = "ACC / NMI / ARI / F" if with_f else "ACC / NMI / ARI"
    out = [
        f"| {what} | answers | K told | {' | '.join(heads)} | source |",
        "|---|---|---|" + "---|" * (len(columns) + 1),
    ]
    here = [line for line in lines if any(column in line.runs for column in columns)]
    for method in _methods(found):
        row = {(f.set, f.orientation): f for f in found if f.method == method}
        cells = [_published_cell(row.get(column), doubts) for column in columns]
        answers = _published_answers([row[c] for c in columns if c in row])
        out.append(f"| {method} | {answers} | yes | {' | '.join(cells)} | published |")
        out += [_our_row(x, columns, metrics, notes) for x in here if x.beside == method]
    out += [_our_row(x, columns, metrics, notes) for x in here if x.beside not in _methods(found)]
    return out


def _our_row(line: Ours, columns: Sequence[Column], metrics: Sequence[str], notes: Notes) -> str:
    cells = [line.cell(column, metrics) for column in columns]
    return (
        f"| **here:** {line.label} | {line.answers} | {line.told()} | {' | '.join(cells)} "
        f"| {line.seeds()} {notes.mark(line.provenance())} |"
    )


def _published_cell(figure: Figure | None, doubts: Notes) -> str:
    if figure is None:
        return "-"
    given = [figure.acc, figure.nmi, figure.ari, *([] if figure.f is None else [figure.f])]
    mark = doubts.mark(figure.doubt) if figure.doubt else ""
    return SLASH.join(map(short, given)) + mark


def _published_answers(row: Sequence[Figure]) -> str:
    """One number of answers, and where some sets have another."""
    counts: dict[int | None, list[str]] = {}
    for figure in row:
        counts.setdefault(figure.answers, []).append(NAMES[figure.set])
    words = {n: "not given" if n is None else f"{n:,}" for n in counts}
    (first, _), *others = words.items()
    rest = [
        f"{counts[n][0] if len(counts[n]) == 1 else 'other sets'}: {words[n]}" for n, _ in others
    ]
    return words[first] + (f" ({'; '.join(rest)})" if rest else "")


def _missing(found: Sequence[Figure], columns: Sequence[Column], lines: Sequence[Ours]) -> str:
    """Which methods and sets have no run of ours, in words."""
    if not lines:
        return "Nothing of this table was measured here."
    met = {line.beside for line in lines}
    run = {column[0] for line in lines for column in line.runs}
    methods = [method for method in _methods(found) if method not in met]
    sets = [NAMES[name] for name in dict.fromkeys(name for name, _ in columns) if name not in run]
    told = ", ".join([*methods, *(f"any method on {name}" for name in sets)])
    return f"Not measured here: {told}." if told else "Every published row has one of ours."
