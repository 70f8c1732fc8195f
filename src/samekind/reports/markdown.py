"""A report as Markdown: all texts and tables; the drawings are on the page."""

from __future__ import annotations

import re
from collections.abc import Sequence

from samekind.reports.contents import Cell, Folded, Gallery, Part, Section, Table


def markdown(title: str, sections: Sequence[Section]) -> str:
    """The whole report."""
    found = [f"# {_plain(title)}"]
    for section in sections:
        found.append(f"## {_plain(section.title)}")
        for part in section.parts:
            found += _part(part)
    return "\n\n".join(found) + "\n"


def _part(part: Part) -> list[str]:
    if isinstance(part, str):
        return [_plain(part)]
    if isinstance(part, Table):
        return _table(part)
    if isinstance(part, Gallery):
        shown = part.pictures if not part.title else part.pictures[:1]  # else the same in 3 costs
        return [
            f"*{_plain(picture.alternative.rstrip('.'))}. Drawn in `index.html`.*"
            for picture in shown
        ]
    return _folded(part)


def _folded(part: Folded) -> list[str]:
    """Markdown has no folded parts."""
    return [text for inner in part.parts for text in _part(inner)]


def _table(table: Table) -> list[str]:
    if not table.rows:
        return [f"### {_plain(table.title)}", _plain(table.note)]
    cells = [[_cell(cell) for cell in row] for row in table.rows]
    found = [f"### {_plain(table.title)}", pipe_table(table.columns, cells, table.words)]
    return [*found, _plain(table.note)] if table.note else found


def pipe_table(head: Sequence[str], rows: Sequence[Sequence[str]], words: int | None = None) -> str:
    """A Markdown table of cells that are escaped already.

    Parameters
    ----------
    words : columns at the left that hold words; the others are aligned right. None: all words.
    """
    n = len(head) if words is None else words
    rule = "|" + "---|" * n + "---:|" * (len(head) - n)
    return "\n".join([_line(head), rule, *map(_line, rows)])


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(cell: Cell | str) -> str:
    if isinstance(cell, str):
        return _plain(cell)
    text = f"**{_plain(cell.text)}**" if cell.strong else _plain(cell.text)
    small = "; ".join(cell.small.splitlines())
    return f"{text} ({_plain(small)})" if small else text


def _plain(text: str) -> str:
    """Escape columns, tags and emphasis; code stays code."""
    parts = re.split(r"(`[^`]*`)", " ".join(text.split()))
    escaped = [
        part if part.startswith("`") else re.sub(r"([|<>*_\[\]])", r"\\\1", part) for part in parts
    ]
    return "".join(escaped).replace("`|`", "`\\|`")
