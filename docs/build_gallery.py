"""Make the pages, notebooks and pictures of the gallery from the programs in docs/gallery.

    python docs/build_gallery.py               # execute all of them
    python docs/build_gallery.py photos graph  # some of them

A program has cells in the percent format, which editors and Jupytext read: ``# %%`` begins a cell
of code, ``# %% [markdown]`` one of prose. Each is executed once, and its output is written to a
page (``.md``), a notebook (``.ipynb``) and pictures (``.png``) beside it. A line that ends with
``# in the test: VALUE`` gets that value where the tests execute the same program.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import io
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "gallery"
ROOT = FOLDER.parent.parent
SHORTER = re.compile(r"^(\w+ = ).*?  # in the test: (.+)$", flags=re.M)
STYLE: dict[str, Any] = {
    "figure.dpi": 110,
    "figure.constrained_layout.use": True,
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": False,
    "legend.frameon": False,
}
MAX_COLOURS = 128
"""Colours of a picture: enough for charts, and a third of the size."""


@dataclass(frozen=True)
class Cell:
    """A part of a program: code, or prose in Markdown."""

    text: str
    is_code: bool


@dataclass(frozen=True)
class Output:
    """What a cell printed, with the value of its last line, and the pictures that it drew."""

    text: str = ""
    pictures: tuple[bytes, ...] = ()


def names() -> list[str]:
    """Return the names of the programs, in alphabetical order."""
    return sorted(path.stem for path in FOLDER.glob("*.py"))


def read_cells(program: str) -> list[Cell]:
    """Split a program into its cells.

    >>> read_cells("# %% [markdown]\\n# Two *words*\\n# %%\\nx = 1\\n")
    [Cell(text='Two *words*', is_code=False), Cell(text='x = 1', is_code=True)]
    """
    parts = re.split(r"^# %%(.*)\n", program, flags=re.M)[1:]
    cells = []
    for kind, body in zip(parts[::2], parts[1::2], strict=True):
        is_code = "[markdown]" not in kind
        text = body if is_code else re.sub(r"^# ?", "", body, flags=re.M)
        cells.append(Cell(text.strip("\n"), is_code))
    return cells


def shortened(program: str) -> str:
    """Return the program with the numbers that its own comments give for tests.

    >>> shortened("QUESTIONS = 40  # in the test: 4")
    'QUESTIONS = 4'
    """
    return SHORTER.sub(r"\1\2", program)


def execute(cells: Iterable[Cell], name: str = "gallery") -> list[Output]:
    """Execute the cells one after the other, as a notebook does, in the root of the repository."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    scope: dict[str, Any] = {"__name__": "__main__"}
    found = []
    pyplot.close("all")  # a picture is what these cells draw, not what was drawn before
    with pyplot.rc_context(STYLE), contextlib.chdir(ROOT):
        for number, cell in enumerate(cells):
            if cell.is_code:
                found.append(_execute_cell(cell.text, scope, f"{name}, cell {number}"))
            else:
                found.append(Output())
    return found


def _execute_cell(code: str, scope: dict[str, Any], place: str) -> Output:
    from matplotlib import pyplot

    tree = ast.parse(code, place)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(tree, place, "exec", dont_inherit=True), scope)
        if isinstance(last, ast.Expr):
            code = compile(ast.Expression(last.value), place, "eval", dont_inherit=True)
            value = eval(code, scope)
            if value is not None and not _is_drawing(value):
                print(value)
    pictures = []
    for number in pyplot.get_fignums():
        pictures.append(_picture(pyplot.figure(number)))
    pyplot.close("all")
    return Output(printed.getvalue().rstrip(), tuple(pictures))


def _is_drawing(value: Any) -> bool:
    """Whether a value is a part of a picture, which is shown anyway."""
    first = value[0] if isinstance(value, list | tuple) and value else value
    return type(first).__module__.startswith("matplotlib")


def _picture(figure: Any) -> bytes:
    from PIL import Image

    drawn, packed = io.BytesIO(), io.BytesIO()
    figure.savefig(drawn, format="png", facecolor="white")
    image = Image.open(drawn).convert("RGB").quantize(MAX_COLOURS, dither=Image.Dither.NONE)
    image.save(packed, format="png", optimize=True)
    return packed.getvalue()


def page(name: str, cells: Sequence[Cell], outputs: Sequence[Output], footer: str) -> str:
    """Write the page of the site; its pictures are named after it and numbered."""
    parts = ["<!-- Made by docs/build_gallery.py. Edit the program beside it instead. -->"]
    number = 0
    for cell, output in zip(cells, outputs, strict=True):
        parts.append(f"```python\n{cell.text}\n```" if cell.is_code else cell.text)
        if output.text:
            parts.append(f"```text\n{output.text}\n```")
        for _ in output.pictures:
            number += 1
            parts.append(f"![{_caption(cell.text)}]({name}-{number}.png)")
    links = f"[notebook]({name}.ipynb), [program]({name}.py)"
    parts.append(f"---\n\n*{footer} Download: {links}.*")
    return "\n\n".join(parts) + "\n"


def _caption(code: str) -> str:
    """Return the comment that begins a cell, for readers who cannot see its picture."""
    comment = re.match(r"(?:# .*\n)*", code)
    assert comment is not None and comment[0], f"no comment describes the picture of: {code}"
    return " ".join(line[2:] for line in comment[0].splitlines())


def notebook(cells: Sequence[Cell], outputs: Sequence[Output]) -> dict[str, Any]:
    """Return the notebook in the format of Jupyter, with its outputs."""
    made = []
    for number, (cell, output) in enumerate(zip(cells, outputs, strict=True), start=1):
        common: dict[str, Any] = {
            "id": f"cell-{number}",
            "metadata": {},
            "source": _lines(cell.text),
        }
        if not cell.is_code:
            made.append({"cell_type": "markdown", **common})
            continue
        shown: list[dict[str, Any]] = []
        if output.text:
            text = _lines(output.text + "\n")
            shown.append({"output_type": "stream", "name": "stdout", "text": text})
        for drawn in output.pictures:
            data = {"image/png": base64.b64encode(drawn).decode(), "text/plain": ["<Figure>"]}
            shown.append({"output_type": "display_data", "data": data, "metadata": {}})
        made.append({"cell_type": "code", "execution_count": number, "outputs": shown, **common})
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return {"cells": made, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def _commit() -> str:
    command = ["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.stdout.strip() or "unknown"


def build(name: str) -> None:
    """Execute one program and write its page, notebook and pictures."""
    from samekind import __version__

    cells = read_cells((FOLDER / f"{name}.py").read_text(encoding="utf-8"))
    begun = time.monotonic()
    outputs = execute(cells, name)
    seconds = time.monotonic() - begun
    footer = (
        f"Executed on {datetime.now(UTC):%Y-%m-%d} in {seconds:.0f} s on {os.cpu_count()} cores "
        f"with samekind {__version__} at commit {_commit()}, by `make gallery`."
    )
    for old in FOLDER.glob(f"{name}-*.png"):
        old.unlink()
    drawn = [picture for output in outputs for picture in output.pictures]
    for number, picture in enumerate(drawn, start=1):
        (FOLDER / f"{name}-{number}.png").write_bytes(picture)
    (FOLDER / f"{name}.md").write_text(page(name, cells, outputs, footer), encoding="utf-8")
    made = json.dumps(notebook(cells, outputs), indent=1, ensure_ascii=False)
    (FOLDER / f"{name}.ipynb").write_text(made + "\n", encoding="utf-8")
    print(f"{name}: {seconds:.1f} s, {len(drawn)} pictures, {sum(map(len, drawn)) // 1000} kB")


if __name__ == "__main__":
    for chosen in sys.argv[1:] or names():
        build(chosen)
