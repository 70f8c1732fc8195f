"""Published tables with our measured rows under them, as Markdown."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import mean
from typing import Any

from benchmarks.results.idc import grid_entries, grid_rows, in_small
from benchmarks.results.labels import is_by, label, learner_label, plain, questions_by
from benchmarks.results.rows import (
    groups_given,
    machines,
    matching,
    numbers,
    place,
    point,
    scores,
    short,
    spread,
)
from samekind.reports.markdown import pipe_table
from samekind.reports.published import Figure, figures, titles
from samekind.simulation.rows import Row

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
SPACE = "\N{NO-BREAK SPACE}"
SLASH = f"{SPACE}/{SPACE}"
SPELLED = {"default": "default", "personalized": "personalised"}
OTHERS = "*not in the published table:*"
"""Heads the lines of learners that the paper does not have."""
LETTERS = "abcdefghijklmnopqrstuvwxyz"
Column = tuple[str, str]
"""Set and orientation."""


@dataclass(frozen=True)
class Measured:
    """One measured line of a table: its runs by column, scored after `at` answers."""

    label: str
    beside: str | None
    at: int | None
    prefix: str
    runs: Mapping[Column, Sequence[Row]]

    @property
    def rows(self) -> list[Row]:
        """The runs of all columns."""
        return [row for found in self.runs.values() for row in found]

    def cell(self, column: Column, metrics: Sequence[str]) -> str:
        """Scores of one column, the accuracy with its spread."""
        rows = self.runs.get(column, [])
        values = [scores(rows, self.at, self.prefix + name) for name in metrics]
        if not any(values):
            return ""
        others = [short(mean(v) if v else None) for v in values[1:]]
        return SLASH.join([spread(values[0]).replace(" ", SPACE), *others])

    def line(self, columns: Sequence[Column], metrics: Sequence[str], notes: Notes) -> list[str]:
        """The cells of the line."""
        taken = {p["questions"] for row in self.rows if (p := point(row, self.at))}
        answers = " or ".join(f"{number:,}" for number in sorted(taken))
        counts = {len({row["seed"] for row in rows}) for rows in self.runs.values()}
        seeds = "1 seed" if counts == {1} else " or ".join(map(str, sorted(counts))) + " seeds"
        cells = [self.cell(column, metrics) for column in columns]
        name, source = f"**here:** {self.label}", f"{seeds} {notes.mark(self.provenance())}"
        return [name, answers, groups_given(self.rows), *cells, source]

    def provenance(self) -> str:
        """Seeds, commits, machines and files of all runs of the line."""
        rows = self.rows
        seeds = {numbers(row["seed"] for row in found) for found in self.runs.values()}
        named = " or ".join(sorted(seeds))
        commits = sorted({row.get("commit") or "not noted" for row in rows})
        sources = {row["protocol"].get("from", "") for row in rows} - {""}
        kept = {_kept_in(row) for row in rows}
        named_sources = ", ".join(f"`{name}`" for name in sorted(sources - kept))
        came = f" (from {named_sources})" if named_sources else ""
        return (
            f"{'seed' if len(named) < 2 else 'seeds'} {named}; commit {', '.join(commits)}; "
            f"{machines(rows)}; {', '.join(f'`{name}`' for name in sorted(kept))}{came}"
        )


def _kept_in(row: Row) -> str:
    """The file in which a row lies: that of its recipe, or one of rows from several."""
    source = str(row["protocol"].get("from", ""))
    return source if source.endswith("/" + row["file"]) else f"benchmarks/rows/{row['file']}"


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
        """The notes as a list."""
        return [f"* {self._sign(number)} {text}" for number, text in enumerate(self.texts)]

    def _sign(self, number: int) -> str:
        letters = LETTERS[number % len(LETTERS)] * (1 + number // len(LETTERS))  # ... z, aa, bb
        return f"<sup>{letters if self.letters else number + 1}</sup>"


def bound(table: str, binding: Mapping[str, Any], rows: Sequence[Row]) -> list[Measured]:
    """Our lines of a published table: those named in the binding, then those that match by name."""
    columns = _columns(table, binding, rows)
    found = []
    for entry in _entries(table, binding, rows):
        if table in entry["tables"]:
            chosen, points = matching(rows, entry["where"]), entry.get("at")
            for at in points if isinstance(points, list) else [points]:
                runs = _by_column(chosen, columns, at, entry["scores"])
                found += [_measured(entry, table, at, runs)] if runs else []
    for rule in binding.get("automatic", []):
        if table in rule["tables"]:
            found += _automatic(rule, table, columns, rows)
    return found


def _entries(
    table: str, binding: Mapping[str, Any], rows: Sequence[Row]
) -> list[Mapping[str, Any]]:
    """The lines of the binding and of IDC's grid; those in small only while there are no others."""
    whole = _of_whole_networks(table, rows)
    kept = [entry for entry in binding["ours"] if not (whole and entry.get("small"))]
    return [*kept, *grid_entries(table, rows)]


def _of_whole_networks(table: str, rows: Sequence[Row]) -> bool:
    """Whether there are rows of whole networks for one of IDC's tables."""
    return any(not in_small(row) for row in grid_rows(table, rows))


def _measured(
    entry: Mapping[str, Any], table: str, at: int | None, runs: Mapping[Column, Sequence[Row]]
) -> Measured:
    """The line of an entry of the binding, if it stands beside no other learner's name."""
    rows, beside = [row for found in runs.values() for row in found], entry.get("beside")
    named = label(entry["label"], rows)
    if beside is not None and not all(is_by(row["learner"], beside, table) for row in rows):
        raise SystemExit(
            f"Expected rows of {beside!r} beside its published row in {table}, got rows of "
            f"{named}. Omit `beside` in benchmarks/results/ours.toml."
        )
    return Measured(named, beside, at, entry["scores"], runs)


def _automatic(
    rule: Mapping[str, Any], table: str, columns: Sequence[Column], rows: Sequence[Row]
) -> list[Measured]:
    """Lines of a file whose learners are called like the published methods, one per setting."""
    methods = {plain(method): method for method in _methods(figures(table=table))}
    others = rule["others"]
    settings: dict[str, list[Row]] = {}
    for row in matching(rows, {"file": rule["file"]}):
        name = plain(row["learner"])
        known = others == "all" or row["learner"] in others or name in methods
        if known and not row.get("noise") and not row.get("unsure"):
            given, parameters = row.get("groups_given") is not None, row.get("parameters")
            same = (row["learner"], row.get("strategy"), given, row.get("budget"), parameters)
            settings.setdefault(json.dumps(same, sort_keys=True), []).append(row)
    lines = []
    for _, group in sorted(settings.items()):
        runs = _by_column(group, columns, None, rule["scores"])
        asked = f", questions by {by}" if (by := questions_by(group[0])) else ""
        named = f"{learner_label(group)}{asked}{rule.get('note', '')}"
        beside = methods.get(plain(group[0]["learner"]))
        lines += [Measured(named, beside, None, rule["scores"], runs)] if runs else []
    return lines


def _by_column(
    rows: Sequence[Row], columns: Sequence[Column], at: int | None, prefix: str
) -> dict[Column, list[Row]]:
    runs: dict[Column, list[Row]] = {}
    for row in rows:
        if place(row) in columns and scores([row], at, prefix + "acc"):
            runs.setdefault(place(row), []).append(row)
    return runs


def _columns(table: str, binding: Mapping[str, Any], rows: Sequence[Row]) -> list[Column]:
    """The sets and orientations of a published table, then those that only we have."""
    published = [(f.set, f.orientation) for f in figures(table=table)]
    ours = [(name, way) for name, way in binding.get("columns", {}).get(table, [])]
    grid = sorted({place(row) for row in grid_rows(table, rows)}) if table != "idc-2" else []
    return list(dict.fromkeys([*published, *ours, *grid]))


def _methods(found: Sequence[Figure]) -> list[str]:
    return list(dict.fromkeys(f.method for f in found))


def published_table(table: str, binding: Mapping[str, Any], rows: Sequence[Row]) -> str:
    """A published table as Markdown: its rows, ours under them, and the notes that both need."""
    found, lines = figures(table=table), bound(table, binding, rows)
    columns = _columns(table, binding, rows)
    many_sets = len({name for name, _ in columns}) > 1
    ways = list(dict.fromkeys(way for _, way in columns)) if many_sets else [""]
    notes, doubts = Notes(), Notes(letters=False)
    text = binding["difference"][table]
    if _of_whole_networks(table, rows):
        text = binding["difference"].get(f"{table}-whole", text)
    out = [f"### {titles()[table]}", "", text, ""]
    for way in ways:
        part = [column for column in columns if way in ("", column[1])]
        if len(ways) > 1:
            out += [f"**{SPELLED[way].capitalize()} orientation**", ""]
        out += [_body(found, part, lines, notes, doubts), ""]
    out += [*doubts.lines(), *notes.lines(), f"* {_missing(found, columns, lines)}"]
    return "\n".join(out)


def _body(
    found: Sequence[Figure],
    columns: Sequence[Column],
    lines: Sequence[Measured],
    notes: Notes,
    doubts: Notes,
) -> str:
    with_f = any(f.f is not None for f in found)
    metrics = ("acc", "nmi", "ari", "fm") if with_f else ("acc", "nmi", "ari")
    one_set = len({name for name, _ in columns}) == 1
    heads = [f"{NAMES[name]} {SPELLED[way]}" if one_set else NAMES[name] for name, way in columns]
    methods, out = _methods(found), []
    here = [line for line in lines if any(column in line.runs for column in columns)]
    for method in methods:
        row = {(f.set, f.orientation): f for f in found if f.method == method}
        cells = [_published_cell(row.get(column), doubts) for column in columns]
        answers = _published_answers([row[c] for c in columns if c in row])
        out.append([method, answers, "yes", *cells, "published"])
        out += [x.line(columns, metrics, notes) for x in here if x.beside == method]
    others = [x.line(columns, metrics, notes) for x in here if x.beside not in methods]
    if others:
        out += [[OTHERS, *[""] * (len(columns) + 3)], *others]
    corner = "ACC / NMI / ARI / F" if with_f else "ACC / NMI / ARI"
    return pipe_table([corner, "answers", "K told", *heads, "source"], out)


def _published_cell(figure: Figure | None, doubts: Notes) -> str:
    if figure is None:
        return "-"
    given = [figure.acc, figure.nmi, figure.ari, *([] if figure.f is None else [figure.f])]
    return SLASH.join(map(short, given)) + (doubts.mark(figure.doubt) if figure.doubt else "")


def _published_answers(row: Sequence[Figure]) -> str:
    """One number of answers, and where some sets have another."""
    counts: dict[int | None, list[str]] = {}
    for figure in row:
        counts.setdefault(figure.answers, []).append(NAMES[figure.set])
    words = {n: "not given" if n is None else f"{n:,}" for n in counts}
    first, *others = words
    rest = [f"{counts[n][0] if len(counts[n]) == 1 else 'other sets'}: {words[n]}" for n in others]
    return words[first] + (f" ({'; '.join(rest)})" if rest else "")


def _missing(found: Sequence[Figure], columns: Sequence[Column], lines: Sequence[Measured]) -> str:
    """The methods and sets without a run of ours, in words."""
    if not lines:
        return "Nothing of this table was measured here."
    met = {line.beside for line in lines}
    run = {column[0] for line in lines for column in line.runs}
    sets = [NAMES[name] for name in dict.fromkeys(name for name, _ in columns) if name not in run]
    missing = [method for method in _methods(found) if method not in met]
    missing += [f"any method on {name}" for name in sets]
    return (
        f"Not measured here: {', '.join(missing)}."
        if missing
        else "Every published row has one of ours."
    )
