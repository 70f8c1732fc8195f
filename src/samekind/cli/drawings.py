"""Questions drawn with characters: pictures as coloured half blocks, texts in frames."""

from __future__ import annotations

import io
from collections.abc import Sequence

from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from samekind.cli.console import printable
from samekind.items import Collection, Item, Preview
from samekind.questions import Question

RESERVED_LINES = 7
"""Lines of the screen that are not for items: heading, prompt, reason, keys, and a spare one."""
ITEM_WIDTH = 22
"""Width of the picture that is asked about, when groups are shown below it."""
MAX_PICTURE_WIDTH = 48
FRAME_WIDTH = 4
"""Columns of a frame, left and right together."""
MAX_TEXT_WIDTH = 100
MAX_PER_ROW = 6
"""Groups drawn side by side; up to twice as many are drawn in two rows."""
MIN_INNER_WIDTH = 6
"""Width of the smallest pictures."""
TOGETHER = "one group"
"""Title of the frame around items that represent one group."""


def drawn(
    collection: Collection,
    question: Question,
    width: int,
    height: int,
    max_groups: int | None = None,
) -> RenderableType:
    """Draw the items of a question, so that they fit on a screen of this size with its keys.

    Parameters
    ----------
    max_groups : of many groups only the first are drawn.
    """
    parts = [[collection[i] for i in part] for part in question.parts()]
    grouped = {c: question.exemplars(c) for c in question.choices() if question.exemplars(c)}
    shown = list(grouped.items())[:max_groups]
    groups = {key: [collection[i] for i in exemplars] for key, exemplars in shown}
    room = max(8, height - RESERVED_LINES)
    if collection.kind != "text" and _is_picture(collection[question.items()[0]]):
        return _pictures(parts, groups, width, room)
    return _texts(parts, groups, width, room)


def drawn_group(title: str, items: Sequence[Item], width: int) -> RenderableType:
    """Draw the items that represent one group."""
    if _is_picture(items[0]):
        return _frames([(title, items)], width, MAX_PICTURE_WIDTH, ITEM_WIDTH)
    return _listed(title, [("", item) for item in items], min(width, MAX_TEXT_WIDTH))


def picture(data: bytes, cells: int) -> Text:
    """Draw a picture with coloured half blocks, at most `cells` wide and half as high."""
    from PIL import Image

    with Image.open(io.BytesIO(data)) as opened:
        image = opened.convert("RGB")
    scale = cells / max(image.width, image.height)
    across = max(1, round(image.width * scale))
    down = max(2, 2 * round(image.height * scale / 2))
    pixels = image.resize((across, down)).tobytes()
    margin = " " * ((cells - across) // 2)
    lines = []
    for y in range(0, down, 2):
        line = Text(margin, no_wrap=True)
        for x in range(across):
            top, below = (3 * (row * across + x) for row in (y, y + 1))
            style = f"rgb({_rgb(pixels, top)}) on rgb({_rgb(pixels, below)})"
            line.append("▀", style)
        lines.append(line)
    return Text("\n").join(lines)


def _rgb(pixels: bytes, at: int) -> str:
    return ",".join(map(str, pixels[at : at + 3]))


def _is_picture(item: Item) -> bool:
    return item.preview().mime.startswith("image/")


def _pictures(
    parts: Sequence[Sequence[Item]], groups: dict[str, list[Item]], width: int, room: int
) -> RenderableType:
    """Draw single items in one row, and below them one frame per group, side by side."""
    framed = 2 if any(len(part) > 1 for part in parts) else 0
    if framed and not groups:
        return _frames([(TOGETHER, part) for part in parts], width, room, MAX_PICTURE_WIDTH)
    alone = [item for part in parts for item in part]
    largest = MAX_PICTURE_WIDTH if not groups else min(ITEM_WIDTH, room - framed)
    share = (width - 2 * framed) // max(1, len(alone)) - FRAME_WIDTH - 2
    cells = max(4, min(largest, share, 2 * (room - 2)))
    if len(groups) > MAX_PER_ROW:  # two rows of them need most of the screen
        cells = max(4, min(cells, 2 * (room // 3 - 4)))
    rows: list[RenderableType] = []
    if alone:
        row = _beside([_framed(item, cells) for item in alone])
        rows.append(Panel.fit(row, title=TOGETHER) if framed else row)
    if groups:
        below = room - (cells // 2 + 2 + framed if alone else 0)
        rows.append(_frames(list(groups.items()), width, below, ITEM_WIDTH - 2))
    return Group(*rows)


def _frames(
    groups: Sequence[tuple[str, Sequence[Item]]], width: int, room: int, widest: int
) -> RenderableType:
    """Draw one frame per group, side by side, as large as fits; many of them in two rows."""
    most = max(len(items) for _, items in groups)

    def largest(across: int) -> int:
        """Find the width of pictures with which so many frames side by side fit."""
        lines, inner = -(-len(groups) // across), min(widest, width // across - FRAME_WIDTH)
        while inner > MIN_INNER_WIDTH and lines * _group_height(inner, most) > room:
            inner -= 1
        return inner

    across = len(groups) if len(groups) <= MAX_PER_ROW else -(-len(groups) // 2)
    if len(groups) > 2 * MAX_PER_ROW:  # fewer rows if equal
        across = max(range(across, 2, -1), key=largest)
    inner = max(1, largest(across))
    panels = [_group(key, items, inner) for key, items in groups]
    return Group(*(_beside(panels[at : at + across]) for at in range(0, len(panels), across)))


def _group_height(inner: int, count: int) -> int:
    """Count the lines of a frame with one large picture, and smaller ones in pairs below."""
    small = (inner - 1) // 2
    return 2 + (inner + 1) // 2 + (count // 2) * ((small + 1) // 2)


def _group(key: str, items: Sequence[Item], inner: int) -> Panel:
    body: list[RenderableType] = [picture(items[0].preview().data, inner)]
    small = (inner - 1) // 2
    for at in range(1, len(items), 2):
        row = Table.grid(padding=(0, 1, 0, 0))
        row.add_row(*(picture(item.preview().data, small) for item in items[at : at + 2]))
        body.append(row)
    return Panel(Group(*body), title=Text(key, "bold"), width=inner + FRAME_WIDTH)


def _framed(item: Item, cells: int) -> Panel:
    name = printable(item.id)
    name = name if len(name) <= cells else f"...{name[3 - cells :]}"
    body = picture(item.preview().data, cells)
    return Panel(body, subtitle=Text(name, "dim"), width=cells + FRAME_WIDTH)


def _beside(panels: Sequence[Panel]) -> Table:
    row = Table.grid()
    row.add_row(*panels)
    return row


def _texts(
    parts: Sequence[Sequence[Item]], groups: dict[str, list[Item]], width: int, room: int
) -> RenderableType:
    """Draw single texts side by side, and below them a frame per group, a text per line."""
    if any(len(part) > 1 for part in parts) or len(groups) > MAX_PER_ROW:
        total = min(width, MAX_TEXT_WIDTH)
        deep = max(1, (room - 2 - len(groups)) // max(1, len(parts)) - 2)
        listed = [_listed(TOGETHER, [("", item) for item in part[:deep]], total) for part in parts]
        named = [(key, item) for key, items in groups.items() for item in items[:1]]
        return Group(*listed, *([_listed("", named, total)] if named else []))
    alone = [item for part in parts for item in part]
    most = max(1, (room - 5) // max(1, len(groups)) - 2)  # texts per group, if all are to fit
    lines = sum(min(len(items), most) + 2 for items in groups.values())
    deep = max(3, min(room - lines, 20) - 2)
    total = min(width, MAX_TEXT_WIDTH if groups or len(alone) == 1 else width)
    rows: list[RenderableType] = []
    if alone:
        share = total // len(alone)
        rows.append(_beside([_page(item, share, deep) for item in alone]))
    for key, items in groups.items():
        body = Text("\n", no_wrap=True, overflow="ellipsis").join(
            Text(" · ".join(_text(item.preview()).split("\n"))) for item in items[:most]
        )
        rows.append(Panel(body, title=Text(key, "bold"), title_align="left", width=total))
    return Group(*rows)


def _listed(title: str, named: Sequence[tuple[str, Item]], width: int) -> Panel:
    """Draw texts in one frame, a line each, with their keys."""
    lines = []
    for key, item in named:
        line = Text(f"{key:>2}  " if key else "", "bold")
        lines.append(line.append(" · ".join(_text(item.preview()).split("\n")), "not bold"))
    body = Text("\n", no_wrap=True, overflow="ellipsis").join(lines)
    return Panel(body, title=title or None, title_align="left", width=width)


def _page(item: Item, width: int, deep: int) -> Panel:
    """Draw the beginning of a text in a frame."""
    folded = Text(_text(item.preview())).wrap(Console(width=width), max(10, width - FRAME_WIDTH))
    body = Text("\n").join(folded[:deep])
    if len(folded) > deep:
        body.append(" ...")
    return Panel(body, subtitle=Text(printable(item.id)[-(width - 8) :], "dim"), width=width)


def _text(preview: Preview) -> str:
    return printable(preview.data.decode("utf-8", "replace").strip()).expandtabs(4)
