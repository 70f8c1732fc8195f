"""Published figures for these sets beside those measured here."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from samekind.questions.wording import plural
from samekind.reports.contents import Cell, Part, Section, Table
from samekind.reports.figures import DASH, score
from samekind.reports.published import Figure, figures
from samekind.reports.results import Result
from samekind.reports.study import Place, Study

METRICS = ("acc", "nmi", "ari", "f")
OURS = {"acc": "acc", "nmi": "nmi", "ari": "ari", "f": "fm"}
"""Our names of published scores: F is the Fowlkes-Mallows index."""


def papers_section(study: Study) -> Section | None:
    """None when no paper has figures for one of the sets and groupings."""
    parts: list[Part] = []
    for name, orientation in dict.fromkeys(place[1:] for place in study.places):
        found = figures(set=name, orientation=orientation)
        places = [place for place in study.places if place[1:] == (name, orientation)]
        if found:
            parts += _place(study, places, found)
    if not parts:
        return None
    text = (
        "These figures come from other programs, networks and protocols, so they cannot be "
        "compared directly with ours. Ours (bold) are means over seeds of the scores after the "
        "last question; of several people only the one who errs least. Our F is the "
        "Fowlkes-Mallows index."
    )
    return Section("papers", "Published figures beside ours", [text, *parts])


def _place(study: Study, places: Sequence[Place], published: Sequence[Figure]) -> list[Part]:
    rows = [row for place in places for row in _ours(study, place)]
    doubts: list[str] = []
    protocols: dict[str, list[str]] = {}
    for figure in published:
        mark = ""
        if figure.doubt:
            if figure.doubt not in doubts:
                doubts.append(figure.doubt)
            mark = f" [{doubts.index(figure.doubt) + 1}]"
        answers = DASH if figure.answers is None else f"{figure.answers:,}"
        values = [getattr(figure, name) for name in METRICS]
        cells = [DASH if value is None else score(value) for value in values]
        rows.append([f"{figure.method}{mark}", figure.source, answers, *cells])
        if figure.protocol:
            protocols.setdefault(figure.protocol, []).append(figure.method)
    columns = ["method", "from", "answers", "ACC", "NMI", "ARI", "F"]
    doubted = " ".join(f"[{at}] {doubt}" for at, doubt in enumerate(doubts, start=1))
    parts: list[Part] = [Table(", ".join(places[0][1:]), columns, rows, doubted, words=2)]
    if protocols:
        lines = [
            [", ".join(dict.fromkeys(methods)), protocol] for protocol, methods in protocols.items()
        ]
        lines += [["measured here", _protocol(study, places)]]
        parts.append(Table("How these were run", ["methods", "protocol"], lines, words=2))
    return parts


def _ours(study: Study, place: Place) -> list[list[str | Cell]]:
    """Rows of the person who errs least: all items, and held-out ones where there are any."""
    rows: list[list[str | Cell]] = []
    block = next(block for block in study.blocks if block.place == place)
    for system in study.systems:
        runs = study.cells.get((block, system), [])
        for part, words in (("", ""), ("heldout_", ", held-out items")):
            cells = [_last(runs, part + OURS[metric]) for metric in METRICS]
            if all(cell.text == DASH for cell in cells):
                continue
            ends = [run.points[-1]["questions"] for run in runs]
            asked = f"{min(ends):,.0f}"
            asked += f" to {max(ends):,.0f}" if max(ends) > min(ends) else ""
            source = f"here ({place[0]}), {block.person}, {plural(len(runs), 'seed')}"
            rows.append([Cell(study.name(system) + words, strong=True), source, asked, *cells])
    return rows


def _last(runs: Sequence[Result], metric: str) -> Cell:
    ends = [v for run in runs if (v := run.points[-1].get(metric)) is not None]
    return Cell(score(float(np.mean(ends))) if ends else DASH)


def _protocol(study: Study, places: Sequence[Place]) -> str:
    runs = [run for run in study.results.runs if run.block.place in places]
    items = sorted({int(run.row["items"]) for run in runs if run.row.get("items")})
    encoders = sorted({str(run.row["encoder"]) for run in runs if run.row.get("encoder")})
    given = sorted({run.system for run in runs if run.groups_given})
    sentences = [f"Items: {', '.join(f'{count:,}' for count in items)}."] if items else []
    sentences += [f"Vectors: {', '.join(encoders)}."] if encoders else []
    sentences += [f"K given to: {', '.join(given)}." if given else "K was not given."]
    return " ".join(sentences)
