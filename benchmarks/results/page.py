"""Writes docs/results.md from the kept rows, the published tables and the prose in results/.

    python -m benchmarks.results.page            # write the page
    python -m benchmarks.results.page --check    # exit 1 when the page is not what would be written

``results/page.md`` is the plan of the page. On a line of its own, ``{{part NAME}}`` puts in
``results/NAME.md`` (``{{part NAME if there}}`` where the file may be missing), ``{{table NAME}}`` a
published table with our rows (``results/ours.toml`` says which), ``{{curves NAME}}`` scores over
answers (``results/curves.toml``), ``{{suite NAME}}`` the summary of ``rows/NAME.jsonl`` if there is
one, ``{{people NAME}}`` its table by person, ``{{budgets SET}}`` live and polish on learnt features
by budget, ``{{ncp NAME}}`` a table of the clustering processes, ``{{late SET}}`` what late answers
do to two losses, ``{{contents}}`` the list of sections. From ``benchmarks/gpu``: ``{{own METHOD}}``
and ``{{epochs METHOD}}`` whole trainings by a paper's own loss, ``{{repaired METHOD}}`` its
repaired profile, ``{{learnt SET}}`` features learnt without answers, ``{{scan SET}}`` SCAN's
stages, ``{{seconds}}`` seconds per epoch. ``{{figure NAME}}`` is a figure of ``figures.py``,
``{{picture NAME}}`` a picture that may be there.
"""

from __future__ import annotations

import argparse
import difflib
import re
import sys
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.results.budgets import budgets_table
from benchmarks.results.figures import PICTURES, figure_text
from benchmarks.results.gpu import GPU, recipe_rows
from benchmarks.results.late import late_table
from benchmarks.results.learnt import learnt_table
from benchmarks.results.ncp import ncp_table
from benchmarks.results.own import NOT_YET, epoch_table, epochs_table, own_table, repaired_table
from benchmarks.results.rows import ROWS, read
from benchmarks.results.scan import scan_table
from benchmarks.results.suites import cost_table, curves_table, people_table, suite_table
from benchmarks.results.tables import published_table
from samekind.simulation.rows import Row

PARTS = Path(__file__).parent
PAGE = PARTS.parents[1] / "docs" / "results.md"
BOUND = {"table": ("ours", published_table), "curves": ("curves", curves_table)}
SUITES: dict[str, Callable[[str, Sequence[Row]], str]] = {
    "suite": suite_table,
    "people": people_table,
    "cost": cost_table,
    "own": own_table,
    "epochs": epochs_table,
    "repaired": repaired_table,
    "scan": scan_table,
    "late": late_table,
    "learnt": learnt_table,
    "budgets": budgets_table,
    "ncp": ncp_table,
    "figure": figure_text,
    "seconds": lambda name, rows: epoch_table(),
    "picture": lambda name, rows: picture(name),
}
PLACE = re.compile(r"^\{\{(\w+) ?([\w-]*)( if there)?\}\}$")
FIRST = (
    "<!-- Written by benchmarks/results/page.py: change benchmarks/results/ or the rows. -->\n\n"
)


def page(parts: Path = PARTS, rows_folder: Path = ROWS, gpu: Path = GPU) -> str:
    """The whole page."""
    binding = {
        name: tomllib.loads((parts / f"{name}.toml").read_text(encoding="utf-8"))
        for name in ("ours", "curves")
    }
    kept = read(rows_folder)
    rows = [*kept, *recipe_rows(gpu, kept)]
    lines = filled((parts / "page.md").read_text(encoding="utf-8"), parts, binding, rows)
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip() + "\n"
    return FIRST + text.replace("{{contents}}", contents(text))


def filled(text: str, parts: Path, binding: Mapping[str, Any], rows: Sequence[Row]) -> list[str]:
    """The lines of a part with its places filled, parts within parts too."""
    out: list[str] = []
    for line in text.splitlines():
        place = PLACE.match(line.strip())
        if place is None or place[1] == "contents":
            out.append(line)
            continue
        kind, name, may_miss = place.groups()
        file = parts / f"{name}.md"
        if kind == "part":
            if file.is_file() or not may_miss:
                out += filled(file.read_text(encoding="utf-8"), parts, binding, rows)
        elif kind in SUITES:
            out += SUITES[kind](name, rows).splitlines()
        elif kind in BOUND:
            source, table = BOUND[kind]
            out += table(name, binding[source], rows).splitlines()
        else:
            known = ", ".join(["part", *BOUND, *SUITES])
            raise SystemExit(f"{line.strip()!r} is no place. Use one of: {known}.")
    return out


def picture(name: str, folder: Path = PICTURES) -> str:
    """A picture that a benchmark draws, or a sentence that there is none."""
    alternative = name.replace("-", " ").capitalize()
    there = (folder / f"{name}.png").is_file()
    return f"![{alternative}](pictures/{name}.png)" if there else f"Picture: {NOT_YET.lower()}"


def contents(text: str) -> str:
    """The sections with links as the usual renderers name them; published tables one level down."""
    lines, fenced = [], False
    for line in text.splitlines():
        fenced ^= line.startswith("```")
        head = re.match(r"^(##|###) (.+)$", line)
        if head and not fenced:
            lines.append(f"{'    ' if head[1] == '###' else ''}* [{head[2]}](#{anchor(head[2])})")
    return "\n".join(lines)


def anchor(title: str) -> str:
    """The name of a section in an address."""
    return re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit 1 on a difference"
    )
    parser.add_argument("--out", type=Path, default=PAGE, help="where the page lies")
    wanted = parser.parse_args(arguments)
    new = page()
    if not wanted.check:
        wanted.out.write_text(new, encoding="utf-8")
        return 0
    old = wanted.out.read_text(encoding="utf-8") if wanted.out.is_file() else ""
    if old == new:
        return 0
    changes = difflib.unified_diff(
        old.splitlines(),
        new.splitlines(),
        str(wanted.out),
        "as it would be written",
        n=0,
        lineterm="",
    )
    sys.stderr.write("\n".join([*list(changes)[:40], ""]))
    sys.stderr.write("Run: python -m benchmarks.results.page\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
