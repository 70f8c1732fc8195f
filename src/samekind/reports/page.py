"""A report as one page: no script, no other file, no external address."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

from samekind.reports.contents import Cell, Folded, Gallery, Part, Picture, Section, Table
from samekind.reports.style import STYLE

MARK = "<!doctype html>\n<!-- samekind report -->\n"
"""First lines of every report; other pages are never overwritten."""


def page(title: str, sections: Sequence[Section]) -> str:
    """The whole page."""
    contents = "\n".join(
        f'<a href="#{escape(section.name)}">{escape(section.title)}</a>' for section in sections
    )
    body = "\n".join(map(_section, sections))
    return (
        f'{MARK}<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        f"<header><h1>{escape(title)}</h1>\n<nav>{contents}</nav></header>\n"
        f"<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def _section(section: Section) -> str:
    parts = "\n".join(map(_part, section.parts))
    return (
        f'<section id="{escape(section.name)}">\n<h2>{escape(section.title)}</h2>\n'
        f"{parts}\n</section>"
    )


def _part(part: Part) -> str:
    if isinstance(part, str):
        return f"<p>{_text(part)}</p>"
    if isinstance(part, Table):
        return _table(part)
    if isinstance(part, Gallery):
        return _gallery(part)
    return _folded(part)


def _folded(part: Folded) -> str:
    inside = "\n".join(map(_part, part.parts))
    return f"<details>\n<summary>{_text(part.title)}</summary>\n{inside}\n</details>"


def _table(table: Table) -> str:
    words = table.words
    head = "".join(
        f'<th scope="col"{_kind(at, words)}>{_text(column)}</th>'
        for at, column in enumerate(table.columns)
    )
    rows = "\n".join(
        "<tr>" + "".join(_cell(cell, at, table) for at, cell in enumerate(row)) + "</tr>"
        for row in table.rows
    )
    if not table.rows:
        return f"<h3>{_text(table.title)}</h3>\n<p>{_text(table.note)}</p>"
    note = f'\n<p class="note">{_text(table.note)}</p>' if table.note else ""
    # A table wider than the screen scrolls by itself; the keyboard must reach it as well.
    label = escape(table.title)
    header = f"<thead><tr>{head}</tr></thead>\n" if any(table.columns) else ""
    return (
        f'<h3>{_text(table.title)}</h3>\n<div class="wide" tabindex="0" role="region" '
        f'aria-label="{label}"><table>\n{header}<tbody>\n{rows}\n</tbody>\n</table></div>{note}'
    )


def _kind(at: int, words: int) -> str:
    return ' class="word"' if at < words else ""


def _cell(cell: Cell | str, at: int, table: Table) -> str:
    found = Cell(cell) if isinstance(cell, str) else cell
    text = f"<b>{_text(found.text)}</b>" if found.strong else _text(found.text)
    small = "".join(f"<small>{_text(line)}</small>" for line in found.small.splitlines())
    if at == table.named_by:
        return f'<th scope="row" class="word">{text}{small}</th>'
    return f"<td{_kind(at, table.words)}>{text}{small}</td>"


def _gallery(gallery: Gallery) -> str:
    keys = "".join(f"<li>{key.svg}<span>{_text(key.name)}</span></li>" for key in gallery.legend)
    legend = f'<ul class="legend">{keys}</ul>\n' if keys else ""
    pictures = "\n".join(map(_picture, gallery.pictures))
    alone = " alone" if len(gallery.pictures) == 1 else ""
    title = f"<h3>{_text(gallery.title)}</h3>\n" if gallery.title else ""
    return f'{title}{legend}<div class="panels{alone}">\n{pictures}\n</div>'


def _picture(picture: Picture) -> str:
    caption = f"<figcaption>{_text(picture.caption)}</figcaption>" if picture.caption else ""
    drawing = f'<div role="img" aria-label="{escape(picture.alternative)}">{picture.svg}</div>'
    return f"<figure>{caption}{drawing}</figure>"


def _text(text: str) -> str:
    """Escaped; what stands between backticks is code; a narrow column may break after a plus."""
    coded = re.sub(r"`([^`]*)`", r"<code>\1</code>", escape(text))
    return re.sub(r"(?<=\w)\+(?=\w)", "+<wbr>", coded)
